import { sealDraft } from '../history/records';
import type { AccountId, Bytes, ConversationId } from '../ids';
import { limits } from '../limits';
import { type Ask, type Change, decide, get, put, remove, rows, type Script } from '../transaction';
import { utf8Bytes } from '../wire/codec';
import { dataKey, type Keys } from './keys';
import { lookAt, newCounters } from './rows';

/** Unsent text of one conversation, whole. */
export interface PutDraftArgs {
  readonly account: AccountId;
  readonly conversation: ConversationId;
  readonly text: string;
  readonly now: number;
  readonly nonce: Bytes;
}

/** Keeps a draft; an empty text removes it. Relaxed: the text still stands in the field when a write is lost. */
export function* putDraft(
  args: PutDraftArgs,
  keys: Keys,
): Script<{ readonly kind: 'kept' } | { readonly kind: 'too-long'; readonly over: number }> {
  const key = dataKey(keys);
  const over = utf8Bytes(args.text).length - limits.draftBytesMax;
  if (over > 0) return decide({ kind: 'too-long', over });
  const stored = yield* get('counters', [args.account]);
  const counters = stored ?? newCounters(args.account);
  const next = { ...counters, revision: counters.revision + 1 };
  return decide(
    { kind: 'kept' },
    [draftChange(args, key), put('counters', next)],
    [lookAt(next, 'conversations')],
  );
}

function draftChange(args: PutDraftArgs, key: ReturnType<typeof dataKey>): Change {
  if (args.text === '') return remove('drafts', [args.account, args.conversation]);
  const sealed = sealDraft(key, args.account, args.conversation, args.text, args.nonce);
  return put('drafts', {
    account: args.account,
    conversation: args.conversation,
    sealed,
    at: args.now,
  });
}

/** Everything up to `seq` was seen. */
export interface MarkReadArgs {
  readonly account: AccountId;
  readonly conversation: ConversationId;
  readonly seq: number;
}

/** Unread messages counted at the most; above it the list says "more". */
export const unreadMax = 999;

/** Counted anew: a message that came while the mark was on its way must not bring back those that were seen. */
function* unreadAfter({ account, conversation, seq }: MarkReadArgs): Ask<number> {
  const later = yield* rows('messages', { prefix: [account, conversation], from: seq + 1 }, unreadMax);
  return later.filter((row) => !row.own).length;
}

/** Moves the read mark forward, never back. */
export function* markRead(args: MarkReadArgs): Script<{ readonly kind: 'read' | 'past' | 'unknown' }> {
  const row = yield* get('conversations', [args.account, args.conversation]);
  if (row === undefined) return decide({ kind: 'unknown' });
  if (row.readSeq >= args.seq) return decide({ kind: 'past' });
  const stored = yield* get('counters', [args.account]);
  const counters = stored ?? newCounters(args.account);
  const next = { ...counters, revision: counters.revision + 1 };
  const unread = args.seq >= row.lastSeq ? 0 : yield* unreadAfter(args);
  return decide(
    { kind: 'read' },
    [put('conversations', { ...row, readSeq: args.seq, unread }), put('counters', next)],
    [lookAt(next, 'conversations')],
  );
}
