import { crashPoints } from './crash';
import { type HandDeed, handDeeds } from './hand';
import { Prng } from './prng';

/** Chances in a thousand; 0 for a fault that never happens. */
export interface FaultRates {
  /** Of a call: refused, run twice, answered never; of a transaction: aborted. */
  readonly refused: number;
  readonly copied: number;
  readonly answerLost: number;
  readonly abort: number;
  readonly lookLost: number;
  readonly lookRepeated: number;
  /** Of a frame: its link ends, or falls silent. */
  readonly cut: number;
  readonly silence: number;
  readonly relayBusy: number;
  readonly statusLost: number;
  readonly statusRepeated: number;
}

/** Everything that sets a run apart from others, beside its steps. */
export interface Options {
  readonly devices: number;
  readonly relays: number;
  /** Before the end of a slot, ms. */
  readonly beforeRotationMs: number;
  readonly slotsOld: number;
  readonly secret: boolean;
  /** Bytes an outbox may hold. */
  readonly outboxBytesMax: number;
  readonly deviceSkewsMs: readonly number[];
  readonly relaySkewsMs: readonly number[];
  /** Time a relay takes to say what became of an event, ms. */
  readonly statusDelayMs?: number;
  readonly rates: FaultRates;
}

/** One thing that happens to the world at a time, as plain JSON. */
export type Step = { readonly at: number } & (
  | { readonly do: 'send'; readonly device: number; readonly channel: number; readonly burst: number }
  | { readonly do: 'join'; readonly device: number; readonly channel: number }
  | { readonly do: 'draft' | 'read' | 'identity' | 'more-relays' | 'fewer-relays'; readonly device: number }
  | {
      readonly do: 'end-engine' | 'end-tab' | 'end-browser';
      readonly device: number;
      readonly downMs: number;
    }
  | { readonly do: 'end-store' | 'second-engine' | 'nudge'; readonly device: number }
  | { readonly do: 'hand'; readonly device: number; readonly deed: HandDeed; readonly nth: number }
  /** The bound of the outbox is another from now on, bytes: the browser estimates less room. */
  | { readonly do: 'bound'; readonly device: number; readonly bytes: number }
  /** The browser grants the store no more room for a while. */
  | { readonly do: 'full'; readonly device: number; readonly forMs: number }
  | { readonly do: 'clock'; readonly device: number; readonly byMs: number }
  | { readonly do: 'end-relay'; readonly relay: number; readonly downMs: number }
  | { readonly do: 'cut'; readonly device: number; readonly relay: number }
  | { readonly do: 'part'; readonly device: number; readonly relay: number; readonly forMs: number }
  | { readonly do: 'part-relays'; readonly forMs: number }
  | { readonly do: 'crash'; readonly point: string; readonly nth: number }
  /** The next call of a name is refused, or runs once more so much later. */
  | { readonly do: 'refuse'; readonly device: number; readonly name: string }
  | { readonly do: 'copy'; readonly device: number; readonly name: string; readonly afterMs: number }
  /** Look signals of a device are lost from now on, or no more. */
  | { readonly do: 'lose-looks'; readonly device: number; readonly lost: boolean }
);

/** A whole run, as plain JSON. */
export interface Plan {
  readonly seed: string;
  readonly options: Options;
  readonly steps: readonly Step[];
  /** When the faults end and everything has to come right, ms after the start. */
  readonly healAt: number;
}

/** No fault at all. */
export const calm: FaultRates = {
  refused: 0,
  copied: 0,
  answerLost: 0,
  abort: 0,
  lookLost: 0,
  lookRepeated: 0,
  cut: 0,
  silence: 0,
  relayBusy: 0,
  statusLost: 0,
  statusRepeated: 0,
};

const roughest: FaultRates = {
  refused: 40,
  copied: 60,
  answerLost: 40,
  abort: 40,
  lookLost: 150,
  lookRepeated: 100,
  cut: 12,
  silence: 5,
  relayBusy: 80,
  statusLost: 120,
  statusRepeated: 80,
};

/** The plan of a seed. */
export function planOf(seed: string): Plan {
  const random = new Prng(seed).fork('plan');
  const options = optionsOf(random);
  const healAt = random.perMille(120) ? random.between(40_000, 120_000) : random.between(4_000, 25_000);
  const steps: Step[] = [];
  for (let device = 0; device < options.devices; device++) sends(random, options, device, healAt, steps);
  const events = random.between(1, 5);
  for (let nth = 0; nth < events; nth++) steps.push(hostEvent(random, options, healAt));
  hands(random, options, steps);
  if (random.perMille(200)) clockJump(random, options, healAt, steps);
  const crashes = random.between(0, 3);
  for (let nth = 0; nth < crashes; nth++) {
    const point = random.pick(crashPoints);
    steps.push({ at: random.below(healAt >> 1), do: 'crash', point, nth: random.between(1, 4) });
  }
  const inTime = steps.filter((step) => step.at < healAt);
  return { seed, options, steps: inTime.toSorted((left, right) => left.at - right.at), healAt };
}

