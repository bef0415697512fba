import { type PruneOutcome, prune } from '../graph/prune';
import { oldestRetained } from '../graph/slots';
import { limits } from '../limits';
import { pruneTickets } from '../rate/tickets';
import { decide, get, part, put, type Script } from '../transaction';
import { type NetworkProfile, slotOf } from '../wire/profile';
import { placeOf, type SlotArgs } from './graph-reads';
import { limiter } from './ticket';

/**
 * Forgets a bounded number of events older than the slots that are kept, and of spent tickets; until `more` is false.
 * What waits to be heard is kept however old it is. The outbox needs nothing of it: it keeps its own bytes (OB-06).
 */
export function* pruneGraph(args: Omit<SlotArgs, 'slot'> & { readonly now: number }): Script<PruneOutcome> {
  const { profile } = placeOf(args);
  const counters = yield* get('counters', [args.account]);
  const unapplied = counters?.unapplied?.from ?? Number.POSITIVE_INFINITY;
  const keepFrom = Math.min(unapplied, oldestRetained(profile, args.now, args.slotsRetained));
  const moreTickets = yield* part(pruneTickets(args.account, oldestEpoch(profile, args.now)));
  const pruned = yield* part(prune(args.account, keepFrom));
  const outcome = { ...pruned, more: pruned.more || moreTickets };
  if (counters === undefined || outcome.bytes === 0) return decide(outcome);
  const graphBytes = Math.max(0, counters.graphBytes - outcome.bytes);
  return decide(outcome, [put('counters', { ...counters, graphBytes })]);
}

/** Tickets are kept for two epochs, and as long as a live event of their time can still come: its slot is open then. */
function oldestEpoch(profile: NetworkProfile, now: number): number {
  const open = limiter.epochOf(slotOf(profile, now) - limits.eventTimeDriftMs);
  return Math.min(open, limiter.epochOf(now) - (limits.rateEpochsKept - 1));
}
