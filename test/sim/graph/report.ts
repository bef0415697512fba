import { shrink } from '../plan';
import { type GraphPlan, graphPlanOf } from './plan';
import { type GraphResult, runGraph } from './run';

/** Which runs one worker takes. */
interface GraphShare {
  readonly seed: string;
  readonly from: number;
  readonly runs: number;
  readonly at: number;
  readonly of: number;
}

/** What the runs of one worker showed; plain data, for it crosses a thread. */
export interface GraphTally {
  readonly steps: number[];
  readonly hashes: string[];
  readonly healedMs: number[];
  readonly faults: Record<string, number>;
  readonly breaches: Record<string, number>;
  readonly said: Record<string, number>;
  readonly endings: Record<string, number>;
  readonly failedSeeds: string[];
  accepted: number;
  recreated: number;
  events: number;
  rotations: number;
  forgotten: number;
}

/** So many runs show each fault. */
const runsOfAllFaults = 1_000;
const reportedMax = 3;

/** Every fault a plan of the graph may hold, by the name it is counted under. */
const graphFaults: readonly string[] = [
  'abort',
  'answer-lost',
  'bad-empty-content',
  'bad-foreign-genesis',
  'bad-invented-parents',
  'bad-layer-absurd',
  'bad-layer-jump',
  'bad-no-parent',
  'bad-old-slot',
  'bad-other-slot-parent',
  'bad-parent-twice',
  'bad-time-absurd',
  'bad-time-future',
  'bad-wrong-hash',
  'browser-death',
  'call-copied',
  'call-refused',
  'clock-set',
  'crash',
  'cut',
  'dial-silent',
  'end',
  'fill',
  'frame-slow',
  'full',
  'half-open',
  'healed-by-none',
  'healed-by-reconnect',
  'healed-by-restart',
  'late-frame',
  'late-join',
  'liar-sent-away',
  'lie-bodies-altered',
  'lie-bodies-unasked',
  'lie-bodies-withheld',
  'lie-has',
  'lie-headers-invented',
  'lie-headers-looped',
  'lie-headers-repeated',
  'lie-headers-withheld',
  'lie-nack',
  'lie-put-answer',
  'lie-put-bad',
  'lie-put-bad-many',
  'lie-put-good',
  'lie-put-half',
  'lie-put-orphan',
  'lie-put-replay',
  'lie-put-status',
  'lie-silent',
  'lie-tips-invented',
  'lie-tips-unanswered',
  'lie-tips-withheld',
  'lie-too-old',
  'lie-untold',
  'look-lost',
  'look-repeated',
  'night',
  'quota',
  'read-refused',
  'relay-crash',
  'send',
  'sent-away-no answer',
  'sent-away-no pong',
  'sent-away-strikes',
  'silence',
  'slow',
  'split',
  'store-full',
  'sync-broken',
  'sync-full',
  'sync-incomplete',
  'sync-left',
];

/** Runs one share of the seeds. */
export async function tallyGraph(share: GraphShare): Promise<GraphTally> {
  const tally: GraphTally = {
    steps: [],
    hashes: [],
    healedMs: [],
    faults: {},
    breaches: {},
    said: {},
    endings: {},
    failedSeeds: [],
    accepted: 0,
    recreated: 0,
    events: 0,
    rotations: 0,
    forgotten: 0,
  };
  for (let nth = share.at; nth < share.runs; nth += share.of) {
    const seed = `${share.seed}.${share.from + nth}`;
    count(tally, seed, await runGraph(graphPlanOf(seed)));
  }
  return tally;
}

function count(tally: GraphTally, seed: string, result: GraphResult): void {
  tally.steps.push(result.steps);
  tally.hashes.push(result.hash);
  tally.healedMs.push(result.healedMs);
  add(tally.faults, result.faults);
  add(tally.said, result.said);
  add(tally.endings, result.endings);
  tally.accepted += result.accepted;
  tally.recreated += result.recreated;
  tally.events += result.events;
  tally.rotations += result.rotations;
  tally.forgotten += result.forgotten;
  if (result.breaches.length === 0) return;
  tally.failedSeeds.push(seed);
  console.error(`${seed} ${result.breaches[0]?.kind}: ${result.breaches[0]?.what}`);
  // A run counts once for each kind of breach it shows.
  add(tally.breaches, new Map(result.breaches.map(({ kind }) => [kind, 1])));
}

function add(total: Record<string, number>, more: Iterable<readonly [string, number]>): void {
  for (const [kind, many] of more) total[kind] = (total[kind] ?? 0) + many;
}

/** Prints what all workers found. True when there was no breach, and every fault where there were runs enough. */
export async function reportGraph(
  tallies: readonly GraphTally[],
  options: { readonly runs: number; readonly json: boolean },
  seconds: number,
): Promise<boolean> {
  const summed = (of: (one: GraphTally) => Readonly<Record<string, number>>): Record<string, number> => {
    const total: Record<string, number> = {};
    for (const one of tallies) add(total, Object.entries(of(one)));
    return Object.fromEntries(Object.entries(total).sort(([left], [right]) => (left < right ? -1 : 1)));
  };
  const sum = (of: (one: GraphTally) => number): number => tallies.reduce((total, one) => total + of(one), 0);
  const sorted = (of: (one: GraphTally) => readonly number[]): readonly number[] =>
    tallies.flatMap(of).sort((left, right) => left - right);
  const steps = sorted((one) => one.steps);
  const healed = sorted((one) => one.healedMs);
  const breaches = summed((one) => one.breaches);
  const faults = summed((one) => ({
    ...Object.fromEntries(graphFaults.map((kind) => [kind, 0])),
    ...one.faults,
  }));
  const unseen = options.runs < runsOfAllFaults ? [] : graphFaults.filter((kind) => faults[kind] === 0);
  const summary = {
    graphRuns: options.runs,
    steps: steps.reduce((total, one) => total + one, 0),
    medianSteps: steps[steps.length >> 1] ?? 0,
    distinctTraces: new Set(tallies.flatMap((one) => one.hashes)).size,
    accepted: sum((one) => one.accepted),
    recreated: sum((one) => one.recreated),
    events: sum((one) => one.events),
    rotations: sum((one) => one.rotations),
    forgotten: sum((one) => one.forgotten),
    medianHealedMs: healed[healed.length >> 1] ?? 0,
    mostHealedMs: healed.at(-1) ?? 0,
    said: summed((one) => one.said),
    endings: summed((one) => one.endings),
    breaches,
    faults,
    unseen,
    seconds,
  };
  console.log(options.json ? JSON.stringify(summary) : JSON.stringify(summary, undefined, 2));
  const failed = tallies.flatMap((one) => one.failedSeeds);
  for (const seed of failed.slice(0, reportedMax)) await explain(graphPlanOf(seed));
  if (failed.length > reportedMax)
    console.error(`\nand ${failed.length - reportedMax} more seeds: ${failed.join(' ')}`);
  return failed.length === 0 && unseen.length === 0;
}

/** Prints what is needed to see a failure again: the smallest plan that fails, and the last steps. */
async function explain(plan: GraphPlan): Promise<void> {
  const smallest = await shrink(plan, async (smaller) => (await runGraph(smaller)).breaches.length > 0);
  const { breaches, trace } = await runGraph(smallest);
  const found = breaches.map(({ kind, what }) => `${kind}: ${what}`);
  console.error(
    `\nseed ${plan.seed}\nplan ${JSON.stringify(smallest)}\n${[...found, ...trace.slice(-20)].join('\n')}`,
  );
}
