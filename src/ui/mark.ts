import type { Format } from './format';
import { droppedWords } from './hand';
import type { MarkView } from './model';
import type { Texts } from './texts/en';

/** Outline of a mark. They differ in shape, so that no state is told by colour. */
export type MarkShape = 'clock' | 'arrow' | 'tick' | 'bars' | 'cross' | 'dashed';

/** What a mark shows: its shape, and the key of its word in the catalogue. */
export interface MarkFace {
  readonly shape: MarkShape;
  readonly word: keyof Texts['mark'];
}

/** A message handed over and unanswered for less than this is still called going out, ms (ux.md C3, 3). */
const goingMs = 1_000;
/** A message unanswered for longer than this shows its word in every row, ms. */
const wordMs = 10_000;
/** A message unanswered for longer than this shows its next try in the row, ms. */
export const unansweredMs = 60_000;

/**
 * Shape and word of a mark. It may lag behind the row and never leads it: the only thing added to the committed state
 * is that a fresh hand-over is called "going out" for one second.
 */
export function faceOf(mark: MarkView, now: number, kept: boolean): MarkFace {
  switch (mark.state) {
    case 'queued':
      return kept ? { shape: 'clock', word: 'queued' } : { shape: 'dashed', word: 'not-kept' };
    case 'going':
      return { shape: 'clock', word: 'going' };
    case 'sent':
      if (mark.reason === 'refused') return { shape: 'arrow', word: 'sent-invalid' };
      // No hand-over on record: it may have left, but nobody can be named who was given it.
      return mark.handedTo === 0 || handedFor(mark, now) < goingMs
        ? { shape: 'clock', word: 'going' }
        : { shape: 'arrow', word: 'sent' };
    case 'accepted':
      return { shape: 'tick', word: 'accepted' };
    case 'on-hold':
      return { shape: 'bars', word: 'on-hold' };
    case 'dropped':
      return { shape: 'cross', word: 'dropped' };
  }
}

/** Milliseconds since the first hand-over; very long when its time is unknown. */
function handedFor(mark: MarkView, now: number): number {
  return mark.firstHandedAt === undefined ? Number.MAX_SAFE_INTEGER : now - mark.firstHandedAt;
}

/** True when the row shows the word beside the shape (ux.md C3, 7). */
export function wordShown(mark: MarkView, now: number, lastOfRun: boolean): boolean {
  if (lastOfRun || mark.state === 'on-hold' || mark.state === 'dropped') return true;
  return mark.state === 'sent' && handedFor(mark, now) > wordMs;
}

/** True while the face of this mark still depends on the clock. */
export function ticks(mark: MarkView, now: number): boolean {
  return mark.state === 'sent' && handedFor(mark, now) <= unansweredMs + goingMs;
}

/** When the next try is due, rounded, or nothing when no time is known. */
export function nextWord(mark: MarkView, now: number, texts: Texts, format: Format): string | undefined {
  if (mark.nextAt === undefined) return undefined;
  return mark.nextAt - now < 60_000 ? texts.nextSoon : texts.nextAbout(format.time(mark.nextAt));
}

/** Why a message is on hold and when it goes on, where a time is known. */
function holdReason(mark: MarkView, now: number, texts: Texts, format: Format): string | undefined {
  if (mark.reason === undefined) return undefined;
  const reason = texts.reason[mark.reason];
  if (mark.nextAt === undefined || mark.nextAt <= now) return reason;
  const next =
    mark.reason === 'budget' ? texts.goesOn(format.time(mark.nextAt)) : nextWord(mark, now, texts, format);
  return `${reason}, ${next}`;
}

/** The words of a row: the state, and the one thing worth adding. */
export function markLine(mark: MarkView, face: MarkFace, now: number, texts: Texts, format: Format): string {
  const more = lineAddition(mark, face, now, texts, format);
  const stuck = face.word === 'on-hold' || more !== undefined;
  const behind = stuck && mark.holds !== undefined ? texts.behindThis(mark.holds) : undefined;
  return [texts.mark[face.word], more, behind].filter((part) => part !== undefined).join(' · ');
}

