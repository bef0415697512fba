import { describe, expect, test } from 'vitest';
import { DecodeError, EncodeError } from '../../../src/core/errors';
import { type Bytes, toHex } from '../../../src/core/ids';
import { BoundError } from '../../../src/core/wire/codec';
import {
  contentHash,
  decodeEvent,
  encodeEvent,
  encodeHeader,
  eventId,
  makeEvent,
  nullId,
  parentsOf,
  safeNumber,
} from '../../../src/core/wire/event';
import { darkirc, genesisOf, slotOf } from '../../../src/core/wire/profile';
import { events, geneses } from '../../vectors/event-graph';
import { bytes } from '../hex';

describe('event', () => {
  test.each(Object.entries(events))('vector of event %s: id, hash and bytes', (_, vector) => {
    const event = makeEvent(vector.timestamp, vector.parents, vector.layer, bytes(vector.content));
    expect(toHex(event.header.contentHash)).toBe(vector.contentHash);
    expect(eventId(event.header)).toBe(vector.id);
    expect(parentsOf(event.header)).toEqual(vector.parents);
    expect(event.header.parents).toHaveLength(5);
    if ('event' in vector) {
      expect(toHex(encodeHeader(event.header))).toBe(vector.header);
      expect(toHex(encodeEvent(event))).toBe(vector.event);
      expect(encodeEvent(event)).toHaveLength(228);
      expect(decodeEvent(bytes(vector.event))).toEqual(event);
    }
  });

  test('vectors of the geneses', () => {
    expect(toHex(contentHash(new TextEncoder().encode('darkirc-v1')))).toBe(geneses.contentsHash);
    const fixed = genesisOf(darkirc, geneses.static.timestamp);
    expect(toHex(encodeHeader(fixed.header))).toBe(geneses.static.header);
    expect(fixed.id).toBe(geneses.static.id);
    const slot = genesisOf(darkirc, slotOf(darkirc, Number(events.a.timestamp)));
    expect(toHex(encodeHeader(slot.header)).startsWith(geneses.slot.headerStart)).toBe(true);
    expect(slot.id).toBe(geneses.slot.id);
    const { timestamp, contents, id } = geneses.upstreamTest;
    expect(eventId(makeEvent(BigInt(timestamp), [], 0n, new TextEncoder().encode(contents)).header)).toBe(id);
  });

  test('the stored order of parents, unused places between them too, survives and is part of the id', () => {
    const event = makeEvent(1n, [nullId, events.a.id, nullId, events.b.id], 2n, bytes('01'));
    const swapped = makeEvent(1n, [events.a.id, events.b.id], 2n, bytes('01'));
    const again = decodeEvent(encodeEvent(event));
    expect(again.header.parents).toEqual([nullId, events.a.id, nullId, events.b.id, nullId]);
    expect(parentsOf(again.header)).toEqual([events.a.id, events.b.id]);
    expect(eventId(again.header)).not.toBe(eventId(swapped.header));
  });

  test('what cannot be encoded is an EncodeError', () => {
    const event = makeEvent(1n, [events.a.id], 1n, bytes('01'));
    const withHeader = (change: object) => ({ ...event, header: { ...event.header, ...change } });
    expect(() => encodeEvent(withHeader({ parents: [events.a.id] }))).toThrow(EncodeError);
    expect(() => encodeEvent(withHeader({ parents: Array(5).fill('ab') }))).toThrow(EncodeError);
    expect(() => encodeEvent(withHeader({ contentHash: bytes('00') }))).toThrow(EncodeError);
    expect(() => encodeEvent(withHeader({ timestamp: -1n }))).toThrow(EncodeError);
    expect(() => encodeEvent({ ...event, content: new Uint8Array(262_145) })).toThrow(EncodeError);
  });

  test('content over the bound is well formed but refused', () => {
    const header = encodeHeader(makeEvent(1n, [events.a.id], 1n, bytes('01')).header);
    const event = (length: number): Bytes => {
      const size = new Uint8Array([0xfe, length & 0xff, (length >> 8) & 0xff, length >> 16, 0]);
      return new Uint8Array([...header, ...size, ...new Uint8Array(length)]);
    };
    expect(decodeEvent(event(262_144)).content).toHaveLength(262_144);
    expect(() => decodeEvent(event(262_145))).toThrow(BoundError);
  });

  test('a u64 that no number holds is a DecodeError', () => {
    expect(safeNumber(2n ** 53n - 1n)).toBe(2 ** 53 - 1);
    expect(() => safeNumber(2n ** 53n)).toThrow(DecodeError);
  });
});
