import { type CrashPlan, crashPoints } from './crash';
import { calm, type Options, type Plan, type Step } from './plan';
import { type Bug, type Result, run } from './run';

const base: Options = {
  devices: 2,
  relays: 2,
  beforeRotationMs: 1_500_000,
  slotsOld: 0,
  secret: false,
  outboxBytesMax: 10_000_000,
  deviceSkewsMs: [1_000, -1_000],
  relaySkewsMs: [0, 300],
  rates: calm,
};

/**
 * Short complete stories without faults of chance, which together come past every crash point: a talk with everything
 * a page can do; lost answers and dead links; a relay and a device that have to fetch; the end of a slot.
 */
export const stories: readonly Plan[] = [
  story('talk', base, 9_000, [
    { at: 500, do: 'send', device: 0, channel: 0, burst: 2 },
    { at: 900, do: 'draft', device: 0 },
    { at: 1_200, do: 'identity', device: 0 },
    { at: 1_500, do: 'more-relays', device: 1 },
    { at: 2_500, do: 'fewer-relays', device: 1 },
    { at: 3_000, do: 'send', device: 1, channel: 1, burst: 1 },
    { at: 3_500, do: 'read', device: 1 },
    { at: 4_000, do: 'send', device: 1, channel: 0, burst: 1 },
    { at: 5_000, do: 'join', device: 0, channel: 1 },
    { at: 6_000, do: 'send', device: 0, channel: 1, burst: 1 },
  ]),
  story('silence', { ...base, relays: 1, rates: { ...calm, statusLost: 700 } }, 45_000, [
    { at: 1_000, do: 'send', device: 0, channel: 0, burst: 1 },
    { at: 1_600, do: 'cut', device: 0, relay: 0 },
    { at: 9_000, do: 'send', device: 1, channel: 0, burst: 1 },
    { at: 9_800, do: 'end-engine', device: 1, downMs: 500 },
  ]),
  story('apart', { ...base, relays: 3 }, 14_000, [
    { at: 700, do: 'end-browser', device: 1, downMs: 5_000 },
    { at: 800, do: 'end-relay', relay: 2, downMs: 4_000 },
    { at: 900, do: 'part-relays', forMs: 12_000 },
    { at: 1_500, do: 'send', device: 0, channel: 0, burst: 2 },
    { at: 7_000, do: 'part', device: 1, relay: 1, forMs: 5_000 },
    { at: 8_000, do: 'send', device: 0, channel: 0, burst: 1 },
  ]),
  story(
    'retained',
    { ...base, relays: 1, beforeRotationMs: 12_000, rates: { ...calm, statusLost: 1_000 } },
    25_000,
    [{ at: 2_000, do: 'send', device: 0, channel: 0, burst: 2 }],
  ),
  story(
    'rotation',
    { ...base, relays: 1, beforeRotationMs: 12_000, rates: { ...calm, statusLost: 1_000 } },
    100_000,
    [{ at: 2_000, do: 'send', device: 0, channel: 0, burst: 2 }],
  ),
  story('foreign', { ...base, relays: 1, rates: { ...calm, statusLost: 1_000 } }, 6_000, [
    { at: 1_000, do: 'send', device: 0, channel: 0, burst: 1 },
    { at: 3_000, do: 'send', device: 1, channel: 0, burst: 1 },
  ]),
  story('late', { ...base, relays: 1 }, 4_000, [
    { at: 1_000, do: 'send', device: 0, channel: 0, burst: 1 },
    { at: 1_100, do: 'cut', device: 0, relay: 0 },
  ]),
  story('offline', base, 14_000, [
    { at: 0, do: 'part', device: 0, relay: 0, forMs: 9_000 },
    { at: 0, do: 'part', device: 0, relay: 1, forMs: 9_000 },
    { at: 500, do: 'send', device: 0, channel: 0, burst: 3 },
    { at: 2_500, do: 'end-browser', device: 0, downMs: 2_000 },
    { at: 5_500, do: 'send', device: 0, channel: 1, burst: 2 },
  ]),
  story('hand', base, 24_000, [
    { at: 0, do: 'part', device: 0, relay: 0, forMs: 16_000 },
    { at: 0, do: 'part', device: 0, relay: 1, forMs: 16_000 },
    { at: 500, do: 'send', device: 0, channel: 0, burst: 5 },
    { at: 1_500, do: 'hand', device: 0, deed: 'edit', nth: 1 },
    { at: 2_000, do: 'hand', device: 0, deed: 'retry', nth: 0 },
    { at: 2_500, do: 'hand', device: 0, deed: 'drop-undo', nth: 2 },
    { at: 3_000, do: 'hand', device: 0, deed: 'drop', nth: 3 },
    { at: 19_000, do: 'send', device: 0, channel: 1, burst: 1 },
  ]),
  story('open', { ...base, rates: { ...calm, statusLost: 600 } }, 16_000, [
    { at: 500, do: 'send', device: 0, channel: 0, burst: 1 },
    { at: 2_000, do: 'send', device: 1, channel: 0, burst: 1 },
    { at: 5_000, do: 'cut', device: 0, relay: 0 },
    { at: 5_500, do: 'cut', device: 1, relay: 1 },
    { at: 9_000, do: 'cut', device: 0, relay: 1 },
    { at: 9_500, do: 'cut', device: 1, relay: 0 },
  ]),
  story('clocks', base, 45_000, [
    { at: 0, do: 'part', device: 0, relay: 0, forMs: 3_000 },
    { at: 0, do: 'part', device: 0, relay: 1, forMs: 3_000 },
    { at: 500, do: 'send', device: 0, channel: 0, burst: 1 },
    { at: 1_000, do: 'clock', device: 0, byMs: 5 * 3_600_000 },
    { at: 12_000, do: 'clock', device: 0, byMs: -5 * 3_600_000 },
    { at: 13_000, do: 'send', device: 0, channel: 0, burst: 2 },
    { at: 13_020, do: 'clock', device: 0, byMs: -86_400_000 },
  ]),
  everything('everything', 1),
];

