import { type OwnBody, openOwnBody, sameOwnBody, sealOwnBody } from '../history/records';
import type { AccountId, Bytes, ConversationId, LogicalId } from '../ids';
import { limits } from '../limits';
import { reopenRejected, withoutBytes } from '../outbox/operation';
import { untouched } from '../outbox/policy';
import type { CountersRow, MessageRow, Operation } from '../tables';
import { type Ask, all, decide, first, get, put, remove, type Script } from '../transaction';
import { entryBytes, overBy } from './enqueue';
import { dataKey, type Keys } from './keys';
import { lookAt, newCounters } from './rows';

/** Names one own message and the command the person saw when deciding. */
interface HandArgs {
  readonly account: AccountId;
  readonly conversation: ConversationId;
  readonly seq: number;
  readonly command: LogicalId;
  readonly now: number;
}

/** What became of *Try now*. */
export type RetryOutcome =
  | { readonly kind: 'due' }
  /** The rules ask for a pause between tries. */
  | { readonly kind: 'not-before'; readonly at: number }
  /** It waits behind another message: there is nothing of it to try. */
  | { readonly kind: 'waits' }
  | { readonly kind: 'gone' };

/**
 * Brings the head's next round forward. It hurries nothing else: one event is in flight, whatever is pressed and
 * however often (BL-01).
 */
export function* retryNow(args: HandArgs): Script<RetryOutcome> {
  const { row, counters, head } = yield* look(args);
  if (row === undefined) return decide({ kind: 'gone' });
  if (head?.seq !== row.seq) return decide({ kind: 'waits' });
  const before = row.operation ?? untouched;
  const at = earliestRound(before, args.now);
  if (at > args.now) return decide({ kind: 'not-before', at });
  const { parked: _parked, ...rest } = reopenRejected(before, args.now);
  // Not at the page's `now`: rounds go by the clock of the peers, and a page's ahead of it would put them off.
  return changed({ kind: 'due' }, { ...row, operation: { ...rest, nextAt: at } }, counters);
}

/**
 * A late copy of the call may be older than the last round. A round that lies further ahead than a call may wait says
 * nothing: the clock moved since.
 */
function earliestRound(operation: Operation, now: number): number {
  const earliest = (operation.lastRoundAt ?? 0) + limits.retryPauseMs;
  return earliest - now > limits.retryPauseMs + limits.callRepeatMs ? now : earliest;
}

/** Another text for a message that has not left. */
export interface EditArgs extends HandArgs {
  readonly profile: string;
  /** Command id of the edited message: another content is another command. */
  readonly newCommand: LogicalId;
  readonly body: OwnBody;
  readonly nonce: Bytes;
}

/** What became of an edit. */
export type EditOutcome =
  | { readonly kind: 'edited'; readonly seq: number }
  /** A copy exists: it may have left, and cannot be changed any more. */
  | { readonly kind: 'exposed' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'too-long'; readonly over: number }
  | { readonly kind: 'outbox-full'; readonly held: number; readonly max: number };

/** Replaces the text in its place in the line. Only before a generation exists; a repeat answers the same. */
export function* editQueued(args: EditArgs, keys: Keys): Script<EditOutcome> {
  const key = dataKey(keys);
  const row = yield* get('messages', [args.account, args.conversation, args.seq]);
  if (row?.logical === args.newCommand && sameOwnBody(openOwnBody(key, row), args.body)) {
    return decide({ kind: 'edited', seq: row.seq });
  }
  if (row?.lane === undefined || row.logical !== args.command) return decide({ kind: 'gone' });
  if ((row.operation?.generations.length ?? 0) > 0) return decide({ kind: 'exposed' });
  const over = overBy(args.profile, args.body);
  if (over > 0) return decide({ kind: 'too-long', over });
  const counters = (yield* get('counters', [args.account])) ?? newCounters(args.account);
  const body = sealOwnBody(key, args.account, args.newCommand, args.body, args.nonce);
  const bytes = entryBytes(body);
  const held = counters.outboxBytes - (row.bytes ?? 0);
  const max = keys.outboxBytesMax ?? limits.outboxBytesMax;
  if (held + bytes > max - limits.outboxHeadBytes && bytes > (row.bytes ?? 0)) {
    return decide({ kind: 'outbox-full', held: counters.outboxBytes, max });
  }
  // Whatever it was parked for, the new text may not be: it is looked at anew.
  const { operation: _operation, ...kept } = row;
  const edited: MessageRow = { ...kept, logical: args.newCommand, body, bytes };
  return changed({ kind: 'edited', seq: row.seq }, edited, { ...counters, outboxBytes: held + bytes });
}

/** What became of a drop. */
export type DropOutcome =
  | {
      readonly kind: 'dropped';
      /** A copy had been exposed and cannot be called back. */
      readonly exposed: boolean;
    }
  | { readonly kind: 'gone' };

/**
 * Takes a message out of the line because a person said so: the one way out beside evidence. What stood behind it may
 * leave. An exposed copy may still arrive, and what relays say of it is kept as before. A repeat answers the same.
 */
