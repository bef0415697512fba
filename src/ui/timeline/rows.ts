import type { MessageView } from '../model';

/** One line of the timeline. */
export type Row =
  | { readonly kind: 'day'; readonly key: string; readonly at: number }
  | { readonly kind: 'unread'; readonly key: string; readonly count: number }
  | {
      readonly kind: 'message';
      readonly key: string;
      readonly message: MessageView;
      /** First and last of a group: the name stands above the first, the time under the last. */
      readonly first: boolean;
      readonly last: boolean;
    };

/** Messages of one author this close together stand in one group, ms. */
const groupMs = 5 * 60_000;
/** Rows in the document at one time. */
export const rowsMax = 200;

/** Day lines, the unread line and groups for `messages`, oldest first. `dayKey` gives equal keys for one local day. */
export function rowsOf(
  messages: readonly MessageView[],
  firstUnreadSeq: number | undefined,
  dayKey: (at: number) => string,
): readonly Row[] {
  const rows: Row[] = [];
  const unread =
    firstUnreadSeq === undefined
      ? 0
      : messages.filter((message) => !message.own && message.seq >= firstUnreadSeq).length;
  // The line stands before the first message at or after the mark, even when that very message is gone.
  const divider =
    unread > 0 ? messages.find((message) => message.seq >= (firstUnreadSeq ?? 0))?.seq : undefined;
  messages.forEach((message, at) => {
    const before = messages[at - 1];
    const after = messages[at + 1];
    const newDay = !before || dayKey(before.at) !== dayKey(message.at);
    if (newDay) rows.push({ kind: 'day', key: `day ${dayKey(message.at)}`, at: message.at });
    if (message.seq === divider) rows.push({ kind: 'unread', key: 'unread', count: unread });
    const joins = (left: MessageView, right: MessageView) =>
      right.seq !== divider && dayKey(left.at) === dayKey(right.at) && together(left, right);
    rows.push({
      kind: 'message',
      key: `${message.seq}`,
      message,
      first: !before || !joins(before, message),
      last: !after || !joins(message, after),
    });
  });
  return rows;
}

/** True when two neighbours belong in one group. */
function together(left: MessageView, right: MessageView): boolean {
  return (
    left.own === right.own &&
    left.nick === right.nick &&
    left.text !== undefined &&
    right.text !== undefined &&
    left.mark?.state !== 'dropped' &&
    right.mark?.state !== 'dropped' &&
    right.at - left.at < groupMs
  );
}

/** The stretch of messages that is in the document: at most `rowsMax`, ending at `endSeq` or at the newest. */
export function windowOf(
  messages: readonly MessageView[],
  endSeq: number | undefined,
): { readonly shown: readonly MessageView[]; readonly newer: number; readonly older: number } {
  const found = endSeq === undefined ? -1 : messages.findLastIndex((message) => message.seq <= endSeq);
  const end = found < 0 ? messages.length : found + 1;
  const start = Math.max(0, Math.min(end, messages.length) - rowsMax);
  return { shown: messages.slice(start, end), newer: messages.length - end, older: start };
}
