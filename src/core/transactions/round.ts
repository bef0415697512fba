import type { AccountId, EventId } from '../ids';
import {
  beginRound,
  type ContentBounds,
  claim,
  handedTo,
  releaseClaims,
  tooSmallFor,
} from '../outbox/operation';
import { untouched } from '../outbox/policy';
import type { CountersRow, MessageRow, Operation } from '../tables';
import { decide, put, type Script } from '../transaction';
import { headOf } from './materialise';
import { lookAt } from './rows';

/** Sends the head's active event again, unchanged. It names the head, the event and the round it decided on. */
export interface SendRoundArgs {
  readonly account: AccountId;
  readonly seq: number;
  readonly event: EventId;
  /** Rounds begun when this was decided. */
  readonly round: number;
  /** A due round moves the backoff on; otherwise only relays without a claim get one (OB-18, RD-07). */
  readonly due: boolean;
  readonly relays: readonly string[];
  readonly term: number;
  readonly now: number;
  /** In [0, 1). */
  readonly jitter: number;
  readonly contentMax?: ContentBounds;
}

/** `past`: the store is past that decision already, and nothing is sent. */
export type SendRoundOutcome =
  | { readonly kind: 'sent'; readonly nextAt?: number }
  | { readonly kind: 'past' };

/** Claims the active event for relays, durably, before it is handed to them (OB-17, OB-18). */
export function* sendRound(args: SendRoundArgs): Script<SendRoundOutcome> {
  const [head, counters] = yield* headOf(args.account);
  const active = head?.operation?.generations.at(-1);
  const stands = head?.seq === args.seq && active?.id === args.event && head.operation?.round === args.round;
  if (!stands || active?.event === undefined) return decide({ kind: 'past' });
  const before = head.operation ?? untouched;
  const round = { ...args, tooSmall: tooSmallFor(active.event.length, args.relays, args.contentMax) };
  const operation = args.due ? beginRound(before, round) : claim(before, round);
  const [row, next] = withOperation(head, counters, operation);
  const blob = active.blob ?? new Uint8Array(0);
  return decide(
    operation.nextAt === undefined ? { kind: 'sent' } : { kind: 'sent', nextAt: operation.nextAt },
    [put('messages', row), put('counters', next)],
    [
      {
        type: 'put-event',
        id: active.id,
        event: active.event,
        blob,
        relays: handedTo(operation, active.id, args.relays),
      },
      lookAt(next, 'outbox'),
    ],
  );
}

/** A relay's link is dead. */
export interface ReleaseArgs {
  readonly account: AccountId;
  readonly relay: string;
  readonly now: number;
}

/** Frees the head's claims on a relay whose link is dead, so that a reconnect claims them once (RD-07, RD-16). */
export function* release(args: ReleaseArgs): Script<{ readonly kind: 'released' | 'nothing' }> {
  const [head, counters] = yield* headOf(args.account);
  const claimed = head?.operation?.intents.some((one) => one.relay === args.relay && one.state === 'leased');
  if (head === undefined || claimed !== true) return decide({ kind: 'nothing' });
  const operation = releaseClaims(head.operation ?? untouched, args.relay, args.now);
  const [row, next] = withOperation(head, counters, operation);
  return decide(
    { kind: 'released' },
    [put('messages', row), put('counters', next)],
    [lookAt(next, 'outbox')],
  );
}

function withOperation(
  head: MessageRow,
  counters: CountersRow,
  operation: Operation,
): readonly [MessageRow, CountersRow] {
  return [
    { ...head, operation },
    { ...counters, revision: counters.revision + 1 },
  ];
}