export function* drop(args: HandArgs): Script<DropOutcome> {
  const { row, counters, stored } = yield* look(args);
  if (stored?.operation?.droppedAt !== undefined && stored.logical === args.command) {
    return decide({ kind: 'dropped', exposed: stored.operation.generations.length > 0 });
  }
  if (row === undefined) return decide({ kind: 'gone' });
  const exposed = (row.operation?.generations.length ?? 0) > 0;
  const { lane: _lane, bytes, ...kept } = row;
  const operation = {
    ...withoutBytes(row.operation ?? untouched),
    droppedAt: args.now,
    droppedMark: counters.ownTime,
  };
  const next = {
    ...counters,
    outboxBytes: Math.max(0, counters.outboxBytes - (bytes ?? 0)),
    live: Math.max(0, counters.live - 1),
  };
  return changed({ kind: 'dropped', exposed }, { ...kept, operation }, next);
}

/** What became of an undo. */
export type UndoOutcome =
  | { readonly kind: 'back' }
  /** Something behind it was exposed meanwhile, or a copy of its own had been: it cannot stand there again. */
  | { readonly kind: 'too-late' }
  | { readonly kind: 'outbox-full'; readonly held: number; readonly max: number };

/** Puts a dropped message back where it stood, if the order still allows it. */
export function* undoDrop(args: HandArgs, keys: Keys): Script<UndoOutcome> {
  const [row, stored, head] = yield* all([
    get('messages', [args.account, args.conversation, args.seq]),
    get('counters', [args.account]),
    first('messages', { prefix: [args.account] }, 'lane'),
  ]);
  const named = row?.own === true && row.logical === args.command;
  // Back already, and perhaps sent meanwhile: a repeat answers the same.
  if (named && row.operation?.droppedAt === undefined) return decide({ kind: 'back' });
  const counters = stored ?? newCounters(args.account);
  if (!named || !mayReturn(row, head, counters, args.now)) return decide({ kind: 'too-late' });
  const bytes = entryBytes(row.body);
  const max = keys.outboxBytesMax ?? limits.outboxBytesMax;
  if (counters.outboxBytes + bytes > max - limits.outboxHeadBytes) {
    return decide({ kind: 'outbox-full', held: counters.outboxBytes, max });
  }
  const { operation: _operation, ...kept } = row;
  const next = { ...counters, outboxBytes: counters.outboxBytes + bytes, live: counters.live + 1 };
  return changed({ kind: 'back' }, { ...kept, lane: row.seq, bytes }, next);
}

/**
 * The order of the line is the order of sequences: a later one that was exposed, or has left, since the drop forbids
 * the return. Nothing behind it was while the head stands before it; else nothing may have been made since the drop.
 */
function mayReturn(
  row: MessageRow,
  head: MessageRow | undefined,
  counters: CountersRow,
  now: number,
): boolean {
  const droppedAt = row.operation?.droppedAt;
  if (droppedAt === undefined || (row.operation?.generations.length ?? 0) > 0) return false;
  if (Math.abs(now - droppedAt) > limits.undoMs) return false;
  if (head !== undefined && head.seq < row.seq) return true;
  if (row.operation?.droppedMark !== counters.ownTime) return false;
  return (head?.operation?.generations.length ?? 0) === 0;
}

/** A dropped message that never left is remembered only as long as the drop can be undone. */
export function* forgetDropped(args: HandArgs): Script<{ readonly kind: 'forgotten' | 'kept' }> {
  const row = yield* get('messages', [args.account, args.conversation, args.seq]);
  const dropped = row?.operation?.droppedAt !== undefined && row.logical === args.command;
  if (!dropped || (row.operation?.generations.length ?? 0) > 0) return decide({ kind: 'kept' });
  const counters = (yield* get('counters', [args.account])) ?? newCounters(args.account);
  const next = { ...counters, revision: counters.revision + 1 };
  return decide(
    { kind: 'forgotten' },
    [remove('messages', [args.account, args.conversation, args.seq]), put('counters', next)],
    [lookAt(next, 'messages')],
  );
}

interface Looked {
  readonly row: MessageRow | undefined;
  /** What stands at the sequence, in the line or not. */
  readonly stored: MessageRow | undefined;
  readonly head: MessageRow | undefined;
  readonly counters: CountersRow;
}

/** The message, if it is in the line and still the one the person saw. */
function* look(args: HandArgs): Ask<Looked> {
  const [row, head, counters] = yield* all([
    get('messages', [args.account, args.conversation, args.seq]),
    first('messages', { prefix: [args.account] }, 'lane'),
    get('counters', [args.account]),
  ]);
  const here = row?.lane !== undefined && row.logical === args.command ? row : undefined;
  return { row: here, stored: row, head, counters: counters ?? newCounters(args.account) };
}

function changed<O>(outcome: O, row: MessageRow, counters: CountersRow) {
  const next = { ...counters, revision: counters.revision + 1 };
  return decide(outcome, [put('messages', row), put('counters', next)], [lookAt(next, 'outbox')]);
}
