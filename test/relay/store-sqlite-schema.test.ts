import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { encodeKey, indexKeyOf, keyOf } from '../../src/core/key-order';
import { schemaVersion } from '../../src/core/tables';
import { SqliteStore } from '../../src/store/sqlite/sqlite-store';
import { account, type FirstTable, parseDump, waiting } from '../vectors/make-schema-1';

const dump = parseDump(readFileSync(new URL('../vectors/schema-1.json', import.meta.url), 'utf8'));
const tables = Object.keys(dump.tables) as FirstTable[];
/** Index columns as version 1 made them. */
const columns: Partial<Record<FirstTable, readonly string[]>> = {
  messages: ['logical', 'lane'],
  events: ['slot'],
};

const bytes = (key: string): Buffer => Buffer.from(key, 'latin1');

/** A file of version 1 with the rows of the dump. */
function versionOne(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-schema-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'store.sqlite');
  const database = new Database(file);
  for (const table of tables) {
    const indexes = columns[table] ?? [];
    database.exec(`CREATE TABLE "${table}" (key BLOB PRIMARY KEY NOT NULL, row BLOB NOT NULL)`);
    for (const index of indexes) {
      database.exec(`ALTER TABLE "${table}" ADD COLUMN "by_${index}" BLOB`);
      database.exec(`CREATE INDEX "${table}_${index}" ON "${table}" ("by_${index}", key)`);
    }
    const insert = database.prepare(
      `INSERT INTO "${table}" VALUES (${['?', '?', ...indexes.map(() => '?')].join()})`,
    );
    for (const row of dump.tables[table]) {
      const keys = indexes.map((index) => {
        const key = indexKeyOf(table, index, row);
        return key === undefined ? null : bytes(encodeKey(key));
      });
      insert.run(bytes(encodeKey(keyOf(table, row))), serialize(row), ...keys);
    }
  }
  database.pragma('user_version = 1');
  database.close();
  return file;
}

/** What a file is made of and holds, without the store's help. */
function look(file: string): unknown {
  const database = new Database(file, { readonly: true });
  const schema = database.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all();
  const rows = tables.map((table) => database.prepare(`SELECT * FROM "${table}" ORDER BY key`).all());
  const version = database.pragma('user_version', { simple: true });
  database.close();
  return { schema, rows, version };
}

const open = (file: string): SqliteStore => new SqliteStore({ file, keys: () => ({ data: dump.dataKey }) });

describe('a file of schema 1, opened by this build', () => {
  test('[OB-04] keeps its rows, and the lane goes on', async () => {
    const file = versionOne();
    const store = open(file);
    const overview = await store.read('overview', {});
    expect(overview.account).toMatchObject({ account, nick: 'Wilhelmina' });
    expect(overview.waiting).toBe(waiting.length);
    const head = await store.read('head', { account });
    const id = head?.operation?.generations.at(-1)?.id ?? '';
    const result = { type: 'has', inserted: true } as const;
    const args = {
      account,
      id,
      relay: 'wss://one.example/',
      result,
      now: dump.tables.counters[0]?.ownTime ?? 0,
    };
    expect((await store.transact('answer', args)).outcome).toMatchObject({ kind: 'acknowledged' });
    expect((await store.read('head', { account }))?.logical).toBe(waiting[1][1].repeat(16));
    await store.close();
    expect(look(file)).toMatchObject({ version: schemaVersion });
  });

  test('gets the tables and indexes that came since, filled from the rows that are there', async () => {
    const file = versionOne();
    // An index that this file has not yet: it must find the rows all the same.
    const earlier = new Database(file);
    earlier.exec('DROP INDEX messages_lane; ALTER TABLE messages DROP COLUMN by_lane');
    earlier.close();
    const store = open(file);
    expect((await store.read('head', { account }))?.logical).toBe(waiting[0][1].repeat(16));
    await store.close();
    const { schema } = look(file) as { readonly schema: readonly { readonly name: string }[] };
    const made = schema.map((one) => one.name);
    expect(made).toEqual(
      expect.arrayContaining(['tickets', 'tickets_epoch', 'messages_open', 'messages_lane']),
    );
  });

  test('stays as it was when the upgrade fails halfway', () => {
    const file = versionOne();
    const planted = new Database(file);
    // A view in the place of a table to come: its index cannot be made, after everything before it was.
    planted.exec('CREATE VIEW tickets AS SELECT 1 AS by_epoch, 2 AS key');
    planted.close();
    const before = look(file);
    expect(() => open(file)).toThrow(expect.objectContaining({ kind: 'storage' }));
    expect(look(file)).toEqual(before);
    expect(before).toMatchObject({ version: 1 });
  });
});
