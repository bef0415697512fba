import { x25519 as reference } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AssertionError } from '../../../src/core/assert';
import {
  boxNonceBytes,
  channelKey,
  openBox,
  openChannel,
  sealBox,
  sealChannel,
} from '../../../src/core/crypto/box';
import { x25519 } from '../../../src/core/crypto/x25519';
import { EncodeError } from '../../../src/core/errors';
import { toHex } from '../../../src/core/ids';
import { decodeBase58 } from '../../../src/core/wire/base58';
import { utf8Bytes } from '../../../src/core/wire/codec';
import { formatSecret, parseSecret, secretBytes } from '../../../src/core/wire/secret';
import { saltbox } from '../../vectors/event-graph';
import { bytes } from '../hex';

const secret = bytes(saltbox.secret);
const key = channelKey(secret);
const nonce = (fill: number) => new Uint8Array(boxNonceBytes).fill(fill);
const nonces = { channel: nonce(1), nick: nonce(2), text: nonce(3) };
const message = (fields: { channel: string; nick: string; text: string }) => ({ ...fields, type: 0 });

describe('channel box', () => {
  test('vector: keys, box and base58', () => {
    expect(toHex(x25519.getPublicKey(secret))).toBe(saltbox.public);
    expect(toHex(x25519.getSharedSecret(secret, bytes(saltbox.public)))).toBe(saltbox.shared);
    expect(toHex(key.boxKey)).toBe(saltbox.boxKey);
    const sealed = sealBox(key, utf8Bytes(saltbox.text), bytes(saltbox.nonce));
    expect(sealed).toBe(saltbox.base58);
    expect(toHex(decodeBase58(sealed, 100))).toBe(saltbox.nonce + saltbox.box);
    expect(openBox(key, sealed, 5)).toEqual(utf8Bytes(saltbox.text));
  });

  test('X25519 agrees with the package’s own for every scalar and point', () => {
    const some = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(some, some, (scalar, other) => {
        const point = reference.getPublicKey(other);
        expect(x25519.getPublicKey(scalar)).toEqual(reference.getPublicKey(scalar));
        expect(x25519.getSharedSecret(scalar, point)).toEqual(reference.getSharedSecret(scalar, point));
      }),
      { numRuns: 50 },
    );
    expect(() => x25519.getSharedSecret(secret, new Uint8Array(32))).toThrow();
  });

  test('a secret reads back from base58 of exactly 32 bytes', () => {
    expect(formatSecret(secret)).toBe(saltbox.secretBase58);
    expect(parseSecret(saltbox.secretBase58)).toEqual(secret);
    expect(parseSecret(formatSecret(new Uint8Array(32)))).toEqual(new Uint8Array(32));
    for (const text of [
      '',
      '1',
      `1${saltbox.secretBase58}`,
      saltbox.secretBase58.slice(1),
      'O0Il',
      'z'.repeat(100_000),
      ` ${saltbox.secretBase58}`,
    ]) {
      expect(parseSecret(text)).toBeUndefined();
    }
  });

  test('a message opens with the channel secret and with no other', () => {
    const sealed = message(sealChannel(key, { nick: 'alice', text: 'héllo 👋' }, nonces));
    expect(openChannel(key, sealed)).toEqual({ nick: 'alice', text: 'héllo 👋' });
    expect(openChannel(channelKey(new Uint8Array(secretBytes).fill(9)), sealed)).toBeUndefined();
    expect([87, 88]).toContain(sealed.channel.length);
    expect([87, 88]).toContain(sealed.nick.length);
    expect(openBox(key, sealed.channel, 24)).toEqual(new Uint8Array(24));
  });

  test('messages in the clear, of other channels or changed do not open', () => {
    const sealed = message(sealChannel(key, { nick: 'alice', text: 'hello' }, nonces));
    expect(openChannel(key, message({ channel: '#dev', nick: 'alice', text: 'hello' }))).toBeUndefined();
    for (const field of ['channel', 'nick', 'text'] as const) {
      const last = sealed[field].endsWith('z') ? 'y' : 'z';
      expect(openChannel(key, { ...sealed, [field]: sealed[field].slice(0, -1) + last })).toBeUndefined();
      expect(openChannel(key, { ...sealed, [field]: '' })).toBeUndefined();
    }
  });

  test('what was sealed but is not UTF-8 is no message', () => {
    const sealed = message(sealChannel(key, { nick: 'alice', text: 'hello' }, nonces));
    expect(openChannel(key, { ...sealed, text: sealBox(key, bytes('ff'), nonce(4)) })).toBeUndefined();
  });

  test('the largest text seals and opens, a larger one is not read', () => {
    const text = 'x'.repeat(16_384);
    const sealed = message(sealChannel(key, { nick: 'alice', text }, nonces));
    expect(openChannel(key, sealed)?.text).toBe(text);
    const larger = message(sealChannel(key, { nick: 'alice', text: `${text}${text}` }, nonces));
    expect(openChannel(key, larger)).toBeUndefined();
  });

  test('random texts never throw', () => {
    const base58 = fc.string({
      unit: fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'),
      maxLength: 120,
    });
    fc.assert(
      fc.property(fc.oneof(base58, fc.string()), (text) => {
        expect(openBox(key, text, 100)).toBeUndefined();
      }),
    );
  });

  test("a nick that does not fit is refused, wrong sizes are a programmer's error", () => {
    expect(() => sealChannel(key, { nick: 'x'.repeat(25), text: '' }, nonces)).toThrow(EncodeError);
    expect(() => sealBox(key, bytes('00'), bytes('00'))).toThrow(AssertionError);
    expect(() => channelKey(bytes('00'))).toThrow(AssertionError);
  });

  test('nothing given is changed', () => {
    const plain = utf8Bytes('hello');
    const fixed = bytes(saltbox.nonce);
    openBox(key, sealBox(key, plain, fixed), 5);
    expect(plain).toEqual(utf8Bytes('hello'));
    expect(toHex(fixed)).toBe(saltbox.nonce);
    expect(toHex(secret)).toBe(saltbox.secret);
    expect(toHex(key.boxKey)).toBe(saltbox.boxKey);
  });
});
