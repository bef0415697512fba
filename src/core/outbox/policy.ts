import { backoffMaxMs } from '../backoff';
import { limits } from '../limits';
import type { MessageRow, Operation } from '../tables';

/** What the engine knows at the moment it asks. All times in ms of the trusted clock. */
export interface Conditions {
  readonly now: number;
  /** The current slot's tips were answered by enough peers. */
  readonly synced: boolean;
  /** Relays with a ready session that can take an event now. */
  readonly ready: readonly string[];
  readonly minPeers: number;
  /** Peers agree with this clock, or with the offset applied to it (OB-35). */
  readonly clockTrusted: boolean;
  readonly rotationMs: number;
  /** The asking engine's fencing term: a claim of an earlier one holds until its lease ends. */
  readonly term: number;
}

/** Why no new generation may be made. Due rebroadcasts go on all the same. */
export type ParkReason =
  | 'clock'
  | 'room'
  | 'locked'
  | 'processing'
  | 'budget'
  | 'identity'
  /** Larger than every relay in reach takes. */
  | 'too-large';

/** What to do for the head next. */
export interface Verdict {
  readonly send?: 'materialise' | 'rebroadcast' | 'recreate';
  /** Relays the send goes to. */
  readonly relays?: readonly string[];
  readonly parked?: ParkReason;
  /** Look again then, if nothing happens before. */
  readonly wakeAt?: number;
}

/** No operation yet: accepted, and nothing made. */
export const untouched: Operation = { generations: [], intents: [], round: 0 };

/**
 * The one decision about the head of the lane (OB-02, 03, 17 to 21). It never says anything about an entry that is
 * not the head, and no count of rounds ends it (OB-19).
 */
export function nextForHead(head: MessageRow, conditions: Conditions): Verdict {
  const operation = head.operation ?? untouched;
  const active = operation.generations.at(-1);
  const connected = conditions.synced && conditions.ready.length >= conditions.minPeers;
  if (active === undefined) {
    if (!conditions.clockTrusted) return { parked: 'clock' };
    if (isWaiting(operation, conditions.now)) return waitingFor(operation, conditions.now);
    return connected ? { send: 'materialise', relays: conditions.ready } : {};
  }
  if (!connected) return {};
  const due = dueAt(operation, conditions.now);
  if (isRefusedByAll(operation, active.id, conditions.ready)) return { parked: 'too-large' };
  if (conditions.now >= due) return dueRound(operation, active.slot, conditions);
  const claims = conditions.ready.map((relay) => claimedUntil(operation, relay, active.id, conditions));
  const unclaimed = conditions.ready.filter((_, at) => claims[at] === undefined);
  const wakeAt = Math.min(due, ...claims.filter((until) => until !== undefined));
  return unclaimed.length > 0 ? { send: 'rebroadcast', relays: unclaimed, wakeAt } : { wakeAt };
}

/** A relay's terminal refusal ends its intent, never the entry: another relay, or a retry by hand, opens it again. */
function isRefusedByAll(operation: Operation, event: string, relays: readonly string[]): boolean {
  const refused = (relay: string) =>
    operation.intents.some((one) => one.relay === relay && one.event === event && one.state === 'rejected');
  return relays.length > 0 && relays.every(refused);
}

function dueRound(operation: Operation, slot: number, conditions: Conditions): Verdict {
  const current = Math.floor((conditions.now - slot) / conditions.rotationMs) * conditions.rotationMs + slot;
  const askedSinceClosed = (operation.lastRoundAt ?? 0) >= slot + conditions.rotationMs || current < slot;
  const lastSeconds = current + conditions.rotationMs - conditions.now <= recreateMarginMs;
  if (!askedSinceClosed || current <= slot || lastSeconds) {
    return { send: 'rebroadcast', relays: conditions.ready };
  }
  if (!conditions.clockTrusted) return { send: 'rebroadcast', relays: conditions.ready, parked: 'clock' };
  return { send: 'recreate', relays: conditions.ready };
}

/** Not into the last seconds of a slot: the copy would be too old as soon as it arrives. */
const recreateMarginMs = 5_000;

/**
 * When the next round is due. A stored deadline further away than its own maximum is invalid: the clock moved. Whatever
 * a person presses, by whichever clock, rounds are no closer than the pause between tries.
 */
export function dueAt(operation: Operation, now: number): number {
  const { nextAt: stored = 0, lastRoundAt: last = 0 } = operation;
  if (stored - now > backoffMaxMs) return now;
  return last > now ? stored : Math.max(stored, last + limits.retryPauseMs);
}

function isWaiting(operation: Operation, now: number): boolean {
  return operation.parked !== undefined && dueAt(operation, now) > now;
}

function waitingFor(operation: Operation, now: number): Verdict {
  return { parked: operation.parked as ParkReason, wakeAt: dueAt(operation, now) };
}

/**
 * Until when this relay needs no further send of the event within the round; `undefined` when it does. An answer, or
 * our own claim, holds until the next round. A claim of an earlier engine holds until its lease ends: that engine is
 * gone, and nobody else releases it (RD-06). A released one (`pending`) is free: its link is dead (RD-07).
 */
function claimedUntil(
  operation: Operation,
  relay: string,
  event: string,
  conditions: Conditions,
): number | undefined {
  const intent = operation.intents.find((one) => one.relay === relay && one.event === event);
  if (intent === undefined || intent.state === 'pending') return undefined;
  if (intent.state !== 'leased' || intent.term === conditions.term) return Number.POSITIVE_INFINITY;
  const until = intent.untilMs ?? 0;
  const live = until > conditions.now && until - conditions.now <= limits.leaseMs;
  return live ? until : undefined;
}
