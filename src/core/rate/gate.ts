import type { AccountId, Bytes, EventId } from '../ids';
import { type Ask, type Change, get, put } from '../transaction';
import type { RateLimiter } from './limiter';

/** Whose events count in a network that limits rates, as its operator registered them. */
export interface Registry {
  readonly limiter: RateLimiter;
  /** True when this identity, lower-case hex, is registered. */
  has(identity: string): boolean;
}

/** Why a proof admits nothing. */
export type Unproven = 'bad-proof' | 'unknown-identity' | 'ticket-used';

/** Where proofs are judged. */
export interface GatePlace {
  readonly account: AccountId;
  readonly magic: Bytes;
  readonly limiter: RateLimiter;
  /**
   * With one, only its identities are admitted, and each ticket once: what a relay sees to. A device has none. It
   * takes whatever is truly signed, or it would lose all that was built on an event its relay let in.
   */
  readonly registry?: Registry;
}

/**
 * Judges an event's proof: the changes to make with its insertion, or why it does not enter. The costly look at the
 * signature comes last. A ticket spent on the same event is no second use.
 */
export function* judgeProof(
  place: GatePlace,
  event: { readonly id: EventId; readonly time: number },
  blob: Bytes,
): Ask<readonly Change[] | Unproven> {
  const { account, magic, limiter, registry } = place;
  const claim = limiter.claimOf(blob);
  if (claim === undefined || claim.ticket >= limiter.ticketsPerEpoch) return 'bad-proof';
  if (claim.epoch !== limiter.epochOf(event.time)) return 'bad-proof';
  if (registry !== undefined && !registry.has(claim.identity)) return 'unknown-identity';
  const { identity, epoch, ticket } = claim;
  const spent = registry && (yield* get('tickets', [account, identity, epoch, ticket]));
  if (spent !== undefined && spent.id !== event.id) return 'ticket-used';
  if (!limiter.holds(claim, { magic, event: event.id })) return 'bad-proof';
  if (registry === undefined || spent !== undefined) return [];
  return [put('tickets', { account, identity, epoch, ticket, id: event.id })];
}
