import { mod } from '@noble/curves/abstract/modular.js';
import { montgomery } from '@noble/curves/abstract/montgomery.js';

const prime = 2n ** 255n - 19n;

/**
 * X25519 (RFC 7748) alone. The package's ready-made one comes in a file with signatures and other curves, which no
 * bundler can leave out: 9 kB more in each worker.
 */
export const x25519 = /* @__PURE__ */ montgomery({
  P: prime,
  type: 'x25519',
  adjustScalarBytes: clamped,
  powPminus2: inverse,
});

/** The scalar RFC 7748 reads from 32 bytes. */
function clamped(bytes: Uint8Array): Uint8Array {
  const [first = 0] = bytes;
  const last = bytes[31] ?? 0;
  bytes[0] = first & 0b1111_1000;
  bytes[31] = (last & 0b0111_1111) | 0b0100_0000;
  return bytes;
}

/** By Fermat: `value` to the power of the prime less two, whose bits are the same for every value. */
function inverse(value: bigint): bigint {
  let result = 1n;
  let square = value;
  for (let power = prime - 2n; power > 0n; power >>= 1n) {
    if ((power & 1n) === 1n) result = mod(result * square, prime);
    square = mod(square * square, prime);
  }
  return result;
}
