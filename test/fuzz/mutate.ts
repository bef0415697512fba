import type { Bytes } from '../../src/core/ids';
import type { Prng } from '../sim/prng';

/** How far a mutation goes from its input. */
type Strength = 'light' | 'middling' | 'heavy' | 'wild';

/** Most mutations are light: what is nearly right goes deepest. */
const strengths: readonly Strength[] = ['light', 'light', 'light', 'middling', 'middling', 'heavy', 'wild'];

const lengthMax = 4_096;

/** Bytes that mean something to a decoder: counts at the edges of every form, and texts that are none. */
const telling: readonly Bytes[] = [
  [0],
  [1],
  [2],
  [0xfc],
  [0xff],
  [0xfd, 0, 0],
  [0xfd, 0xfd, 0],
  [0xfd, 0xff, 0xff],
  [0xfe, 0, 0, 1, 0],
  [0xfe, 0xff, 0xff, 0xff, 0xff],
  [0xff, 0, 0, 0, 0, 1, 0, 0, 0],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f, 0],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0xef, 0xbb, 0xbf],
  [0xed, 0xa0, 0x80],
  [0xc0, 0x80],
].map((bytes) => new Uint8Array(bytes));

/** A new input made of `input`; `other` is another one of its kind. */
export function mutate(prng: Prng, input: Bytes, other: Bytes): Bytes {
  switch (prng.pick(strengths)) {
    case 'light':
      return edit(prng, input, other, 1);
    case 'middling':
      return edit(prng, input, other, prng.between(2, 4));
    case 'heavy':
      return edit(prng, input, other, prng.between(5, 24));
    case 'wild':
      return prng.perMille(500) ? spliced(prng, input, other) : prng.bytes(prng.below(96));
  }
}

function edit(prng: Prng, input: Bytes, other: Bytes, edits: number): Bytes {
  let bytes = input.slice(0, lengthMax);
  for (let left = edits; left > 0; left--) bytes = changed(prng, bytes, other);
  return bytes;
}

function changed(prng: Prng, bytes: Bytes, other: Bytes): Bytes {
  const at = prng.below(bytes.length + 1);
  const kind = prng.below(12);
  if (kind < 6 && at < bytes.length) {
    const before = bytes[at] ?? 0;
    if (kind < 2) bytes[at] = before ^ (1 << prng.below(8));
    else if (kind < 4) bytes[at] = prng.below(256);
    else bytes[at] = before + (kind === 4 ? 1 : 255);
    return bytes;
  }
  if (kind < 8) return replaced(bytes, at, prng.below(2) * prng.between(1, 9), prng.pick(telling));
  if (kind === 8) return replaced(bytes, at, prng.between(1, 33), new Uint8Array(0));
  if (kind === 9) return replaced(bytes, at, 0, prng.bytes(prng.between(1, 33)));
  const from = prng.below(other.length + 1);
  const piece = other.subarray(from, from + prng.between(1, 64));
  return replaced(bytes, at, kind === 10 ? piece.length : 0, piece);
}

/** `count` bytes from `at` on give way to others. */
function replaced(bytes: Bytes, at: number, count: number, by: Uint8Array): Bytes {
  const rest = bytes.subarray(Math.min(bytes.length, at + count));
  const length = Math.min(lengthMax, at + by.length + rest.length);
  const made = new Uint8Array(length);
  made.set(bytes.subarray(0, Math.min(at, length)));
  if (at < length) made.set(by.subarray(0, length - at), at);
  const after = at + by.length;
  if (after < length) made.set(rest.subarray(0, length - after), after);
  return made;
}

/** The head of one and the tail of the other. */
function spliced(prng: Prng, input: Bytes, other: Bytes): Bytes {
  const head = input.subarray(0, prng.below(input.length + 1));
  return replaced(new Uint8Array(head), head.length, 0, other.subarray(prng.below(other.length + 1)));
}
