import { afterEach, expect, test } from 'vitest';
import type { Bytes } from '../../src/core/ids';
import { IdbStore } from '../../src/store/idb/idb-store';
import {
  account,
  closed,
  closedName,
  enqueueArgs,
  fresh,
  makingArgs,
  nick,
  open,
  openName,
  secret,
  settle,
  t0,
} from '../fixtures/account';

const name = `holdfast-test-${crypto.randomUUID()}`;
const randomBytes = (length: number): Bytes => crypto.getRandomValues(new Uint8Array(length));
const store = new IdbStore({ name, randomBytes });

afterEach(async () => {
  await store.close();
  await settled(indexedDB.deleteDatabase(name));
});

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Every value of every object store, as runs of bytes. */
async function dump(): Promise<{ readonly stores: Record<string, number>; readonly runs: Uint8Array[] }> {
  const database = await settled(indexedDB.open(name));
  const stores: Record<string, number> = {};
  const runs: Uint8Array[] = [];
  for (const one of database.objectStoreNames) {
    const opened = database.transaction(one).objectStore(one);
    const [rows, keys] = await Promise.all([settled(opened.getAll()), settled(opened.getAllKeys())]);
    stores[one] = rows.length;
    collect([rows, keys], runs);
  }
  database.close();
  return { stores, runs };
}

function collect(value: unknown, runs: Uint8Array[]): void {
  if (typeof value === 'string') runs.push(new TextEncoder().encode(value), inUtf16(value));
  else if (value instanceof ArrayBuffer) runs.push(new Uint8Array(value));
  else if (ArrayBuffer.isView(value))
    runs.push(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  else if (Array.isArray(value)) for (const one of value) collect(one, runs);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, one] of Object.entries(value)) collect([key, one], runs);
  }
}

function inUtf16(text: string): Uint8Array {
  const units = Uint16Array.from(text, (letter) => letter.charCodeAt(0));
  return new Uint8Array(units.buffer);
}

function holds(runs: readonly Uint8Array[], wanted: Uint8Array): boolean {
  return runs.some((run) => {
    for (let at = run.indexOf(wanted[0] ?? 0); at !== -1; at = run.indexOf(wanted[0] ?? 0, at + 1)) {
      if (wanted.every((byte, nth) => run[at + nth] === byte)) return true;
    }
    return false;
  });
}

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

test('neither text, nick, channel name nor secret stands in any byte of the database', async () => {
  const said = [
    'the tide turns at four',
    'nobody must know of the stairs',
    'an unfinished thought',
    'heard you',
  ];
  const [first = '', second = '', draft = '', heard = ''] = said;
  await settle(store);
  await store.transact('enqueue', enqueueArgs(1, second, closed));
  await store.transact('enqueue', enqueueArgs(2, first, open));
  await store.transact('putDraft', { account, conversation: open, text: draft, now: t0, nonce: fresh(12) });
  const message = { nick: 'Bartholomew', text: heard, conversation: closed };
  const event = { event: 'e1'.repeat(32), logical: 'e1'.repeat(16), time: t0 };
  await store.transact('scanChannel', {
    account,
    heard: [{ ...message, ...event }],
    now: t0,
    seed: fresh(32),
  });
  const made = await store.transact('materialise', makingArgs(1));
  expect(made.outcome.kind).toBe('made');
  const { stores, runs } = await dump();
  expect(stores).toMatchObject({ accounts: 1, conversations: 2, drafts: 1, messages: 3, events: 1, keys: 1 });
  const inClear = new TextEncoder().encode.bind(new TextEncoder());
  const hidden = [...said, nick, 'Bartholomew', openName, closedName, 'lighthouse', 'stairs'];
  for (const text of hidden) {
    expect([text, holds(runs, inClear(text)), holds(runs, inUtf16(text))]).toEqual([text, false, false]);
  }
  expect(holds(runs, secret)).toBe(false);
  expect(holds(runs, inClear(hexOf(secret)))).toBe(false);
  // What is plain on purpose is found by the same search, so the search can find.
  expect([holds(runs, inClear(account)), holds(runs, inClear('wss://one.example/'))]).toEqual([true, true]);
  const page = await store.read('timeline', { account, conversation: closed, limit: 9 });
  expect(page.messages.map((one) => one.body?.text)).toEqual([second, heard]);
});
