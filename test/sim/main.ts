import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { crashPoints } from './crash';
import { type GraphTally, reportGraph, tallyGraph } from './graph/report';
import { planOf, shrink } from './plan';
import { type Result, run } from './run';
import { type Sweep, sweep, sweepPairs, unvisited } from './sweep';

interface Share {
  readonly seed: string;
  readonly from: number;
  readonly runs: number;
  readonly at: number;
  readonly of: number;
  /** Sweep over pairs of crashes too. */
  readonly pairs: boolean;
  /** Runs of ten peers and their graph instead. */
  readonly graph: boolean;
}

/** What the pairs of crashes of one worker showed. */
interface PairTally {
  runs: number;
  both: number;
  fired: readonly string[];
  seconds: number;
}

/** What the runs of one worker showed; plain data, for it crosses a thread. */
interface Tally {
  pairs?: PairTally;
  swept: number;
  readonly steps: number[];
  readonly hashes: string[];
  readonly faults: Record<string, number>;
  readonly fired: string[];
  readonly breaches: Record<string, number>;
  readonly failedSeeds: string[];
  readonly failedSweeps: string[];
}

const sweepVisits = 1;
const reportedMax = 3;
/** So many runs of chance show each fault; and who asks for so many wants all there is. */
const runsOfAllFaults = 2_000;
/** Young objects of a run live as long as the run: with little room for them they would be copied again and again. */
const youngMegabytes = 64;
/** Every fault a plan of chance may hold, by the name it is counted under. */
const faultKinds = [
  'abort',
  'answer-lost',
  'begun-again',
  'browser-death',
  'call-copied',
  'call-refused',
  'clock-set',
  'crash',
  'cut',
  'dial-silent',
  'end-browser',
  'end-engine',
  'end-relay',
  'end-store',
  'end-tab',
  'engine-death',
  'full',
  'half-open',
  'hand',
  'hand-dropped',
  'hand-edited',
  'hand-retried',
  'hand-undone',
  'late-frame',
  'late-frames',
  'look-lost',
  'look-repeated',
  'nudge',
  'outbox-full',
  'part',
  'part-relays',
  'quota',
  'read-refused',
  'relaxed-lost',
  'relay-busy',
  'relay-crash',
  'second-engine',
  'silence',
  'status-lost',
  'status-repeated',
  'tab-death',
];

async function tallyOf(share: Share): Promise<Tally> {
  const tally: Tally = {
    swept: 0,
    steps: [],
    hashes: [],
    faults: {},
    fired: [],
    breaches: {},
    failedSeeds: [],
    failedSweeps: [],
  };
  const fired = new Set<string>();
  const swept = await sweep(sweepVisits, {}, share);
  tally.swept = swept.runs;
  for (const point of swept.fired) fired.add(point);
  countSweep(tally, swept);
  if (share.pairs) tally.pairs = await pairsOf(share, tally);
  for (let nth = share.at; nth < share.runs; nth += share.of) {
    const seed = seedOf(share, nth);
    const result = await run(planOf(seed));
    tally.steps.push(result.steps);
    tally.hashes.push(result.hash);
    for (const [kind, count] of result.faults) tally.faults[kind] = (tally.faults[kind] ?? 0) + count;
    for (const point of result.fired) fired.add(point);
    if (result.breaches.length > 0) tally.failedSeeds.push(seed);
    countBreaches(tally, result);
  }
  tally.fired.push(...fired);
  return tally;
}

async function pairsOf(share: Share, tally: Tally): Promise<PairTally> {
  const begun = Date.now();
  const swept = await sweepPairs(share);
  countSweep(tally, swept);
  return { runs: swept.runs, both: swept.both, fired: [...swept.fired], seconds: secondsSince(begun) };
}

function secondsSince(begun: number): number {
  return Math.round((Date.now() - begun) / 100) / 10;
}

function countSweep(tally: Tally, swept: Sweep): void {
  for (const result of swept.failed) {
    countBreaches(tally, result);
    tally.failedSweeps.push(`${JSON.stringify(result.plan)}\n${report(result)}`);
  }
}

function seedOf(share: { readonly seed: string; readonly from: number }, nth: number): string {
  return `${share.seed}.${share.from + nth}`;
}

/** A run counts once for each kind of breach it shows. */
function countBreaches(tally: Tally, result: Result): void {
  for (const kind of new Set(result.breaches.map((breach) => breach.kind))) {
    tally.breaches[kind] = (tally.breaches[kind] ?? 0) + 1;
  }
}

