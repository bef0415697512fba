import { Prng } from '../sim/prng';

/** How the network is while the person writes: it stands, is slow, or comes back after some messages were accepted. */
export type Network =
  | { readonly kind: 'open' }
  | { readonly kind: 'slow'; readonly delayMs: number }
  | { readonly kind: 'returning'; readonly after: number };

/** What has to happen before the kill: time, messages kept, messages handed to the relay, or answers of it. */
export interface Trigger {
  readonly on: 'time' | 'kept' | 'put' | 'answer';
  /** Milliseconds, or the count of what happens. */
  readonly count: number;
}

/** One run, drawn: nothing else about it is chance of ours. */
export interface KillPlan {
  readonly seed: string;
  readonly network: Network;
  readonly trigger: Trigger;
  /** Between trigger and kill, so that it also falls into what the trigger sets off, ms. */
  readonly afterMs: number;
  /** Bytes of each text beside its number. */
  readonly padding: number;
}

/** The run of this seed. */
export function planOf(seed: string): KillPlan {
  const prng = new Prng(seed);
  const network = networkOf(prng.fork('network'));
  const trigger = triggerOf(prng.fork('trigger'));
  const afterMs = prng.perMille(500) ? 0 : prng.between(1, 15);
  const padding = prng.pick([0, 0, 60, 700]);
  return { seed, network, trigger, afterMs, padding };
}

function networkOf(prng: Prng): Network {
  switch (prng.below(3)) {
    case 0:
      return { kind: 'open' };
    case 1:
      return { kind: 'slow', delayMs: prng.between(2, 30) };
    default:
      return { kind: 'returning', after: prng.between(3, 20) };
  }
}

function triggerOf(prng: Prng): Trigger {
  const on = prng.pick(['time', 'kept', 'put', 'answer'] as const);
  return { on, count: on === 'time' ? prng.between(30, 1_200) : prng.between(1, 25) };
}
