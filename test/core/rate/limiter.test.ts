import { createPublicKey, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/core/limits';
import { type Claim, ed25519Limiter, identityText } from '../../../src/core/rate/limiter';
import { holdfast } from '../../../src/core/wire/profile';
import { rate } from '../../vectors/rate';
import { bytes } from '../hex';

const pure = ed25519Limiter();
const native = ed25519Limiter((signature, message, publicKey) => {
  const x = Buffer.from(publicKey).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, message, key, signature);
});
const to = { magic: bytes(rate.magic), event: rate.event };
const blob = bytes(rate.blob);

describe('the proof of a ticket', () => {
  test('is the frozen 107 bytes, and names its identity', () => {
    expect(pure.prove(bytes(rate.secret), rate, to)).toEqual(blob);
    expect(blob).toHaveLength(107);
    expect(pure.identityOf(bytes(rate.secret))).toBe(rate.identity);
    expect(identityText(rate.identity)).toBe(rate.text);
    expect(Buffer.from(holdfast.magic).toString('hex')).toBe(rate.magic);
  });

  test('holds for its event in its network alone, whoever does the arithmetic', () => {
    const claim = pure.claimOf(blob) as Claim;
    expect(claim).toMatchObject({ identity: rate.identity, epoch: rate.epoch, ticket: rate.ticket });
    const others = [
      [claim, { ...to, event: 'ab'.repeat(32) }],
      [claim, { ...to, magic: bytes('fbe5c7b5') }],
      [{ ...claim, epoch: rate.epoch + 1 }, to],
      [{ ...claim, ticket: 98 }, to],
      [{ ...claim, identity: rate.event }, to],
    ] as const;
    for (const limiter of [pure, native]) {
      expect(limiter.holds(claim, to)).toBe(true);
      for (const [other, where] of others) expect(limiter.holds(other, where)).toBe(false);
    }
  });

  test('any bytes are a claim or none, and no other bytes of its length hold', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 220 }), (drawn) => {
        const claim = pure.claimOf(new Uint8Array(drawn));
        if (claim !== undefined) expect(drawn).toHaveLength(107);
        expect(claim === undefined || !native.holds(claim, to)).toBe(true);
      }),
    );
    for (let length = 0; length < blob.length; length++) {
      expect(pure.claimOf(blob.slice(0, length))).toBeUndefined();
    }
    expect(pure.claimOf(new Uint8Array([...blob, 0]))).toBeUndefined();
    expect(pure.claimOf(new Uint8Array([2, ...blob.subarray(1)]))).toBeUndefined();
    // An epoch beyond any time: a claim could not say which.
    expect(pure.claimOf(blob.map((byte, at) => (at >= 33 && at < 41 ? 0xff : byte)))).toBeUndefined();
  });

  test('epochs last ten minutes from their zero on; what is earlier is in the first', () => {
    const zero = limits.rateEpochZeroMs;
    expect(pure.epochOf(1_767_225_601_000)).toBe(47_562);
    expect([-1, 0, 599_999, 600_000].map((ms) => pure.epochOf(zero + ms))).toEqual([0, 0, 0, 1]);
    expect(pure.endOf(0)).toBe(zero + 600_000);
    expect(pure.epochOf(pure.endOf(47_562))).toBe(47_563);
    expect(pure.ticketsPerEpoch).toBe(100);
  });
});