/** What no other story holds together, so that a sweep over pairs comes past every two points in one run. */
function everything(name: string, relays: number): Plan {
  const apart = Array.from(
    { length: relays },
    (_, relay): Step => ({ at: 0, do: 'part', device: 0, relay, forMs: 14_000 }),
  );
  return story(name, { ...base, relays, rates: { ...calm, statusLost: 1_000 } }, 48_000, [
    ...apart,
    { at: 500, do: 'send', device: 0, channel: 0, burst: 4 },
    { at: 700, do: 'draft', device: 0 },
    { at: 800, do: 'identity', device: 0 },
    { at: 900, do: 'read', device: 0 },
    { at: 950, do: 'end-relay', relay: relays - 1, downMs: 6_000 },
    { at: 1_000, do: 'send', device: 1, channel: 0, burst: 1 },
    { at: 1_500, do: 'hand', device: 0, deed: 'edit', nth: 1 },
    { at: 2_000, do: 'hand', device: 0, deed: 'retry', nth: 0 },
    { at: 2_500, do: 'hand', device: 0, deed: 'drop-undo', nth: 2 },
    { at: 3_000, do: 'hand', device: 0, deed: 'drop', nth: 3 },
    { at: 10_000, do: 'more-relays', device: 1 },
    { at: 11_000, do: 'fewer-relays', device: 1 },
    { at: 12_000, do: 'end-tab', device: 1, downMs: 1_000 },

    { at: 36_000, do: 'send', device: 1, channel: 1, burst: 1 },
    { at: 44_000, do: 'join', device: 0, channel: 1 },
  ]);
}

function story(name: string, options: Options, healAt: number, steps: readonly Step[]): Plan {
  return { seed: `story ${name}`, options, steps, healAt };
}

/** The story of a name. */
export function storyOf(name: string): Plan {
  const found = stories.find((one) => one.seed === `story ${name}`);
  if (found === undefined) throw new TypeError(`no story ${name}`);
  return found;
}

/** What a sweep showed. */
export interface Sweep {
  readonly runs: number;
  readonly fired: ReadonlySet<string>;
  readonly failed: readonly Result[];
}

