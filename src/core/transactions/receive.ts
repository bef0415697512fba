import { present } from '../assert';
import { deriveBytes } from '../crypto/derive';
import { type DataKey, sealNonceBytes } from '../crypto/seal';
import { insertFetched } from '../graph/fetched';
import { type GraphPlace, insertLive } from '../graph/insert';
import type { KnownEvent } from '../graph/rules';
import type { TakenIn } from '../graph/sync';
import { type ReceivedBody, sealReceivedBody } from '../history/records';
import type { AccountId, Bytes, ConversationId, EventId, LogicalId, Slot } from '../ids';
import { limits } from '../limits';
import { untouched } from '../outbox/policy';
import type { CountersRow, EventRow, MessageRow } from '../tables';
import {
  type Ask,
  all,
  decide,
  Early,
  first,
  get,
  part,
  put,
  type Range,
  rows,
  type Script,
} from '../transaction';
import type { NackReason } from '../wire/event-put';
import { type DequeueOutcome, dequeue } from './dequeue';
import { unreadMax } from './draft';
import { gatedPlaceOf } from './graph-reads';
import { dataKey, type Keys } from './keys';
import { headOf, type MakingArgs } from './materialise';
import { openMessage } from './reads';
import { lookAt, newCounters } from './rows';

/** What the engine read out of an event's content for a channel we are in. */
export interface Heard extends ReceivedBody {
  readonly event: EventId;
  readonly conversation: ConversationId;
  /** The author's logical id; where the network has none, the first half of the event's id. */
  readonly logical: LogicalId;
  /** Time the author wrote on it. */
  readonly time: number;
}

interface ReceivingArgs {
  readonly account: AccountId;
  readonly profile: string;
  readonly now: number;
  /** 32 random bytes for sealed records. */
  readonly seed: Bytes;
  /** Lets the same transaction make the next head when the event acknowledges the present one. */
  readonly next?: MakingArgs;
}

/** A live event of a peer. */
export interface ReceiveArgs extends ReceivingArgs {
  readonly event: Bytes;
  readonly blob: Bytes;
  readonly synced: boolean;
  readonly flooded: boolean;
  readonly heard?: Heard;
}

/** What to answer the peer, and what else the event changed. */
export interface ReceiveOutcome extends TakenInto {
  readonly verdict:
    | { readonly type: 'has'; readonly inserted: boolean; readonly id: EventId }
    | {
        readonly type: 'nack';
        readonly reason: NackReason;
        readonly strike: boolean;
        readonly counted: boolean;
      }
    | {
        readonly type: 'missing';
        readonly slot: Slot;
        readonly parents: readonly EventId[];
      }
    | { readonly type: 'silent' };
}

/**
 * Takes a peer's event into the graph; in the same transaction it acknowledges the head when it builds on it (OB-11),
 * and its message enters its conversation.
 */
export function* receive(args: ReceiveArgs, keys: Keys): Script<ReceiveOutcome> {
  const stored = yield* get('counters', [args.account]);
  const room = limits.clientGraphBytesMax - (stored?.graphBytes ?? 0);
  const outcome = yield* part(insertLive(placeHere(args, keys, stored), { ...args, room }));
  if (outcome.verdict === 'flood') return decide({ verdict: { type: 'silent' } });
  if (outcome.verdict === 'missing') {
    return decide({
      verdict: {
        type: 'missing',
        slot: outcome.slot,
        parents: outcome.parents,
      },
    });
  }
  if (outcome.verdict === 'known') {
    return decide({
      verdict: { type: 'has', inserted: false, id: outcome.id },
    });
  }
  if (outcome.verdict === 'refused') {
    const { reason, strike, counted } = outcome;
    return decide({ verdict: { type: 'nack', reason, strike, counted } });
  }
  const heard = args.heard === undefined ? [] : [args.heard];
  const taken = yield* part(takeIn(args, keys, [outcome.row], heard));
  return decide({ verdict: { type: 'has', inserted: true, id: outcome.row.id }, ...taken });
}

