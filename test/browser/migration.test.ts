import { afterEach, describe, expect, test } from 'vitest';
import { present } from '../../src/core/assert';
import type { Bytes, EventId } from '../../src/core/ids';
import { schemaVersion } from '../../src/core/tables';
import type { MakingArgs } from '../../src/core/transactions/materialise';
import { holdfast } from '../../src/core/wire/profile';
import { keyStore, openDatabase, schemaSteps } from '../../src/store/idb/database';
import { IdbStore } from '../../src/store/idb/idb-store';
import {
  account,
  type FirstTable,
  parseDump,
  places,
  relays,
  secret,
  t0,
  waiting,
} from '../vectors/make-schema-1';
import text from '../vectors/schema-1.json?raw';

const dump = parseDump(text);
const tables = Object.keys(dump.tables) as FirstTable[];
const later = t0 + holdfast.rotationMs + 120_000;
const randomBytes = (length: number): Bytes => crypto.getRandomValues(new Uint8Array(length));

/** Keys and indexes as version 1 made them, written down here: what made them then is not asked again. */
const firstSchema: Readonly<Record<FirstTable, readonly [string[], Readonly<Record<string, string[]>>]>> = {
  meta: [['name'], {}],
  accounts: [['account'], {}],
  counters: [['account'], {}],
  relays: [['account', 'url'], {}],
  conversations: [['account', 'conversation'], {}],
  drafts: [['account', 'conversation'], {}],
  messages: [
    ['account', 'conversation', 'seq'],
    { logical: ['account', 'logical'], lane: ['account', 'lane'] },
  ],
  generations: [['account', 'id'], {}],
  slots: [['account', 'slot'], {}],
  events: [['account', 'id'], { slot: ['account', 'slot', 'layer', 'id'] }],
};

const opened: { readonly name: string; close(): Promise<void> | void }[] = [];

afterEach(async () => {
  for (const { close } of opened) await close();
  for (const { name } of opened.splice(0)) {
    await settled(indexedDB.deleteDatabase(name));
  }
});

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** A real database of version 1, with the rows of the dump and its data key wrapped as the store wraps it. */
async function versionOne(): Promise<string> {
  const name = `holdfast-migration-${crypto.randomUUID()}`;
  const wrapping = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
  const iv = randomBytes(12);
  const wrapped = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, wrapping, dump.dataKey.bytes);
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    for (const table of tables) {
      const [key, indexes] = firstSchema[table];
      const store = request.result.createObjectStore(table, { keyPath: key });
      for (const [index, path] of Object.entries(indexes)) store.createIndex(index, path);
      for (const row of dump.tables[table]) store.put(row);
    }
    const keys = request.result.createObjectStore(keyStore, { keyPath: 'name' });
    keys.put({ name: 'data', id: dump.dataKey.id, wrapping, iv, wrapped });
  };
  (await settled(request)).close();
  opened.push({ name, close: () => undefined });
  return name;
}

/** Every row of a database as it lies there, and what it is built of; without a version it is opened as it is. */
async function look(name: string): Promise<{
  readonly version: number;
  readonly stores: readonly string[];
  readonly indexes: readonly string[];
  readonly rows: Readonly<Record<string, readonly unknown[]>>;
}> {
  const database = await settled(indexedDB.open(name));
  const stores = [...database.objectStoreNames];
  const transaction = database.transaction(stores);
  const rows: Record<string, readonly unknown[]> = {};
  for (const store of stores.filter((one) => one !== keyStore)) {
    rows[store] = await settled(transaction.objectStore(store).getAll());
  }
  const indexes = [...transaction.objectStore('messages').indexNames];
  database.close();
  return { version: database.version, stores, indexes, rows };
}

function open(name: string): IdbStore {
  const store = new IdbStore({ name, randomBytes });
  opened.push({ name, close: () => store.close() });
  return store;
}

