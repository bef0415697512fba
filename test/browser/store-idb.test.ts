import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Bytes } from '../../src/core/ids';
import { put, remove } from '../../src/core/transaction';
import { relaxedWrites, type Scripts } from '../../src/core/transactions/registry';
import { IdbStore, type IdbStoreOptions } from '../../src/store/idb/idb-store';
import { type Opened, Subject, storeContract } from '../contract/store-contract';
import { anyRow, contractScripts } from '../fixtures/scripts/contract-scripts';

const randomBytes = (length: number): Bytes => crypto.getRandomValues(new Uint8Array(length));
const names: string[] = [];

function newName(): string {
  const name = `holdfast-test-${crypto.randomUUID()}`;
  names.push(name);
  return name;
}

function deleteDatabase(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
  });
}

async function open(scripts: Scripts): Promise<Opened> {
  const name = newName();
  const stores: IdbStore[] = [];
  const another = (): IdbStore => {
    const store = new IdbStore({ name, randomBytes }, scripts);
    stores.push(store);
    return store;
  };
  return {
    store: another(),
    reopen: async () => {
      await stores[0]?.close();
      return another();
    },
    close: async () => {
      for (const store of stores) await store.close();
      await deleteDatabase(name);
    },
  };
}

storeContract('IndexedDB', open);

const account = 'b1'.repeat(16);

/** A store of this test alone, as a subject; closed and deleted afterwards. */
function begin(scripts: Scripts = contractScripts(), more: Partial<IdbStoreOptions> = {}) {
  const name = newName();
  const store = new IdbStore({ name, randomBytes, ...more }, scripts);
  started.push(store);
  return { name, store, subject: new Subject(store) };
}

const started: IdbStore[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const store of started.splice(0)) await store.close();
  for (const name of names.splice(0)) await deleteDatabase(name);
});

interface Begun {
  readonly mode: IDBTransactionMode;
  readonly asked: IDBTransactionDurability | undefined;
  readonly transaction: IDBTransaction;
}

/** Every transaction that any connection begins from now on. */
function watchTransactions(onBegun: (begun: Begun) => void = () => undefined): Begun[] {
  const begun: Begun[] = [];
  const original = IDBDatabase.prototype.transaction;
  vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (
    this: IDBDatabase,
    stores,
    mode,
    options,
  ) {
    const transaction = original.call(this, stores, mode, options);
    const one = { mode: mode ?? 'readonly', asked: options?.durability, transaction };
    begun.push(one);
    onBegun(one);
    return transaction;
  });
  return begun;
}

const row = (seq: number) => put('messages', anyRow(account, 'c', seq));

describe('durability over IndexedDB (BL-53)', () => {
  test('every transaction that writes is strict, the one that makes the data key among them', async () => {
    const begun = watchTransactions();
    const { subject } = begin();
    await subject.write(row(1));
    await Promise.all([subject.write(row(2)), subject.run({ changes: [row(3)] }, 'relaxed')]);
    await subject.call('refuse', {});
    await subject.look({ ask: 'get', table: 'meta', key: ['engine'] });
    const writing = begun.filter((one) => one.mode === 'readwrite');
    expect(writing).toHaveLength(4);
    expect(writing.map((one) => one.asked)).toEqual(writing.map(() => 'strict'));
    expect(writing.map((one) => one.transaction.durability)).toEqual(writing.map(() => 'strict'));
  });

  test('only a batch made of nothing but relaxed scripts is relaxed', async () => {
    const { subject } = begin();
    await subject.write(row(1));
    const begun = watchTransactions();
    await Promise.all([subject.run({ changes: [row(2)] }, 'relaxed'), subject.run({}, 'relaxed')]);
    await Promise.all([subject.run({ changes: [row(3)] }, 'relaxed'), subject.run({})]);
    expect(begun.map((one) => one.asked)).toEqual(['relaxed', 'strict']);
  });

  test('of the real names, those on the pinned list are relaxed and a joined channel is strict', async () => {
    const { store } = begin(undefined);
    const account = 'ac'.repeat(16);
    const conversation = 'c0'.repeat(16);
    const nonce = new Uint8Array(12);
    const made = { account, profile: 'holdfast', nick: 'nick', relays: [], now: 1, nonce };
    await store.transact('createAccount', made);
    const begun = watchTransactions();
    await store.transact('joinChannel', { account, conversation, name: '#c', now: 1, nonce });
    await store.transact('putDraft', { account, conversation, text: 'draft', now: 2, nonce });
    await store.transact('markRead', { account, conversation, seq: 1 });
    expect([...relaxedWrites].sort()).toEqual(['markRead', 'putDraft']);
    expect(begun.map((one) => one.asked)).toEqual(['strict', 'relaxed', 'relaxed']);
  });
});