/** Events that were asked for in a sync or a parent fetch. */
export interface ReceiveFetchedArgs extends ReceivingArgs {
  readonly slot: Slot;
  readonly events: readonly { readonly event: Bytes; readonly blob: Bytes }[];
  readonly heard: readonly Heard[];
}

/** What became of fetched events. */
export interface ReceiveFetchedOutcome extends TakenIn, TakenInto {}

/** The same for events that were asked for. */
export function* receiveFetched(args: ReceiveFetchedArgs, keys: Keys): Script<ReceiveFetchedOutcome> {
  const stored = yield* get('counters', [args.account]);
  const room = limits.clientGraphBytesMax - (stored?.graphBytes ?? 0);
  const outcome = yield* part(insertFetched(placeHere(args, keys, stored), { ...args, room }));
  const taken = yield* part(takeIn(args, keys, outcome.inserted, args.heard));
  const { broken, invalid, full } = outcome;
  return decide({ inserted: outcome.inserted.length, broken, invalid, full, ...taken });
}

function placeHere(args: ReceivingArgs, keys: Keys, counters: CountersRow | undefined): GraphPlace {
  const place = gatedPlaceOf({ ...args, slotsRetained: limits.clientSlotsRetained }, keys);
  const newestOwn = Math.max(counters?.ownTime ?? 0, counters?.ownTimeMax ?? 0);
  return { ...place, ownPosition: (event) => ownPosition(args.account, event, newestOwn) };
}

/**
 * The generations of this installation are its own-event set, as long as their messages are kept. What is later than
 * all of them is none of them: after a time away that is most of what comes.
 */
function* ownPosition(account: AccountId, event: KnownEvent, newestOwn: number): Ask<number | undefined> {
  if (event.time > newestOwn) return undefined;
  return (yield* get('generations', [account, event.id]))?.seq;
}

/** What was received besides what the peer is told. */
interface TakenInto {
  readonly acknowledged?: DequeueOutcome;
  /** The store is locked: messages have to be looked for again when it is open. */
  readonly unapplied?: true;
}

/** What new events of the graph mean for the rest: messages heard, and evidence for the head. */
function* takeIn(
  args: ReceivingArgs,
  keys: Keys,
  inserted: readonly EventRow[],
  heard: readonly Heard[],
): Script<TakenInto> {
  const [newest] = inserted;
  if (newest === undefined) return decide({});
  const locked = keys.data === undefined;
  // What we said ourselves stands in its conversation already.
  const news = new Set(inserted.filter((row) => !row.own).map((row) => row.id));
  if (!locked)
    yield* hearAll(
      args,
      heard.filter((one) => news.has(one.event)),
      keys,
    );
  const [head, counters] = yield* headOf(args.account);
  const bytes = inserted.reduce((sum, row) => sum + row.event.length + row.blob.length, 0);
  const revision = counters.revision + 1;
  const from = Math.min(newest.slot, counters.unapplied?.from ?? newest.slot);
  const mark = locked ? { unapplied: { from, revision } } : {};
  const grown: CountersRow = { ...counters, graphBytes: counters.graphBytes + bytes, revision, ...mark };
  const outcome: TakenInto = locked ? { unapplied: true } : {};
  const witness = head && inserted.find((row) => !row.own && row.covers === head.seq);
  if (head === undefined || witness === undefined) {
    return decide(outcome, [put('counters', grown)], [lookAt(grown, 'graph')]);
  }
  const evidence = { event: witness.id, by: 'network', now: args.now };
  const making = { args: args.next, keys, counters: grown };
  const acknowledged = yield* part(dequeue(head, head.operation ?? untouched, evidence, making));
  return decide({ ...outcome, acknowledged });
}

type Hearing = Pick<ReceivingArgs, 'account' | 'now' | 'seed'>;

