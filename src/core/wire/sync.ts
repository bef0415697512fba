import { DecodeError } from '../errors';
import type { Bytes, EventId, Slot } from '../ids';
import { limits } from '../limits';
import { BoundError, decodeAll, encodeWith, type Reader, type Writer } from './codec';
import {
  type Event,
  eventBytesMin,
  type Header,
  idBytes,
  readEvent,
  readHeader,
  readId,
  writeEvent,
  writeHeader,
  writeId,
} from './event';
import { readBlob, writeBlob } from './event-put';

/** An event nobody references yet. */
export interface Tip {
  readonly layer: bigint;
  readonly id: EventId;
}

/** Asks for headers of a slot that are not below these tips. */
export interface HeaderReq {
  /** Decimal start of the slot in ms, or `staticDag`. */
  readonly dag: string;
  readonly tips: readonly Tip[];
}

/** Events that were asked for, each with the blob of the same place. */
export interface EventRep {
  readonly events: readonly Event[];
  readonly blobs: readonly Bytes[];
}

/** Name of the graph that is not of a slot. */
export const staticDag = 'static-dag';

/** Name of a slot's graph on the wire (event-graph.md 2.4). */
export function dagOf(slot: Slot): string {
  return String(slot);
}

/** The slot of a name; `undefined` for the static graph and for what names none. */
export function slotOfDag(dag: string): Slot | undefined {
  const slot = /^[1-9][0-9]{0,15}$/.test(dag) ? Number(dag) : undefined;
  return Number.isSafeInteger(slot) ? slot : undefined;
}

/** Bytes of an EventReq, at most 128 ids. */
export function encodeEventReq(ids: readonly EventId[]): Bytes {
  return encodeWith((writer) => writer.vec(ids, limits.eventRequestIdsMax, writeId));
}

/** Reads an EventReq. More than 128 ids are a `BoundError`. */
export function decodeEventReq(payload: Uint8Array): EventId[] {
  return decodeAll(payload, (reader) => reader.vec(idBytes, limits.eventRequestIdsMax, readId));
}

/** Bytes of an EventRep, at most 128 events. */
export function encodeEventRep(reply: EventRep): Bytes {
  return encodeWith((writer) =>
    writer
      .vec(reply.events, limits.eventReplyEventsMax, writeEvent)
      .vec(reply.blobs, limits.eventReplyEventsMax, writeBlob),
  );
}

/** Reads an EventRep; events and blobs must be equal in number. Throws `DecodeError`. */
export function decodeEventRep(payload: Uint8Array): EventRep {
  return decodeAll(payload, (reader) => {
    const events = reader.vec(eventBytesMin, limits.eventReplyEventsMax, readEvent);
    const blobs = reader.vec(1, limits.eventReplyEventsMax, readBlob);
    if (events.length !== blobs.length) throw new DecodeError('events and blobs differ in number');
    return { events, blobs };
  });
}

/** Bytes of a TipReq. */
export function encodeTipReq(dag: string): Bytes {
  return encodeWith((writer) => writer.string(dag, limits.dagNameBytesMax));
}

/** The graph a TipReq asks about. Throws `DecodeError`. */
export function decodeTipReq(payload: Uint8Array): string {
  return decodeAll(payload, (reader) => reader.string(limits.dagNameBytesMax));
}

/** Bytes of a TipRep, at most 1,024 tips. */
export function encodeTipRep(tips: readonly Tip[]): Bytes {
  return encodeWith((writer) => writeTips(writer, tips, limits.tipReplyTipsMax));
}

/** Reads a TipRep: tips by ascending layer. Throws `DecodeError`. */
export function decodeTipRep(payload: Uint8Array): Tip[] {
  return decodeAll(payload, (reader) => readTips(reader, limits.tipReplyTipsMax));
}

/** Bytes of a HeaderReq, at most 1,024 tips. */
export function encodeHeaderReq(request: HeaderReq): Bytes {
  return encodeWith((writer) => {
    writer.string(request.dag, limits.dagNameBytesMax);
    writeTips(writer, request.tips, limits.headerRequestTipsMax);
  });
}

/** Reads a HeaderReq. Throws `DecodeError`; more than 1,024 tips are a `BoundError`. */
export function decodeHeaderReq(payload: Uint8Array): HeaderReq {
  return decodeAll(payload, (reader) => ({
    dag: reader.string(limits.dagNameBytesMax),
    tips: readTips(reader, limits.headerRequestTipsMax),
  }));
}

/** Bytes of a HeaderRep, at most 4,096 headers. */
export function encodeHeaderRep(headers: readonly Header[]): Bytes {
  return encodeWith((writer) => writer.vec(headers, limits.headerReplyHeadersMax, writeHeader));
}

/** Reads a HeaderRep. Throws `DecodeError`. */
export function decodeHeaderRep(payload: Uint8Array): Header[] {
  return decodeAll(payload, (reader) =>
    reader.vec(limits.eventHeaderBytes, limits.headerReplyHeadersMax, readHeader),
  );
}

/** Least bytes of one layer: its number and an empty count. */
const layerBytesMin = 9;

/**
 * The map of tips by layer (event-graph.md 1.4). Upstream writes it from an ordered map of sets, so layers that do not
 * ascend, or an id twice in one layer, come from no honest peer.
 */
function readTips(reader: Reader, max: number): Tip[] {
  const tips: Tip[] = [];
  let below: bigint | undefined;
  reader.vec(layerBytesMin, max, () => {
    const layer = reader.u64();
    if (below !== undefined && layer <= below) throw new DecodeError('layers do not ascend');
    below = layer;
    const ids = reader.vec(idBytes, max, readId);
    if (new Set(ids).size !== ids.length) throw new DecodeError('a tip twice');
    for (const id of ids) tips.push({ layer, id });
    if (tips.length > max) throw new BoundError(`more than ${max} tips`);
  });
  return tips;
}

function writeTips(writer: Writer, tips: readonly Tip[], max: number): void {
  const layers = new Map<bigint, EventId[]>();
  for (const { layer, id } of tips) layers.set(layer, [...(layers.get(layer) ?? []), id]);
  // Ascending, ids too: upstream's order within a layer is arbitrary, ours is the same for the same tips.
  const ascending = [...layers].sort(([left], [right]) => (left < right ? -1 : 1));
  writer.vec(ascending, max, (_, [layer, ids]) => {
    writer.u64(layer).vec([...new Set(ids)].sort(), max, writeId);
  });
}
