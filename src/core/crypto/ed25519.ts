import { getPublicKey, hashes, sign, verify } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';

hashes.sha512 = sha512;

/**
 * Ed25519 (RFC 8032) from the small package of the same author: the one in `@noble/curves` is 12 kB in each worker that
 * imports it. `verify` is false for whatever is malformed.
 */
export const ed25519 = {
  getPublicKey,
  sign,
  verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
    return verify(signature, message, publicKey, { zip215: false });
  },
};