/** Puts heard messages into their conversations, in this order; answers how many were new there. */
function* hearAll(args: Hearing, heard: readonly Heard[], keys: Keys): Ask<number> {
  const key = dataKey(keys);
  const bodies = new Early(() => sealHeard(key, args, heard));
  // Asked all at once: one after another, each would wait for the database. Most find nothing, and one row says so.
  yield* all(
    heard.map((one) => first('messages', sameAs(args.account, one), 'logical')),
    bodies,
  );
  let stored = 0;
  for (const one of heard) {
    const body = present(bodies.value.get(one.event), 'what was heard is sealed');
    if ((yield* part(hear(args, one, body, keys))).stored) stored += 1;
  }
  return stored;
}

function sameAs(account: AccountId, heard: Heard): Range {
  return { prefix: [account, heard.logical] };
}

function sealHeard(key: DataKey, args: Hearing, heard: readonly Heard[]): ReadonlyMap<EventId, Bytes> {
  const nonces = deriveBytes(args.seed, 'messages', sealNonceBytes * heard.length);
  return new Map(
    heard.map(({ event, logical, nick, text }, at) => {
      const nonce = nonces.slice(at * sealNonceBytes, (at + 1) * sealNonceBytes);
      return [event, sealReceivedBody(key, args.account, logical, { nick, text }, nonce)];
    }),
  );
}

/**
 * Puts a heard message into its conversation, once: copies of the same logical id and content collapse, whoever sent
 * them; the same id with another content is another message (formats.md 4.1).
 */
function* hear(
  { account, now }: Hearing,
  heard: Heard,
  body: Bytes,
  keys: Keys,
): Script<{ readonly stored: boolean }> {
  const [conversation, stored, same] = yield* all([
    get('conversations', [account, heard.conversation]),
    get('counters', [account]),
    rows('messages', sameAs(account, heard), 64, 'logical'),
  ]);
  if (conversation === undefined || same.some((row) => saysTheSame(row, heard, keys))) {
    return decide({ stored: false });
  }
  const counters = stored ?? newCounters(account);
  const next = {
    ...counters,
    seq: counters.seq + 1,
    revision: counters.revision + 1,
  };
  const row: MessageRow = {
    account,
    conversation: heard.conversation,
    seq: next.seq,
    logical: heard.logical,
    at: now,
    own: false,
    body,
    event: heard.event,
    time: heard.time,
  };
  const seen = {
    ...conversation,
    lastSeq: next.seq,
    lastAt: now,
    unread: Math.min(unreadMax, conversation.unread + 1),
  };
  return decide(
    { stored: true },
    [put('messages', row), put('conversations', seen), put('counters', next)],
    [lookAt(next, 'messages')],
  );
}

function saysTheSame(row: MessageRow, heard: Heard, keys: Keys): boolean {
  if (row.conversation !== heard.conversation) return false;
  if (row.event === heard.event) return true;
  const kept = openMessage(row, keys).body;
  return kept !== undefined && kept.nick === heard.nick && kept.text === heard.text;
}

/** Messages of events that were in the graph before their channel was joined, or before the store was open. */
export interface ScanChannelArgs {
  readonly account: AccountId;
  readonly heard: readonly Heard[];
  readonly now: number;
  readonly seed: Bytes;
  /** All kept events were looked at for all channels, since the mark of this revision was set. */
  readonly applied?: number;
}

/** Brings kept events into the conversations they were said in. */
export function* scanChannel(args: ScanChannelArgs, keys: Keys): Script<{ readonly stored: number }> {
  const stored = yield* hearAll(args, args.heard, keys);
  if (args.applied === undefined) return decide({ stored });
  const counters = yield* get('counters', [args.account]);
  // More may have come while they were looked at.
  if (counters?.unapplied?.revision !== args.applied) return decide({ stored });
  const { unapplied: _unapplied, ...rest } = counters;
  return decide({ stored }, [put('counters', rest)]);
}
