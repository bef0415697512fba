import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DecodeError } from '../../../src/core/errors';
import { decodeEvent, encodeEvent } from '../../../src/core/wire/event';
import {
  decodeEventPut,
  decodeEventPutStatus,
  encodeEventPut,
  encodeEventPutStatus,
} from '../../../src/core/wire/event-put';
import { decodePrivmsg } from '../../../src/core/wire/privmsg';
import { holdfast } from '../../../src/core/wire/profile';
import {
  decodeEventRep,
  decodeEventReq,
  decodeHeaderRep,
  decodeHeaderReq,
  decodeTipRep,
  decodeTipReq,
  encodeEventRep,
  encodeEventReq,
  encodeHeaderRep,
  encodeTipReq,
} from '../../../src/core/wire/sync';
import {
  decodePing,
  decodeVerack,
  decodeVersion,
  encodePing,
  encodeVerack,
  encodeVersion,
} from '../../../src/core/wire/version';
import { core, events, messages, privmsg, statuses } from '../../vectors/event-graph';
import { features } from '../../vectors/formats';
import { bytes } from '../hex';

interface Decoder {
  readonly name: string;
  readonly vectors: readonly string[];
  readonly decode: (payload: Uint8Array) => unknown;
  /** Decodes, and encodes again what was read. */
  readonly again?: (payload: Uint8Array) => Uint8Array;
}

const featured = `${core.version.slice(0, -2)}04${features.map((feature) => feature.hex).join('')}`;

/** `again` is left out where bytes are ignored (trailing ones, a bool of 2) or the order of a set is free. */
const decoders: readonly Decoder[] = [
  entry('version', [core.version, core.version.slice(0, -2) + core.versionFeature, featured], decodeVersion),
  entry('verack', [core.verackFrame.slice(24)], decodeVerack, encodeVerack),
  entry('ping', ['3412'], decodePing, encodePing),
  entry('Event', [events.a.event], decodeEvent, encodeEvent),
  entry('EventPut', [messages.eventPut], decodeEventPut, encodeEventPut),
  entry('EventPutStatus', [statuses.hasInserted, statuses.busy], decodeEventPutStatus, encodeEventPutStatus),
  entry('EventReq', [messages.eventReq], decodeEventReq, encodeEventReq),
  entry('EventRep', [messages.eventRep], decodeEventRep, encodeEventRep),
  entry('TipReq', [messages.tipReq], decodeTipReq, encodeTipReq),
  entry('TipRep', [messages.tipRep], decodeTipRep),
  entry('HeaderReq', [messages.headerReq], decodeHeaderReq),
  entry('HeaderRep', [messages.headerRep], decodeHeaderRep, encodeHeaderRep),
  entry('Privmsg', [privmsg.hex], (content) => decodePrivmsg(holdfast, content)),
];

function entry<T>(
  name: string,
  vectors: string[],
  decode: (payload: Uint8Array) => T,
  encode?: (value: T) => Uint8Array,
): Decoder {
  return encode
    ? { name, vectors, decode, again: (payload) => encode(decode(payload)) }
    : { name, vectors, decode };
}

/** What the decoder made of it. Anything thrown but a DecodeError fails the test; so does a change of the input. */
function outcome(decode: (payload: Uint8Array) => unknown, payload: Uint8Array): 'read' | 'refused' {
  const before = payload.slice();
  try {
    decode(payload);
    return 'read';
  } catch (error) {
    expect(error).toBeInstanceOf(DecodeError);
    return 'refused';
  } finally {
    expect(payload).toEqual(before);
  }
}

describe.each(decoders)('decoder of $name', ({ name, vectors, decode, again }) => {
  test('reads its vectors, and none of them cut at any byte', () => {
    for (const vector of vectors) {
      const whole = bytes(vector);
      expect(outcome(decode, whole)).toBe('read');
      for (let length = 0; length < whole.length; length++) {
        expect(outcome(decode, whole.subarray(0, length))).toBe('refused');
      }
    }
  });

  test('refuses a byte after the end', () => {
    for (const vector of vectors) {
      const longer = new Uint8Array([...bytes(vector), 0]);
      expect(outcome(decode, longer)).toBe(name === 'Privmsg' ? 'read' : 'refused');
    }
  });

  test('a hostile count at any place is refused or read, never obeyed', () => {
    const counts = ['fdffff', 'feffffffff', 'ffffffffffffff1f00', 'ffffffffffffffffff'];
    for (const vector of vectors) {
      const whole = bytes(vector);
      for (let at = 0; at <= whole.length; at++) {
        for (const count of counts) {
          const hostile = new Uint8Array([
            ...whole.subarray(0, at),
            ...bytes(count),
            ...whole.subarray(at + 1),
          ]);
          expect(['read', 'refused']).toContain(outcome(decode, hostile));
        }
      }
    }
  });

  test('random and changed bytes are refused or read, and what is read is written back the same', () => {
    const seeds = vectors.map(bytes);
    const changed = fc
      .tuple(
        fc.constantFrom(...seeds),
        fc.array(fc.tuple(fc.nat(999), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      )
      .map(([seed, edits]) => {
        const copy = seed.slice();
        for (const [at, value] of edits) copy[at % copy.length] = value;
        return copy;
      });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 400 }), changed), (payload) => {
        const result = outcome(decode, payload);
        if (result === 'read' && again) expect(again(payload)).toEqual(new Uint8Array(payload));
        else expect(['read', 'refused']).toContain(result);
      }),
      { numRuns: 300 },
    );
  });
});

test('a version is written back as it was read', () => {
  for (const vector of [core.version, featured]) {
    expect(encodeVersion(decodeVersion(bytes(vector)))).toEqual(bytes(vector));
  }
});
