import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { decodeEvent, eventId } from '../../src/core/wire/event';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { RelayGraph } from '../../src/relay/relay-graph';
import { readRow, rowBytes } from '../../src/store/sqlite/row-bytes';
import { SqliteStore } from '../../src/store/sqlite/sqlite-store';
import { type Made, make, noBlob, one, slot } from '../fixtures/graph-world';
import { memoryGraph } from '../fixtures/peer';
import { runRelay } from '../fixtures/running-relay';

const now = (): number => slot + 20_000;
const has = (inserted: boolean) => ({ type: 'has', inserted });
const nack = (reason: string) => ({ type: 'nack', reason });
const genesis = genesisOf(holdfast, slot).id;
const chain = 'a - b - c - d - e';

type Row = { readonly id: number; readonly row: Buffer };

/** What may become of a row on a disk. */
const damages: Readonly<Record<string, (row: Buffer) => Buffer>> = {
  'one bit of it flipped': (row) => {
    const flipped = Buffer.from(row);
    const at = row.length >> 1;
    flipped[at] = (flipped[at] ?? 0) ^ 4;
    return flipped;
  },
  'its end gone': (row) => row.subarray(0, 40),
  'other bytes in its place': () => randomBytes(300),
  'nothing in its place': () => Buffer.alloc(0),
};

/** Changes rows of a store that nobody has open. */
function damage(
  file: string,
  table: string,
  how: (row: Buffer) => Buffer,
  which: (row: Buffer) => boolean = () => true,
): void {
  const database = new Database(file);
  const rows = database.prepare(`SELECT rowid AS id, row FROM ${table}`).all() as Row[];
  const chosen = rows.filter(({ row }) => which(row));
  if (chosen.length === 0) throw new Error('no such row');
  for (const { id, row } of chosen) {
    database.prepare(`UPDATE ${table} SET row = ? WHERE rowid = ?`).run(how(row), id);
  }
  database.close();
}

const of = (made: Made | undefined) => (row: Buffer) => row.includes(Buffer.from(made?.id ?? '?'));

/** The file of a relay that has a graph and was stopped. */
async function filled(made: ReadonlyMap<string, Made>): Promise<{ folder: string; file: string }> {
  const first = await runRelay({ now });
  const peer = await first.peer();
  for (const event of made.values()) await peer.put(event);
  await first.running.stop();
  return { folder: first.folder, file: join(first.folder, 'relay.sqlite') };
}

function health(port: number): Promise<unknown> {
  return new Promise((settle, fail) => {
    const asked = request({ host: '127.0.0.1', port, path: '/health' }, (response) => {
      let body = '';
      response.on('data', (text) => {
        body += String(text);
      });
      response.on('end', () => settle(JSON.parse(body)));
    });
    asked.on('error', fail);
    asked.end();
  });
}

describe('a relay with an event that its disk has not kept', () => {
  test.each(Object.entries(damages))(
    '%s: serves the others, counts it, and takes it again',
    async (_, how) => {
      const made = make(chain);
      const { folder, file } = await filled(made);
      const c = made.get('c');
      damage(file, 'events', how, (row) => of(c)(row) && row.indexOf(c?.id ?? '') < 120);
      const relay = await runRelay({ folder, now });
      const peer = await relay.peer();
      const ids = [...made.values()].map((event) => event.id);
      const whole = ids.filter((id) => id !== c?.id);
      const headers = await peer.ask({ ask: 'headers', slot, tips: [] });
      expect(headers?.type === 'headers' && headers.headers.map(eventId)).toEqual([genesis, ...whole]);
      const bodies = await peer.ask({ ask: 'events', ids });
      const given = bodies?.type === 'events' ? bodies.events : [];
      expect(given.map((body) => eventId(decodeEvent(body.event).header))).toEqual(whole);
      expect(await peer.ask({ ask: 'tips', slot })).toMatchObject({ tips: [{ id: ids[4] }] });
      expect(await health(relay.running.healthPort ?? 0)).toMatchObject({ status: 'ok', damagedRows: 1 });
      const next = one(slot + 9_000, [ids[4] ?? ''], 6, 'next');
      expect(await peer.put(next)).toEqual(has(true));
      expect(await peer.put(c as Made)).toEqual(has(true));
      expect(await peer.put(c as Made)).toEqual(has(false));
      expect(await health(relay.running.healthPort ?? 0)).not.toHaveProperty('damagedRows');
    },
  );

  test('what stands on it is fetched for from whoever puts it', async () => {
    const made = make('a - b');
    const { folder, file } = await filled(made);
    const [a, b] = [...made.values()];
    damage(
      file,
      'events',
      () => randomBytes(50),
      (row) => of(b)(row),
    );
    const relay = await runRelay({ folder, now });
    const graph = memoryGraph(now);
    const c = one(slot + 9_000, [b?.id ?? ''], 3, 'c');
    for (const event of [a, b, c]) await graph.put(event?.bytes ?? noBlob, noBlob, false);
    const peer = await relay.peer({ graph });
    expect(await peer.put(c)).toEqual(has(true));
    expect(await peer.put(b as Made)).toEqual(has(false));
  });
});

