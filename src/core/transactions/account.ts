import { openChannel, readable, sealChannel, sealIdentity } from '../history/records';
import { type AccountId, type Bytes, type ConversationId, sameBytes } from '../ids';
import { limits } from '../limits';
import type { AccountRow, ConversationRow } from '../tables';
import { all, type Change, decide, get, put, remove, rows, type Script } from '../transaction';
import { dataKey, type Keys } from './keys';
import { lookAt, newCounters } from './rows';

/** Makes an account. */
export interface CreateAccountArgs {
  readonly account: AccountId;
  readonly profile: string;
  readonly nick: string;
  readonly relays: readonly string[];
  readonly now: number;
  readonly nonce: Bytes;
}

/** One account a browser in this version; a second start answers the one that exists. */
export function* createAccount(
  args: CreateAccountArgs,
  keys: Keys,
): Script<{ readonly account: AccountId; readonly created: boolean }> {
  const key = dataKey(keys);
  const [existing] = yield* rows('accounts', { prefix: [] }, 1);
  if (existing !== undefined) return decide({ account: existing.account, created: false });
  const sealed = sealIdentity(key, args.account, { nick: args.nick }, args.nonce);
  const row: AccountRow = {
    account: args.account,
    profile: args.profile,
    sealed,
    createdAt: args.now,
  };
  const counters = { ...newCounters(args.account), revision: 1 };
  const relays = args.relays.map(
    (url): Change => put('relays', { account: args.account, url, addedAt: args.now }),
  );
  return decide(
    { account: args.account, created: true },
    [put('accounts', row), put('counters', counters), ...relays],
    [lookAt(counters, 'account')],
  );
}

/** Joins a channel by name, with its secret when it is a closed one. */
export interface JoinChannelArgs {
  readonly account: AccountId;
  readonly conversation: ConversationId;
  readonly name: string;
  readonly secret?: Bytes;
  readonly now: number;
  readonly nonce: Bytes;
}

/** Channels one account may be in; every received event is compared with each. */
export const channelsMax = 200;

/** Joins, or answers the conversation that stands for this channel already. */
export function* joinChannel(
  args: JoinChannelArgs,
  keys: Keys,
): Script<
  | {
      readonly kind: 'joined';
      readonly conversation: ConversationId;
      readonly created: boolean;
    }
  | { readonly kind: 'unknown-account' }
  | { readonly kind: 'too-many'; readonly max: number }
> {
  const key = dataKey(keys);
  const [account, stored, joined] = yield* all([
    get('accounts', [args.account]),
    get('counters', [args.account]),
    rows('conversations', { prefix: [args.account] }, channelsMax),
  ]);
  if (account === undefined) return decide({ kind: 'unknown-account' });
  const same = joined.find((row) => isChannel(row, args, keys));
  if (same !== undefined)
    return decide({
      kind: 'joined',
      conversation: same.conversation,
      created: false,
    });
  if (joined.length === channelsMax) return decide({ kind: 'too-many', max: channelsMax });
  const channel = args.secret === undefined ? { name: args.name } : { name: args.name, secret: args.secret };
  const row: ConversationRow = {
    account: args.account,
    conversation: args.conversation,
    sealed: sealChannel(key, args.account, args.conversation, channel, args.nonce),
    createdAt: args.now,
    lastSeq: 0,
    lastAt: args.now,
    readSeq: 0,
    unread: 0,
  };
  const counters = stored ?? newCounters(args.account);
  const next = { ...counters, revision: counters.revision + 1 };
  return decide(
    { kind: 'joined', conversation: args.conversation, created: true },
    [put('conversations', row), put('counters', next)],
    [lookAt(next, 'conversations')],
  );
}

/** A damaged record is nobody's channel: it must not keep others from being joined. */
function isChannel(row: ConversationRow, args: JoinChannelArgs, keys: Keys): boolean {
  const key = dataKey(keys);
  const channel = readable(() => openChannel(key, row));
  if (channel === undefined) return false;
  const bothOpen = channel.secret === undefined && args.secret === undefined;
  const bothClosed = channel.secret !== undefined && args.secret !== undefined;
  const sameSecret = bothClosed && sameBytes(channel.secret, args.secret);
  return channel.name === args.name && (bothOpen || sameSecret);
}

/** Adds or removes a relay of the account. */
export interface RelayArgs {
  readonly account: AccountId;
  readonly url: string;
  readonly now: number;
}

/** Relays one account may use. */
export const relaysMax = 64;

/** Adds a relay; adding one twice changes nothing. */
export function* addRelay(
  args: RelayArgs,
): Script<{ readonly kind: 'added' | 'known' } | { readonly kind: 'too-many'; readonly max: number }> {
  const [known, stored] = yield* all([
    rows('relays', { prefix: [args.account] }, relaysMax),
    get('counters', [args.account]),
  ]);
  if (known.some((row) => row.url === args.url)) return decide({ kind: 'known' });
  if (known.length === relaysMax) return decide({ kind: 'too-many', max: relaysMax });
  const counters = stored ?? newCounters(args.account);
  const next = { ...counters, revision: counters.revision + 1 };
  const row = { account: args.account, url: args.url, addedAt: args.now };
  return decide({ kind: 'added' }, [put('relays', row), put('counters', next)], [lookAt(next, 'account')]);
}

/** Removes a relay. What it has accepted stays accepted. */
export function* removeRelay(args: RelayArgs): Script<{ readonly kind: 'removed' }> {
  const stored = yield* get('counters', [args.account]);
  const counters = stored ?? newCounters(args.account);
  const next = { ...counters, revision: counters.revision + 1 };
  return decide(
    { kind: 'removed' },
    [remove('relays', [args.account, args.url]), put('counters', next)],
    [lookAt(next, 'account')],
  );
}

/** The newest engine's term: what an older engine decides from now on is fenced off. */
export interface BeginEngineArgs {
  /** Identity of this engine's birth; a repeat of the call answers the same term. */
  readonly engine: string;
}

/** Begins an engine's reign. */
export function* beginEngine(args: BeginEngineArgs): Script<{ readonly term: number }> {
  const row = yield* get('meta', ['engine']);
  const newest = row?.name === 'engine' ? row : undefined;
  const before = newest?.before ?? [];
  if (newest?.engine === args.engine) return decide({ term: newest.term });
  // A late copy of an older engine's call must not fence the living one: it gets a term that is fenced off already.
  if (newest !== undefined && before.includes(args.engine)) return decide({ term: newest.term - 1 });
  const term = (newest?.term ?? 0) + 1;
  const older = newest === undefined ? [] : [...before, newest.engine].slice(-limits.enginesRememberedMax);
  return decide({ term }, [put('meta', { name: 'engine', term, engine: args.engine, before: older })]);
}
