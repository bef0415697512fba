import { base58 } from '@scure/base';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { channelKey, sealChannel } from '../../../src/core/crypto/box';
import { DecodeError, EncodeError } from '../../../src/core/errors';
import { toHex } from '../../../src/core/ids';
import { base58BytesMax, decodeBase58, encodeBase58 } from '../../../src/core/wire/base58';
import { readContent } from '../../../src/core/wire/content';
import {
  channelReason,
  decodePrivmsg,
  encodePrivmsg,
  nickReason,
  privmsgBytesOver,
  privmsgFrameBytes,
} from '../../../src/core/wire/privmsg';
import { darkirc, holdfast } from '../../../src/core/wire/profile';
import { privmsg as vector } from '../../vectors/event-graph';
import { bytes } from '../hex';

const hello = { type: 0, channel: vector.channel, nick: vector.nick, text: vector.text };
const logical = '00112233445566778899aabbccddeeff';

describe('channel message', () => {
  test('vector of upstream', () => {
    expect(toHex(encodePrivmsg(hello))).toBe(vector.hex);
    expect(decodePrivmsg(darkirc, bytes(vector.hex))).toEqual({ ...hello, logical: undefined });
  });

  test('in holdfast a logical id follows, which upstream ignores', () => {
    const content = encodePrivmsg({ ...hello, logical });
    expect(toHex(content)).toBe(vector.hex + logical);
    expect(decodePrivmsg(holdfast, content)).toEqual({ ...hello, logical });
    expect(decodePrivmsg(darkirc, content)).toEqual({ ...hello, logical: undefined });
  });

  test('other trailing bytes are ignored', () => {
    const read = (tail: string) => decodePrivmsg(holdfast, bytes(vector.hex + tail)).logical;
    expect([read(''), read('00'), read(logical.slice(2))]).toEqual([undefined, undefined, undefined]);
    expect(read(`${logical}ff`)).toBe(logical);
  });

  test('what cannot be sent is an EncodeError, what is none a DecodeError', () => {
    expect(() => encodePrivmsg({ ...hello, logical: 'ab' })).toThrow(EncodeError);
    expect(() => encodePrivmsg({ ...hello, logical: 'xy'.repeat(16) })).toThrow(EncodeError);
    expect(() => encodePrivmsg({ ...hello, nick: 'x'.repeat(89) })).toThrow(EncodeError);
    expect(() => encodePrivmsg({ ...hello, text: 'x'.repeat(262_144) })).toThrow(EncodeError);
    expect(() => decodePrivmsg(darkirc, bytes(`01${vector.hex.slice(2)}`))).toThrow(DecodeError);
    expect(() => decodePrivmsg(darkirc, bytes(`000059${'61'.repeat(89)}00`))).toThrow(DecodeError);
  });

  test('content is told by its first byte, and never throws', () => {
    expect(readContent(holdfast, bytes(vector.hex))).toEqual({
      kind: 'privmsg',
      privmsg: { ...hello, logical: undefined },
    });
    const envelope = bytes('0101aabb');
    expect(readContent(holdfast, envelope)).toEqual({ kind: 'sealed', envelope });
    for (const hex of ['', '00', '02', 'ff', '0000ff', vector.hex.slice(0, -2)]) {
      expect(readContent(holdfast, bytes(hex))).toEqual({ kind: 'opaque' });
    }
    expect(readContent(darkirc, envelope)).toEqual({ kind: 'opaque' });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (content) => {
        expect(['privmsg', 'sealed', 'opaque']).toContain(
          readContent(holdfast, new Uint8Array(content)).kind,
        );
      }),
    );
  });
});

describe('names', () => {
  test('a channel is # and 1 to 23 visible ASCII characters without comma or second #', () => {
    for (const name of ['#a', '#dev', `#${'x'.repeat(23)}`, '#!"$%&\'()*+-./:;<=>?@[\\]^_`{|}~']) {
      expect(channelReason(name.slice(0, 24))).toBeUndefined();
    }
    expect(channelReason('')).toBe('empty');
    expect(channelReason('#')).toBe('empty');
    expect(channelReason('dev')).toBe('bad-start');
    expect(channelReason(`#${'x'.repeat(24)}`)).toBe('too-long');
    for (const name of ['#a,b', '#a#b', '##', '#a b', '#é', '#a\n', '#\x7f', '#\x00']) {
      expect(channelReason(name)).toBe('bad-character');
    }
  });

  test('a nick is 1 to 24 of its characters', () => {
    for (const nick of ['a', 'Alice_9', '-_[]\\`^{}|', 'x'.repeat(24)])
      expect(nickReason(nick)).toBeUndefined();
    expect(nickReason('')).toBe('empty');
    expect(nickReason('x'.repeat(25))).toBe('too-long');
    for (const nick of ['a b', 'a.b', 'é', '#a', 'a\n', 'a~', '@'])
      expect(nickReason(nick)).toBe('bad-character');
  });
});

