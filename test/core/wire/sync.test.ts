import { describe, expect, test } from 'vitest';
import { DecodeError, EncodeError } from '../../../src/core/errors';
import { toHex } from '../../../src/core/ids';
import { BoundError } from '../../../src/core/wire/codec';
import { decodeEvent } from '../../../src/core/wire/event';
import {
  dagOf,
  decodeEventRep,
  decodeEventReq,
  decodeHeaderRep,
  decodeHeaderReq,
  decodeTipRep,
  decodeTipReq,
  encodeEventRep,
  encodeEventReq,
  encodeHeaderRep,
  encodeHeaderReq,
  encodeTipRep,
  encodeTipReq,
  slotOfDag,
  staticDag,
  type Tip,
} from '../../../src/core/wire/sync';
import { events, geneses, messages } from '../../vectors/event-graph';
import { bytes } from '../hex';

const eventA = decodeEvent(bytes(events.a.event));
const dag = dagOf(geneses.slot.timestamp);
const tips: Tip[] = [{ layer: 1n, id: events.a.id }];
const idOf = (n: number) => n.toString(16).padStart(64, '0');
const layer = (n: number, ...ids: string[]) =>
  `${n.toString(16).padStart(2, '0')}00000000000000${ids.length.toString(16).padStart(2, '0')}${ids.join('')}`;

describe('sync messages', () => {
  test('vectors', () => {
    expect(toHex(encodeEventReq([events.a.id]))).toBe(messages.eventReq);
    expect(decodeEventReq(bytes(messages.eventReq))).toEqual([events.a.id]);
    const reply = { events: [eventA], blobs: [bytes('')] };
    expect(toHex(encodeEventRep(reply))).toBe(messages.eventRep);
    expect(decodeEventRep(bytes(messages.eventRep))).toEqual(reply);
    expect(toHex(encodeTipReq(dag))).toBe(messages.tipReq);
    expect(decodeTipReq(bytes(messages.tipReq))).toBe(dag);
    expect(toHex(encodeTipReq(staticDag))).toBe(messages.tipReqStaticFrame.slice(-22));
    expect(toHex(encodeTipRep(tips))).toBe(messages.tipRep);
    expect(decodeTipRep(bytes(messages.tipRep))).toEqual(tips);
    expect(toHex(encodeHeaderReq({ dag, tips }))).toBe(messages.headerReq);
    expect(decodeHeaderReq(bytes(messages.headerReq))).toEqual({ dag, tips });
    expect(toHex(encodeHeaderRep([eventA.header]))).toBe(messages.headerRep);
    expect(decodeHeaderRep(bytes(messages.headerRep))).toEqual([eventA.header]);
  });

  test('a reply whose events and blobs differ in number is refused', () => {
    expect(() => decodeEventRep(bytes(`01${events.a.event}00`))).toThrow(DecodeError);
    expect(() => decodeEventRep(bytes(`01${events.a.event}020000`))).toThrow(DecodeError);
    expect(decodeEventRep(bytes('0000'))).toEqual({ events: [], blobs: [] });
  });

  test('tips travel by ascending layer, ids ascending, each once', () => {
    const given: Tip[] = [
      { layer: 300n, id: idOf(3) },
      { layer: 2n, id: idOf(9) },
      { layer: 2n, id: idOf(1) },
      { layer: 2n, id: idOf(9) },
    ];
    const before = structuredClone(given);
    expect(decodeTipRep(encodeTipRep(given))).toEqual([
      { layer: 2n, id: idOf(1) },
      { layer: 2n, id: idOf(9) },
      { layer: 300n, id: idOf(3) },
    ]);
    expect(given).toEqual(before);
    expect(decodeTipRep(encodeTipRep([]))).toEqual([]);
  });

  test('ids of a layer may come in any order, as upstream sends them', () => {
    expect(decodeTipRep(bytes(`01${layer(1, idOf(2), idOf(1))}`)).map((tip) => tip.id)).toEqual([
      idOf(2),
      idOf(1),
    ]);
    expect(decodeTipRep(bytes(`01${layer(1)}`))).toEqual([]);
  });

  test('layers that do not ascend and tips that come twice are refused', () => {
    expect(() => decodeTipRep(bytes(`02${layer(2, idOf(1))}${layer(1, idOf(2))}`))).toThrow(DecodeError);
    expect(() => decodeTipRep(bytes(`02${layer(1, idOf(1))}${layer(1, idOf(2))}`))).toThrow(DecodeError);
    expect(() => decodeTipRep(bytes(`01${layer(1, idOf(1), idOf(1))}`))).toThrow(DecodeError);
  });

  test('counts: the bound itself passes, one more is a BoundError or EncodeError', () => {
    const ids = (count: number) => Array.from({ length: count }, (_, at) => idOf(at));
    const many = (count: number) => ids(count).map((id) => ({ layer: 1n, id }));
    const raw = (count: number, item: string) =>
      bytes(`fd${toHex(new Uint8Array([count & 255, count >> 8]))}${item.repeat(count)}`);
    expect(decodeEventReq(encodeEventReq(ids(128)))).toHaveLength(128);
    expect(() => encodeEventReq(ids(129))).toThrow(EncodeError);
    expect(() => decodeEventReq(bytes(`81${idOf(1).repeat(129)}`))).toThrow(BoundError);
    expect(decodeTipRep(encodeTipRep(many(1_024)))).toHaveLength(1_024);
    expect(() => encodeTipRep(many(1_025))).toThrow(EncodeError);
    expect(decodeHeaderReq(encodeHeaderReq({ dag, tips: many(1_024) })).tips).toHaveLength(1_024);
    expect(() => encodeHeaderReq({ dag, tips: many(1_025) })).toThrow(EncodeError);
    const twoLayers = toHex(encodeTipRep(many(1_024))).slice(2);
    expect(() => decodeTipRep(bytes(`02${twoLayers}${layer(2, idOf(1))}`))).toThrow(BoundError);
    expect(decodeHeaderRep(raw(4_096, events.a.header))).toHaveLength(4_096);
    expect(() => decodeHeaderRep(raw(4_097, events.a.header))).toThrow(BoundError);
    expect(() => decodeEventRep(bytes(`81${events.a.event.repeat(129)}00`))).toThrow(BoundError);
  });

  test('a slot is named by the decimal of its start, and by nothing else', () => {
    expect(dag).toBe('1767225600000');
    expect(slotOfDag(dag)).toBe(geneses.slot.timestamp);
    for (const name of [
      staticDag,
      '',
      '0',
      '01767225600000',
      '-1',
      '1e3',
      ' 1',
      '9'.repeat(16),
      '9'.repeat(20),
    ]) {
      expect(slotOfDag(name)).toBeUndefined();
    }
    expect(() => encodeTipReq('1'.repeat(21))).toThrow(EncodeError);
    expect(() => decodeTipReq(bytes(`15${'31'.repeat(21)}`))).toThrow(BoundError);
  });
});
