import { DecodeError } from '../errors';
import type { Bytes, EventId } from '../ids';
import { limits } from '../limits';
import { decodeAll, encodeWith, type Reader, type Writer } from './codec';
import { statusBytes } from './commands';
import { type Event, readEvent, readId, writeEvent, writeId } from './event';

/** An event on its way, with its rate-limit blob (empty when the network has no rate limit). */
export interface EventPut {
  readonly event: Event;
  readonly blob: Bytes;
}

/** Why a peer did not take an event, in the order of the discriminants (event-graph.md 3.8). */
const nackReasons = ['too-old', 'not-synced', 'invalid', 'busy'] as const;

/** Why a peer did not take an event. */
export type NackReason = (typeof nackReasons)[number];

/** What a peer says of an event it was sent. */
export type PutResult =
  | { readonly type: 'has'; readonly inserted: boolean }
  | { readonly type: 'nack'; readonly reason: NackReason };

/** The answer to one EventPut, matched by the event's id alone. */
export interface EventPutStatus {
  readonly id: EventId;
  readonly result: PutResult;
}

/** Tags of the result; fixed, whatever the order of the code. */
const tags = { has: 0, nack: 1 } as const;

/** Bytes of an EventPut. Throws `EncodeError` when a bound is broken. */
export function encodeEventPut(put: EventPut): Bytes {
  return encodeWith((writer) => {
    writeEvent(writer, put.event);
    writeBlob(writer, put.blob);
  });
}

/**
 * Bytes of an EventPut of an event that is encoded already: a rebroadcast sends the very bytes that were stored.
 * Throws `EncodeError` when the blob is too long.
 */
export function encodeEventPutOf(event: Bytes, blob: Bytes): Bytes {
  return encodeWith((writer) => writeBlob(writer.bytes(event), blob));
}

/** Reads an EventPut. Throws `DecodeError`. */
export function decodeEventPut(payload: Uint8Array): EventPut {
  return decodeAll(payload, (reader) => ({ event: readEvent(reader), blob: readBlob(reader) }));
}

/** The 34 bytes of a status. */
export function encodeEventPutStatus(status: EventPutStatus): Bytes {
  const { id, result } = status;
  return encodeWith((writer) => {
    writeId(writer, id);
    if (result.type === 'has') writer.u8(tags.has).bool(result.inserted);
    else writer.u8(tags.nack).u8(nackReasons.indexOf(result.reason));
  });
}

/** Reads a status, strictly: 34 bytes, known tags, a bool of 0 or 1. Throws `DecodeError`; the caller drops it. */
export function decodeEventPutStatus(payload: Uint8Array): EventPutStatus {
  if (payload.length !== statusBytes) throw new DecodeError('a status is 34 bytes');
  return decodeAll(payload, (reader) => ({ id: readId(reader), result: readResult(reader) }));
}

/** Reads a blob. */
export function readBlob(reader: Reader): Bytes {
  return reader.prefixed(limits.blobBytesMax);
}

/** Writes a blob. */
export function writeBlob(writer: Writer, blob: Bytes): void {
  writer.prefixed(blob, limits.blobBytesMax);
}

function readResult(reader: Reader): PutResult {
  const tag = reader.u8();
  if (tag === tags.has) return { type: 'has', inserted: reader.strictBool() };
  if (tag !== tags.nack) throw new DecodeError('unknown result');
  const reason = nackReasons[reader.u8()];
  if (reason === undefined) throw new DecodeError('unknown reason');
  return { type: 'nack', reason };
}
