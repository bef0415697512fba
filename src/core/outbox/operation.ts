import { backoffMs } from '../backoff';
import type { EventId } from '../ids';
import { limits } from '../limits';
import type { Generation, Intent, Operation } from '../tables';
import { contentBytesOf } from '../wire/event';
import { untouched } from './policy';

/** One send round: which event goes to which relays, by which engine, when. */
export interface Round {
  readonly event: EventId;
  readonly relays: readonly string[];
  readonly term: number;
  readonly now: number;
  /** In [0, 1). */
  readonly jitter: number;
  /** Relays that announced a bound this event is over. */
  readonly tooSmall?: readonly string[];
}

/** The operation after a due round began: claims are leased, the next round is set. */
export function beginRound(operation: Operation, round: Round): Operation {
  const count = operation.round + 1;
  return {
    ...withoutPark(claim(operation, round)),
    round: count,
    lastRoundAt: round.now,
    nextAt: round.now + backoffMs(count, round.jitter),
  };
}

/** The operation after a hand-over between rounds: new or released relays get a claim, the round stays as it is. */
export function claim(operation: Operation, round: Round): Operation {
  const first = !operation.intents.some((one) => one.event === round.event);
  const intents = round.relays.map((relay, at): Intent => {
    const old = find(operation, relay, round.event);
    if (old?.state === 'accepted' || old?.state === 'rejected') return old;
    const about = {
      relay,
      event: round.event,
      attempt: old?.attempt ?? 0,
      required: old?.required ?? (first && at < limits.requiredRelaysMax),
      at: round.now,
    };
    if (round.tooSmall?.includes(relay)) return { ...about, state: 'rejected', reason: tooLargeReason };
    const lease = { term: round.term, untilMs: round.now + limits.leaseMs };
    return { ...about, ...lease, state: 'leased', attempt: about.attempt + 1 };
  });
  return { ...operation, intents: merge(operation.intents, intents) };
}

/** Why an intent is rejected here: the event is over the bound the relay announced. */
const tooLargeReason = 'event_too_large';
/** Why an intent ends without an answer: its slot left retention, so nothing is left to send. */
export const unconfirmedReason = 'unconfirmed';

/** Longest content each relay announced that it takes, bytes; a relay without an entry takes ours. */
export type ContentBounds = Readonly<Record<string, number>>;

/** Relays whose announced bound an event of this size is over: it would be refused there for ever. */
export function tooSmallFor(
  eventBytes: number,
  relays: readonly string[],
  bounds: ContentBounds | undefined,
): readonly string[] {
  const content = contentBytesOf(eventBytes);
  return relays.filter((relay) => content > (bounds?.[relay] ?? limits.contentBytesMax));
}

/** The relays of a round that the event is really handed to. */
export function handedTo(operation: Operation, event: EventId, relays: readonly string[]): readonly string[] {
  return relays.filter((relay) => find(operation, relay, event)?.state === 'leased');
}

/** Required intents of the active generation that are neither accepted nor ended: what keeps an operation open. */
export function unfinished(operation: Operation): readonly Intent[] {
  const active = operation.generations.at(-1)?.id;
  const open = (intent: Intent) =>
    intent.state === 'pending' || intent.state === 'leased' || intent.state === 'retryable';
  return operation.intents.filter((intent) => intent.required && intent.event === active && open(intent));
}

/** Ends an intent that can no longer be carried out. */
export function endIntent(operation: Operation, ended: Intent, reason: string, now: number): Operation {
  const { term: _term, untilMs: _until, ...kept } = ended;
  return {
    ...operation,
    intents: merge(operation.intents, [{ ...kept, state: 'cancelled', reason, at: now }]),
  };
}

/** Opens what relays refused for good once more, because a person asked for it. */
export function reopenRejected(operation: Operation, now: number): Operation {
  const active = operation.generations.at(-1)?.id;
  const intents = operation.intents.map((intent): Intent => {
    if (intent.event !== active || intent.state !== 'rejected') return intent;
    const { reason: _reason, ...kept } = intent;
    return { ...kept, state: 'pending', at: now };
  });
  return { ...operation, intents };
}

/** Frees the claims on one relay whose link is dead (RD-07). */
export function releaseClaims(operation: Operation, relay: string, now: number): Operation {
  const intents = operation.intents.map((intent): Intent => {
    if (intent.relay !== relay || intent.state !== 'leased') return intent;
    const { term: _term, untilMs: _until, ...kept } = intent;
    return { ...kept, state: 'pending', at: now };
  });
  return { ...operation, intents };
}

/** Adds a generation; its predecessor is linked to it and keeps its id but not its bytes (OB-07). */
export function addGeneration(operation: Operation | undefined, generation: Generation): Operation {
  const before = operation ?? untouched;
  const superseded = before.generations.map((old): Generation => {
    if (old.supersededBy !== undefined) return old;
    return { id: old.id, slot: old.slot, at: old.at, supersededBy: generation.id };
  });
  return { ...before, generations: [...superseded, generation] };
}

/** What a relay said, as the state of its intent. */
export type Verdict =
  | { readonly state: 'accepted'; readonly inserted: boolean }
  | { readonly state: 'retryable'; readonly reason: string };

/** Records a relay's answer to one event. An accepted intent never changes again (RD-03, RD-08). */
export function answered(
  operation: Operation,
  relay: string,
  event: EventId,
  verdict: Verdict,
  now: number,
): Operation {
  const old = find(operation, relay, event);
  if (old?.state === 'accepted') return operation;
  // What ended stays ended against a refusal; only an acceptance says more.
  if (verdict.state === 'retryable' && (old?.state === 'rejected' || old?.state === 'cancelled'))
    return operation;
  // The same refusal again says nothing new: it must cost a relay more to say than us to keep.
  if (verdict.state === 'retryable' && old?.state === 'retryable' && old.reason === verdict.reason)
    return operation;
  const intent: Intent = {
    relay,
    event,
    state: verdict.state,
    attempt: old?.attempt ?? 0,
    required: old?.required ?? false,
    at: now,
    reason: verdict.state === 'accepted' ? (verdict.inserted ? 'new' : 'already') : verdict.reason,
  };
  return { ...operation, intents: merge(operation.intents, [intent]) };
}

/** Parks new generations until `until`; rebroadcasts go on. */
export function parkUntil(operation: Operation | undefined, reason: string, until: number): Operation {
  return { ...(operation ?? untouched), parked: reason, nextAt: until };
}

function withoutPark(operation: Operation): Operation {
  const { parked: _parked, ...rest } = operation;
  return rest;
}

function find(operation: Operation, relay: string, event: EventId): Intent | undefined {
  return operation.intents.find((intent) => intent.relay === relay && intent.event === event);
}

function merge(old: readonly Intent[], changed: readonly Intent[]): readonly Intent[] {
  const touched = (intent: Intent) =>
    changed.some((one) => one.relay === intent.relay && one.event === intent.event);
  return [...old.filter((intent) => !touched(intent)), ...changed];
}

/** An operation that is sent no more: what is left is history and evidence. */
export function withoutBytes(operation: Operation): Operation {
  const { nextAt: _next, parked: _parked, ...rest } = operation;
  const generations = operation.generations.map((one): Generation => {
    const { event: _event, blob: _blob, ...kept } = one;
    return kept;
  });
  return { ...rest, generations };
}

/** Bytes of an operation's active event and blob, as counted in the outbox bound (OB-30). */
export function exposedBytes(operation: Operation | undefined): number {
  const active = operation?.generations.at(-1);
  return (active?.event?.length ?? 0) + (active?.blob?.length ?? 0);
}
