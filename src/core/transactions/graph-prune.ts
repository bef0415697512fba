import { type PruneOutcome, prune } from '../graph/prune';
import { oldestRetained } from '../graph/slots';
import { decide, get, part, put, type Script } from '../transaction';
import { placeOf, type SlotArgs } from './graph-reads';

/** Forgets a bounded number of events older than the slots that are kept; run it until `more` is false. */
export function* pruneGraph(args: Omit<SlotArgs, 'slot'> & { readonly now: number }): Script<PruneOutcome> {
  const keepFrom = oldestRetained(placeOf(args).profile, args.now, args.slotsRetained);
  const outcome = yield* part(prune(args.account, keepFrom));
  const counters = yield* get('counters', [args.account]);
  if (counters === undefined || outcome.bytes === 0) return decide(outcome);
  const graphBytes = Math.max(0, counters.graphBytes - outcome.bytes);
  return decide(outcome, [put('counters', { ...counters, graphBytes })]);
}
