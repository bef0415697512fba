import { DecodeError } from '../errors';
import type { Bytes } from '../ids';
import { base58BytesMax, decodeBase58, encodeBase58 } from './base58';

/** Bytes of a channel's secret. */
export const secretBytes = 32;

/** The secret a person pasted: base58 of 32 bytes. `undefined` when it is none. */
export function parseSecret(text: string): Bytes | undefined {
  try {
    const bytes = decodeBase58(text, base58BytesMax(secretBytes));
    return bytes.length === secretBytes ? bytes : undefined;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** A secret as people pass it on. */
export function formatSecret(secret: Bytes): string {
  return encodeBase58(secret);
}
