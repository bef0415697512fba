import { openDB } from 'idb';
import { limits } from '../../src/core/limits';
import { tables } from '../../src/core/tables';
import type { Outcome } from '../../src/core/transactions/registry';
import { contentHash, decodeEvent, eventId } from '../../src/core/wire/event';
import { lookSender } from '../../src/store/doors/looks';
import { makeDatabase } from '../../sw/database';
import { onStoreMessage } from '../../sw/doors';
import { makeInstance } from '../../sw/instance';
import { type NamedStore, Server } from '../../sw/server';
import { chain } from './catch-up';
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
    case 'catch-up':
      return catchUp(task.count);
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

const caughtUp = ['events', 'messages'] as const;
let missed: ReturnType<typeof chain> | undefined;

/**
 * Milliseconds to hash so many events, header and content, and to put a row of each into tables with the keys and
 * indexes of ours: one for the graph and one for the conversation, a batch as large as an answer of a relay.
 */
async function catchUp(count: number): Promise<number> {
  missed ??= chain(count, Date.now());
  const connection = await openDB('bench-catch-up', 1, {
    upgrade(upgrading) {
      for (const name of caughtUp) {
        const store = upgrading.createObjectStore(name, { keyPath: [...tables[name].key] });
        for (const [index, path] of Object.entries(tables[name].indexes)) store.createIndex(index, [...path]);
      }
    },
  });
  for (const name of caughtUp) await connection.clear(name);
  const from = performance.now();
  for (let at = 0; at < missed.length; at += limits.eventReplyEventsMax) {
    const batch = missed.slice(at, at + limits.eventReplyEventsMax).map(({ event }) => {
      const { header, content } = decodeEvent(event);
      contentHash(content);
      return { id: eventId(header), layer: Number(header.layer), event, content };
    });
    const transaction = connection.transaction(caughtUp, 'readwrite', { durability: 'strict' });
    for (const { id, layer, event, content } of batch) {
      const row = { account: 'a', id, slot: 0, layer, time: 0, event, blob: noBlob, own: false, covers: 0 };
      void transaction.objectStore('events').put(row);
      const said = { account: 'a', conversation: 'c', seq: layer, logical: id, at: 0, own: false };
      void transaction.objectStore('messages').put({ ...said, body: content, event: id, time: 0 });
    }
    transaction.commit();
    await transaction.done;
  }
  const took = performance.now() - from;
  connection.close();
  return took;
}

const noBlob = new Uint8Array(0);
