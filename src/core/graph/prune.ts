import type { AccountId, Slot } from '../ids';
import { limits } from '../limits';
import { all, decide, first, remove, rows, type Script } from '../transaction';

/** What one step of pruning did. */
export interface PruneOutcome {
  readonly events: number;
  readonly bytes: number;
  /** There is more to do: run it again. */
  readonly more: boolean;
}

/**
 * Forgets events of the oldest slot that lies before `keepFrom`, a bounded number at a time, and the slot itself with
 * its last. Running it until `more` is false leaves nothing older than `keepFrom`.
 */
export function* prune(account: AccountId, keepFrom: Slot): Script<PruneOutcome> {
  const old = { prefix: [account], to: keepFrom - 1 };
  // A slot whose own row was lost is known by its events.
  const [row, event] = yield* all([first('slots', old), first('events', old, 'slot')]);
  if (row === undefined && event === undefined) return decide({ events: 0, bytes: 0, more: false });
  const slot = Math.min(row?.slot ?? keepFrom, event?.slot ?? keepFrom);
  const events = yield* rows('events', { prefix: [account, slot] }, limits.pruneEventsMax, 'slot');
  const bytes = events.reduce((sum, row) => sum + row.event.length + row.blob.length, 0);
  const changes = events.map((row) => remove('events', [account, row.id]));
  if (events.length < limits.pruneEventsMax) changes.push(remove('slots', [account, slot]));
  return decide({ events: events.length, bytes, more: true }, changes);
}
