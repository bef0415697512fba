import { afterEach, describe, expect, test, vi } from 'vitest';
import type { EventId } from '../../src/core/ids';
import type { EventRow } from '../../src/core/tables';
import { put, type Question } from '../../src/core/transaction';
import { IdbStore } from '../../src/store/idb/idb-store';
import { Subject } from '../contract/store-contract';
import { anyRow, contractScripts } from '../fixtures/scripts/contract-scripts';

/*
 * Chromium keeps large rows in files beside the database; when one is lost, whatever reads it fails with a DataError
 * ("Failed to read large IndexedDB value"). The files are out of a page's reach, so its requests are made to fail.
 */

const account = 'b1'.repeat(16);
const slot = 3_600_000;
const name = `holdfast-test-${crypto.randomUUID()}`;
const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
let store: IdbStore | undefined;

const idOf = (nth: number): EventId => nth.toString(16).padStart(64, '0');

function event(nth: number): EventRow {
  const bytes = new Uint8Array(300);
  const base = { account, id: idOf(nth), slot, layer: nth, time: nth, event: bytes, blob: new Uint8Array(0) };
  return { ...base, own: false, covers: 0 };
}

/** A request that fails as that of a lost file does, when the real one is through. */
function failing<T>(real: IDBRequest<T>): IDBRequest<T> {
  const fake = { error: new DOMException('Failed to read large IndexedDB value', 'DataError') };
  const request = fake as unknown as IDBRequest<T>;
  real.onsuccess = () => request.onerror?.call(request, new Event('error', { cancelable: true }));
  return request;
}

type Reads = 'get' | 'getAll' | 'getAllRecords';

/** Rows of a table for which `isLost` holds cannot be read any more, alone or among others. */
function lose(table: string, isLost: (row: never) => boolean): void {
  for (const place of [IDBObjectStore.prototype, IDBIndex.prototype]) {
    for (const read of ['get', 'getAll', 'getAllRecords'] as const satisfies readonly Reads[]) {
      if (!(read in place)) continue;
      const calls = place as unknown as Record<Reads, (...args: unknown[]) => IDBRequest>;
      const original = calls[read];
      vi.spyOn(calls, read).mockImplementation(function (this: IDBObjectStore | IDBIndex, ...args) {
        const real = original.apply(this, args);
        const of = 'objectStore' in this ? this.objectStore.name : this.name;
        return of === table ? checked(real, isLost) : real;
      });
    }
  }
}

/** Whether it fails is known when it is through. */
function checked(real: IDBRequest, isLost: (row: never) => boolean): IDBRequest {
  const lost = failing(real);
  const fail = real.onsuccess;
  real.onsuccess = (event) => {
    const found = [real.result].flat() as unknown[];
    const rows = found.map((one) => (one as { value?: unknown } | undefined)?.value ?? one);
    if (rows.some((row) => row !== undefined && isLost(row as never))) return fail?.call(real, event);
    Object.defineProperty(lost, 'result', { value: real.result });
    return lost.onsuccess?.call(lost, event);
  };
  return lost;
}

async function filled(): Promise<Subject> {
  store = new IdbStore({ name, randomBytes }, contractScripts());
  const subject = new Subject(store);
  await subject.write(
    ...[1, 2, 3, 4, 5].map((nth) => put('events', event(nth))),
    put('messages', anyRow(account, 'c', 7)),
  );
  return subject;
}

afterEach(async () => {
  vi.restoreAllMocks();
  await store?.close();
  await new Promise((done) => {
    indexedDB.deleteDatabase(name).onsuccess = done;
  });
});

const ids = (rows: readonly unknown[] | undefined) =>
  rows?.map((row) => Number.parseInt((row as EventRow).id, 16));
const range = (more: object, limit: number): Question => ({
  ask: 'rows',
  table: 'events',
  index: 'slot',
  range: { prefix: [account, slot], ...more },
  limit,
});

describe('an event of the graph that cannot be read any more', () => {
  test('is as good as none: the others are there, in their order and number, and what is asked beside it', async () => {
    const subject = await filled();
    lose('events', (row: EventRow) => row.id === idOf(3));
    const found = await subject.look(
      range({}, 100),
      range({ reverse: true }, 2),
      range({ from: 2 }, 2),
      range({ from: 3, to: 3 }, 1),
      { ask: 'rows', table: 'events', range: { prefix: [account] }, limit: 100 },
      { ask: 'get', table: 'events', key: [account, idOf(3)] },
      { ask: 'get', table: 'events', key: [account, idOf(4)] },
      { ask: 'get', table: 'messages', key: [account, 'c', 7] },
    );
    expect(found.slice(0, 7).map(ids)).toEqual([[1, 2, 4, 5], [5, 4], [2, 4], [], [1, 2, 4, 5], [], [4]]);
    expect(found[7]).toEqual([anyRow(account, 'c', 7)]);
  });

  test('keeps nothing from being written in the transaction that met it, and is put anew', async () => {
    const subject = await filled();
    lose('events', (row: EventRow) => row.id === idOf(3) && row.covers === 0);
    const asked = [{ ask: 'get', table: 'events', key: [account, idOf(3)] } as const, range({}, 9)];
    const changes = [put('events', { ...event(3), covers: 1 }), put('events', event(6))];
    const { outcome } = await subject.run({ steps: [{ ask: asked }], changes });
    expect(outcome[0]?.map(ids)).toEqual([[], [1, 2, 4, 5]]);
    expect((await subject.look(range({}, 100))).map(ids)).toEqual([[1, 2, 3, 4, 5, 6]]);
  });
});

test('any other row that cannot be read is told of', async () => {
  const subject = await filled();
  lose('messages', () => true);
  const asked = subject.look({ ask: 'get', table: 'messages', key: [account, 'c', 7] });
  await expect(asked).rejects.toMatchObject({ name: 'StoreError', kind: 'storage' });
});
