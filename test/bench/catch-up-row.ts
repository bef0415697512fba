import { Relay } from '../app/kit/relay';
import type { Tab } from '../app/kit/tab';
import { TestPeer } from '../fixtures/peer';
import { chain } from './catch-up';
import type { Room } from './room';
import { comparisonRow, type Row } from './rows';
import { inTurn, pairsMin, type Run } from './statistics';
import { connected } from './store-rows';

/** Events a client has missed; each says something in the channel it is in. */
const events = 10_000;
const patienceMs = 120_000;

/** The relay takes them all at once, from one peer. */
const open = '[limits]\nevents_per_minute = 1000000\nbytes_per_minute = 1000000000';

/**
 * A client that comes to a relay full of events it lacks, against hashing as many and writing their rows into equal
 * tables, as many a strict transaction as an answer of the relay holds.
 */
export async function catchUpRows(room: Room): Promise<Row[]> {
  const relay = await Relay.start({ more: open });
  try {
    await fill(relay);
    const raw = await connected(room);
    const baseline = async (): Promise<Run> =>
      perSecond(await raw.evaluate((n) => bench.rawCatchUp(n), events));
    const caughtUp = async (): Promise<Run> => perSecond(await catchUp(room, relay));
    await caughtUp();
    await baseline();
    const pairs = await inTurn(pairsMin, caughtUp, baseline);
    await raw.close();
    return [
      comparisonRow({
        row: 'catch-up of 10,000 events by a client, against hashing them and writing equal rows in batches',
        unit: '/s',
        pairs,
        target: 0.4,
        durability: 'strict',
      }),
    ];
  } finally {
    await relay.dispose();
  }
}

const perSecond = (ms: number): Run => ({ figure: (events * 1_000) / ms, samples: [] });

async function fill(relay: Relay): Promise<void> {
  const peer = await TestPeer.connect(relay.url);
  const all = chain(events, Date.now());
  for (const { event } of all) peer.say({ say: 'put', event, blob: new Uint8Array(0) });
  await peer.next('status', (status) => status.id === all.at(-1)?.id);
  peer.close();
}

/** Milliseconds from naming the relay until every message stands in its channel, in an app that was never used. */
async function catchUp(room: Room, relay: Relay): Promise<number> {
  const origin = await room.origin();
  const tab: Tab = await origin.open();
  await tab.waitFor('control by the service worker', () => navigator.serviceWorker.controller !== null);
  await tab.evaluate(() => bench.arrive());
  const took = await tab.evaluate((url, n, ms) => bench.catchUp(url, n, ms), relay.url, events, patienceMs);
  await tab.close();
  await origin.close();
  return took;
}
