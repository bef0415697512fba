import { DecodeError } from '../errors';
import type { Bytes } from '../ids';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const values: ReadonlyMap<string, bigint> = new Map([...alphabet].map((digit, at) => [digit, BigInt(at)]));
const base = 58n;

/** Digits handled at once at the leaves of the division below. */
const leafDigits = 32;

/** Longest base58 of `length` bytes, in characters. */
export function base58BytesMax(length: number): number {
  return Math.ceil((length * 8) / Math.log2(58));
}

/**
 * Base58 in the Bitcoin alphabet: each leading zero byte is a leading `1`. A sealed text has thousands of digits, where
 * the usual digit-by-digit way takes quadratic time, so this halves the number instead.
 */
export function encodeBase58(bytes: Uint8Array): string {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++;
  let hex = '';
  for (const byte of bytes.subarray(zeros)) hex += byte.toString(16).padStart(2, '0');
  const number = hex === '' ? 0n : BigInt(`0x${hex}`);
  const digits = digitsOf(number, base58BytesMax(bytes.length - zeros));
  return '1'.repeat(zeros) + digits.replace(/^1+/, '');
}

/** Bytes of a base58 text. Throws `DecodeError` on another character, and on a text longer than `maxDigits`. */
export function decodeBase58(text: string, maxDigits: number): Bytes {
  if (text.length > maxDigits) throw new DecodeError('base58 too long');
  let zeros = 0;
  while (text.charAt(zeros) === '1') zeros++;
  const number = numberOf(text, zeros, text.length);
  const hex = number === 0n ? '' : number.toString(16);
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  const bytes = new Uint8Array(zeros + even.length / 2);
  for (let at = zeros; at < bytes.length; at++) {
    const from = (at - zeros) * 2;
    bytes[at] = Number.parseInt(even.slice(from, from + 2), 16);
  }
  return bytes;
}

/** Exactly `count` digits of a number below 58 ** count. */
function digitsOf(number: bigint, count: number): string {
  if (count <= leafDigits) {
    let digits = '';
    let rest = number;
    for (let left = count; left > 0; left--) {
      digits = alphabet.charAt(Number(rest % base)) + digits;
      rest /= base;
    }
    return digits;
  }
  const low = Math.floor(count / 2);
  const split = base ** BigInt(low);
  return digitsOf(number / split, count - low) + digitsOf(number % split, low);
}

function numberOf(text: string, from: number, to: number): bigint {
  if (to - from <= leafDigits) {
    let number = 0n;
    for (let at = from; at < to; at++) {
      const value = values.get(text.charAt(at));
      if (value === undefined) throw new DecodeError('not base58');
      number = number * base + value;
    }
    return number;
  }
  const middle = Math.ceil((from + to) / 2);
  return numberOf(text, from, middle) * base ** BigInt(to - middle) + numberOf(text, middle, to);
}
