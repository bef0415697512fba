import { blake3 } from '@noble/hashes/blake3.js';
import { DecodeError, EncodeError } from '../errors';
import { type Bytes, type EventId, fromHex, toHex } from '../ids';
import { limits } from '../limits';
import { decodeAll, encodeWith, prefixedBytes, type Reader, type Writer } from './codec';

/** Bytes of an event id. */
export const idBytes = 32;

/** Stands in an unused parent place. */
export const nullId: EventId = '0'.repeat(idBytes * 2);

/** What an event's id hashes (event-graph.md 2.1). */
export interface Header {
  /** Unix milliseconds, u64. */
  readonly timestamp: bigint;
  /** Exactly five places in stored order, `nullId` where unused: the order is part of the id. */
  readonly parents: readonly EventId[];
  readonly layer: bigint;
  /** BLAKE3 of the content, 32 bytes. */
  readonly contentHash: Bytes;
}

/** A header with the content it names. Decoding does not check that the hash matches. */
export interface Event {
  readonly header: Header;
  readonly content: Bytes;
}

/** BLAKE3-256 of an event's content. */
export function contentHash(content: Uint8Array): Bytes {
  return new Uint8Array(blake3(content));
}

/** Id of an event: BLAKE3-256 of its 208 header bytes (event-graph.md 2.2). */
export function eventId(header: Header): EventId {
  return toHex(blake3(encodeHeader(header)));
}

/** The parents that are used, in stored order. */
export function parentsOf(header: Header): EventId[] {
  return header.parents.filter((parent) => parent !== nullId);
}

/** An event of `content` under up to five parents, given in the order to store them. */
export function makeEvent(
  timestamp: bigint,
  parents: readonly EventId[],
  layer: bigint,
  content: Bytes,
): Event {
  const unused = Math.max(0, limits.eventParents - parents.length);
  const places = [...parents, ...Array<EventId>(unused).fill(nullId)];
  return { header: { timestamp, parents: places, layer, contentHash: contentHash(content) }, content };
}

/** Reads an event id. */
export function readId(reader: Reader): EventId {
  return toHex(reader.bytes(idBytes));
}

/** Writes an event id. Throws `EncodeError` unless it is 32 bytes of hex. */
export function writeId(writer: Writer, id: EventId): void {
  const bytes = fromHex(id);
  if (bytes?.length !== idBytes) throw new EncodeError('not an event id');
  writer.bytes(bytes);
}

/** Reads 208 header bytes. */
export function readHeader(reader: Reader): Header {
  const timestamp = reader.u64();
  const parents: EventId[] = [];
  for (let place = 0; place < limits.eventParents; place++) parents.push(readId(reader));
  return { timestamp, parents, layer: reader.u64(), contentHash: reader.bytes(idBytes) };
}

/** Writes 208 header bytes. */
export function writeHeader(writer: Writer, header: Header): void {
  if (header.parents.length !== limits.eventParents) throw new EncodeError('a header has five parent places');
  if (header.contentHash.length !== idBytes) throw new EncodeError('a content hash is 32 bytes');
  writer.u64(header.timestamp);
  for (const parent of header.parents) writeId(writer, parent);
  writer.u64(header.layer).bytes(header.contentHash);
}

/** The 208 bytes of a header. */
export function encodeHeader(header: Header): Bytes {
  return encodeWith((writer) => writeHeader(writer, header));
}

/** Least bytes an encoded event takes: header and the length of an empty content. */
export const eventBytesMin = limits.eventHeaderBytes + 1;

/** Reads header, length and content. Longer content than formats.md 1.4 allows is a `BoundError`. */
export function readEvent(reader: Reader): Event {
  return { header: readHeader(reader), content: reader.prefixed(limits.contentBytesMax) };
}

/** Writes header, length and content. */
export function writeEvent(writer: Writer, event: Event): void {
  writeHeader(writer, event.header);
  writer.prefixed(event.content, limits.contentBytesMax);
}

/** Bytes of the content of an event that takes `eventBytes` encoded. */
export function contentBytesOf(eventBytes: number): number {
  const sized = eventBytes - limits.eventHeaderBytes;
  return (
    [1, 3, 5].map((prefix) => sized - prefix).find((content) => prefixedBytes(content) === sized) ?? sized
  );
}

/** Bytes of an event as they travel and are stored. Throws `EncodeError` when a bound is broken. */
export function encodeEvent(event: Event): Bytes {
  return encodeWith((writer) => writeEvent(writer, event));
}

/** The event that `bytes` are. Throws `DecodeError`. */
export function decodeEvent(bytes: Uint8Array): Event {
  return decodeAll(bytes, readEvent);
}

/** The event that `bytes` are, if they are one: a damaged record must not stop what lies beside it. */
export function readableEvent(bytes: Uint8Array): Event | undefined {
  try {
    return decodeEvent(bytes);
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** A u64 as a number. Throws `DecodeError` beyond 2^53 - 1, where a number would lie. */
export function safeNumber(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new DecodeError('beyond 2^53 - 1');
  return Number(value);
}
