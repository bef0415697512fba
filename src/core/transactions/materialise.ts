import { assert, present } from '../assert';
import { backoffMaxMs, backoffMs } from '../backoff';
import { channelKey, sealChannel } from '../crypto/box';
import { deriveBytes } from '../crypto/derive';
import { SealError } from '../crypto/seal';
import type { Effect } from '../effects';
import { DecodeError, EncodeError } from '../errors';
import { type Composed, compose } from '../graph/compose';
import { type OwnBody, openOwnBody } from '../history/records';
import type { AccountId, Bytes, EventId, LogicalId } from '../ids';
import { limits } from '../limits';
import {
  addGeneration,
  beginRound,
  type ContentBounds,
  exposedBytes,
  handedTo,
  parkUntil,
  tooSmallFor,
} from '../outbox/operation';
import type { ParkReason } from '../outbox/policy';
import type { CountersRow, MessageRow, Operation } from '../tables';
import {
  type Ask,
  all,
  type Change,
  type Decision,
  decide,
  first,
  get,
  put,
  rows,
  type Script,
} from '../transaction';
import { encodePrivmsg } from '../wire/privmsg';
import { type NetworkProfile, profileOf, slotOf } from '../wire/profile';
import { gatedPlaceOf } from './graph-reads';
import { dataKey, type Keys } from './keys';
import { lookAt, newCounters } from './rows';
import { ticketFor } from './ticket';

/** What making a generation needs beside the entry itself. */
export interface MakingArgs {
  readonly profile: string;
  /** Trusted time, unix ms. */
  readonly now: number;
  /** Relays the event is handed to in its first round. */
  readonly relays: readonly string[];
  readonly term: number;
  /** In [0, 1). */
  readonly jitter: number;
  /** 32 random bytes: the nonces of a secret channel come from it. */
  readonly seed: Bytes;
  readonly contentMax?: ContentBounds;
}

/** Makes the head's next generation. It names the head and the generation it decided on. */
export interface MaterialiseArgs extends MakingArgs {
  readonly account: AccountId;
  readonly seq: number;
  /** The generation this one replaces; `null` for the first. */
  readonly supersedes: EventId | null;
}

/** What became of it. */
export type MaterialiseOutcome =
  | { readonly kind: 'made'; readonly seq: number; readonly id: EventId }
  /** The store is past that decision already: another head, or another generation. */
  | { readonly kind: 'past' }
  | {
      readonly kind: 'parked';
      readonly reason: ParkReason;
      readonly untilMs: number;
    };

/** Bytes counted for one generation's id, links and claims. */
const generationOverheadBytes = 256;

const boxNonceBytes = 24;

/** Entries of the lane asked for ahead: the one that leaves, its follower, and one that says there is another. */
const laneAheadRows = 3;

/**
 * Exposes the head: its next generation is built, enters the local graph and gets its first claims, all in the
 * transaction that makes it durable (OB-02, 05, 07 to 09, 22).
 */
export function* materialise(args: MaterialiseArgs, keys: Keys): Script<MaterialiseOutcome> {
  const [head, counters] = yield* all([
    first('messages', { prefix: [args.account] }, 'lane'),
    get('counters', [args.account]),
  ]);
  const active = head?.operation?.generations.at(-1);
  if (head === undefined || head.seq !== args.seq || (active?.id ?? null) !== args.supersedes) {
    return decide({ kind: 'past' });
  }
  return yield* materialiseHead(args, keys, head, counters ?? newCounters(args.account));
}

/** The same for a head that the calling script has read. */
export function* materialiseHead(
  args: MakingArgs,
  keys: Keys,
  head: MessageRow,
  counters: CountersRow,
): Script<MaterialiseOutcome> {
  const profile = present(profileOf(args.profile), 'an account has a profile of this build');
  const slotsRetained = profile.clientSlotsRetained;
  const ownTime = validOwnTime(head, counters, args.now);
  const place = gatedPlaceOf({ account: head.account, profile: args.profile, slotsRetained }, keys);
  const ticket = yield* ticketFor(profile, { ...counters, ownTime }, args.now, keys);
  if (ticket === 'identity') return parkHead(head, counters, args, 'identity');
  if (ticket?.kind === 'budget') return parkHead(head, counters, args, 'budget', ticket.untilMs);
  const content = contentOf(profile, head, keys, args.seed);
  if (content === undefined) return parkHead(head, counters, args, 'processing');
  const own = {
    content,
    now: args.now,
    ownTime,
    covers: head.seq,
    ...(ticket === undefined ? {} : { blobOf: ticket.blobOf }),
  };
  const made = yield* compose(place, own);
  if (made === undefined) return parkHead(head, counters, args, 'clock');
  return exposeHead(head, counters, args, { ...made, ...ticket?.spent }, keys);
}

/**
 * Time of the last own event. One further ahead than a clock may go back was written by a clock that was wrong, and
 * must not hold up the lane until that time comes (OB-35). A copy stays later than the copies before it all the same.
 */
function validOwnTime(head: MessageRow, { ownTime }: CountersRow, now: number): number {
  const isFirst = (head.operation?.generations.length ?? 0) === 0;
  return isFirst && ownTime - now > limits.ownTimeAheadMaxMs ? 0 : ownTime;
}

/** The ticket an event was proven with, as the counters keep it. */
type Spent = Pick<CountersRow, 'rateEpoch' | 'tickets'>;

