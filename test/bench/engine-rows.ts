import { commands } from '../../src/core/wire/commands';
import { Relay } from '../app/kit/relay';
import type { Tab } from '../app/kit/tab';
import { Tap } from '../app/kit/tap';
import { until } from '../app/kit/until';
import type { Origin, Room } from './room';
import { roundTrips } from './round-trips';
import { comparisonRow, heapRow, type Row } from './rows';
import { inTurn, median, pairsMin, type Run } from './statistics';
import { connected } from './store-rows';

/**
 * Messages of one drain, which stay under what a relay takes from one link in a minute, and how many of them come
 * first and are not counted: beside those the link that has just begun asks for the tips of every slot.
 */
const drained = 60;
const first = 20;
const patienceMs = 60_000;
/** Round trips, and raw puts, of one run of the baseline; under the same bound. */
const calls = 10;
const bodyBytes = 1_024;

/** Takes the port lane from the engine before the app begins: what is left to it is the fetch door. */
const withoutLane = `
const post = ServiceWorker.prototype.postMessage;
ServiceWorker.prototype.postMessage = function (message, ...rest) {
  if (message?.holdfast !== 'lane') post.call(this, message, ...rest);
};`;

/**
 * A drained message over either way of the engine to its store, against what it cannot do without: one round trip to
 * the relay, and two strict transactions.
 */
export async function drainedRows(room: Room): Promise<Row[]> {
  const raw = await connected(room);
  const lane = await drainedRow(room, raw, { way: 'the port lane', target: 1.5 });
  const fetched = await drainedRow(room, raw, { way: 'fetch', target: null, early: withoutLane });
  await raw.close();
  return [lane, fetched];
}

interface Way {
  readonly way: string;
  readonly target: number | null;
  readonly early?: string;
}

async function drainedRow(room: Room, raw: Tab, { way, target, early }: Way): Promise<Row> {
  const [relay, other] = [await Relay.start(), await Relay.start()];
  try {
    const trips = await roundTrips(other.url);
    const tab = await arrivedTab(await room.origin(), early);
    const baseline = async (): Promise<Run> => {
      const puts = await raw.evaluate((n, bytes) => bench.innerRaw(n, bytes), calls, bodyBytes);
      return { figure: median(await trips.measure(calls)) + 2 * median(puts), samples: [] };
    };
    const drain = async (): Promise<Run> => ({
      figure: await tab.evaluate(
        (url, count, skipped, ms) => bench.drainAgain(url, count, skipped, ms),
        relay.url,
        drained,
        first,
        patienceMs,
      ),
      samples: [],
    });
    await drain();
    await baseline();
    const pairs = await inTurn(pairsMin, drain, baseline);
    trips.close();
    await tab.close();
    const row = `one drained message over ${way}, against a relay round trip and two raw strict puts`;
    return comparisonRow({ row, unit: 'ms', pairs, target, durability: 'strict' });
  } finally {
    await relay.dispose();
    await other.dispose();
  }
}

async function arrivedTab(origin: Origin, early: string | undefined): Promise<Tab> {
  const tab = await origin.open(early);
  await tab.waitFor('control by the service worker', () => navigator.serviceWorker.controller !== null);
  await tab.evaluate(() => bench.arrive());
  return tab;
}

/** What an engine takes to begin, and to hold, where few and where many messages are queued. */
export async function restartRows(room: Room): Promise<Row[]> {
  const relay = await Relay.start();
  const tap = await Tap.open(relay.url);
  try {
    const [few, many] = [await queuedOrigin(room, tap, 100), await queuedOrigin(room, tap, 100_000)];
    const heaps = { few: [] as number[], many: [] as number[] };
    const start = (origin: Origin, heap: number[]) => () => restarted(origin, tap, heap);
    for (const origin of [few, many]) await restarted(origin, tap, []);
    const pairs = await inTurn(pairsMin, start(many, heaps.many), start(few, heaps.few));
    return [
      comparisonRow({
        row: 'engine restart to first send with 100,000 queued, against 100 queued',
        unit: 'ms',
        pairs,
        target: 2,
        durability: null,
      }),
      heapRow(
        'heap of the engine at its first send with 100,000 queued, against 100 queued',
        heaps.many,
        heaps.few,
      ),
    ];
  } finally {
    await tap.close();
    await relay.dispose();
  }
}

async function queuedOrigin(room: Room, tap: Tap, count: number): Promise<Origin> {
  await tap.cut();
  const origin = await room.origin();
  const tab = await origin.open();
  await tab.waitFor('control by the service worker', () => navigator.serviceWorker.controller !== null);
  await tab.evaluate((n, url) => bench.fillQueue(n, url), count, tap.url);
  await ended(origin, tab);
  return origin;
}

/**
 * From opening the app to its first event at the tap, which goes no further, so that the queue stays as long as it is.
 * The link then ends while the engine lives: the next one finds the head free and need not wait for a lease.
 */
async function restarted(origin: Origin, tap: Tap, heap: number[]): Promise<Run> {
  const hold = tap.hold('relay', ({ command }) => command === commands.eventPut);
  await tap.restore();
  const from = Date.now();
  const tab = await origin.open();
  const first = await hold.caught;
  heap.push(await origin.heap());
  await tap.cut();
  hold.release();
  await tab.waitFor('the claim to be released', () => bench.headIsFree());
  await ended(origin, tab);
  return { figure: first.at - from, samples: [] };
}

/** Closes the only tab of an origin and waits until its engine is gone with it. */
async function ended(origin: Origin, tab: Tab): Promise<void> {
  await tab.close();
  await until('the engine to end', async () => !(await origin.hasEngine()));
}
