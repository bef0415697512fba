import { blake3 } from '@noble/hashes/blake3.js';
import { expect, test } from 'vitest';
import { AssertionError } from '../../../src/core/assert';
import { deriveBytes, seedBytes } from '../../../src/core/crypto/derive';
import { toHex } from '../../../src/core/ids';

const seed = new Uint8Array(seedBytes).fill(7);

test('the same label gives the same bytes, another label or seed gives others', () => {
  const drawn = deriveBytes(seed, 'body', 24);
  expect(drawn).toHaveLength(24);
  expect(deriveBytes(seed, 'body', 24)).toEqual(drawn);
  expect(deriveBytes(seed, 'text', 24)).not.toEqual(drawn);
  expect(deriveBytes(new Uint8Array(32), 'body', 24)).not.toEqual(drawn);
  expect(seed).toEqual(new Uint8Array(32).fill(7));
});

test('it is BLAKE3 of the label keyed by the seed', () => {
  expect(toHex(deriveBytes(seed, 'body', 100))).toBe(
    toHex(blake3(new TextEncoder().encode('body'), { key: seed, dkLen: 100 })),
  );
  // Frozen: stored decisions are repeated with the same bytes after an update of the app.
  expect(toHex(deriveBytes(seed, 'body', 12))).toBe('461a08e315ba9764b2df5e0e');
});

test("a seed of another size is a programmer's error", () => {
  expect(() => deriveBytes(new Uint8Array(seedBytes - 1), 'body', 12)).toThrow(AssertionError);
});
