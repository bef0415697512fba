import type { AccountId, Bytes, EventId } from './ids';

/**
 * What is to happen after a commit. Effects exist only in what `transact` returns, so nothing can leave before it is
 * durable. A lost effect costs time, never a message: leases and rounds bring it again.
 */
export type Effect =
  /** Send this event (unchanged bytes) to these relays as EventPut. */
  | {
      readonly type: 'put-event';
      readonly id: EventId;
      readonly event: Bytes;
      readonly blob: Bytes;
      readonly relays: readonly string[];
    }
  /** Rows of this kind changed: whoever shows or schedules them should look. */
  | {
      readonly type: 'look';
      readonly account: AccountId;
      readonly store: LookAt;
      readonly revision: number;
    };

/** What a look signal names. It carries no content. */
export type LookAt = 'outbox' | 'messages' | 'conversations' | 'graph' | 'account';
