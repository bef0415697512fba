import { openDB } from 'idb';
import type { Outcome } from '../../src/core/transactions/registry';
import { lookSender } from '../../src/store/doors/looks';
import { makeDatabase } from '../../sw/database';
import { onStoreMessage } from '../../sw/doors';
import { makeInstance } from '../../sw/instance';
import { type NamedStore, Server } from '../../sw/server';
import { copyHead } from './fill';
import { type BenchMessage, type BenchTask, type RawPut, rawPutCall } from './protocol';

/** The part of a service worker's realm that is used here. */
interface Scope {
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate' | 'message', listener: (event: WorkerEvent) => void): void;
}

interface WorkerEvent extends MessageEvent {
  waitUntil(work: Promise<unknown>): void;
}

/**
 * The app's store and doors as sw.js composes them, without the shell, and beside every script one call that only
 * puts a row. It is never part of the app.
 */
const scope = self as unknown as Scope;
const rawStore = 'rows';
const databases = new Map<string, NamedStore>();
const database = (name: string): NamedStore => {
  const known = databases.get(name) ?? makeDatabase(name);
  databases.set(name, known);
  return known;
};
const main = database('bench');

let raw: ReturnType<typeof openRaw> | undefined;
function openRaw() {
  return openDB('bench-raw', 1, {
    upgrade: (upgrading) => void upgrading.createObjectStore(rawStore, { keyPath: 'id' }),
  });
}

async function rawPut(row: RawPut): Promise<void> {
  raw ??= openRaw();
  const transaction = (await raw).transaction(rawStore, 'readwrite', { durability: 'strict' });
  void transaction.store.put(row);
  transaction.commit();
  await transaction.done;
}

const server = new Server({
  instance: makeInstance(),
  build: 'bench',
  store: {
    open: () => main.open(),
    kindOf: (name) => (name === rawPutCall ? 'write' : main.kindOf(name)),
    async write(name, args, term) {
      if (name !== rawPutCall) return main.write(name, args, term);
      await rawPut(args as RawPut);
      return { outcome: null, effects: [] };
    },
    read: (name, args) => main.read(name, args),
  },
  announce: lookSender(),
  claim: () => scope.clients.claim(),
  greeted: async () => undefined,
  now: Date.now,
});

scope.addEventListener('install', (event) => event.waitUntil(scope.skipWaiting()));
scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()));
scope.addEventListener('message', (event) => {
  if (onStoreMessage(server, event as Parameters<typeof onStoreMessage>[1])) return;
  const [port] = event.ports;
  const answered = perform((event.data as BenchMessage).bench).then(
    (answer) => port?.postMessage({ answer }),
    (error: unknown) => port?.postMessage({ error: String(error) }),
  );
  event.waitUntil(answered);
});

async function perform(task: BenchTask): Promise<unknown> {
  switch (task.task) {
    case 'raw': {
      const body = crypto.getRandomValues(new Uint8Array(task.bytes));
      return timed(task.count, (nth) => rawPut({ id: -1 - nth, body }));
    }
    case 'enqueue':
      return enqueueAll(task.database === undefined ? main : database(task.database), task.all);
    case 'fill':
      return fill(task);
    case 'heads': {
      const store = database(task.database);
      return timed(task.count, () => store.read('head', { account: task.account }));
    }
  }
}

/** Times enqueues, each of which has to be kept. */
function enqueueAll(store: NamedStore, all: readonly object[]): Promise<number[]> {
  return timed(all.length, async (nth) => {
    const { outcome } = await store.write('enqueue', all[nth], undefined);
    const { kind } = outcome as Outcome<'enqueue'>;
    if (kind !== 'queued') throw new Error(kind);
  });
}

/** Milliseconds each of `count` serial calls took. */
async function timed(count: number, call: (nth: number) => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let nth = 0; nth < count; nth++) {
    const from = performance.now();
    await call(nth);
    samples.push(performance.now() - from);
  }
  return samples;
}

/** Makes one message by the scripts and copies its row, sealed body and all, to the wanted length of the lane. */
async function fill(task: BenchTask & { readonly task: 'fill' }): Promise<void> {
  const store = database(task.database);
  await store.write('createAccount', task.account, undefined);
  await store.write('joinChannel', task.channel, undefined);
  await store.write('enqueue', task.message, undefined);
  await copyHead(task.database, task.count);
}
