import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DecodeError, EncodeError } from '../../../src/core/errors';
import { toHex } from '../../../src/core/ids';
import { BoundError } from '../../../src/core/wire/codec';
import { commands } from '../../../src/core/wire/commands';
import { decodeEvent } from '../../../src/core/wire/event';
import {
  decodeEventPut,
  decodeEventPutStatus,
  encodeEventPut,
  encodeEventPutOf,
  encodeEventPutStatus,
  type PutResult,
} from '../../../src/core/wire/event-put';
import { decodeFrame, encodeFrame } from '../../../src/core/wire/frame';
import { darkirc } from '../../../src/core/wire/profile';
import { events, messages, statuses } from '../../vectors/event-graph';
import { bytes } from '../hex';

const golden: [PutResult, string][] = [
  [{ type: 'has', inserted: true }, statuses.hasInserted],
  [{ type: 'has', inserted: false }, statuses.hasAlready],
  [{ type: 'nack', reason: 'too-old' }, statuses.tooOld],
  [{ type: 'nack', reason: 'not-synced' }, statuses.notSynced],
  [{ type: 'nack', reason: 'invalid' }, statuses.invalid],
  [{ type: 'nack', reason: 'busy' }, statuses.busy],
];

describe('EventPut', () => {
  test('vector', () => {
    const put = { event: decodeEvent(bytes(events.a.event)), blob: bytes('') };
    expect(toHex(encodeEventPut(put))).toBe(messages.eventPut);
    expect(decodeEventPut(bytes(messages.eventPut))).toEqual(put);
    expect(toHex(encodeEventPutOf(bytes(events.a.event), bytes('')))).toBe(messages.eventPut);
  });

  test('a blob travels behind the event, up to its bound', () => {
    const event = decodeEvent(bytes(events.a.event));
    const blob = new Uint8Array(1_024).fill(5);
    expect(decodeEventPut(encodeEventPut({ event, blob })).blob).toEqual(blob);
    expect(() => encodeEventPut({ event, blob: new Uint8Array(1_025) })).toThrow(EncodeError);
    expect(() => encodeEventPutOf(bytes(events.a.event), new Uint8Array(1_025))).toThrow(EncodeError);
    const over = new Uint8Array([...bytes(events.a.event), 0xfd, 0x01, 0x04, ...new Uint8Array(1_025)]);
    expect(() => decodeEventPut(over)).toThrow(BoundError);
  });
});

describe('EventPutStatus', () => {
  test.each(golden)('[EG-10] golden bytes of %j', (result, hex) => {
    const status = { id: events.a.id, result };
    expect(toHex(encodeEventPutStatus(status))).toBe(hex);
    expect(encodeEventPutStatus(status)).toHaveLength(34);
    expect(decodeEventPutStatus(bytes(hex))).toEqual(status);
  });

  test('[EG-10] the discriminants are fixed, one byte each, and nothing but id and outcome is said', () => {
    const tails = golden.map(([result]) =>
      toHex(encodeEventPutStatus({ id: events.b.id, result })).slice(64),
    );
    expect(tails).toEqual(['0001', '0000', '0100', '0101', '0102', '0103']);
    const frame = encodeFrame(darkirc.magic, commands.eventPutStatus, bytes(statuses.hasInserted));
    expect(toHex(frame)).toBe(statuses.frameOfHasInserted);
    expect(frame).toHaveLength(66);
    expect(Object.keys(decodeEventPutStatus(bytes(statuses.busy))).sort()).toEqual(['id', 'result']);
  });

  test('[EG-11] every unknown variant is a DecodeError', () => {
    const known = new Set(golden.map(([, hex]) => hex.slice(64)));
    for (let tag = 0; tag < 256; tag++) {
      for (const value of [0, 1, 2, 3, 4, 5, 127, 128, 254, 255]) {
        const tail = toHex(new Uint8Array([tag, value]));
        const decode = () => decodeEventPutStatus(bytes(events.a.id + tail));
        if (known.has(tail)) expect(decode).not.toThrow();
        else expect(decode).toThrow(DecodeError);
      }
    }
  });

  test('[EG-11] a status of any other length is a DecodeError', () => {
    for (const [, hex] of golden) {
      const whole = bytes(hex);
      for (let length = 0; length < 34; length++) {
        expect(() => decodeEventPutStatus(whole.subarray(0, length))).toThrow(DecodeError);
      }
      expect(() => decodeEventPutStatus(new Uint8Array([...whole, 0]))).toThrow(DecodeError);
    }
  });

  test('[EG-11] a random body is a status or a DecodeError', () => {
    const body = fc.oneof(fc.uint8Array({ maxLength: 80 }), fc.uint8Array({ minLength: 34, maxLength: 34 }));
    fc.assert(
      fc.property(body, (payload) => {
        let read: Uint8Array;
        try {
          read = encodeEventPutStatus(decodeEventPutStatus(payload));
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
          return;
        }
        expect(read).toEqual(new Uint8Array(payload));
      }),
    );
  });

  test('[EG-11] a frame around such a body is still a frame, so the channel reads on', () => {
    for (const body of ['', '00', events.a.id, `${events.a.id}0200`, `${events.a.id}0104`]) {
      const frame = encodeFrame(darkirc.magic, commands.eventPutStatus, bytes(body));
      expect(toHex(decodeFrame(darkirc.magic, frame).payload)).toBe(body);
      expect(() => decodeEventPutStatus(bytes(body))).toThrow(DecodeError);
    }
  });
});
