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
): GraphRegression {
  const plans = moments.map((at): GraphPlan => {
    return { seed: `regression ${title} ${at}`, options, steps: steps(at), healAt };
  });
  return { title, plans, healedMsMax: 120_000 };
}

/** Every bug found, replayed. */
export const graphRegressions: readonly GraphRegression[] = [
  regression(
    'a relay whose peer leaves in the midst of a sync goes on with the next one',
    [8_140, 8_150, 8_170, 8_460],
    13_700,
    (at) => [
      { at: 2_000, do: 'end', site: 'r2', downMs: 6_000 },
      { at: 3_000, do: 'send', device: 'd0', burst: 2 },
      { at, do: 'end', site: 'r0', downMs: 2_000 },
    ],
  ),
];