describe('success means that the transaction completed (BL-46)', () => {
  test('an abort after every put has succeeded rejects, and nothing is there', async () => {
    const { subject } = begin();
    await subject.write(row(1));
    let aborts = 2;
    const begun = watchTransactions(({ mode, transaction }) => {
      if (mode !== 'readwrite' || aborts === 0) return;
      aborts -= 1;
      abortAfterPut(transaction);
    });
    const answered = subject.run({ changes: [row(2)] });
    await expect(answered).rejects.toMatchObject({ name: 'StoreError', kind: 'storage' });
    expect(begun).toHaveLength(1);
    aborts = 0;
    const [rows] = await subject.look({ ask: 'rows', table: 'messages', range: { prefix: [] }, limit: 9 });
    expect(rows).toHaveLength(1);
  });

  test('a read whose transaction fails is a storage error', async () => {
    const { subject } = begin();
    await subject.write(row(1));
    watchTransactions(({ mode, transaction }) => {
      if (mode === 'readonly') queueMicrotask(() => transaction.abort());
    });
    const read = subject.look({ ask: 'get', table: 'meta', key: ['engine'] });
    await expect(read).rejects.toMatchObject({ name: 'StoreError', kind: 'storage' });
  });

  test('a call is answered only after the complete event', async () => {
    const { subject } = begin();
    await subject.write(row(1));
    const order: string[] = [];
    watchTransactions(({ transaction }) => {
      transaction.addEventListener('complete', () => order.push('complete'));
    });
    await subject.write(row(2)).then(() => order.push('answered'));
    expect(order).toEqual(['complete', 'answered']);
  });

  test('a batch that aborts once by itself is carried out one by one, each whole', async () => {
    const { subject } = begin();
    await subject.write(row(1));
    let aborts = 1;
    const begun = watchTransactions(({ mode, transaction }) => {
      if (mode !== 'readwrite' || aborts === 0) return;
      aborts -= 1;
      abortAfterPut(transaction);
    });
    const calls = [2, 3, 4].map((seq) => subject.call('add', { name: `${seq % 2}` }));
    expect((await Promise.all(calls)).map((one) => one.outcome)).toEqual([1, 1, 2]);
    expect(begun.map((one) => one.mode)).toEqual(['readwrite', 'readwrite', 'readwrite', 'readwrite']);
  });
});

/** Aborts as soon as a put of this transaction has succeeded; its commit is held back, or it would be too late. */
function abortAfterPut(transaction: IDBTransaction): void {
  transaction.commit = () => undefined;
  let aborted = false;
  const store = transaction.objectStore.bind(transaction);
  transaction.objectStore = (name) => {
    const opened = store(name);
    const original = opened.put.bind(opened);
    opened.put = (value, key) => {
      const request = key === undefined ? original(value) : original(value, key);
      request.addEventListener('success', () => {
        if (!aborted) transaction.abort();
        aborted = true;
      });
      return request;
    };
    return opened;
  };
}

describe('what happens while a transaction is open (BL-47)', () => {
  test('each transaction has a request open from its beginning to its end, whatever a script asks', async () => {
    const { subject } = begin();
    await subject.write(...[1, 2, 3, 4, 5, 6].map(row));
    const idle: string[] = [];
    watchTransactions(({ mode, transaction }) => watchIdle(mode, transaction, idle));
    const range = { prefix: [account, 'c'] };
    const ask = [{ ask: 'rows', table: 'messages', range: { ...range, reverse: true }, limit: 2 }] as const;
    const steps = [{ ask }, { part: [remove('messages', [account, 'c', 6])] }, { ask }, { ask }];
    await Promise.all([
      subject.run({ steps, changes: [row(9)] }),
      subject.run({ steps }),
      subject.call('add', { name: 'a' }),
    ]);
    await subject.look(...ask);
    expect(idle).toEqual(['readwrite: busy', 'readonly: busy']);
  });

  test('no key is opened, no lock taken, nothing fetched and no timer set before it completes', async () => {
    const { subject, store } = begin();
    await subject.write(row(1));
    let alive = 0;
    const met: string[] = [];
    watchTransactions(({ transaction }) => {
      alive += 1;
      transaction.addEventListener('complete', () => {
        alive -= 1;
      });
    });
    const watch = (where: object, name: string): void => {
      const original = (where as Record<string, (...args: unknown[]) => unknown>)[name];
      vi.spyOn(where as Record<string, () => unknown>, name).mockImplementation(function (
        this: unknown,
        ...args: unknown[]
      ) {
        if (alive > 0) met.push(name);
        return original?.apply(this, args);
      });
    };
    for (const name of ['decrypt', 'encrypt', 'digest', 'importKey', 'deriveBits', 'sign'])
      watch(SubtleCrypto.prototype, name);
    watch(LockManager.prototype, 'request');
    watch(globalThis, 'fetch');
    watch(globalThis, 'setTimeout');
    await Promise.all([subject.run({ changes: [row(2)] }), subject.call('needKey', {})]);
    await store.read('overview', {});
    expect(alive).toBe(0);
    expect(met).toEqual([]);
    await crypto.subtle.digest('SHA-256', new Uint8Array(1));
    alive = 1;
    await crypto.subtle.digest('SHA-256', new Uint8Array(1));
    expect(met).toEqual(['digest']);
  });
});

