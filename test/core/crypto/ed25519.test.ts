import { createPublicKey, verify } from 'node:crypto';
import { ed25519 as reference } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ed25519 } from '../../../src/core/crypto/ed25519';
import { bytes } from '../hex';

const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
const message = fc.uint8Array({ maxLength: 200 });

test('RFC 8032, section 7.1, tests 1 and 3', () => {
  const cases = [
    [
      '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      '',
      'd75a980182b10ab7d54bfed3c964073a',
    ],
    [
      'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
      'af82',
      'fc51cd8e6218a1a38da47ed00230f058',
    ],
  ] as const;
  for (const [secret, said, publicStart] of cases) {
    const publicKey = ed25519.getPublicKey(bytes(secret));
    expect(Buffer.from(publicKey).toString('hex').slice(0, 32)).toBe(publicStart);
    expect(ed25519.verify(ed25519.sign(bytes(said), bytes(secret)), bytes(said), publicKey)).toBe(true);
  }
});

test('keys and signatures are those of the ready-made curve, and Node takes them', () => {
  fc.assert(
    fc.property(seed, message, (secret, said) => {
      const publicKey = ed25519.getPublicKey(secret);
      const signature = ed25519.sign(said, secret);
      expect(publicKey).toEqual(reference.getPublicKey(secret));
      expect(signature).toEqual(reference.sign(said, secret));
      const x = Buffer.from(publicKey).toString('base64url');
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
      expect(verify(null, said, key, signature)).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test('one changed bit of message, signature or key is refused by both', () => {
  fc.assert(
    fc.property(
      seed,
      fc.nat(32 * 8 - 1),
      fc.constantFrom('message', 'signature', 'key'),
      (secret, bit, where) => {
        const said = new Uint8Array(32).fill(7);
        const publicKey = ed25519.getPublicKey(secret);
        const signature = ed25519.sign(said, secret);
        const changed = { message: said, signature, key: publicKey }[where];
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(ed25519.verify(signature, said, publicKey)).toBe(false);
        const x = Buffer.from(publicKey).toString('base64url');
        const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
        expect(verify(null, said, key, signature)).toBe(false);
      },
    ),
    { numRuns: 60 },
  );
});
