import { sameBytes } from '../../../src/core/ids';
import type { MessageRow } from '../../../src/core/tables';

/** A change of an own message that nothing allows. */
interface Forbidden {
  readonly kind: 'duplicated' | 'lost' | 'generations';
  readonly what: string;
}

/**
 * What a person's hand may do to a message that is kept: put it back into the lane after a drop, and give it another
 * body, with another id, before anything of it was exposed. Nothing else changes either.
 */
export function mayChange(
  names: readonly string[],
  before: MessageRow,
  row: MessageRow,
): Forbidden | undefined {
  if (before.lane === undefined && row.lane !== undefined) {
    const undone = names.includes('undoDrop') && before.operation?.droppedAt !== undefined;
    if (!undone) return { kind: 'duplicated', what: 'is in the lane again' };
  }
  if (before.lane !== undefined && row.lane === undefined && row.operation?.droppedAt !== undefined) {
    if (!names.includes('drop')) return { kind: 'lost', what: 'was dropped by nobody' };
  }
  const sameBody = sameBytes(before.body, row.body);
  const sameId = before.logical === row.logical;
  if (sameBody && sameId) return undefined;
  const edited = names.includes('editQueued') && !sameBody && !sameId;
  if (!edited) return { kind: 'lost', what: 'has another body or another id' };
  const exposed = (before.operation?.generations.length ?? 0) > 0;
  if (exposed) return { kind: 'generations', what: 'was edited after a copy existed' };
  if (before.lane === undefined) return { kind: 'lost', what: 'was edited outside the lane' };
  return undefined;
}

/**
 * What the mark `open` must be: set while an entry that has left the lane by evidence still lacks the word of a relay
 * it was promised to (RD-04).
 */
export function openOf(row: MessageRow): number | undefined {
  if (row.lane !== undefined || row.operation?.droppedAt !== undefined) return undefined;
  const active = row.operation?.generations.at(-1)?.id;
  const lacking = row.operation?.intents.some(
    ({ required, event, state }) =>
      required && event === active && ['pending', 'leased', 'retryable'].includes(state),
  );
  return lacking === true ? row.seq : undefined;
}
