import { toHex } from '../../src/core/ids';
import { type Caller, DoorStore, newRequest } from '../../src/store/doors/door';
import { listenLooks } from '../../src/store/doors/looks';
import { MessageDoor } from '../../src/store/doors/message-door';
import { copyHead } from './fill';
import { type BenchMessage, type BenchTask, type RawPut, rawPutCall } from './protocol';

/**
 * Runs inside a page of the bench: the app's own clients of the store, timed from the call to its answer. Everything
 * exported is called from outside, by name.
 */

const caller: Caller = {
  build: 'bench',
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
};
const door = new MessageDoor(navigator.serviceWorker, navigator.locks, caller);
const store = new DoorStore(door, caller);
const hex = () => toHex(caller.randomBytes(16));
const nonce = () => caller.randomBytes(12);
/** As in the app, every page hears the signals. */
listenLooks(() => undefined);

/** Text of a message whose sealed body is about 1 kB. */
const text = 'Holdfast '.repeat(108).slice(0, 965);
const place = { account: hex(), conversation: hex() };
const account = (relays: readonly string[] = []) => ({
  account: place.account,
  profile: 'holdfast',
  nick: 'ana',
  relays,
  now: Date.now(),
  nonce: nonce(),
});
const channel = () => ({ ...place, name: '#bench', now: Date.now(), nonce: nonce() });
const message = (command = hex()) => ({
  ...place,
  command,
  profile: 'holdfast',
  body: { nick: 'ana', channel: '#bench', text },
  now: Date.now(),
  nonce: nonce(),
});

/** Registers the bench's worker and waits until this page is under its control. */
export async function connect(): Promise<void> {
  await navigator.serviceWorker.register('/bench/sw.js', { scope: '/bench/' });
  while (navigator.serviceWorker.controller === null) await new Promise((over) => setTimeout(over, 10));
}

/** Makes account and channel. */
export async function arrive(): Promise<void> {
  await store.transact('createAccount', account());
  await store.transact('joinChannel', channel());
}

/** Serial enqueues through the door, ms each. */
export function enqueues(count: number): Promise<number[]> {
  return timed(count, enqueue);
}

async function enqueue(): Promise<void> {
  const { outcome } = await store.transact('enqueue', message());
  if (outcome.kind !== 'queued') throw new Error(outcome.kind);
}

let rawId = 0;

/** Serial raw puts through the same door, ms each. */
export function rawPuts(count: number, bytes: number): Promise<number[]> {
  const body = caller.randomBytes(bytes);
  return timed(count, async () => {
    rawId += 1;
    const request = newRequest(caller, rawPutCall, { id: rawId, body } satisfies RawPut);
    const answer = await door.call(request, Date.now() + 5_000);
    if ('err' in answer) throw new Error(answer.err);
  });
}

/** Serial greetings, which the door answers without the store, ms each. */
export function hellos(count: number): Promise<number[]> {
  return timed(count, () => store.hello());
}

/** Enqueues so many at once; ms until all are answered. */
export async function burst(count: number): Promise<number> {
  const from = performance.now();
  await Promise.all(Array.from({ length: count }, enqueue));
  return performance.now() - from;
}

/** Enqueues inside the worker, without a door, ms each; into a database filled before when it is named. */
export function inner(count: number, database?: string): Promise<number[]> {
  const all = Array.from({ length: count }, () => message());
  return inside(database === undefined ? { task: 'enqueue', all } : { task: 'enqueue', all, database });
}

/** Raw puts inside the worker, ms each. */
export function innerRaw(count: number, bytes: number): Promise<number[]> {
  return inside({ task: 'raw', count, bytes });
}

/** Fills another database with queued messages. */
export function fill(database: string, count: number): Promise<void> {
  const first = { account: account(), channel: channel(), message: message() };
  return inside({ task: 'fill', database, count, ...first });
}

/** Reads of the head of such a database inside the worker, ms each. */
export function heads(database: string, count: number): Promise<number[]> {
  return inside({ task: 'heads', database, account: place.account, count });
}

