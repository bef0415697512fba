import { blake3 } from '@noble/hashes/blake3.js';
import { assert } from '../assert';
import type { Bytes } from '../ids';
import { utf8Bytes } from '../wire/codec';

/** Bytes of a seed. */
export const seedBytes = 32;

/**
 * `length` bytes for one use, from a script's one random argument: BLAKE3 of `label`, keyed by `seed`. Different labels
 * give independent bytes, the same label the same bytes again, so that a script that runs twice decides the same.
 */
export function deriveBytes(seed: Bytes, label: string, length: number): Bytes {
  assert(seed.length === seedBytes, 'a seed is 32 bytes');
  return new Uint8Array(blake3(utf8Bytes(label), { key: seed, dkLen: length }));
}
