import { crashPoints } from '../crash';
import { profile } from '../names';
import type { FaultRates } from '../plan';
import { calm } from '../plan';
import { Prng } from '../prng';

/** How a member of the network begins. */
interface Member {
  readonly skewMs: number;
  /** When it joins, ms after the start. */
  readonly joinAt: number;
}

/** A device of the network, and the relays its account begins with. */
export interface DeviceMember extends Member {
  readonly relays: readonly string[];
}

/** A relay of the network. */
export interface RelayOptions extends Member {
  /** Whom it keeps a link to. */
  readonly dials: readonly string[];
  readonly slotsRetained: number;
  readonly bootstrap: boolean;
}

/** Somebody who speaks the protocol and breaks its rules. */
export interface LiarOptions extends Member {
  readonly dials: readonly string[];
  /** Of a thousand answers so many are lies. */
  readonly lies: number;
}

/** How the end of the faults reaches who is connected: by a new start, by new links, or not at all. */
export type Healing = 'restart' | 'reconnect' | 'none';

/** Everything that sets a run apart from others, beside its steps. */
export interface GraphOptions {
  readonly devices: readonly DeviceMember[];
  readonly relays: readonly RelayOptions[];
  readonly liars: readonly LiarOptions[];
  /** Before the end of a slot, ms. */
  readonly beforeRotationMs: number;
  readonly slotsOld: number;
  readonly healing: Healing;
  /** What peers ask each other every 15 minutes they ask every minute once the faults have ended. */
  readonly hurried: boolean;
  /** Liars go on to lie after the faults have ended; they make no more events then. */
  readonly liarsStay: boolean;
  readonly rates: FaultRates;
}

/** One thing that happens to the network at a time, as plain JSON. */
export type GraphStep = { readonly at: number } & (
  | { readonly do: 'send'; readonly device: string; readonly burst: number }
  | { readonly do: 'end'; readonly site: string; readonly downMs: number }
  /** Nobody is there for a while, and then everyone comes back. */
  | { readonly do: 'night'; readonly forMs: number }
  | { readonly do: 'split'; readonly sites: readonly string[]; readonly forMs: number }
  | { readonly do: 'cut'; readonly left: string; readonly right: string }
  /** The relay has no room for a while. */
  | { readonly do: 'fill'; readonly relay: string; readonly forMs: number }
  | { readonly do: 'full'; readonly device: string; readonly forMs: number }
  | { readonly do: 'slow'; readonly site: string; readonly frameMs: number; readonly forMs: number }
  | { readonly do: 'clock'; readonly device: string; readonly byMs: number }
  | { readonly do: 'crash'; readonly point: string; readonly nth: number }
);

/** A whole run, as plain JSON. */
export interface GraphPlan {
  readonly seed: string;
  readonly options: GraphOptions;
  readonly steps: readonly GraphStep[];
  /** When the faults end and everything has to come right, ms after the start. */
  readonly healAt: number;
}

const roughest: FaultRates = {
  ...calm,
  refused: 15,
  copied: 15,
  answerLost: 10,
  abort: 10,
  lookLost: 80,
  lookRepeated: 60,
  cut: 6,
  silence: 2,
};

const hourMs = 3_600_000;

interface Window {
  readonly from: number;
  readonly to: number;
}

/** The plan of a seed: ten members, some waking hours with a night between them, most around the turn of a slot. */
export function graphPlanOf(seed: string): GraphPlan {
  const random = new Prng(seed).fork('graph plan');
  const beforeRotationMs = random.between(3_000, 30_000);
  const windows = windowsOf(random, beforeRotationMs);
  const options = optionsOf(random, beforeRotationMs, windows);
  const steps: GraphStep[] = [];
  windows.forEach((window, at) => {
    const next = windows[at + 1];
    if (next !== undefined) steps.push({ at: window.to, do: 'night', forMs: next.from - window.to });
    sends(random, options, window, steps);
    const events = random.between(1, 3);
    for (let nth = 0; nth < events; nth++) steps.push(hostEvent(random, options, window));
  });
  const crashes = random.between(0, 2);
  for (let nth = 0; nth < crashes; nth++) {
    steps.push({ at: 0, do: 'crash', point: random.pick(crashPoints), nth: random.between(1, 6) });
  }
  const healAt = windows.at(-1)?.to ?? 0;
  return { seed, options, steps: steps.toSorted((left, right) => left.at - right.at), healAt };
}

/** When somebody is awake: mostly some time before a slot ends, and into the next one. */
function windowsOf(random: Prng, beforeRotationMs: number): readonly Window[] {
  const nights = random.pick([1, 1, 1, 1, 2]);
  const windows: Window[] = [];
  let from = 0;
  for (let nth = 0; nth <= nights; nth++) {
    const to = from + random.between(15_000, 38_000);
    windows.push({ from, to });
    const hours = random.perMille(30) ? random.between(22, 27) : random.pick([1, 1, 1, 2]);
    const turn = beforeRotationMs + Math.ceil((to - beforeRotationMs) / hourMs + hours - 1) * hourMs;
    const before = random.perMille(800) ? random.between(5_000, 25_000) : -random.between(1_000, 600_000);
    from = Math.max(to + 60_000, turn - before);
  }
  return windows;
}

