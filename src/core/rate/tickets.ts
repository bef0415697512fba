import { assert } from '../assert';
import type { AccountId, Bytes, EventId } from '../ids';
import { limits } from '../limits';
import type { CountersRow } from '../tables';
import { decide, remove, rows, type Script } from '../transaction';
import type { RateLimiter } from './limiter';

/** A ticket to spend on the next own event, or why there is none. */
export type Reserved =
  | {
      readonly kind: 'ticket';
      /** What the counters say once it is spent. */
      readonly spent: { readonly rateEpoch: number; readonly tickets: number };
      blobOf(event: EventId): Bytes;
    }
  /** All tickets of the epoch are spent; it is over at `untilMs`. */
  | { readonly kind: 'budget'; readonly untilMs: number };

/**
 * The next ticket of the epoch `timeMs` lies in. Tickets only count up, also over a change of identity and a clock
 * that goes back, so that none is ever taken twice (OB-25). It is spent when the caller stores `spent`.
 */
export function reserveTicket(
  limiter: RateLimiter,
  own: { readonly secret: Bytes; readonly magic: Bytes; readonly timeMs: number },
  counters: CountersRow,
): Reserved {
  const epoch = limiter.epochOf(own.timeMs);
  const newest = counters.rateEpoch ?? 0;
  const ticket = epoch === newest ? (counters.tickets ?? 0) : 0;
  if (epoch < newest || ticket >= limiter.ticketsPerEpoch) {
    return { kind: 'budget', untilMs: limiter.endOf(epoch) };
  }
  return {
    kind: 'ticket',
    spent: { rateEpoch: epoch, tickets: ticket + 1 },
    blobOf(event) {
      const blob = limiter.prove(own.secret, { epoch, ticket }, { magic: own.magic, event });
      assert(blob.length <= limits.blobBytesMax, 'a proof fits a blob');
      return blob;
    },
  };
}

/**
 * Forgets tickets of epochs before `epoch`, a bounded number at a time; true when there may be more. An epoch must not
 * be forgotten while an event of its time can still enter.
 */
export function* pruneTickets(account: AccountId, epoch: number): Script<boolean> {
  const range = { prefix: [account], to: epoch - 1 };
  const old = yield* rows('tickets', range, limits.pruneTicketsMax, 'epoch');
  const changes = old.map((row) => remove('tickets', [account, row.identity, row.epoch, row.ticket]));
  return decide(old.length === limits.pruneTicketsMax, changes);
}