function optionsOf(random: Prng): Options {
  const rough = random.below(4);
  const rate = (most: number): number => (rough === 0 ? 0 : random.below(Math.round((most * rough) / 3) + 1));
  const relays = random.pick([1, 1, 2, 2, 2, 3]);
  const devices = random.perMille(150) ? 3 : 2;
  const skews = (count: number, most: number): number[] =>
    Array.from({ length: count }, () => random.between(-most, most));
  return {
    devices,
    relays,
    beforeRotationMs: random.perMille(350)
      ? random.between(1_000, 150_000)
      : random.between(400_000, 3_000_000),
    slotsOld: random.pick([0, 0, 0, 1, 2]),
    secret: random.perMille(150),
    outboxBytesMax: random.perMille(100) ? 66_500 + random.below(3_500) : 10_000_000,
    deviceSkewsMs: skews(devices, 6_000),
    relaySkewsMs: skews(relays, 1_500),
    rates: Object.fromEntries(
      Object.entries(roughest).map(([name, most]) => [name, rate(most)]),
    ) as unknown as FaultRates,
  };
}

function sends(random: Prng, options: Options, device: number, healAt: number, steps: Step[]): void {
  const count = random.between(device === 0 ? 1 : 0, 3);
  for (let nth = 0; nth < count; nth++) {
    const at = random.below(healAt);
    const burst = random.perMille(300) ? random.between(2, 3) : 1;
    steps.push({ at, do: 'send', device, channel: random.perMille(250) ? 1 : 0, burst });
  }
  if (random.perMille(400)) steps.push({ at: random.below(healAt), do: 'join', device, channel: 1 });
  if (options.devices > 2 && random.perMille(300)) steps.push({ at: 0, do: 'nudge', device });
}

/** A person changes their mind about some of what they sent, mostly soon and while it cannot leave. */
function hands(random: Prng, options: Options, steps: Step[]): void {
  for (const sent of steps.filter((step) => step.do === 'send')) {
    if (!random.perMille(300)) continue;
    const { at, device } = sent;
    if (random.perMille(700)) {
      const forMs = random.between(2_000, 15_000);
      for (let relay = 0; relay < options.relays; relay++) {
        steps.push({ at: Math.max(0, at - 300), do: 'part', device, relay, forMs });
      }
    }
    const deeds = random.between(1, 3);
    for (let nth = 0; nth < deeds; nth++) {
      const later = at + random.between(50, 9_000);
      steps.push({ at: later, do: 'hand', device, deed: random.pick(handDeeds), nth: random.below(3) });
    }
  }
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** How far somebody sets a clock: a wrong zone, a wrong day, a battery that is empty. */
export const clockJumpsMs: readonly number[] = [
  5 * hourMs,
  -5 * hourMs,
  dayMs,
  -dayMs,
  20 * 365 * dayMs + 5 * dayMs,
];

/** A clock is set far off, and mostly set right again. */
function clockJump(random: Prng, options: Options, healAt: number, steps: Step[]): void {
  const at = random.below(healAt);
  const device = random.below(options.devices);
  const byMs = random.pick(clockJumpsMs);
  steps.push({ at, do: 'clock', device, byMs });
  if (random.perMille(600)) {
    steps.push({ at: at + random.between(500, 40_000), do: 'clock', device, byMs: -byMs });
  }
}

function hostEvent(random: Prng, options: Options, healAt: number): Step {
  const at = random.below(healAt);
  const device = random.below(options.devices);
  const relay = random.below(options.relays);
  const downMs = random.perMille(200) ? random.between(20_000, 60_000) : random.between(0, 6_000);
  const forMs = random.between(1_000, 70_000);
  const kinds: readonly Step[] = [
    { at, do: 'end-engine', device, downMs },
    { at, do: 'end-tab', device, downMs },
    { at, do: 'end-browser', device, downMs },
    { at, do: 'end-store', device },
    { at, do: 'second-engine', device },
    { at, do: 'nudge', device },
    { at, do: 'clock', device, byMs: random.between(-15_000, 15_000) },
    { at, do: 'end-relay', relay, downMs },
    { at, do: 'cut', device, relay },
    { at, do: 'part', device, relay, forMs },
    { at, do: 'part-relays', forMs },
    { at, do: 'full', device, forMs: random.between(1_000, 12_000) },
    { at, do: random.pick(['draft', 'read', 'read', 'more-relays', 'fewer-relays'] as const), device },
  ];
  return random.pick(kinds);
}

/** What of a plan can be left out. */
interface Shrinkable {
  readonly steps: readonly unknown[];
  readonly options: { readonly rates: FaultRates };
}

/** Leaves steps out as long as the rest still fails, halves first, then one by one. */
export async function shrink<P extends Shrinkable>(
  plan: P,
  fails: (plan: P) => Promise<boolean>,
  triesMax = 200,
): Promise<P> {
  let best = plan;
  let tries = 0;
  for (let size = Math.max(1, best.steps.length >> 1); size >= 1; size >>= 1) {
    for (let from = 0; from < best.steps.length && tries < triesMax; ) {
      const steps = [...best.steps.slice(0, from), ...best.steps.slice(from + size)];
      const smaller = { ...best, steps };
      tries += 1;
      if (await fails(smaller)) best = smaller;
      else from += size;
    }
  }
  const quiet = { ...best, options: { ...best.options, rates: calm } };
  if (await fails(quiet)) best = quiet;
  return best;
}
