import { calm, type Options, type Plan, type Step } from '../plan';

const options: Options = {
  devices: 2,
  relays: 1,
  beforeRotationMs: 1_500_000,
  slotsOld: 0,
  secret: false,
  outboxBytesMax: 10_000_000,
  deviceSkewsMs: [0, 0],
  relaySkewsMs: [0],
  rates: calm,
};

/** A bug the simulator found, as the smallest plan that showed it. */
export interface Regression {
  readonly title: string;
  readonly plan: Plan;
  /** Everything has to be right by then after the plan, ms: slower is the bug too. */
  readonly healedMsMax: number;
}

function regression(
  title: string,
  steps: readonly Step[],
  more: Partial<Options> = {},
  healAt = 12_000,
): Regression {
  const plan = { seed: `regression ${title}`, options: { ...options, ...more }, steps, healAt };
  return { title, plan, healedMsMax: 120_000 };
}

/** Every bug found, replayed. */
export const regressions: readonly Regression[] = [
  regression('a scan of a channel just joined that the store refused is made again', [
    { at: 1_000, do: 'send', device: 1, channel: 1, burst: 2 },
    { at: 4_000, do: 'refuse', device: 0, name: 'scanChannel' },
    { at: 4_000, do: 'join', device: 0, channel: 1 },
  ]),
  regression('an event that the store refused once is fetched soon', [
    { at: 900, do: 'refuse', device: 1, name: 'receive' },
    { at: 1_000, do: 'send', device: 0, channel: 0, burst: 1 },
  ]),
  regression('an engine that never heard a look signal finds its account and its messages', [
    { at: 0, do: 'lose-looks', device: 0, lost: true },
    { at: 0, do: 'lose-looks', device: 1, lost: true },
    { at: 1_000, do: 'send', device: 0, channel: 0, burst: 1 },
    { at: 3_000, do: 'join', device: 1, channel: 1 },
    { at: 5_000, do: 'send', device: 0, channel: 1, burst: 1 },
  ]),
  regression('a late copy of the call that began a dead engine does not stop the living one', [
    { at: 0, do: 'copy', device: 0, name: 'beginEngine', afterMs: 5_000 },
    { at: 500, do: 'end-engine', device: 0, downMs: 100 },
    { at: 2_000, do: 'end-engine', device: 0, downMs: 100 },
    { at: 7_000, do: 'send', device: 0, channel: 0, burst: 1 },
    { at: 8_000, do: 'send', device: 1, channel: 0, burst: 1 },
  ]),
  regression(
    'a full outbox still has room for the event of its head',
    [
      { at: 0, do: 'part', device: 0, relay: 0, forMs: 20_000 },
      { at: 100, do: 'send', device: 0, channel: 0, burst: 120 },
    ],
    { outboxBytesMax: 66_700 },
    25_000,
  ),
  regression(
    'an event that came too late by the clock of the receiver is fetched soon',
    [{ at: 17_000, do: 'send', device: 0, channel: 0, burst: 2 }],
    { beforeRotationMs: 20_000, deviceSkewsMs: [-4_000, 6_000] },
    24_000,
  ),
  regression(
    'a channel joined while the clock is a day off shows what the graph holds of it',
    [
      { at: 1_000, do: 'send', device: 0, channel: 1, burst: 1 },
      { at: 4_000, do: 'clock', device: 1, byMs: 86_400_000 },
      { at: 4_500, do: 'join', device: 1, channel: 1 },
    ],
    {},
    8_000,
  ),
  regression(
    'a late copy of "try now" does not begin a round right after the last one',
    [
      { at: 0, do: 'part', device: 0, relay: 0, forMs: 3_000 },
      { at: 500, do: 'send', device: 0, channel: 0, burst: 1 },
      { at: 1_000, do: 'copy', device: 0, name: 'retryNow', afterMs: 5_500 },
      { at: 2_000, do: 'hand', device: 0, deed: 'retry', nth: 0 },
    ],
    { rates: { ...calm, statusLost: 1_000 } },
  ),
  regression('a device whose clock is a day off does not drop its relay for what others say', [
    { at: 2_000, do: 'clock', device: 0, byMs: -86_400_000 },
    { at: 4_000, do: 'send', device: 1, channel: 0, burst: 7 },
  ]),
  regression('what a device keeps of the graph is not pruned by a clock that was just moved on by 20 years', [
    { at: 1_000, do: 'send', device: 0, channel: 0, burst: 2 },
    { at: 3_000, do: 'cut', device: 0, relay: 0 },
    { at: 5_090, do: 'clock', device: 0, byMs: 631_152_000_000 },
  ]),
  regression(
    '"try now" on a device whose clock is ten minutes ahead does not put the round off',
    [
      { at: 500, do: 'clock', device: 0, byMs: 600_000 },
      { at: 4_000, do: 'send', device: 0, channel: 0, burst: 1 },
      { at: 8_000, do: 'hand', device: 0, deed: 'retry', nth: 0 },
    ],
    { relays: 2, relaySkewsMs: [0, 0], rates: { ...calm, statusLost: 1_000 } },
  ),
  regression('a clock that comes right by less than timers may be late is seen to have come right', [
    { at: 1_000, do: 'clock', device: 0, byMs: -12_000 },
    { at: 2_000, do: 'clock', device: 0, byMs: -12_000 },
    { at: 3_000, do: 'clock', device: 0, byMs: -12_000 },
    { at: 3_500, do: 'cut', device: 0, relay: 0 },
    { at: 5_000, do: 'send', device: 0, channel: 0, burst: 1 },
  ]),
];