function report(result: Result): string {
  return [...result.breaches.map(({ kind, what }) => `${kind}: ${what}`), ...result.trace.slice(-20)].join(
    '\n',
  );
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

/** Prints what is needed to see a failure again: seed, commit, the smallest plan that fails, the last steps. */
async function explain(seed: string): Promise<void> {
  const plan = await shrink(planOf(seed), async (smaller) => (await run(smaller)).breaches.length > 0);
  const result = await run(plan);
  console.error(`\nseed ${seed} at commit ${commit()}\nplan ${JSON.stringify(plan)}\n${report(result)}`);
}

function parse(): Omit<Share, 'at' | 'of'> & { readonly json: boolean } {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '200' },
      seed: { type: 'string', default: 'holdfast' },
      from: { type: 'string', default: '0' },
      json: { type: 'boolean', default: false },
      pairs: { type: 'boolean', default: false },
      graph: { type: 'boolean', default: false },
    },
  });
  const runs = Number(values.runs);
  const from = Number(values.from);
  if (!Number.isSafeInteger(runs) || runs < 1 || !Number.isSafeInteger(from) || from < 0) {
    console.error('Usage: npm run sim -- [--runs N] [--seed TEXT] [--from N] [--pairs] [--graph] [--json]');
    process.exit(2);
  }
  const { seed, json, graph } = values;
  return { seed, from, runs, json, graph, pairs: values.pairs || runs >= runsOfAllFaults };
}

function shareOut<T>(share: Omit<Share, 'at' | 'of'>): Promise<readonly T[]> {
  const of = Math.max(1, Math.min(availableParallelism(), 8));
  return Promise.all(
    Array.from({ length: of }, (_, at) => {
      const worker = new Worker(process.argv[1] as string, {
        workerData: { ...share, at, of },
        resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
      });
      return new Promise<T>((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
    }),
  );
}

interface PairSummary {
  readonly runs: number;
  /** Runs in which the world came past the second point after the first crash. */
  readonly bothCrashed: number;
  readonly unvisited: readonly string[];
  readonly seconds: number;
}

/** The pairs of all workers together: they work at the same time. */
function pairSummary(tallies: readonly Tally[]): { readonly pairs?: PairSummary } {
  const all = tallies.flatMap(({ pairs }) => (pairs === undefined ? [] : [pairs]));
  if (all.length === 0) return {};
  const total = (of: (one: PairTally) => number): number => all.reduce((sum, one) => sum + of(one), 0);
  return {
    pairs: {
      runs: total(({ runs }) => runs),
      bothCrashed: total(({ both }) => both),
      unvisited: unvisited(new Set(all.flatMap(({ fired }) => fired))),
      seconds: Math.max(...all.map(({ seconds }) => seconds)),
    },
  };
}

const named = ['lost', 'duplicated', 'reordered', 'undelivered'] as const;

async function main(): Promise<void> {
  const options = parse();
  const begun = Date.now();
  if (options.graph) {
    const graphs = await shareOut<GraphTally>(options);
    process.exitCode = (await reportGraph(graphs, options, secondsSince(begun))) ? 0 : 1;
    return;
  }
  const tallies = await shareOut<Tally>(options);
  const steps = tallies.flatMap((one) => one.steps).sort((left, right) => left - right);
  const breaches = sum(tallies.map((one) => one.breaches));
  const missed = unvisited(new Set(tallies.flatMap((one) => one.fired)));
  const kinds = Object.fromEntries(named.map((kind) => [kind, breaches[kind] ?? 0]));
  const others = Object.fromEntries(
    Object.entries(breaches).filter(([kind]) => !(named as readonly string[]).includes(kind)),
  );
  const faults = sum([
    Object.fromEntries(faultKinds.map((kind) => [kind, 0])),
    ...tallies.map((one) => one.faults),
  ]);
  const unseen = options.runs < runsOfAllFaults ? [] : faultKinds.filter((kind) => faults[kind] === 0);
  const summary = {
    runs: options.runs,
    steps: steps.reduce((total, one) => total + one, 0),
    medianSteps: steps[steps.length >> 1] ?? 0,
    distinctTraces: new Set(tallies.flatMap((one) => one.hashes)).size,
    sweepRuns: tallies.reduce((total, one) => total + one.swept, 0),
    ...pairSummary(tallies),
    crashPoints: crashPoints.length,
    unvisited: missed,
    ...kinds,
    otherBreaches: others,
    faults,
    seconds: secondsSince(begun),
  };
  console.log(options.json ? JSON.stringify(summary) : JSON.stringify(summary, undefined, 2));
  const failedSeeds = tallies.flatMap((one) => one.failedSeeds);
  for (const failed of tallies.flatMap((one) => one.failedSweeps).slice(0, reportedMax))
    console.error(failed);
  for (const seed of failedSeeds.slice(0, reportedMax)) await explain(seed);
  if (failedSeeds.length > reportedMax) console.error(`\nand ${failedSeeds.length - reportedMax} more seeds`);
  const left = [...missed, ...unseen, ...(summary.pairs?.unvisited ?? [])];
  const isClean = Object.keys(breaches).length === 0 && left.length === 0;
  process.exitCode = isClean ? 0 : 1;
}

function sum(parts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const part of parts) {
    for (const [kind, count] of Object.entries(part)) total[kind] = (total[kind] ?? 0) + count;
  }
  return Object.fromEntries(Object.entries(total).sort(([left], [right]) => (left < right ? -1 : 1)));
}

if (isMainThread) await main();
else {
  const share = workerData as Share;
  parentPort?.postMessage(await (share.graph ? tallyGraph(share) : tallyOf(share)));
}
