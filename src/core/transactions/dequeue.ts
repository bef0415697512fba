import type { EventId } from '../ids';
import { unfinished, withoutBytes } from '../outbox/operation';
import type { CountersRow, MessageRow, Operation } from '../tables';
import { decide, part, put, type Script } from '../transaction';
import type { Keys } from './keys';
import { headOf, type MakingArgs, type MaterialiseOutcome, materialiseHead } from './materialise';
import { lookAt } from './rows';

/** Evidence that an entry reached the network (OB-10, OB-11). */
export interface Evidence {
  readonly event: EventId;
  /** The relay that said Has, or `network` for an event that builds on ours. */
  readonly by: string;
  readonly now: number;
}

/** What happened to the lane. */
export interface DequeueOutcome {
  readonly seq: number;
  readonly next?: MaterialiseOutcome;
}

/**
 * Ends an entry: it leaves the lane, its room is given back, and in the same transaction the next head is made when
 * the caller can send it (OB-13). The message stays in its conversation.
 */
export function* dequeue(
  row: MessageRow,
  operation: Operation,
  evidence: Evidence,
  making: {
    readonly args: MakingArgs | undefined;
    readonly keys: Keys;
    readonly counters: CountersRow;
  },
): Script<DequeueOutcome> {
  const { lane: _lane, bytes, ...kept } = row;
  const left = {
    ...withoutBytes(operation),
    acked: { event: evidence.event, by: evidence.by, at: evidence.now },
  };
  const counters: CountersRow = {
    ...making.counters,
    outboxBytes: Math.max(0, making.counters.outboxBytes - (bytes ?? 0)),
    live: Math.max(0, making.counters.live - 1),
    revision: making.counters.revision + 1,
  };
  yield {
    step: 'apply',
    changes: [put('messages', withOpen({ ...kept, operation: left })), put('counters', counters)],
    effects: [lookAt(counters, 'outbox')],
  };
  // Evidence needs no key: a locked store takes it, and the next head is made when there is a key.
  if (making.args === undefined || making.keys.data === undefined) return decide({ seq: row.seq });
  const [head, after] = yield* headOf(row.account);
  if (head === undefined) return decide({ seq: row.seq });
  const next = yield* part(materialiseHead(making.args, making.keys, head, after));
  return decide({ seq: row.seq, next });
}

/**
 * A message that left the lane, marked open while a required relay has still to be heard (RD-04). One that a person
 * dropped is sent to nobody again, whatever relays say of it later.
 */
export function withOpen(row: MessageRow): MessageRow {
  const { open: _open, ...kept } = row;
  const { operation } = row;
  const waits =
    operation !== undefined && operation.droppedAt === undefined && unfinished(operation).length > 0;
  return waits ? { ...kept, open: row.seq } : kept;
}
