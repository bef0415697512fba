import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { folded, linked } from '../../../src/ui/links';
import { checkAddress, checkChannel, checkNick, checkSecret, visible } from '../../../src/ui/names';

describe('names', () => {
  test('a nick must be seen and be of the signs the network takes', () => {
    expect(checkNick('  Mo  ')).toEqual({ value: 'Mo' });
    expect(checkNick('\u200b \u2800')).toEqual({ problem: 'name-invisible' });
    expect(checkNick('x'.repeat(24))).toEqual({ value: 'x'.repeat(24) });
    expect(checkNick('x'.repeat(25))).toEqual({ problem: 'name-long' });
    for (const bad of ['海', 'José', 'a b', 'a\nb'])
      expect(checkNick(bad)).toEqual({ problem: 'name-signs' });
  });

  test('a channel gets its #, and has no spaces, commas or second #', () => {
    expect(checkChannel('harbour')).toEqual({ value: '#harbour' });
    expect(checkChannel(' #harbour ')).toEqual({ value: '#harbour' });
    expect(checkChannel('#')).toEqual({ problem: 'channel-empty' });
    for (const bad of ['a b', 'a,b', '##a', 'a#b', 'a\u200bb']) {
      expect(checkChannel(bad)).toEqual({ problem: 'channel-signs' });
    }
    expect(checkChannel('x'.repeat(23))).toEqual({ value: `#${'x'.repeat(23)}` });
    expect(checkChannel('x'.repeat(24))).toEqual({ problem: 'channel-long' });
  });

  test('a secret is nothing, or base58 of exactly 32 bytes', () => {
    expect(checkSecret('  ')).toEqual({ value: '' });
    // 32 bytes of 0xff, and 32 zero bytes.
    const ones = 'JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG';
    expect(checkSecret(ones)).toEqual({ value: ones });
    expect(checkSecret('1'.repeat(32))).toEqual({ value: '1'.repeat(32) });
    expect(checkSecret('1'.repeat(31))).toEqual({ problem: 'secret-shape' });
    expect(checkSecret(ones.slice(2))).toEqual({ problem: 'secret-shape' });
    expect(checkSecret(`${ones.slice(1)}0`)).toEqual({ problem: 'secret-shape' });
    expect(checkSecret('2'.repeat(5_000))).toEqual({ problem: 'secret-shape' });
  });

  test('a relay address says clearly what is wrong with it', () => {
    expect(checkAddress('')).toEqual({ problem: 'address-empty' });
    expect(checkAddress('relay.example')).toEqual({ value: 'wss://relay.example' });
    expect(checkAddress('wss://relay.example/')).toEqual({ value: 'wss://relay.example' });
    expect(checkAddress('wss://relay.example:4181/path')).toEqual({ value: 'wss://relay.example:4181/path' });
    expect(checkAddress('ws://127.0.0.1:4181')).toEqual({ value: 'ws://127.0.0.1:4181' });
    for (const host of ['127.0.0.1:4181', 'localhost:4181'])
      expect(checkAddress(host)).toEqual({ value: `ws://${host}` });
    expect(checkAddress('localhost.example')).toEqual({ value: 'wss://localhost.example' });
    expect(checkAddress('ws://relay.example')).toEqual({ problem: 'address-plain' });
    expect(checkAddress('https://relay.example')).toEqual({ problem: 'address-scheme' });
    for (const bad of [
      'wss://',
      'hello there',
      'wss://a b',
      'nonsense',
      'wss://me:pw@relay.example',
      'wss://a.b/#x',
      'wss://a.b/?x=1',
    ]) {
      expect(checkAddress(bad)).toEqual({ problem: 'address-shape' });
    }
    expect(checkAddress('relay.example', ['wss://relay.example'])).toEqual({ problem: 'address-known' });
    expect(checkAddress('relay.example', ['wss://relay.example/'])).toEqual({ problem: 'address-known' });
  });

  test('nothing typed ever breaks a check', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        for (const check of [checkNick, checkChannel, checkSecret, checkAddress]) {
          expect('value' in check(text) || 'problem' in check(text)).toBe(true);
        }
        expect(typeof visible(text)).toBe('boolean');
      }),
    );
  });
});

describe('links', () => {
  test('only http, https and mailto become links; closing marks stay outside', () => {
    expect(linked('see https://a.example/x, ok')).toEqual([
      { text: 'see ' },
      { text: 'https://a.example/x', href: 'https://a.example/x' },
      { text: ', ok' },
    ]);
    expect(linked('(https://a.example/b_(c))')[1]?.text).toBe('https://a.example/b_(c)');
    expect(linked('mailto:mo@a.example')[0]?.href).toBe('mailto:mo@a.example');
    for (const bad of [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'xhttp://a',
      'http://',
    ]) {
      expect(linked(bad).some((part) => part.href !== undefined)).toBe(false);
    }
  });

  test('the parts put together are the text, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom('https://a.b', 'mailto:', ' ', ')', '.'))),
        (parts) => {
          const text = parts.join('');
          expect(
            linked(text)
              .map((part) => part.text)
              .join(''),
          ).toBe(text);
        },
      ),
    );
  });
});

describe('folding', () => {
  test('a text of more than twenty lines is folded after the twentieth', () => {
    const lines = Array.from({ length: 60 }, (_, at) => `line ${at + 1}`);
    expect(folded(lines.join('\n'))).toBe(lines.slice(0, 20).join('\n'));
    expect(folded(lines.slice(0, 20).join('\n'))).toBeUndefined();
  });

  test('one endless line is folded too, and no character is cut in half', () => {
    expect(folded('x'.repeat(3_000))?.length).toBe(1_400);
    // encodeURIComponent refuses half a character.
    expect(() => encodeURIComponent(folded(`x${'😀'.repeat(2_000)}`) ?? '\ud83d')).not.toThrow();
    expect(folded('short')).toBeUndefined();
  });
});
