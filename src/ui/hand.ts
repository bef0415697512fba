import { limits } from '../core/limits';
import type { Format } from './format';
import type { MarkView, MessageView, Refusal } from './model';
import type { Texts } from './texts/en';

/** True while a message stands in the line: a person may still do something to it. */
export function waits(mark: MarkView): boolean {
  return mark.state !== 'accepted' && mark.state !== 'dropped';
}

/** True once a copy exists: it may have left, whether or not a hand-over is on record. */
export function exposed(mark: MarkView): boolean {
  return mark.firstHandedAt !== undefined;
}

/** The last own message whose text can still be changed in its place. */
export function lastEditable(messages: readonly MessageView[]): MessageView | undefined {
  return messages.findLast(
    ({ own, text, mark }) => own && text !== undefined && mark && waits(mark) && !exposed(mark),
  );
}

/** True for a dropped message of which nothing had left: it is shown, and kept, only while it can be taken back. */
export function leavesNothing(mark: MarkView | undefined): mark is MarkView {
  return mark?.state === 'dropped' && !exposed(mark);
}

/** True while a drop can be undone. A clock that jumped ends it, as it does in the store. */
export function undoable(mark: MarkView, now: number): boolean {
  return leavesNothing(mark) && Math.abs(now - (mark.droppedAt ?? 0)) < limits.undoMs;
}

/** The messages to be drawn at `now`: all but those dropped before anything left, once their drop is final. */
export function stillShown(messages: readonly MessageView[], now: number): readonly MessageView[] {
  const over = (mark: MarkView | undefined) => leavesNothing(mark) && !undoable(mark, now);
  return messages.some(({ mark }) => over(mark)) ? messages.filter(({ mark }) => !over(mark)) : messages;
}

/** What is asked before a drop: what it sets free, and what it cannot undo. */
export function dropQuestion(mark: MarkView, texts: Texts): string {
  const question = texts.dropAsk(mark.holds ?? 0);
  return `${question} ${exposed(mark) ? texts.dropAskCopies : texts.dropAskNever}`;
}

/** What is said of a dropped message. A copy that may have left is named with every word of it. */
export function droppedWords(mark: MarkView, texts: Texts, format: Format): string {
  const said =
    mark.droppedAt === undefined ? texts.inspectDropped : texts.droppedAt(format.time(mark.droppedAt));
  if (!exposed(mark)) return said;
  const copies = mark.copies ?? 1;
  return `${said} ${mark.handedTo > 0 ? texts.copiesLeft(copies) : texts.copiesMayHaveLeft(copies)}`;
}

/** Why something could not be done to a waiting message; `undefined` where a general sentence for refusals fits. */
export function handRefusal(refusal: Refusal, now: number, texts: Texts, format: Format): string | undefined {
  if (refusal.refused === 'gone') return texts.handGone;
  if (refusal.refused !== 'not-before' || refusal.at === undefined) return undefined;
  // Within the minute the minute alone would say nothing.
  const time = refusal.at - now < 60_000 ? format.exact(refusal.at) : format.time(refusal.at);
  return texts.notBefore(time);
}