/** Notes whether a request was ever made after a task in which the transaction had none to wait for. */
function watchIdle(mode: IDBTransactionMode, transaction: IDBTransaction, notes: string[]): void {
  let open = 0;
  let ended = false;
  let wasIdle = false;
  let wentOn = false;
  const channel = new MessageChannel();
  const methods = ['get', 'getAll', 'getAllRecords', 'openCursor', 'put', 'delete'] as const;
  const count = (source: object): void => {
    for (const method of methods) {
      const original = (source as Record<string, unknown>)[method];
      if (typeof original !== 'function') continue;
      Object.defineProperty(source, method, {
        configurable: true,
        writable: true,
        value: (...args: unknown[]) => {
          const request: IDBRequest = original.apply(source, args);
          open += 1;
          wentOn ||= wasIdle;
          const settled = (): void => {
            open -= 1;
          };
          request.addEventListener('success', settled);
          request.addEventListener('error', settled);
          return request;
        },
      });
    }
  };
  const store = transaction.objectStore.bind(transaction);
  transaction.objectStore = (name) => {
    const opened = store(name);
    count(opened);
    return opened;
  };
  const commit = transaction.commit.bind(transaction);
  transaction.commit = () => {
    ended = true;
    commit();
  };
  transaction.addEventListener('complete', () => {
    ended = true;
    channel.port1.close();
    notes.push(`${mode}: ${wentOn ? 'idle' : 'busy'}`);
  });
  channel.port1.onmessage = () => {
    if (ended) return;
    if (open === 0) wasIdle = true;
    channel.port2.postMessage(null);
  };
  channel.port2.postMessage(null);
}

describe('a dead connection (BL-41)', () => {
  test('is opened again once, and the call that found it dead succeeds', async () => {
    const closed = vi.fn();
    const { name, subject } = begin(undefined, { onClosed: closed });
    const connections = watchConnections();
    await subject.write(row(1));
    expect(connections).toHaveLength(1);
    connections[0]?.close();
    await Promise.all([subject.write(row(2)), subject.write(row(3))]);
    connections[1]?.close();
    const [rows] = await subject.look({ ask: 'rows', table: 'messages', range: { prefix: [] }, limit: 9 });
    expect(rows).toHaveLength(3);
    expect(connections.map((one) => one.name)).toEqual([name, name, name]);
  });

  test('is given up when another realm deletes or upgrades, and the next call opens it again', async () => {
    const closed = vi.fn();
    const { name, subject } = begin(undefined, { onClosed: closed });
    await subject.write(row(1));
    await deleteDatabase(name);
    expect(closed).toHaveBeenCalledOnce();
    await subject.write(row(2));
    const [rows] = await subject.look({ ask: 'rows', table: 'messages', range: { prefix: [] }, limit: 9 });
    expect(rows).toMatchObject([{ seq: 2 }]);
  });

  test('that cannot be opened again is a storage error, and the call after it works', async () => {
    const { subject } = begin();
    const connections = watchConnections();
    await subject.write(row(1));
    connections[0]?.close();
    const opening = vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(() => {
      throw new DOMException('refused', 'UnknownError');
    });
    await expect(subject.write(row(2))).rejects.toMatchObject({ name: 'StoreError', kind: 'storage' });
    opening.mockRestore();
    await subject.write(row(3));
    const [rows] = await subject.look({ ask: 'rows', table: 'messages', range: { prefix: [] }, limit: 9 });
    expect(rows).toMatchObject([{ seq: 1 }, { seq: 3 }]);
  });
});

/** Every connection opened from now on. */
function watchConnections(): IDBDatabase[] {
  const connections: IDBDatabase[] = [];
  const original = IDBFactory.prototype.open;
  vi.spyOn(IDBFactory.prototype, 'open').mockImplementation(function (this: IDBFactory, name, version) {
    const request = original.call(this, name, version);
    request.addEventListener('success', () => connections.push(request.result));
    return request;
  });
  return connections;
}
