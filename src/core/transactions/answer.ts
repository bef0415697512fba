import type { AccountId, EventId } from '../ids';
import { answered } from '../outbox/operation';
import { untouched } from '../outbox/policy';
import type { MessageRow } from '../tables';
import { type Ask, all, decide, get, part, put, type Script } from '../transaction';
import type { NackReason, PutResult } from '../wire/event-put';
import { dequeue, withOpen } from './dequeue';
import type { Keys } from './keys';
import { headAhead, laneAhead, type MakingArgs, type MaterialiseOutcome } from './materialise';
import { lookAt, newCounters } from './rows';

/** A relay's EventPutStatus, from whichever link it came. */
export interface AnswerArgs {
  readonly account: AccountId;
  readonly id: EventId;
  readonly relay: string;
  readonly result: PutResult;
  readonly now: number;
  /** Lets the same transaction make the next head. */
  readonly next?: MakingArgs;
}

/** What the answer changed. */
export type AnswerOutcome =
  /** Not of an event of ours, or already recorded: nothing changed (OB-15). */
  | { readonly kind: 'unrelated' | 'repeated' }
  /** The entry left the lane. */
  | {
      readonly kind: 'acknowledged';
      readonly seq: number;
      readonly next?: MaterialiseOutcome;
    }
  /** The entry had left before; the relay's answer is kept as evidence. */
  | { readonly kind: 'late'; readonly seq: number }
  /** A refusal: kept as evidence. It neither ends, nor hurries, nor replaces anything (OB-20, OB-24). */
  | {
      readonly kind: 'refused';
      readonly seq: number;
      readonly reason: NackReason;
    };

/** Records what a relay said of an event of ours; a Has for any generation of an entry ends it (OB-10, RD-02). */
export function* answer(args: AnswerArgs, keys: Keys): Script<AnswerOutcome> {
  const [[head], stored] = yield* all([
    laneAhead(args.account),
    get('counters', [args.account]),
    headAhead(args.account, args.next),
  ]);
  // Nearly every answer is about the head; only others are looked up.
  const isOfHead = head?.operation?.generations.some((one) => one.id === args.id) ?? false;
  const row = isOfHead ? head : yield* entryOf(args);
  if (row === undefined) return decide({ kind: 'unrelated' });
  const counters = stored ?? newCounters(args.account);
  const before = row.operation ?? untouched;
  const verdict =
    args.result.type === 'has'
      ? ({ state: 'accepted', inserted: args.result.inserted } as const)
      : ({ state: 'retryable', reason: args.result.reason } as const);
  const operation = answered(before, args.relay, args.id, verdict, args.now);
  if (args.result.type === 'has' && row.lane !== undefined) {
    const evidence = { event: args.id, by: args.relay, now: args.now };
    const ended = yield* part(dequeue(row, operation, evidence, { args: args.next, keys, counters }));
    return decide({ kind: 'acknowledged', ...ended });
  }
  if (operation === before) return decide({ kind: 'repeated' });
  const next = { ...counters, revision: counters.revision + 1 };
  const after = { ...row, operation };
  const changes = [put('messages', row.lane === undefined ? withOpen(after) : after), put('counters', next)];
  const effects = [lookAt(next, 'outbox')];
  if (args.result.type === 'has') return decide({ kind: 'late', seq: row.seq }, changes, effects);
  return decide({ kind: 'refused', seq: row.seq, reason: args.result.reason }, changes, effects);
}

function* entryOf({ account, id }: AnswerArgs): Ask<MessageRow | undefined> {
  const link = yield* get('generations', [account, id]);
  return link === undefined ? undefined : yield* get('messages', [account, link.conversation, link.seq]);
}
