import { limits } from './limits';

/**
 * Time until the next send round, after `round` rounds: 30 s doubling over five rounds, then 960 s with a quarter of
 * jitter either way, for ever. `jitter` is in [0, 1). Ms. (OB-17)
 */
export function backoffMs(round: number, jitter: number): number {
  if (round <= limits.backoffRoundsMax) return limits.backoffFirstMs * 2 ** Math.max(0, round - 1);
  const share = limits.backoffJitterShare * (2 * jitter - 1);
  return Math.round(limits.backoffCapMs * (1 + share));
}

/** The furthest a stored deadline may lie ahead; one beyond it was set by a clock that has moved since. Ms. */
export const backoffMaxMs = limits.backoffCapMs * (1 + limits.backoffJitterShare);

/** Time until the next try to reach a relay, after `failures` failures in a row. `jitter` is in [0, 1). Ms. */
export function reconnectMs(failures: number, jitter: number): number {
  const full = Math.min(limits.reconnectMaxMs, limits.reconnectMinMs * 2 ** Math.min(failures, 16));
  return Math.round(full * (0.5 + jitter / 2));
}
