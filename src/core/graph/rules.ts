import { DecodeError } from '../errors';
import { type Bytes, type EventId, type Slot, sameBytes } from '../ids';
import { limits } from '../limits';
import {
  contentHash,
  type Event,
  eventId,
  type Header,
  parentsOf,
  readableEvent,
  safeNumber,
} from '../wire/event';
import type { NetworkProfile } from '../wire/profile';

/** A header with what the rules ask of it. Time and layer are numbers: nothing valid lies beyond 2^53. */
export interface KnownHeader {
  readonly id: EventId;
  readonly time: number;
  readonly layer: number;
  /** Parents that are used, in stored order. */
  readonly parents: readonly EventId[];
  readonly header: Header;
}

/** An event, decoded and named, with its bytes as they travel. */
export interface KnownEvent extends KnownHeader {
  readonly content: Bytes;
  readonly bytes: Bytes;
}

/** Which rule an event or header breaks (event-graph.md 2.6). */
export type Breach =
  | 'undecodable'
  | 'empty-content'
  | 'content-hash'
  | 'blob-too-large'
  | 'no-parent'
  | 'own-parent'
  | 'parent-twice'
  | 'time'
  | 'layer'
  | 'foreign-genesis'
  | 'other-slot'
  | 'older-slot'
  | 'later-slot'
  /** Of a network that limits rates: nothing is proven, the proof is wrong, or this relay does not admit it. */
  | 'no-proof'
  | 'bad-proof'
  | 'unknown-identity'
  | 'ticket-used';

/** Names a header; a `Breach` when its numbers are beyond any valid one. */
export function knowHeader(header: Header): KnownHeader | Breach {
  try {
    const time = safeNumber(header.timestamp);
    const layer = safeNumber(header.layer);
    return {
      id: eventId(header),
      time,
      layer,
      parents: parentsOf(header),
      header,
    };
  } catch (error) {
    if (error instanceof DecodeError) return 'undecodable';
    throw error;
  }
}

/** Decodes and names an event; a `Breach` when the bytes are none. */
export function knowEvent(bytes: Bytes): KnownEvent | Breach {
  const event = readableEvent(bytes);
  return event === undefined ? 'undecodable' : knowMade(event, bytes);
}

/** Names an event that is at hand decoded and as its bytes. */
export function knowMade(event: Event, bytes: Bytes): KnownEvent | Breach {
  const known = knowHeader(event.header);
  return typeof known === 'string' ? known : { ...known, content: event.content, bytes };
}

/** What a header shows without a look at any other: parents and layer. */
export function headerBreach(known: KnownHeader): Breach | undefined {
  if (known.parents.length === 0) return 'no-parent';
  if (known.parents.includes(known.id)) return 'own-parent';
  if (new Set(known.parents).size !== known.parents.length) return 'parent-twice';
  return known.layer < 1 ? 'layer' : undefined;
}

/** What an event shows without a look at any other: content, hash, blob, and its header. */
export function eventBreach(known: KnownEvent, blob: Bytes): Breach | undefined {
  if (known.content.length === 0) return 'empty-content';
  if (!sameBytes(contentHash(known.content), known.header.contentHash)) return 'content-hash';
  if (blob.length > limits.blobBytesMax) return 'blob-too-large';
  return headerBreach(known);
}

/**
 * The quick check of a live event. Upstream also strikes what is older than a minute; ours may be as old as its slot
 * is long, or an unchanged retry would be punished (named deviation). The bound on the future stays.
 */
export function liveBreach(known: KnownEvent, blob: Bytes, now: number): Breach | undefined {
  return eventBreach(known, blob) ?? (known.time > now + limits.eventTimeDriftMs ? 'time' : undefined);
}

/** Where rates are limited an event comes with a proof; whether it is one is looked at last, for it costs most. */
export function proofBreach(profile: NetworkProfile, blob: Bytes): Breach | undefined {
  return profile.rateLimit && blob.length === 0 ? 'no-proof' : undefined;
}

/**
 * True for what every honest peer of the network would have refused. Identities and spent tickets are each relay's
 * own knowledge: whoever hands such an event on need not know.
 */
export function isPeersFault(breach: Breach): boolean {
  return breach !== 'unknown-identity' && breach !== 'ticket-used';
}

const mendable: ReadonlySet<Breach> = new Set([
  'undecodable',
  'later-slot',
  'content-hash',
  'blob-too-large',
  'no-proof',
  'bad-proof',
  'unknown-identity',
  'ticket-used',
]);

/**
 * True for what the id itself binds: whoever gives the event, it is never valid, and neither is what stands on it.
 * Another body or proof than the one that was given may yet be right.
 */
export function isForGood(breach: Breach): boolean {
  return !mendable.has(breach);
}

/** True when a slot may hold an event of this time. */
export function fitsSlot(profile: NetworkProfile, slot: Slot, time: number): boolean {
  const drift = limits.eventTimeDriftMs;
  return time >= slot - drift && time < slot + profile.rotationMs + drift;
}

/** A parent as the rules see it. */
export interface ParentFacts {
  readonly id: EventId;
  readonly slot: Slot;
  readonly layer: number;
}

/** A first layer that stands on anything but the slot's derived genesis: no parent to be fetched makes it valid. */
export function isForeignGenesis(known: KnownHeader, genesis: EventId): boolean {
  return known.layer === 1 && known.parents.some((parent) => parent !== genesis);
}

/** The rule of a header in its slot, all parents known and its own shape checked (event-graph.md 2.6). */
export function slotBreach(
  profile: NetworkProfile,
  slot: Slot,
  known: KnownHeader,
  parents: readonly ParentFacts[],
): Breach | undefined {
  if (!fitsSlot(profile, slot, known.time)) return 'time';
  if (parents.every((parent) => parent.slot < slot)) return 'older-slot';
  if (parents.every((parent) => parent.slot > slot)) return 'later-slot';
  if (parents.some((parent) => parent.slot !== slot)) return 'other-slot';
  if (known.layer !== Math.max(...parents.map((parent) => parent.layer)) + 1) return 'layer';
  return undefined;
}