describe('bytes of the real frame', () => {
  const text = fc.string({ unit: 'binary', maxLength: 400 });
  const nicks = fc.constantFrom('a', 'alice', 'x'.repeat(24));

  test('in the clear the count is exact', () => {
    fc.assert(
      fc.property(text, nicks, (given, nick) => {
        const sent = { type: 0, channel: '#dev', nick, text: given };
        expect(encodePrivmsg(sent)).toHaveLength(privmsgFrameBytes(darkirc, '#dev', nick, given));
        expect(encodePrivmsg({ ...sent, logical })).toHaveLength(
          privmsgFrameBytes(holdfast, '#dev', nick, given),
        );
      }),
    );
  });

  test('in a secret channel it is at most two bytes a field above, never below', () => {
    const key = channelKey(new Uint8Array(32).fill(3));
    fc.assert(
      fc.property(text, nicks, fc.nat(255), (given, nick, fill) => {
        const nonces = { channel: nonce(fill), nick: nonce(255 - fill), text: nonce(fill ^ 85) };
        const content = encodePrivmsg({
          type: 0,
          logical,
          ...sealChannel(key, { nick, text: given }, nonces),
        });
        const counted = privmsgFrameBytes(holdfast, '#dev', nick, given, true);
        expect(content.length).toBeLessThanOrEqual(counted);
        // A nonce of zeros makes the base58 shorter by what 24 leading zero bytes save.
        if (fill !== 0 && fill !== 255 && fill !== 85)
          expect(counted - content.length).toBeLessThanOrEqual(6);
      }),
    );
  });

  test('the largest darkirc contents are those of upstream', () => {
    const channel = `#${'c'.repeat(23)}`;
    expect(privmsgFrameBytes(darkirc, channel, 'n'.repeat(24), 'x'.repeat(512))).toBe(567);
    expect(privmsgFrameBytes(darkirc, channel, 'n'.repeat(24), 'x'.repeat(512), true)).toBe(937);
  });

  test('bytes over count UTF-8, not characters', () => {
    expect(privmsgBytesOver(holdfast, '#dev', 'a', 'x'.repeat(16_384))).toBe(0);
    expect(privmsgBytesOver(holdfast, '#dev', 'a', 'x'.repeat(16_385))).toBe(1);
    expect(privmsgBytesOver(holdfast, '#dev', 'a', `${'x'.repeat(16_382)}👋`)).toBe(2);
    expect(privmsgBytesOver(holdfast, '#dev', 'a', 'x'.repeat(16_384), true)).toBe(0);
    expect(privmsgBytesOver(darkirc, '#dev', 'a', 'é'.repeat(257))).toBe(2);
  });

  test('a relay that takes less content lowers the bound', () => {
    const fits = privmsgFrameBytes(holdfast, '#dev', 'a', 'hello');
    expect(privmsgBytesOver(holdfast, '#dev', 'a', 'hello', false, fits)).toBe(0);
    expect(privmsgBytesOver(holdfast, '#dev', 'a', 'hello', false, fits - 3)).toBe(3);
  });
});

describe('base58', () => {
  test('agrees with an independent implementation', () => {
    const leading = fc
      .tuple(fc.nat(5), fc.uint8Array({ maxLength: 120 }))
      .map(([zeros, tail]) => new Uint8Array([...new Uint8Array(zeros), ...tail]));
    fc.assert(
      fc.property(leading, (given) => {
        const text = encodeBase58(given);
        expect(text).toBe(base58.encode(given));
        expect(decodeBase58(text, 200)).toEqual(given);
        expect(text.length).toBeLessThanOrEqual(base58BytesMax(given.length));
      }),
    );
  });

  test('the longest text of so many bytes', () => {
    expect([base58BytesMax(0), base58BytesMax(32), base58BytesMax(64), base58BytesMax(552)]).toEqual([
      0, 44, 88, 754,
    ]);
    for (const length of [1, 31, 32, 64, 552, 3_000]) {
      expect(encodeBase58(new Uint8Array(length).fill(255))).toHaveLength(base58BytesMax(length));
    }
  });

  test('other characters and longer texts are refused', () => {
    for (const text of ['0', 'O', 'I', 'l', ' ', 'é', '👋', `${'1'.repeat(90)}0`]) {
      expect(() => decodeBase58(text, 100)).toThrow(DecodeError);
    }
    expect(() => decodeBase58('zzzz', 3)).toThrow(DecodeError);
  });
});

function nonce(fill: number) {
  return new Uint8Array(24).fill(fill);
}