/**
 * Crashes at every point the stories come past, singly: at the first visits and at the last one. `share` takes every
 * so-manieth run only, so that several workers may divide a sweep; `brief` passes over, from the second story on, the
 * points that have fired already.
 */
export async function sweep(
  visitsMax = 2,
  bug: Bug = {},
  share: { readonly of: number; readonly at: number } = { of: 1, at: 0 },
  plans: readonly Plan[] = stories,
  brief = false,
): Promise<Sweep> {
  const fired = new Set<string>();
  const failed: Result[] = [];
  let runs = 0;
  let nth = 0;
  const take = async (plan: Plan): Promise<Result> => {
    runs += 1;
    const result = await run(plan, bug);
    for (const point of result.fired) fired.add(point);
    if (result.breaches.length > 0) failed.push(result);
    return result;
  };
  for (const plan of plans) {
    const { visits } = await take(plan);
    for (const crash of crashesOf(visits, visitsMax)) {
      if (brief && plan !== plans[0] && fired.has(crash.point)) continue;
      if (nth++ % share.of === share.at) await take(withCrashes(plan, [crash]));
    }
  }
  return { runs, fired, failed };
}

/** A story in which these crashes happen. */
export function withCrashes(plan: Plan, crashes: readonly CrashPlan[]): Plan {
  const steps = crashes.map((crash): Step => ({ at: 0, do: 'crash', ...crash }));
  return { ...plan, steps: [...steps, ...plan.steps] };
}

/** Two points, and the shortest story that comes past both. */
export interface Pair {
  readonly plan: Plan;
  readonly points: readonly [string, string];
}

/** Every two points, and every point with itself. A point no story comes past is in no pair. */
export async function pairsOf(): Promise<readonly Pair[]> {
  const told: Result[] = [];
  for (const plan of [...stories, everything('everything, of relays too', 3)]) told.push(await run(plan));
  const shortest = told.toSorted((left, right) => left.steps - right.steps);
  return crashPoints.flatMap((one, at) =>
    crashPoints.slice(at).flatMap((other) => {
      const found = shortest.find(({ visits }) => visits.has(one) && visits.has(other));
      return found === undefined ? [] : [{ plan: found.plan, points: [one, other] as const }];
    }),
  );
}

/** What a sweep over pairs showed. */
export interface PairSweep extends Sweep {
  /** Runs in which both crashes happened: after the first one the world may never come past the second point. */
  readonly both: number;
}

/**
 * Two crashes in one run, each at the first visit of its point; for a point with itself at the second one too. `brief`
 * passes over pairs both points of which have fired already.
 */
export async function sweepPairs(
  share: { readonly of: number; readonly at: number } = { of: 1, at: 0 },
  brief = false,
  bug: Bug = {},
): Promise<PairSweep> {
  const fired = new Set<string>();
  const failed: Result[] = [];
  let runs = 0;
  let both = 0;
  const own = (await pairsOf()).filter((_, nth) => nth % share.of === share.at);
  for (const { plan, points } of own) {
    const [one, other] = points;
    if (brief && fired.has(one) && fired.has(other)) continue;
    const crashes = [
      { point: one, nth: 1 },
      { point: other, nth: one === other ? 2 : 1 },
    ];
    const result = await run(withCrashes(plan, crashes), bug);
    runs += 1;
    if (result.crashes === crashes.length) both += 1;
    for (const point of result.fired) fired.add(point);
    if (result.breaches.length > 0) failed.push(result);
  }
  return { runs, both, fired, failed };
}

/** The crashes of a sweep over one story, by what it came past without any. */
function crashesOf(visits: ReadonlyMap<string, number>, visitsMax: number): readonly CrashPlan[] {
  return crashPoints.flatMap((point) => {
    const count = visits.get(point) ?? 0;
    const chosen = new Set([...Array.from({ length: visitsMax }, (_, at) => at + 1), count]);
    return [...chosen].filter((nth) => nth >= 1 && nth <= count).map((nth) => ({ point, nth }));
  });
}

/** Points that nothing has come past with a crash. */
export function unvisited(fired: ReadonlySet<string>): readonly string[] {
  return crashPoints.filter((point) => !fired.has(point));
}
