import {
  type Identity,
  openChannel,
  openDraft,
  openIdentity,
  openOwnBody,
  openReceivedBody,
  readable,
} from '../history/records';
import type { AccountId, Bytes, ConversationId } from '../ids';
import { limits } from '../limits';
import { identityText } from '../rate/limiter';
import type { AccountRow, ConversationRow, CountersRow, MessageRow, Operation, RelayRow } from '../tables';
import { type Ask, all, first, get, rows } from '../transaction';
import { profileOf } from '../wire/profile';
import { channelsMax, relaysMax } from './account';
import { dataKey, type Keys } from './keys';
import { newCounters } from './rows';
import { limiter } from './ticket';

/** A message opened for the screen or the engine. */
export interface OpenedMessage {
  readonly conversation: ConversationId;
  readonly seq: number;
  readonly logical: string;
  readonly at: number;
  readonly own: boolean;
  /** `undefined` when the record cannot be opened. */
  readonly body?: { readonly nick: string; readonly text: string };
  readonly lane?: number;
  readonly operation?: Operation;
  readonly time?: number;
}

/** A channel opened for the screen or the engine. */
export interface OpenedConversation {
  readonly conversation: ConversationId;
  readonly name: string;
  readonly secret?: Bytes;
  readonly createdAt: number;
  readonly readSeq: number;
  readonly unread: number;
  readonly last?: OpenedMessage;
  readonly draft?: string;
}

/** The account's part in a network that limits rates. */
export interface RateView {
  /** Own events are proven. */
  readonly on: boolean;
  /** Public key of the identity in base64url, as a relay's operator registers it. */
  readonly identity?: string;
}

/** Everything the list and the frame of the app show. */
export interface Overview {
  readonly account?: {
    readonly account: AccountId;
    readonly profile: string;
    readonly nick: string;
    readonly createdAt: number;
    /** Rates are limited (see `limitRate`); absent while they are not and there is no identity. */
    readonly rate?: RateView;
  };
  readonly counters: CountersRow;
  readonly outboxBytesMax: number;
  readonly relays: readonly RelayRow[];
  readonly conversations: readonly OpenedConversation[];
  readonly head?: OpenedMessage;
  /** Second in the lane, when there is one: with the head it tells what waits. */
  readonly waiting: number;
}

/** Reads the account, its relays, its conversations with their last lines and drafts, and the head of the lane. */
export function* overview(_args: Record<string, never>, keys: Keys): Ask<Overview> {
  const key = dataKey(keys);
  const [row] = yield* rows('accounts', { prefix: [] }, 1);
  const outboxBytesMax = keys.outboxBytesMax ?? limits.outboxBytesMax;
  if (row === undefined) {
    return {
      counters: newCounters(''),
      outboxBytesMax,
      relays: [],
      conversations: [],
      waiting: 0,
    };
  }
  const [counters, relays, joined, head] = yield* all([
    get('counters', [row.account]),
    rows('relays', { prefix: [row.account] }, relaysMax),
    rows('conversations', { prefix: [row.account] }, channelsMax),
    first('messages', { prefix: [row.account] }, 'lane'),
  ]);
  const lasts = yield* all(joined.map((one) => lastOf(one)));
  const drafts = yield* all(joined.map((one) => get('drafts', [one.account, one.conversation])));
  const identity = readable(() => openIdentity(key, row)) ?? { nick: '' };
  const rate = rateViewOf(row, identity);
  const found = counters ?? newCounters(row.account);
  const last = (at: number): OpenedMessage | undefined => {
    const message = lasts[at];
    return message === undefined ? undefined : openMessage(message, keys);
  };
  return {
    account: {
      account: row.account,
      profile: row.profile,
      nick: identity.nick,
      createdAt: row.createdAt,
      ...(rate === undefined ? {} : { rate }),
    },
    counters: found,
    outboxBytesMax,
    relays,
    conversations: joined.map((one, at) => {
      const draft = drafts[at];
      const text = draft === undefined ? undefined : readable(() => openDraft(key, draft));
      return openConversation(one, keys, last(at), text);
    }),
    ...(head === undefined ? {} : { head: openMessage(head, keys) }),
    waiting: found.live,
  };
}

function rateViewOf(row: AccountRow, { rateSecret }: Identity): RateView | undefined {
  const on = profileOf(row.profile)?.rateLimit ?? false;
  if (rateSecret === undefined) return on ? { on } : undefined;
  return { on, identity: identityText(limiter.identityOf(rateSecret)) };
}

function lastOf(row: ConversationRow): Ask<MessageRow | undefined> {
  return first('messages', {
    prefix: [row.account, row.conversation],
    reverse: true,
  });
}

function openConversation(
  row: ConversationRow,
  keys: Keys,
  last: OpenedMessage | undefined,
  draft: string | undefined,
): OpenedConversation {
  const channel = readable(() => openChannel(dataKey(keys), row)) ?? { name: '' };
  return {
    conversation: row.conversation,
    ...channel,
    createdAt: row.createdAt,
    readSeq: row.readSeq,
    unread: row.unread,
    ...(last === undefined ? {} : { last }),
    ...(draft === undefined ? {} : { draft }),
  };
}

/** A message row with its body opened. */
export function openMessage(row: MessageRow, keys: Keys): OpenedMessage {
  const key = dataKey(keys);
  const body = readable(() => (row.own ? openOwnBody(key, row) : openReceivedBody(key, row)));
  return {
    conversation: row.conversation,
    seq: row.seq,
    logical: row.logical,
    at: row.at,
    own: row.own,
    ...(body === undefined ? {} : { body: { nick: body.nick, text: body.text } }),
    ...(row.lane === undefined ? {} : { lane: row.lane }),
    ...(row.operation === undefined ? {} : { operation: row.operation }),
    ...(row.time === undefined ? {} : { time: row.time }),
  };
}

/** One window of a conversation. */
export interface TimelineArgs {
  readonly account: AccountId;
  readonly conversation: ConversationId;
  /** Only messages before this sequence; the newest window without it. */
  readonly before?: number;
  readonly limit: number;
}

/** Messages oldest first, and whether older ones exist. */
export function* timeline(
  args: TimelineArgs,
  keys: Keys,
): Ask<{
  readonly messages: readonly OpenedMessage[];
  readonly more: boolean;
}> {
  const limit = Math.min(args.limit, limits.pageRowsMax);
  const prefix = [args.account, args.conversation];
  const range = args.before === undefined ? { prefix } : { prefix, to: args.before - 1 };
  const found = yield* rows('messages', { ...range, reverse: true }, limit + 1);
  const page = found.slice(0, limit).map((row) => openMessage(row, keys));
  return { messages: page.reverse(), more: found.length > limit };
}

/** One message, for the inspector. */
export interface MessageArgs {
  readonly account: AccountId;
  readonly conversation: ConversationId;
  readonly seq: number;
}

/** The message, and its place in the lane while it is in it (1 is the head). */
export function* message(args: MessageArgs, keys: Keys): Ask<OpenedMessage | undefined> {
  const row = yield* get('messages', [args.account, args.conversation, args.seq]);
  return row === undefined ? undefined : openMessage(row, keys);
}

/** The head of an account's lane, as the policy reads it: its row, without opening the body. */
export function* head(args: { readonly account: AccountId }): Ask<MessageRow | undefined> {
  return yield* first('messages', { prefix: [args.account] }, 'lane');
}