function exposeHead(
  head: MessageRow,
  counters: CountersRow,
  args: MakingArgs,
  made: Composed & Spent,
  keys: Keys,
): Decision<MaterialiseOutcome> {
  const before = head.operation;
  assert(
    before?.generations.every((one) => one.slot < made.slot) ?? true,
    'a copy enters a strictly later slot',
  );
  const added = made.event.length + made.blob.length + generationOverheadBytes - exposedBytes(before);
  const held = counters.outboxBytes + added;
  if (held > (keys.outboxBytesMax ?? limits.outboxBytesMax)) return parkHead(head, counters, args, 'room');
  const { id, slot, time: at, event, blob } = made;
  const tooSmall = tooSmallFor(event.length, args.relays, args.contentMax);
  if (tooSmall.length === args.relays.length) return parkHead(head, counters, args, 'too-large');
  const generation = { id, slot, at, event, blob };
  const operation = beginRound(addGeneration(before, generation), { ...args, tooSmall, event: id });
  const row: MessageRow = { ...head, operation, bytes: (head.bytes ?? 0) + added };
  const next: CountersRow = {
    ...counters,
    outboxBytes: held,
    graphBytes: counters.graphBytes + event.length + blob.length,
    ownTime: at,
    ...(at < counters.ownTime && { ownTimeMax: Math.max(counters.ownTime, counters.ownTimeMax ?? 0) }),
    ...(made.tickets === undefined ? {} : { rateEpoch: made.rateEpoch, tickets: made.tickets }),
    revision: counters.revision + 1,
  };
  const link = { account: head.account, id, conversation: head.conversation, seq: head.seq, slot };
  return decide(
    { kind: 'made', seq: head.seq, id },
    [...made.changes, put('messages', row), put('generations', link), put('counters', next)],
    [
      { type: 'put-event', id, event, blob, relays: handedTo(operation, id, args.relays) },
      lookAt(next, 'outbox'),
    ],
  );
}

/**
 * Keeps the head where it is, says why, and tries again at a bounded rate (OB-28, OB-32), or at `until` (OB-26). A
 * generation that is exposed already goes on being sent: parking stops new ones only.
 */
function parkHead(
  head: MessageRow,
  counters: CountersRow,
  args: MakingArgs,
  reason: ParkReason,
  until = args.now + backoffMs(1, args.jitter),
): Decision<MaterialiseOutcome> {
  const active = head.operation?.generations.at(-1);
  const effects: Effect[] = [];
  let operation: Operation;
  if (active?.event === undefined) {
    operation = parkUntil(head.operation, reason, Math.min(until, args.now + backoffMaxMs));
  } else {
    const tooSmall = tooSmallFor(active.event.length, args.relays, args.contentMax);
    const round = { ...args, tooSmall, event: active.id };
    operation = { ...beginRound(head.operation as Operation, round), parked: reason };
    const blob = active.blob ?? new Uint8Array(0);
    const relays = handedTo(operation, active.id, args.relays);
    effects.push({ type: 'put-event', id: active.id, event: active.event, blob, relays });
  }
  const next = { ...counters, revision: counters.revision + 1 };
  const changes: Change[] = [put('messages', { ...head, operation }), put('counters', next)];
  const untilMs = present(operation.nextAt, 'a parked head has a time to look again');
  return decide({ kind: 'parked', reason, untilMs }, changes, [...effects, lookAt(next, 'outbox')]);
}

/** Content of the head's event; `undefined` when its record is damaged or breaks a bound: nothing of it is lost. */
function contentOf(profile: NetworkProfile, head: MessageRow, keys: Keys, seed: Bytes): Bytes | undefined {
  const key = dataKey(keys);
  try {
    return contentOfBody(profile, openOwnBody(key, head), head.logical, seed);
  } catch (error) {
    if (error instanceof SealError || error instanceof DecodeError || error instanceof EncodeError)
      return undefined;
    throw error;
  }
}

function contentOfBody(profile: NetworkProfile, body: OwnBody, logical: LogicalId, seed: Bytes): Bytes {
  const nonce = (field: string) => deriveBytes(seed, `channel box ${field}`, boxNonceBytes);
  const fields =
    body.secret === undefined
      ? { channel: body.channel, nick: body.nick, text: body.text }
      : sealChannel(
          channelKey(body.secret),
          { nick: body.nick, text: body.text },
          {
            channel: nonce('channel'),
            nick: nonce('nick'),
            text: nonce('text'),
          },
        );
  return encodePrivmsg({
    type: 0,
    ...fields,
    ...(profile.logicalIds ? { logical } : {}),
  });
}

/** The head of the lane and what is behind it: enough to find the next one after the head has left. */
export function laneAhead(account: AccountId): Ask<readonly MessageRow[]> {
  return rows('messages', { prefix: [account] }, laneAheadRows, 'lane');
}

/**
 * What making the next head will ask, asked together with a script's first questions: answers are remembered for the
 * whole transaction, and each further round of questions is felt in a drain.
 */
export function* headAhead(account: AccountId, args: MakingArgs | undefined): Ask<void> {
  const profile = args === undefined ? undefined : profileOf(args.profile);
  if (args === undefined || profile === undefined) return;
  yield* all([laneAhead(account), get('slots', [account, slotOf(profile, args.now)])]);
}

/** The head of a lane, with the counters, for scripts that go on to the next one. */
export function* headOf(account: AccountId): Ask<readonly [MessageRow | undefined, CountersRow]> {
  const [head, counters] = yield* all([
    first('messages', { prefix: [account] }, 'lane'),
    get('counters', [account]),
  ]);
  return [head, counters ?? newCounters(account)];
}
