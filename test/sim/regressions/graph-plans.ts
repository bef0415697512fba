import type { GraphOptions, GraphPlan, GraphStep } from '../graph/plan';
import { calm } from '../plan';

const steady = { skewMs: 0, joinAt: 0 };

const options: GraphOptions = {
  relays: [
    { ...steady, dials: [], slotsRetained: 24, bootstrap: true },
    { ...steady, dials: ['r0'], slotsRetained: 24, bootstrap: false },
    { ...steady, dials: ['r0', 'r1'], slotsRetained: 24, bootstrap: false },
  ],
  liars: [],
  devices: [{ ...steady, relays: ['r1'] }],
  beforeRotationMs: 1_500_000,
  slotsOld: 0,
  healing: 'none',
  hurried: true,
  liarsStay: false,
  rates: calm,
};

/** A bug the simulator found in the graph, as plans that showed it. */
export interface GraphRegression {
  readonly title: string;
  readonly plans: readonly GraphPlan[];
  /** Everything has to be right by then after the plan, ms: slower is the bug too. */
  readonly healedMsMax: number;
}

/** The same plan at some moments: which of them is the fatal one depends on every delay before it. */
function regression(
  title: string,
  moments: readonly number[],
  healAt: number,
  steps: (at: number) => readonly GraphStep[],
  more: Partial<GraphOptions> = {},
): GraphRegression {
  const plans = moments.map((at): GraphPlan => {
    return { seed: `regression ${title} ${at}`, options: { ...options, ...more }, steps: steps(at), healAt };
  });
  return { title, plans, healedMsMax: 120_000 };
}

/** Every bug found, replayed. */
export const graphRegressions: readonly GraphRegression[] = [
  regression(
    'a relay whose peer leaves in the midst of a sync goes on with the next one',
    [8_140, 8_460, 9_150],
    13_700,
    (at) => [
      { at: 2_000, do: 'end', site: 'r2', downMs: 6_000 },
      { at: 3_000, do: 'send', device: 'd0', burst: 2 },
      { at, do: 'end', site: 'r0', downMs: 2_000 },
    ],
  ),
  regression(
    'a clock that goes back over the turn of the slot makes no honest relay wrong',
    [6_000],
    12_000,
    (at) => [
      { at: 1_000, do: 'clock', device: 'd1', byMs: 7_000 },
      { at: 5_000, do: 'send', device: 'd0', burst: 1 },
      { at, do: 'clock', device: 'd1', byMs: -7_000 },
      { at: 7_000, do: 'send', device: 'd0', burst: 1 },
    ],
    {
      beforeRotationMs: 10_000,
      relays: options.relays.map((relay) => ({ ...relay, skewMs: 6_000 })),
      devices: [
        { relays: ['r1'], skewMs: 6_000, joinAt: 0 },
        { relays: ['r1'], skewMs: 0, joinAt: 0 },
      ],
    },
  ),
];
