import { present } from '../assert';
import type { DataKey } from '../crypto/seal';
import { type OwnBody, openDraft, openOwnBody, readable, sameOwnBody, sealOwnBody } from '../history/records';
import type { AccountId, Bytes, ConversationId, LogicalId } from '../ids';
import { limits } from '../limits';
import type { CountersRow, DraftRow, MessageRow } from '../tables';
import {
  type Ask,
  all,
  type Change,
  decide,
  Early,
  first,
  get,
  has,
  put,
  remove,
  rows,
  type Script,
} from '../transaction';
import { privmsgBytesOver } from '../wire/privmsg';
import { profileOf } from '../wire/profile';
import { dataKey, type Keys } from './keys';
import { lookAt, newCounters } from './rows';

/** One message a person sends. The caller owns the command id and keeps it over every repeat (OB-33). */
export interface EnqueueArgs {
  readonly account: AccountId;
  readonly conversation: ConversationId;
  /** Command id, and logical id on the wire. */
  readonly command: LogicalId;
  /** Everything a later generation is built from. */
  readonly body: OwnBody;
  /** Name of the account's network profile: its frames bound the text (RD-13). */
  readonly profile: string;
  readonly now: number;
  /** 12 random bytes for the sealed record. */
  readonly nonce: Bytes;
  /** The text was typed where drafts are kept: one that still says the same goes with the message. */
  readonly takesDraft?: true;
}

/** What became of an enqueue. Only `queued` means that the message is kept. */
export type EnqueueOutcome =
  | {
      readonly kind: 'queued';
      readonly seq: number;
      readonly repeated: boolean;
    }
  /** The command id is taken by another content; nothing changed. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'unknown-conversation' }
  | { readonly kind: 'too-long'; readonly over: number }
  | {
      readonly kind: 'outbox-full';
      readonly held: number;
      readonly max: number;
    };

/** Metadata counted for an entry beside its sealed body: keys, operation, generation ids. */
const entryOverheadBytes = 512;

/**
 * Appends a message to the account's lane (OB-01, OB-31, OB-33). A repeat of the same command with the same content
 * answers the same result, with another content a conflict.
 */
export function* enqueue(args: EnqueueArgs, keys: Keys): Script<EnqueueOutcome> {
  const key = dataKey(keys);
  // Most of the work, and none of it needs an answer.
  const sealed = new Early(() => sealOwnBody(key, args.account, args.command, args.body, args.nonce));
  const [known, stored, earlier, draft] = yield* all(
    [
      has('conversations', [args.account, args.conversation]),
      get('counters', [args.account]),
      ownBefore(args.account, args.command),
      draftOf(args),
    ],
    sealed,
  );
  if (earlier !== undefined) return decide(repeatOf(earlier, args, keys));
  if (!known) return decide({ kind: 'unknown-conversation' });
  const over = overBy(args.profile, args.body);
  if (over > 0) return decide({ kind: 'too-long', over });
  const counters = stored ?? newCounters(args.account);
  const body = sealed.value;
  const bytes = entryBytes(body);
  const max = keys.outboxBytesMax ?? limits.outboxBytesMax;
  // The head's event needs room too, or a full outbox could never send what fills it.
  if (counters.outboxBytes + bytes > max - limits.outboxHeadBytes)
    return decide({ kind: 'outbox-full', held: counters.outboxBytes, max });
  const seq = counters.seq + 1;
  const row: MessageRow = {
    account: args.account,
    conversation: args.conversation,
    seq,
    logical: args.command,
    at: args.now,
    own: true,
    body,
    lane: seq,
    bytes,
  };
  const next: CountersRow = {
    ...counters,
    seq,
    outboxBytes: counters.outboxBytes + bytes,
    live: counters.live + 1,
    revision: counters.revision + 1,
  };
  return decide(
    { kind: 'queued', seq, repeated: false },
    [put('messages', row), put('counters', next), ...draftTaken(draft, args, key)],
    [lookAt(next, 'outbox')],
  );
}

function* draftOf(args: EnqueueArgs): Ask<DraftRow | undefined> {
  return args.takesDraft === true ? yield* get('drafts', [args.account, args.conversation]) : undefined;
}

/**
 * The text a message was typed as goes with it: a crash in between must not bring it back as a draft. Another text is
 * of another tab, or was typed since.
 */
function draftTaken(draft: DraftRow | undefined, args: EnqueueArgs, key: DataKey): readonly Change[] {
  if (draft === undefined) return [];
  // One that does not open any more is no reason to refuse the message; it stays, and shows nothing.
  const text = readable(() => openDraft(key, draft));
  if (text?.trimEnd() !== args.body.text) return [];
  return [remove('drafts', [args.account, args.conversation])];
}

/** The own message of a command, if there is one. */
function* ownBefore(account: AccountId, command: LogicalId): Ask<MessageRow | undefined> {
  const same = { prefix: [account, command] };
  const one = yield* first('messages', same, 'logical');
  if (one === undefined || one.own) return one;
  // Others may say the same id.
  return (yield* rows('messages', same, 8, 'logical')).find((row) => row.own);
}

/**
 * Bytes by which a body would pass its bounds; 0 when it fits. Room for the publish frame is reserved before a message
 * is accepted: what never fits is never queued (RD-13).
 */
export function overBy(profileName: string, body: OwnBody): number {
  const profile = present(profileOf(profileName), 'an account has a profile of this build');
  return privmsgBytesOver(profile, body.channel, body.nick, body.text, body.secret !== undefined);
}

/** Bytes counted in the outbox for an entry that nothing was made of yet. */
export function entryBytes(sealedBody: Bytes): number {
  return sealedBody.length + entryOverheadBytes;
}

function repeatOf(earlier: MessageRow, args: EnqueueArgs, keys: Keys): EnqueueOutcome {
  // What does not open any more cannot be the same: the id is taken, and the text goes under another.
  const kept = readable(() => openOwnBody(dataKey(keys), earlier));
  const equal =
    kept !== undefined && earlier.conversation === args.conversation && sameOwnBody(kept, args.body);
  return equal ? { kind: 'queued', seq: earlier.seq, repeated: true } : { kind: 'conflict' };
}
