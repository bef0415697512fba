import type { Format } from './format';
import { nextWord, unansweredMs } from './mark';
import type { Snapshot } from './model';
import type { Texts } from './texts/en';

/** What the strip may say, most urgent first (ux.md C5). */
const stripCauses = [
  'store',
  'not-kept',
  'on-hold',
  'clock',
  'silent',
  'unanswered',
  'update',
  'catching-up',
] as const;

/** One cause of the strip. */
export type StripCause = (typeof stripCauses)[number];

/** How loud the strip is. Tone is told by its icon and words too. */
export type StripTone = 'danger' | 'warn' | 'quiet';

const clockSecondsMax = 300;
const silentMs = 4_000;
const shownMinMs = 2_000;
const goneMs = 1_000;
const catchingUpMs = 2_000;
/** At the opening of the page only what is dangerous or stuck is said aloud. */
const openingMs = 1_500;

/** The most urgent cause a snapshot holds. `foregroundSince`: when this page was last brought to the front, ms. */
export function stripCause(snapshot: Snapshot, now: number, foregroundSince: number): StripCause | undefined {
  const { network, queue } = snapshot;
  const head = queue.head?.mark;
  if (snapshot.phase === 'unavailable') return 'store';
  if (snapshot.phase !== 'ready') return undefined;
  if (!snapshot.kept) return 'not-kept';
  if (head?.state === 'on-hold') return 'on-hold';
  if (Math.abs(network.clockOffSeconds ?? 0) > clockSecondsMax) return 'clock';
  const silentSince = network.relays.length === 0 ? foregroundSince : network.silentSince;
  if (silentSince !== undefined && now - Math.max(silentSince, foregroundSince) >= silentMs) return 'silent';
  if (head?.state === 'sent' && now - (head.firstHandedAt ?? now) > unansweredMs) return 'unanswered';
  if (snapshot.updateReady) return 'update';
  return !network.synced && network.relays.some((relay) => relay.state === 'catching-up')
    ? 'catching-up'
    : undefined;
}

/** What the strip shows and what it waits for. */
export interface StripState {
  readonly shown?: StripCause;
  readonly shownAt: number;
  readonly goneAt?: number;
  readonly wanted?: StripCause;
  readonly wantedAt: number;
  /** When the page opened. */
  readonly openedAt: number;
  /** The cause to say aloud now, at this step only. */
  readonly say?: StripCause;
}

/** The strip of a page opened at `now`. */
export function stripStart(now: number): StripState {
  return { shownAt: now, wantedAt: now, openedAt: now };
}

/**
 * The strip after `wanted` was found at `now`: what is shown stays two seconds at least and one second after its cause
 * is gone; catching up must last two seconds to be shown; something more urgent is shown at once.
 */
export function stripStep(state: StripState, wanted: StripCause | undefined, now: number): StripState {
  const { shown, shownAt, goneAt, openedAt } = state;
  const wantedAt = wanted === state.wanted ? state.wantedAt : now;
  const base = { shownAt, wantedAt, openedAt, ...(wanted && { wanted }), ...(shown && { shown }) };
  if (wanted === shown) return base;
  const due = wanted !== undefined && (wanted !== 'catching-up' || now - wantedAt >= catchingUpMs);
  const urgent = due && (shown === undefined || stripCauses.indexOf(wanted) < stripCauses.indexOf(shown));
  const left = goneAt ?? now;
  const over = shown === undefined || (now - shownAt >= shownMinMs && now - left >= goneMs);
  if (!urgent && !over) return { ...base, goneAt: left };
  if (!due) return { shownAt, wantedAt, openedAt, ...(wanted && { wanted }) };
  const aloud = now - openedAt > openingMs || wanted === 'store' || wanted === 'on-hold';
  return { shown: wanted, shownAt: now, wanted, wantedAt, openedAt, ...(aloud && { say: wanted }) };
}

/** How loud a cause is. */
export function stripTone(cause: StripCause): StripTone {
  if (cause === 'store') return 'danger';
  return cause === 'not-kept' || cause === 'on-hold' || cause === 'clock' ? 'warn' : 'quiet';
}

/** Words of the strip for a cause. */
export function stripText(cause: StripCause, snapshot: Snapshot, texts: Texts, format: Format): string {
  const { queue, network } = snapshot;
  const head = queue.head?.mark;
  switch (cause) {
    case 'on-hold': {
      // The reason alone: the line is short, and when it goes on stands where the line leads.
      const held = head?.reason
        ? texts.markName['on-hold'](texts.reason[head.reason])
        : texts.mark['on-hold'];
      return join(held, queue.waiting > 1 ? texts.waitsBehind(queue.waiting - 1) : undefined);
    }
    case 'clock':
      return texts.strip.clock(span(Math.abs(network.clockOffSeconds ?? 0), texts));
    case 'silent':
      return join(
        network.relays.length === 0 ? texts.strip['no-relays'] : texts.strip.silent,
        queue.waiting > 0 ? texts.strip.waiting(queue.waiting) : undefined,
      );
    case 'unanswered':
      return join(
        texts.strip[head?.reason === 'refused' ? 'invalid' : 'unanswered'],
        head && nextWord(head, snapshot.now, texts, format),
      );
    default:
      return texts.strip[cause];
  }
}

/** Two pieces with a dot between, or the first alone. */
function join(first: string, second: string | undefined): string {
  return second === undefined ? first : `${first} · ${second}`;
}

/** A length of time in its largest fitting unit. */
function span(seconds: number, texts: Texts): string {
  return seconds >= 5_400
    ? texts.hours(Math.round(seconds / 3_600))
    : texts.minutes(Math.round(seconds / 60));
}
