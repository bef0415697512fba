import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DecodeError } from '../../src/core/errors';
import type { Bytes } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { Prng } from '../sim/prng';
import { decoders, formats } from './formats';
import { mutate } from './mutate';
import { sessions } from './sessions';
import { someBytes } from './values';

/** Valid bytes, mutated a few times over. */
function mutated(valid: Arbitrary<Bytes>): Arbitrary<Bytes> {
  return fc
    .tuple(valid, valid, fc.integer(), fc.integer({ min: 1, max: 3 }))
    .map(([input, other, seed, times]) => {
      const prng = new Prng(String(seed));
      let bytes = input;
      for (let left = times; left > 0; left--) bytes = mutate(prng, bytes, other);
      return bytes;
    });
}

/** How much a value takes, roughly: what a hostile count would blow up. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length;
  if (value instanceof Uint8Array) return 32 + value.length;
  if (typeof value !== 'object' || value === null) return 16;
  return Object.values(value).reduce<number>((sum, one) => sum + 8 + sizeOf(one), 32);
}

describe.each(formats)('$name', ({ name, values, encode, decode, deviation }) => {
  test('what is written is read the same', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(decode(encode(value))).toEqual(value);
      }),
      { numRuns: 100 },
    );
  });

  test('any bytes are a value or a DecodeError, are not touched, and take no more room than they are long', () => {
    const inputs = fc.oneof(someBytes(300), mutated(values.map(encode)));
    fc.assert(
      fc.property(inputs, (input) => {
        const before = input.slice();
        try {
          const value = decode(input);
          expect(sizeOf(value)).toBeLessThan(128 * (input.length + 8));
          if (deviation === undefined) expect(encode(value)).toEqual(before);
          else expect(decode(encode(value))).toEqual(decode(encode(decode(encode(value)))));
        } catch (error) {
          expect(error, name).toBeInstanceOf(DecodeError);
        }
        expect(input).toEqual(before);
      }),
      { numRuns: 200 },
    );
  });
});

/** As much as one message may hold, of bytes that count, nest or repeat. */
const large: readonly (readonly [string, (input: Bytes) => Bytes])[] = [
  ['zeros', () => new Uint8Array(limits.messageBytesMax)],
  ['ones', () => new Uint8Array(limits.messageBytesMax).fill(1)],
  ['the highest bytes', () => new Uint8Array(limits.messageBytesMax).fill(0xff)],
  ['brackets', () => new Uint8Array(limits.messageBytesMax).fill(0x5b)],
  ['a valid input, again and again', (input) => repeated(input)],
];

function repeated(input: Bytes): Bytes {
  const bytes = new Uint8Array(limits.messageBytesMax);
  for (let at = 0; at < bytes.length; at += Math.max(1, input.length)) {
    bytes.set(input.subarray(0, bytes.length - at), at);
  }
  return bytes;
}

describe.each([...decoders, ...sessions])('$name', ({ valid, judge }) => {
  test.each(large)('takes a message full of %s in bounded time', (_name, fill) => {
    const input = fill(fc.sample(valid, { numRuns: 1, seed: 7 })[0] ?? new Uint8Array(1));
    const before = performance.now();
    expect(['read', 'refused']).toContain(judge(input));
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});