const casts = [
  { relays: 5, liars: 2 },
  { relays: 6, liars: 2 },
  { relays: 5, liars: 2 },
  { relays: 6, liars: 1 },
  { relays: 4, liars: 3 },
] as const;
const members = 10;

function optionsOf(random: Prng, beforeRotationMs: number, windows: readonly Window[]): GraphOptions {
  const cast = random.pick(casts);
  const rough = random.below(4);
  const rate = (most: number): number => (rough === 0 ? 0 : random.below(Math.round((most * rough) / 3) + 1));
  const skewMs = (): number => random.between(-12_000, 12_000);
  const joinAt = (late: number): number => (random.perMille(late) ? within(random, random.pick(windows)) : 0);
  const liarNames = names('l', cast.liars);
  const relayNames = names('r', cast.relays);
  // What all keep is compared in the end: in some runs little, so that much is forgotten, in others all there was.
  const least = random.pick([2, 3, 5, 24]);
  const liarOf = (): readonly string[] => (random.perMille(350) ? [random.pick(liarNames)] : []);
  return {
    relays: relayNames.map((_, at) => ({
      dials: at === 0 ? [] : [...some(random, relayNames.slice(0, at), 1 + random.below(2)), ...liarOf()],
      slotsRetained: random.pick([least, least, 24, 720]),
      bootstrap: at === 0,
      skewMs: skewMs(),
      joinAt: at === 0 ? 0 : joinAt(150),
    })),
    liars: liarNames.map(() => ({
      dials: some(random, relayNames, 1 + random.below(2)),
      lies: random.pick([150, 400, 800]),
      skewMs: skewMs(),
      joinAt: joinAt(100),
    })),
    devices: names('d', members - cast.relays - cast.liars).map(() => ({
      relays: [...some(random, relayNames, 1 + random.below(2)), ...liarOf()],
      skewMs: skewMs(),
      joinAt: joinAt(200),
    })),
    beforeRotationMs,
    slotsOld: random.pick([0, 0, 0, 0, 1]),
    healing: random.pick(['restart', 'reconnect', 'none']),
    hurried: !random.perMille(30),
    liarsStay: random.perMille(500),
    rates: Object.fromEntries(
      Object.entries(roughest).map(([name, most]) => [name, rate(most)]),
    ) as unknown as FaultRates,
  };
}

/** A time in which somebody is awake. */
function within(random: Prng, window: Window): number {
  return random.between(window.from, window.to);
}

function names(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${kind}${at}`);
}

/** So many of these, or all where there are fewer. */
function some(random: Prng, of: readonly string[], count: number): readonly string[] {
  const left = [...of];
  const chosen: string[] = [];
  while (chosen.length < count && left.length > 0) {
    chosen.push(...left.splice(random.below(left.length), 1));
  }
  return chosen;
}

function sends(random: Prng, options: GraphOptions, window: Window, steps: GraphStep[]): void {
  options.devices.forEach((_, device) => {
    const count = random.pick([0, 1, 1, 2]);
    for (let nth = 0; nth < count; nth++) {
      const burst = random.perMille(200) ? 2 : 1;
      steps.push({ at: within(random, window), do: 'send', device: `d${device}`, burst });
    }
  });
}

function hostEvent(random: Prng, options: GraphOptions, window: Window): GraphStep {
  const at = within(random, window);
  const devices = names('d', options.devices.length);
  const relays = names('r', options.relays.length);
  const honest = [...devices, ...relays];
  const device = random.pick(devices);
  const relay = random.pick(relays);
  const forMs = random.between(3_000, 40_000);
  const downMs = random.perMille(200) ? random.between(15_000, 40_000) : random.between(0, 6_000);
  const other = options.relays[Number(relay.slice(1))]?.dials[0] ?? relay;
  const kinds: readonly GraphStep[] = [
    { at, do: 'end', site: random.pick(honest), downMs },
    { at, do: 'end', site: relay, downMs },
    { at, do: 'split', sites: some(random, honest, random.between(1, 4)), forMs },
    { at, do: 'split', sites: some(random, relays, random.between(1, 2)), forMs },
    { at, do: 'cut', left: relay, right: other },
    { at, do: 'fill', relay, forMs },
    { at, do: 'full', device, forMs: random.between(1_000, 12_000) },
    { at, do: 'slow', site: random.pick(honest), frameMs: random.between(100, 1_500), forMs },
    { at, do: 'clock', device, byMs: random.between(-15_000, 15_000) },
  ];
  return random.pick(kinds);
}

/** Start of a run: the network is young, so that a sync asks for a few slots and not for all that would be kept. */
export function startOf({ options }: GraphPlan): number {
  return profile.initialGenesisMs + (options.slotsOld + 1) * profile.rotationMs - options.beforeRotationMs;
}