describe('a relay whose other rows are damaged', () => {
  test('the row of a slot: the same tips, and new events go on from them', async () => {
    const made = make(`
   b - d
  /
 a - c`);
    const { folder, file } = await filled(made);
    damage(file, 'slots', () => randomBytes(100));
    const relay = await runRelay({ folder, now });
    const peer = await relay.peer();
    const tips = await peer.ask({ ask: 'tips', slot });
    const [c, d] = [made.get('c')?.id ?? '', made.get('d')?.id ?? ''];
    expect(tips?.type === 'tips' && tips.tips.map((tip) => tip.id).sort()).toEqual([c, d].sort());
    const join = one(slot + 9_000, [c, d], 4, 'join');
    expect(await peer.put(join)).toEqual(has(true));
    expect(await peer.ask({ ask: 'tips', slot })).toMatchObject({ tips: [{ id: join.id }] });
  });

  test('the count of its bytes: the bound of the store still holds', async () => {
    const made = make(chain);
    const { folder, file } = await filled(made);
    damage(file, 'counters', (row) => row.subarray(1));
    const held = [...made.values()].reduce((sum, event) => sum + event.bytes.length, 0);
    const next = one(slot + 9_000, [made.get('e')?.id ?? ''], 6, 'next');
    const relay = (room: number) => runRelay({ folder, now, relay: `store_bytes_max = ${held + room}` });
    const full = await relay(next.bytes.length - 1);
    expect(await (await full.peer()).put(next)).toEqual(nack('busy'));
    await full.running.stop();
    expect(await (await (await relay(next.bytes.length)).peer()).put(next)).toEqual(has(true));
  });
});

describe('rows in SQLite', () => {
  const row = { account: 'ac'.repeat(16), name: 'x', list: [1, { bytes: new Uint8Array([1, 2, 3]) }] };

  test('come back as they were, and with any bit flipped or any end missing not at all', () => {
    const bytes = rowBytes(row);
    expect(readRow(bytes)).toEqual(row);
    for (let at = 0; at < (bytes.length - 8) * 8; at++) {
      const flipped = Buffer.from(bytes);
      flipped[at >> 3] = (flipped[at >> 3] ?? 0) ^ (1 << (at & 7));
      expect([at, readRow(flipped)]).toEqual([at, undefined]);
    }
    for (let length = 0; length < bytes.length - 9; length++) {
      expect([length, readRow(bytes.subarray(0, length))]).toEqual([length, undefined]);
    }
  });

  test('of a build that kept no sum are read as they are', () => {
    expect(readRow(serialize(row))).toEqual(row);
    expect(readRow(serialize('no row'))).toBeUndefined();
  });

  test('are found in the number asked for, however many damaged ones lie between', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-damaged-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'store.sqlite');
    const bounds = { profile: holdfast, slotsRetained: 24, slotsSynced: 2, storeBytesMax: 1e9 };
    const before = new SqliteStore({ file });
    const events = Array.from({ length: 60 }, (_, at) => one(slot + 1_000 + at, [genesis], 1, `${at}`));
    const bodies = events.map(({ bytes }) => ({ event: bytes, blob: noBlob }));
    await new RelayGraph(before, bounds, now, true).take(slot, bodies);
    await before.close();
    const sorted = events.map((event) => event.id).sort();
    const bad = new Set(sorted.slice(0, 50));
    damage(
      file,
      'events',
      () => randomBytes(20),
      (kept) => [...bad].some((id) => kept.includes(id)),
    );
    const store = new SqliteStore({ file });
    const args = { account: '00'.repeat(16), slot, fromLayer: 0, limit: 8 };
    const page = await store.read('graphPage', args);
    expect(page.map((event) => event.id)).toEqual(sorted.slice(50, 58));
    expect(store.damagedRows).toBe(50);
    await store.close();
  });

  test('do not keep a file from being brought to a later schema', async () => {
    const { folder, file } = await filled(make(chain));
    damage(file, 'events', () => randomBytes(90), of(make(chain).get('e')));
    const earlier = new Database(file);
    earlier.exec('DROP INDEX events_slot; ALTER TABLE events DROP COLUMN by_slot');
    earlier.close();
    const relay = await runRelay({ folder, now });
    const peer = await relay.peer();
    const found = await peer.ask({ ask: 'headers', slot, tips: [] });
    expect(found?.type === 'headers' && found.headers).toHaveLength(5);
  });
});