describe('a database of schema 1, opened by this build', () => {
  test('keeps every row, gets what came since, and says which schema it has', async () => {
    const name = await versionOne();
    const store = open(name);
    await store.open();
    await store.close();
    const now = await look(name);
    expect(now.version).toBe(schemaVersion);
    expect(now.indexes).toEqual(['lane', 'logical', 'open']);
    expect(now.rows['tickets']).toEqual([]);
    for (const table of tables.filter((one) => one !== 'meta')) {
      expect(now.rows[table], table).toEqual(dump.tables[table]);
    }
    const engine = dump.tables.meta.filter((row) => row.name === 'engine');
    expect(now.rows['meta']).toEqual([...engine, { name: 'schema', schema: schemaVersion, minReader: 1 }]);
  });

  test('[OB-04] opens whole: account, channels, drafts and texts', async () => {
    const store = open(await versionOne());
    const overview = await store.read('overview', {});
    expect(overview.account).toMatchObject({ account, nick: 'Wilhelmina', profile: 'holdfast' });
    expect(overview.conversations.map((one) => [one.name, one.secret, one.draft])).toEqual([
      ['#lighthouse-keepers', undefined, undefined],
      ['#below-the-stairs', secret, 'half a sen'],
      ['#pier', undefined, 'written, and not sent'],
    ]);
    const { messages } = await store.read('timeline', { account, conversation: places.stairs, limit: 50 });
    expect(messages.map((one) => one.body?.text)).toEqual([
      'the key is under the third step',
      'found it',
      ...waiting.filter(([place]) => place === places.stairs).map(([, , line]) => line),
    ]);
  });

  test('[OB-01] [OB-02] goes on draining where it was, and takes a new message behind all that waits', async () => {
    const store = open(await versionOne());
    const { term } = (await store.transact('beginEngine', { engine: 'e9'.repeat(16) })).outcome;
    expect(term).toBe(3);
    const seed = new Uint8Array(32).fill(9);
    const next: MakingArgs = { profile: holdfast.name, now: later, relays, term, jitter: 0.5, seed };
    const head = present(await store.read('head', { account }), 'the dump has a head');
    let id: EventId | undefined = head.operation?.generations.at(-1)?.id;
    const command = 'ab'.repeat(16);
    const queued = await store.transact('enqueue', {
      account,
      conversation: places.keepers,
      command,
      profile: holdfast.name,
      body: { nick: 'Wilhelmina', channel: '#lighthouse-keepers', text: 'written after the upgrade' },
      now: later,
      nonce: randomBytes(12),
    });
    expect(queued.outcome).toMatchObject({ kind: 'queued' });
    const order: string[] = [];
    while (id !== undefined) {
      order.push(present(await store.read('head', { account }), 'something is sent').logical);
      const args = { account, id, relay: relays[0], now: later, next };
      const answered = { ...args, result: { type: 'has', inserted: true } as const };
      const { effects } = await store.transact('answer', answered, term);
      const put = effects.find((effect) => effect.type === 'put-event');
      id = put?.type === 'put-event' ? put.id : undefined;
    }
    expect(order).toEqual([...waiting.map(([, half]) => half.repeat(16)), command]);
    expect(await store.read('head', { account })).toBeUndefined();
  });
});

describe('a step that fails', () => {
  test('aborts the whole upgrade; the old data stays as it was, and the next opening succeeds', async () => {
    const name = await versionOne();
    const before = await look(name);
    const planted = new Error('planted');
    const failing = {
      to: schemaVersion,
      run(): void {
        throw planted;
      },
    };
    const opening = openDatabase(name, () => undefined, [...schemaSteps, failing]);
    await expect(opening).rejects.toBe(planted);
    expect(await look(name)).toEqual(before);
    expect(before.version).toBe(1);
    expect(before.indexes).toEqual(['lane', 'logical']);
    const store = open(name);
    expect((await store.read('overview', {})).waiting).toBe(waiting.length);
  });
});
