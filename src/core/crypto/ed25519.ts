import { eddsa, edwards } from '@noble/curves/abstract/edwards.js';
import { sha512 } from '@noble/hashes/sha2.js';

const prime = 2n ** 255n - 19n;

/** The curve of RFC 8032, section 5.1. */
const curve = /* @__PURE__ */ edwards({
  p: prime,
  n: 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n,
  h: 8n,
  a: prime - 1n,
  d: 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n,
  Gx: 0x216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51an,
  Gy: 0x6666666666666666666666666666666666666666666666666666666666666658n,
});

/**
 * Ed25519 (RFC 8032) alone, for the reason that `x25519` stands alone: the package's ready-made one brings other
 * curves and protocols that no bundler can leave out.
 */
export const ed25519 = /* @__PURE__ */ eddsa(curve, sha512, { adjustScalarBytes: clamped, zip215: false });

/** The scalar RFC 8032 reads from the first 32 bytes of a secret's hash. */
function clamped(bytes: Uint8Array): Uint8Array {
  const [first = 0] = bytes;
  const last = bytes[31] ?? 0;
  bytes[0] = first & 0b1111_1000;
  bytes[31] = (last & 0b0111_1111) | 0b0100_0000;
  return bytes;
}
