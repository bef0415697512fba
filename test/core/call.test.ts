import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DecodeError, EncodeError } from '../../src/core/errors';
import { limits } from '../../src/core/limits';
import {
  callId,
  decodeBody,
  encodeBody,
  parseAnswer,
  parseRequest,
  versionOf,
} from '../../src/core/wire/call';

const id = callId(new Uint8Array(16).fill(255));
const good = { v: 1, build: '1.0.0-ab', call: id, name: 'enqueue', args: { text: 'x' } };

function bodyOf(json: string, attached: readonly number[] = []): Uint8Array {
  const text = new TextEncoder().encode(json);
  const body = new Uint8Array(4 + text.length + attached.length);
  new DataView(body.buffer).setUint32(0, text.length, true);
  body.set(text, 4);
  body.set(attached, 4 + text.length);
  return body;
}

describe('call ids', () => {
  test('are unpadded base64url of 16 bytes', () => {
    expect(id).toBe('_____________________w');
    expect(callId(Uint8Array.from({ length: 16 }, (_, at) => at))).toBe('AAECAwQFBgcICQoLDA0ODw');
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        expect(callId(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
      }),
    );
  });

  test('of another length are refused', () => {
    expect(() => callId(new Uint8Array(15))).toThrow(EncodeError);
  });
});

describe('envelopes', () => {
  test('a request is taken with and without a term, and nothing else of it', () => {
    expect(parseRequest({ ...good, stray: 1 })).toEqual(good);
    expect(parseRequest({ ...good, term: 7 })).toEqual({ ...good, term: 7 });
  });

  test.each([
    ['no object', null],
    ['a list', [good]],
    ['another version', { ...good, v: 2 }],
    ['no build', { ...good, build: '' }],
    ['a long name', { ...good, name: 'n'.repeat(limits.callNameMax + 1) }],
    ['an id with spare bits', { ...good, call: `${id.slice(0, 21)}B` }],
    ['an id of other signs', { ...good, call: `${'+'.repeat(21)}A` }],
    ['a negative term', { ...good, term: -1 }],
    ['a broken term', { ...good, term: 1.5 }],
    ['a term of text', { ...good, term: '1' }],
  ])('a request is refused: %s', (_why, value) => {
    expect(() => parseRequest(value)).toThrow(DecodeError);
  });

  test('the version of a call that is not ours can still be told', () => {
    expect(versionOf({ v: 0 })).toBe(0);
    expect(versionOf({ v: 'one' })).toBeUndefined();
    expect(versionOf(null)).toBeUndefined();
  });

  test('an answer is an outcome with effects, or a known error', () => {
    const done = { v: 1, sw: 'a', build: 'b', rev: 3, outcome: { kind: 'queued' }, effects: [] };
    expect(parseAnswer(done)).toEqual(done);
    expect(parseAnswer({ v: 1, sw: 'a', build: 'b', err: 'busy' })).toEqual({
      v: 1,
      sw: 'a',
      build: 'b',
      err: 'busy',
    });
    for (const wrong of [
      { ...done, effects: undefined },
      { ...done, rev: undefined },
      { ...done, sw: 4 },
      { v: 1, sw: 'a', build: 'b', err: 'melted' },
      '<!doctype html>',
    ])
      expect(() => parseAnswer(wrong)).toThrow(DecodeError);
  });
});

describe('bodies of the fetch door', () => {
  test('stand byte for byte as formats.md says', () => {
    const body = encodeBody({ a: Uint8Array.of(7, 8), n: 1, b: [Uint8Array.of(9)] });
    expect(body).toEqual(bodyOf('{"a":{"$":[0,2]},"n":1,"b":[{"$":[2,1]}]}', [7, 8, 9]));
  });

  test('come back as they went, whatever was in them', () => {
    const leaf = fc.oneof(
      fc.string(),
      fc.boolean(),
      fc.constant(null),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Object.is(one, -0)),
      fc.uint8Array().map((bytes) => Uint8Array.from(bytes)),
    );
    const key = fc.string().filter((name) => name !== '$' && name !== '__proto__');
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        leaf,
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(decodeBody(encodeBody(value))).toEqual(value);
      }),
    );
  });

  test('leave out what is undefined, and refuse what JSON would change', () => {
    expect(decodeBody(encodeBody({ a: undefined, b: 1 }))).toEqual({ b: 1 });
    for (const value of [Number.NaN, 1n, () => 1, { $: [0, 1] }, { a: Number.POSITIVE_INFINITY }])
      expect(() => encodeBody(value)).toThrow(EncodeError);
    expect(() => encodeBody(new Uint8Array(limits.callBytesMax))).toThrow(EncodeError);
  });

  test.each([
    ['nothing', new Uint8Array(0)],
    ['half a length', Uint8Array.of(1, 0)],
    ['a length past the end', Uint8Array.of(255, 255, 255, 255, 1)],
    ['no JSON', bodyOf('{')],
    ['a form of a foreign page', new TextEncoder().encode('name=value&x=y')],
    ['broken UTF-8', Uint8Array.of(3, 0, 0, 0, 34, 255, 34)],
    ['bytes past the end', bodyOf('{"$":[0,2]}', [1])],
    ['the same bytes twice', bodyOf('[{"$":[0,1]},{"$":[0,1]}]', [1])],
    ['bytes nobody names', bodyOf('1', [1])],
    ['a gap', bodyOf('{"$":[1,1]}', [1, 2])],
    ['a negative length', bodyOf('{"$":[0,-1]}')],
    ['a place of text', bodyOf('{"$":"0,1"}', [1])],
    ['a mark beside other properties', bodyOf('{"$":[0,0],"a":1}')],
    ['a prototype', bodyOf('{"__proto__":{"a":1}}')],
    ['a number beyond all (found by the fuzzer)', bodyOf('1e400')],
    ['such a number deep within', bodyOf('{"args":[{"time":-1e1239}]}')],
    ['depth', bodyOf('['.repeat(50_000) + ']'.repeat(50_000))],
  ])('are refused: %s', (_why, body) => {
    expect(() => decodeBody(body)).toThrow(DecodeError);
  });

  test('cut at any byte, or of random bytes, give a DecodeError and nothing else', () => {
    const body = encodeBody({ list: [good, { bytes: Uint8Array.of(1, 2, 3) }] });
    for (let at = 0; at < body.length; at++)
      expect(() => decodeBody(body.subarray(0, at))).toThrow(DecodeError);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, framed) => {
        try {
          decodeBody(framed ? bodyOf(Buffer.from(bytes).toString('latin1')) : bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
        }
        expect(bytes.length).toBeLessThanOrEqual(200);
      }),
    );
  });

  test('cannot ask for more memory than they have bytes', () => {
    const repeated = `[${Array.from({ length: 1_000 }, () => '{"$":[0,1000]}').join(',')}]`;
    expect(() => decodeBody(bodyOf(repeated, new Array(1_000).fill(1)))).toThrow(DecodeError);
  });
});
