import type { MessageView, TimelineView } from './model';
import type { Texts } from './texts/en';

/** What was said of the open conversation, and what may still have to be said. */
export interface Said {
  readonly conversation?: string;
  /** Newest message already seen. */
  readonly seq: number;
  /** Times at which messages were said lately. */
  readonly lately: readonly number[];
  /** Messages held back because many came at once, and since when. */
  readonly held: number;
  readonly heldSince: number;
  /** Own messages whose waiting was said. */
  readonly waiting: readonly number[];
  readonly openedAt: number;
}

const burstMs = 3_000;
const burst = 5;
const ownMs = 5_000;
const textMax = 200;

/** Nothing said yet, by a page opened at `now`. */
export function saidNothing(now: number): Said {
  return { seq: 0, lately: [], held: 0, heldSince: 0, waiting: [], openedAt: now };
}

/** What to say aloud after a change or a tick, each thing once (ux.md G). Rows loaded by scrolling are never said. */
export function saying(
  state: Said,
  timeline: TimelineView | undefined,
  silent: boolean,
  now: number,
  texts: Texts,
): { readonly state: Said; readonly say: readonly string[] } {
  if (!timeline) return { state, say: [] };
  const newest = timeline.messages.at(-1)?.seq ?? 0;
  if (state.conversation !== timeline.conversation) {
    const opened = { ...state, conversation: timeline.conversation, seq: newest, lately: [], held: 0 };
    return { state: opened, say: [] };
  }
  const arrived = timeline.messages.filter((message) => message.seq > state.seq && !message.own);
  const lately = state.lately.filter((at) => now - at < burstMs);
  const news = newMessages(state, arrived, lately, now, texts);
  const own = ownWaiting(state, timeline.messages, silent, now, texts);
  return {
    state: { ...state, ...news.state, waiting: own.waiting, seq: Math.max(state.seq, newest) },
    say: [...news.say, ...own.say],
  };
}

/** New messages one by one, or as a number when five or more come within three seconds. */
function newMessages(
  state: Said,
  arrived: readonly MessageView[],
  lately: readonly number[],
  now: number,
  texts: Texts,
): { readonly state: Pick<Said, 'lately' | 'held' | 'heldSince'>; readonly say: readonly string[] } {
  if (state.held > 0 || lately.length + arrived.length >= burst) {
    const held = state.held + arrived.length;
    const heldSince = state.held > 0 ? state.heldSince : now;
    const due = held > 0 && now - heldSince >= burstMs;
    return due
      ? { state: { lately, held: 0, heldSince: 0 }, say: [texts.saidMany(held)] }
      : { state: { lately, held, heldSince }, say: [] };
  }
  return {
    state: { lately: [...lately, ...arrived.map(() => now)], held: 0, heldSince: 0 },
    say: arrived.map((message) =>
      texts.said(message.nick, (message.text ?? texts.unreadable).slice(0, textMax)),
    ),
  };
}

/** An own message of this page that is still unanswered after five seconds, said once. */
function ownWaiting(
  state: Said,
  messages: readonly MessageView[],
  silent: boolean,
  now: number,
  texts: Texts,
): { readonly waiting: readonly number[]; readonly say: readonly string[] } {
  const late = messages.filter(
    ({ seq, mark }) =>
      (mark?.state === 'queued' || mark?.state === 'sent') &&
      mark.queuedAt >= state.openedAt &&
      now - mark.queuedAt >= ownMs &&
      !state.waiting.includes(seq),
  );
  const last = late.at(-1);
  if (!last) return { waiting: state.waiting, say: [] };
  const word = silent ? texts.saidQueued : texts.saidQueuedWaits;
  return {
    waiting: [...state.waiting, ...late.map(({ seq }) => seq)].slice(-500),
    say: [last.mark?.state === 'sent' ? texts.saidSent : word],
  };
}
