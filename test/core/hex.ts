import { present } from '../../src/core/assert';
import { type Bytes, fromHex } from '../../src/core/ids';

/** Bytes of a vector's hex. */
export function bytes(hex: string): Bytes {
  return present(fromHex(hex), 'a vector is hex');
}