/** What a row adds to the word of the state. */
function lineAddition(
  mark: MarkView,
  face: MarkFace,
  now: number,
  texts: Texts,
  format: Format,
): string | undefined {
  if (face.word === 'on-hold') return holdReason(mark, now, texts, format);
  if (face.word === 'queued') {
    if (mark.place !== undefined && mark.place > 1) return texts.ahead(mark.place - 1);
    return mark.reason && texts.reason[mark.reason];
  }
  if (face.shape === 'arrow' && handedFor(mark, now) > unansweredMs)
    return nextWord(mark, now, texts, format);
  return undefined;
}

/** The state as a sentence without its full stop: what assistive technology reads for the mark. */
export function markName(mark: MarkView, face: MarkFace, now: number, texts: Texts, format: Format): string {
  const name = stateName(mark, face, now, texts, format);
  const { holds, behind } = mark;
  if (face.word === 'not-kept') return name;
  if (holds !== undefined) return `${name}. ${texts.waitsBehind(holds)}`;
  return behind === undefined ? name : `${name}. ${texts.behindName(behind)}`;
}

/** The state alone, as assistive technology reads it. */
function stateName(mark: MarkView, face: MarkFace, now: number, texts: Texts, format: Format): string {
  const words = texts.markName;
  switch (face.word) {
    case 'sent': {
      const next = nextWord(mark, now, texts, format);
      return `${words.sent(mark.handedTo)}${next === undefined ? '' : `, ${next}`}`;
    }
    case 'accepted':
      return words.accepted(mark.acceptedBy);
    case 'on-hold': {
      const reason = holdReason(mark, now, texts, format);
      return reason === undefined ? texts.mark['on-hold'] : words['on-hold'](reason);
    }
    default:
      return words[face.word];
  }
}

/** The inspector's sentences about a state, in order (ux.md C2). */
export function markStory(
  mark: MarkView,
  kept: boolean,
  now: number,
  texts: Texts,
  format: Format,
): readonly string[] {
  switch (mark.state) {
    case 'queued':
      return [
        kept ? texts.inspectQueued(format.exact(mark.queuedAt)) : texts.inspectNotKept,
        ...(mark.place === undefined ? [] : [texts.inspectPlace(mark.place)]),
        ...(mark.behind === undefined ? [] : [texts.inspectBehind(mark.behind)]),
        ...(mark.reason === undefined ? [] : [texts.why[mark.reason]]),
      ];
    case 'going':
      return [texts.inspectGoing];
    case 'sent':
      if (mark.handedTo === 0) return [texts.inspectGoing, ...nextSentence(mark, now, texts, format)];
      return [
        texts.inspectSent(mark.handedTo, format.exact(mark.firstHandedAt ?? mark.queuedAt), mark.rounds),
        ...(mark.reason === 'refused' ? [texts.inspectInvalid] : []),
        ...nextSentence(mark, now, texts, format),
      ];
    case 'accepted': {
      const at = format.exact(mark.acceptedAt ?? mark.queuedAt);
      return [
        mark.acceptedBy > 0
          ? texts.inspectAccepted(mark.acceptedBy, mark.required, at)
          : texts.inspectSeen(at),
      ];
    }
    case 'on-hold':
      return [
        ...(mark.reason ? [texts.why[mark.reason]] : []),
        texts.inspectStays,
        ...(mark.reason === 'budget' ? [] : nextSentence(mark, now, texts, format)),
      ];
    case 'dropped':
      return [droppedWords(mark, texts, format), texts.inspectDropped];
  }
}

/** The next try as a sentence of its own. */
function nextSentence(mark: MarkView, now: number, texts: Texts, format: Format): readonly string[] {
  const next = nextWord(mark, now, texts, format);
  return next === undefined ? [] : [`${next.charAt(0).toUpperCase()}${next.slice(1)}.`];
}
