import type { ConversationId, LogicalId } from '../core/ids';

/** A waiting message whose text is being changed. It outlives its field, so that closing the details loses nothing. */
export interface Editing {
  readonly conversation: ConversationId;
  readonly seq: number;
  readonly text: string;
  /** The text it had when it was opened for change. */
  readonly before: string;
  /** Command id of this text once it was to be stored, so that pressing twice is one change. */
  readonly command?: LogicalId;
}

/** The change of one message that is under way. */
export function editingOf(
  all: readonly Editing[],
  conversation: ConversationId,
  seq: number,
): Editing | undefined {
  return all.find((one) => one.conversation === conversation && one.seq === seq);
}

/** The changes under way with this one in place of an earlier one of the same message. */
export function withEditing(all: readonly Editing[], edit: Editing): readonly Editing[] {
  return [edit, ...withoutEditing(all, edit)];
}

/** The changes under way without that of this message. */
export function withoutEditing(
  all: readonly Editing[],
  { conversation, seq }: Pick<Editing, 'conversation' | 'seq'>,
): readonly Editing[] {
  return all.filter((one) => one.conversation !== conversation || one.seq !== seq);
}
