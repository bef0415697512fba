import type { Effect } from '../effects';
import { bodyBytes } from '../graph/serve';
import type { AccountId, EventId } from '../ids';
import { limits } from '../limits';
import { claim, endIntent, unconfirmedReason, unfinished } from '../outbox/operation';
import type { EventRow, Intent, Operation } from '../tables';
import { type Ask, type Change, decide, get, put, rows, type Script } from '../transaction';
import { contentBytesOf, readableEvent } from '../wire/event';
import { withOpen } from './dequeue';
import { headOf } from './materialise';
import { lookAt, newCounters } from './rows';

/** Hands what is still open for one relay to it, once after it is ready. */
export interface ClaimOpenArgs {
  readonly account: AccountId;
  readonly relay: string;
  /** Only messages after this sequence: a page is the cursor of the next. */
  readonly after: number;
  /** Last sequence of the pages, as the first one answered it: what leaves the lane later was handed over already. */
  readonly upTo?: number;
  readonly limit: number;
  /** Bytes of events that may be handed over; with `alone` the first one is whatever its size. */
  readonly bytesMax: number;
  /** Nothing of this batch was handed over before. */
  readonly alone: boolean;
  /** Longest content the relay takes, bytes. */
  readonly contentBytesMax: number;
  readonly term: number;
  readonly now: number;
}

/** How many events were handed over, and where to go on. */
export interface ClaimOpenOutcome {
  readonly claimed: number;
  /** Bytes of their events. */
  readonly bytes: number;
  /** The next one did not fit the bytes. */
  readonly full: boolean;
  readonly last: number;
  readonly upTo: number;
  readonly more: boolean;
}

/**
 * Entries that have left the lane keep their promise to each required relay: the same bytes again, once a reconnect,
 * until the relay has accepted, or the event has left the graph and nothing is left to send (RD-04, RD-07, RD-08). An
 * intent the relay has accepted is not touched.
 */
export function* claimOpen(args: ClaimOpenArgs): Script<ClaimOpenOutcome> {
  const upTo = args.upTo ?? (yield* lastBeforeHead(args.account));
  const range = { prefix: [args.account], from: args.after + 1, to: upTo };
  const open = yield* rows('messages', range, args.limit, 'open');
  const changes: Change[] = [];
  const effects: Effect[] = [];
  let bytes = 0;
  let last = args.after;
  let full = false;
  for (const row of open) {
    const active = row.operation?.generations.at(-1);
    const event = yield* kept(args.account, active?.id);
    const given: Effect[] = [];
    const operation = row.operation && claimed(row.operation, event, args, given);
    const size = given.length === 0 || event === undefined ? 0 : bodyBytes(event);
    full = bytes + size > args.bytesMax && !(args.alone && bytes === 0);
    if (full) break;
    bytes += size;
    effects.push(...given);
    last = row.seq;
    if (operation !== undefined && operation !== row.operation)
      changes.push(put('messages', withOpen({ ...row, operation })));
  }
  const more = full || open.length === args.limit;
  const outcome = { claimed: effects.length, bytes, full, last, upTo, more };
  if (changes.length === 0) return decide(outcome);
  const counters = (yield* get('counters', [args.account])) ?? newCounters(args.account);
  const next = { ...counters, revision: counters.revision + 1 };
  return decide(outcome, [...changes, put('counters', next)], [...effects, lookAt(next, 'outbox')]);
}

/** The event as the graph holds it; a damaged one is as good as forgotten, for it would end every link it is sent on. */
function* kept(account: AccountId, id: EventId | undefined): Ask<EventRow | undefined> {
  const row = id === undefined ? undefined : yield* get('events', [account, id]);
  if (row === undefined || contentBytesOf(row.event.length) > limits.contentBytesMax) return row;
  return readableEvent(row.event) === undefined ? undefined : row;
}

/** What stands before the head has left the lane before this relay came; the head and those behind it are sent in rounds. */
function* lastBeforeHead(account: AccountId): Ask<number> {
  const [head, counters] = yield* headOf(account);
  return head === undefined ? counters.seq : head.seq - 1;
}

/** The operation with its intent for this relay claimed, or ended where nothing can be sent any more. */
function claimed(
  before: Operation,
  event: EventRow | undefined,
  args: ClaimOpenArgs,
  effects: Effect[],
): Operation {
  if (event === undefined) {
    return unfinished(before).reduce(
      (operation, one) => endIntent(operation, one, unconfirmedReason, args.now),
      before,
    );
  }
  const mine = unfinished(before).find((one: Intent) => one.relay === args.relay);
  if (mine === undefined) return before;
  const tooLarge = contentBytesOf(event.event.length) > args.contentBytesMax;
  const round = { event: event.id, relays: [args.relay], term: args.term, now: args.now, jitter: 0 };
  const operation = claim(before, tooLarge ? { ...round, tooSmall: [args.relay] } : round);
  if (!tooLarge) {
    effects.push({
      type: 'put-event',
      id: event.id,
      event: event.event,
      blob: event.blob,
      relays: [args.relay],
    });
  }
  return operation;
}
