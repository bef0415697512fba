import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AssertionError } from '../../../src/core/assert';
import {
  type DataKey,
  idFields,
  open,
  recordTypes,
  SealError,
  type SealErrorKind,
  seal,
  sealNonceBytes,
} from '../../../src/core/crypto/seal';
import { toHex } from '../../../src/core/ids';
import { key as keyVector, records } from '../../vectors/ksmr';
import { bytes } from '../hex';

const key = { id: keyVector.id, bytes: bytes(keyVector.hex) };
const nonce = Uint8Array.from({ length: sealNonceBytes }, (_, at) => at);
const account = '0f'.repeat(16);

function kindOf(run: () => unknown): SealErrorKind | 'opened' {
  try {
    run();
    return 'opened';
  } catch (error) {
    if (error instanceof SealError) return error.kind;
    throw error;
  }
}

describe('sealed records', () => {
  test.each(records)('vector of type $type', (vector) => {
    const fields = vector.fields.map(bytes);
    const plaintext = bytes(vector.plaintext);
    const record = seal(key, vector.type, fields, plaintext, bytes(vector.nonce));
    expect(toHex(record)).toBe(vector.record);
    expect(open(key, vector.type, fields, record)).toEqual(plaintext);
  });

  test('our types are those of the format', () => {
    expect(Object.values(recordTypes)).toEqual([32, 33, 34, 35, 36, 37, 38]);
  });

  test('errors come in the order of the format', () => {
    const fields = idFields(account);
    const record = seal(key, recordTypes.draft, fields, bytes('616263'), nonce);
    const changed = (at: number) => record.map((byte, place) => (place === at ? byte ^ 1 : byte));
    const kind = (value: Uint8Array, opener: DataKey = key) =>
      kindOf(() => open(opener, recordTypes.draft, fields, value));
    expect(kind(record)).toBe('opened');
    for (const length of [0, 1, 3]) expect(kind(new Uint8Array(length))).toBe('malformed');
    for (const at of [0, 1, 2, 3, 4, 5]) {
      expect(kind(changed(at))).toBe('unsupported');
      // Wrong and short at once: what it is comes before how long it is.
      expect(kind(changed(at).subarray(0, 20))).toBe('unsupported');
    }
    for (let length = 4; length < 38; length++) expect(kind(record.subarray(0, length))).toBe('malformed');
    for (const at of [6, 7, 8, 9]) expect(kind(changed(at))).toBe('key-unavailable');
    expect(kind(changed(9).subarray(0, 37))).toBe('malformed');
    expect(kind(record, { ...key, id: 8 })).toBe('key-unavailable');
    expect(kind(record, { ...key, bytes: new Uint8Array(32) })).toBe('authentication-failed');
    for (let at = 10; at < record.length; at++) expect(kind(changed(at))).toBe('authentication-failed');
    for (let length = 38; length < record.length; length++) {
      expect(kind(record.subarray(0, length))).toBe('authentication-failed');
    }
  });

  test('a record opens only for its type and its row', () => {
    const fields = idFields(account, 'ab'.repeat(16));
    const record = seal(key, recordTypes.outboxBody, fields, bytes('616263'), nonce);
    const others = [
      idFields(account),
      idFields(account, 'ac'.repeat(16)),
      idFields('ab'.repeat(16), account),
      idFields(`${account}ab`, 'ab'.repeat(15)),
      [...fields, new Uint8Array()],
    ];
    for (const other of others) {
      expect(kindOf(() => open(key, recordTypes.outboxBody, other, record))).toBe('authentication-failed');
    }
    expect(kindOf(() => open(key, recordTypes.historyBody, fields, record))).toBe('authentication-failed');
  });

  test('random bytes and changed records give a SealError and nothing else', () => {
    const record = seal(key, recordTypes.draft, [], bytes('616263'), nonce);
    const mutated = fc
      .tuple(fc.nat(record.length - 1), fc.integer({ min: 1, max: 255 }))
      .map(([place, by]) => record.map((byte, at) => (at === place ? byte ^ by : byte)));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated), (value) => {
        expect(kindOf(() => open(key, recordTypes.draft, [], value))).not.toBe('opened');
      }),
    );
  });

  test('nothing given is changed', () => {
    const plaintext = bytes('616263');
    const fields = idFields(account);
    const record = seal(key, recordTypes.draft, fields, plaintext, nonce);
    const copy = record.slice();
    open(key, recordTypes.draft, fields, record);
    expect(record).toEqual(copy);
    expect(toHex(plaintext)).toBe('616263');
    expect(toHex(nonce)).toBe('000102030405060708090a0b');
    expect(toHex(key.bytes)).toBe(keyVector.hex);
    expect(fields).toEqual(idFields(account));
  });

  test("wrong sizes of our own are a programmer's error", () => {
    const short = { id: 1, bytes: bytes('00') };
    expect(() => seal(short, 34, [], bytes(''), nonce)).toThrow(AssertionError);
    expect(() => open(short, 34, [], bytes(''))).toThrow(AssertionError);
    expect(() => seal(key, 34, [], bytes(''), bytes('00'))).toThrow(AssertionError);
    expect(() => seal({ ...key, id: -1 }, 34, [], bytes(''), nonce)).toThrow(AssertionError);
    expect(() => idFields('xy')).toThrow(AssertionError);
  });
});