/** Hashing and batch writes of so many events inside the worker, ms. */
export function rawCatchUp(count: number): Promise<number> {
  return inside({ task: 'catch-up', count });
}

/** In a page of the app: ms from naming the relay until so many messages of others stand in the channel. */
export async function catchUp(relay: string, count: number, patienceMs: number): Promise<number> {
  const from = performance.now();
  await store.transact('addRelay', { account: place.account, url: relay, now: Date.now() });
  for (;;) {
    const newest = await store.read('timeline', { ...place, limit: 1 });
    if (newest.messages.at(-1)?.seq === count) return performance.now() - from;
    if (performance.now() > from + patienceMs) throw new Error(`only ${newest.messages.at(-1)?.seq} came`);
    await new Promise((over) => setTimeout(over, 25));
  }
}

async function timed(count: number, call: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let nth = 0; nth < count; nth++) {
    const from = performance.now();
    await call();
    samples.push(performance.now() - from);
  }
  return samples;
}

function inside<T>(bench: BenchTask): Promise<T> {
  return new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<{ answer: T } | { error: string }>) => {
      port1.close();
      if ('error' in data) reject(new Error(data.error));
      else resolve(data.answer);
    };
    navigator.serviceWorker.controller?.postMessage({ bench } satisfies BenchMessage, [port2]);
  });
}

/** In a page of the app: queues so many messages while the account knows no relay. */
export async function queue(count: number): Promise<void> {
  await arrive();
  await Promise.all(Array.from({ length: count }, enqueue));
}

/** In a page of the app: a queue of so many copies of one message, and a relay to send them to. */
export async function fillQueue(count: number, relay: string): Promise<void> {
  await arrive();
  await enqueue();
  await copyHead('holdfast', count);
  await store.transact('addRelay', { account: place.account, url: relay, now: Date.now() });
}

/** Whether no engine holds a claim on the head any more, so that the next one may send it at once. */
export async function headIsFree(): Promise<boolean> {
  const { account } = await store.read('overview', {});
  const head = account && (await store.read('head', { account: account.account }));
  return head?.operation?.intents.every((intent) => intent.state !== 'leased') ?? false;
}

/**
 * Queues so many more, drains them and forgets the relay; ms from one acknowledgement to the next, on average of those
 * after the first ones.
 */
export async function drainAgain(
  relay: string,
  count: number,
  skipped: number,
  patienceMs: number,
): Promise<number> {
  await Promise.all(Array.from({ length: count }, enqueue));
  const times = (await drain(relay, patienceMs)).slice(skipped - count);
  await store.transact('removeRelay', { account: place.account, url: relay, now: Date.now() });
  return ((times.at(-1) ?? Number.NaN) - (times[0] ?? Number.NaN)) / (times.length - 1);
}

/**
 * Names the relay and waits until the lane is empty. Gives when each message was accepted, ms after the relay was
 * named, in the order of the lane.
 */
export async function drain(relay: string, patienceMs: number): Promise<number[]> {
  const from = Date.now();
  await store.transact('addRelay', { account: place.account, url: relay, now: from });
  for (;;) {
    const { waiting } = await store.read('overview', {});
    if (waiting === 0) break;
    if (Date.now() > from + patienceMs) throw new Error(`${waiting} messages still wait`);
    await new Promise((over) => setTimeout(over, 100));
  }
  const times: number[] = [];
  let before: number | undefined;
  for (;;) {
    const args = { ...place, limit: 100, ...(before === undefined ? {} : { before }) };
    const page = await store.read('timeline', args);
    const accepted = page.messages.map(({ operation }) =>
      operation?.intents.find((intent) => intent.state === 'accepted'),
    );
    times.unshift(...accepted.flatMap((intent) => (intent === undefined ? [] : [intent.at - from])));
    before = page.messages[0]?.seq;
    if (before === undefined) return times;
  }
}
