import type { Tab } from '../app/kit/tab';
import type { Room } from './room';
import { comparisonRow, measuredRow, type Row } from './rows';
import { inTurn, median, type Pairs, type Run } from './statistics';

/** Pairs of one comparison. */
const pairs = 25;
/** Calls of one run, of which the run's figure is the median. */
const calls = 20;
/** Bytes of a raw row: what the sealed body of the messages here takes. */
const bodyBytes = 1_024;
const burstSize = 1_000;
const headReads = 40;

const byMedian = (samples: number[]): Run => ({ figure: median(samples), samples });
const perSecond = (count: number, ms: number): Run => ({ figure: (count * 1_000) / ms, samples: [] });

/** A tab of the bench's own worker, which is in control of it. */
export async function connected(room: Room): Promise<Tab> {
  const tab = await room.benchTab();
  await tab.evaluate(() => bench.connect());
  return tab;
}

/** Enqueue one by one and at once, each against raw strict puts, through the door of a page. */
export async function enqueueRows(room: Room): Promise<Row[]> {
  const tab = await connected(room);
  await tab.evaluate(() => bench.arrive());
  const enqueues = () => tab.evaluate((n) => bench.enqueues(n), calls).then(byMedian);
  const raws = () => tab.evaluate((n, bytes) => bench.rawPuts(n, bytes), calls, bodyBytes).then(byMedian);
  // The first calls compile the scripts and open the databases.
  for (let warm = 0; warm < 3; warm++) await Promise.all([enqueues(), raws()]);
  const parts = await partsOf(tab);
  const single = await inTurn(pairs, enqueues, raws);
  const burst = await inTurn(
    pairs,
    () => tab.evaluate((n) => bench.burst(n), burstSize).then((ms) => perSecond(burstSize, ms)),
    () =>
      tab
        .evaluate((n, bytes) => bench.rawPuts(n, bytes), burstSize / 5, bodyBytes)
        .then((all) =>
          perSecond(
            all.length,
            all.reduce((sum, ms) => sum + ms, 0),
          ),
        ),
  );
  const door = parts.door.flatMap(({ samples }) => samples);
  const inside = parts.inside.baseline.flatMap(({ samples }) => samples);
  const sum = median(door) + median(inside);
  await tab.close();
  return [
    comparisonRow({
      row: 'one enqueue, against one raw put through the same door',
      unit: 'ms',
      pairs: single,
      target: 1.5,
      durability: 'strict',
      parts: sum,
    }),
    comparisonRow({
      row: 'burst of 1,000 enqueues, against serial raw puts through the same door',
      unit: '/s',
      pairs: burst,
      target: 4,
      durability: 'strict',
    }),
    measuredRow('the door alone: a greeting', 'ms', parts.door, null),
    comparisonRow({
      row: 'one enqueue inside the worker, against one raw put there',
      unit: 'ms',
      pairs: parts.inside,
      target: null,
      durability: 'strict',
    }),
  ];
}

/** What a call is made of: the way there and back, and the work behind the door. */
async function partsOf(tab: Tab): Promise<{ readonly door: readonly Run[]; readonly inside: Pairs }> {
  const door: Run[] = [];
  for (let at = 0; at < pairs; at++) {
    door.push(await tab.evaluate((n) => bench.hellos(n), calls).then(byMedian));
  }
  const inside = await inTurn(
    pairs,
    () => tab.evaluate((n) => bench.inner(n), calls).then(byMedian),
    () => tab.evaluate((n, bytes) => bench.innerRaw(n, bytes), calls, bodyBytes).then(byMedian),
  );
  return { door, inside };
}

/** What is done where few and where many messages are queued: reads of the head, and enqueues. */
export async function queuedRows(room: Room): Promise<Row[]> {
  const tab = await connected(room);
  const few = { name: 'bench-few', queued: 100 };
  const many = { name: 'bench-many', queued: 100_000 };
  for (const { name, queued } of [few, many]) {
    await tab.evaluate((database, count) => bench.fill(database, count), name, queued);
  }
  const read = (name: string) => () =>
    tab.evaluate((database, count) => bench.heads(database, count), name, headReads).then(byMedian);
  for (const { name } of [few, many]) await read(name)();
  const heads = comparisonRow({
    row: '1,000 reads of the head with 100,000 queued, against 100 queued',
    unit: 'ms',
    pairs: await inTurn(1_000 / headReads, read(many.name), read(few.name)),
    target: 1.5,
    durability: null,
  });
  // Each run leaves its messages: the short queue grows to some hundreds, which is short all the same.
  const enqueue = (name: string) => () =>
    tab.evaluate((database, count) => bench.inner(count, database), name, calls).then(byMedian);
  for (const { name } of [few, many]) await enqueue(name)();
  const enqueues = comparisonRow({
    row: 'one enqueue with 100,000 queued, against 100 queued',
    unit: 'ms',
    pairs: await inTurn(pairs, enqueue(many.name), enqueue(few.name)),
    target: 1.2,
    durability: 'strict',
  });
  await tab.close();
  return [heads, enqueues];
}
