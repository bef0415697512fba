import { limits } from '../core/limits';

/** What is wrong with something a person typed; the catalogue words it. */
export type NameProblem =
  | 'name-invisible'
  | 'name-long'
  | 'channel-empty'
  | 'channel-long'
  | 'channel-signs'
  | 'secret-shape'
  | 'address-empty'
  | 'address-shape'
  | 'address-scheme'
  | 'address-plain'
  | 'address-known';

/** Either the value to use, trimmed and completed, or what is wrong with it. */
export type Checked = { readonly value: string } | { readonly problem: NameProblem };

const encoder = new TextEncoder();

/** UTF-8 bytes of `text`. */
export function utf8Bytes(text: string): number {
  return encoder.encode(text).length;
}

/** True when at least one character of `text` leaves ink: spaces, controls, joiners and fillers do not. */
export function visible(text: string): boolean {
  return /[^\s\p{C}\p{M}\p{Z}\u115f\u1160\u2800\u3164\uffa0]/u.test(text);
}

/** A nick: something to see, on one line, within its bytes. */
export function checkNick(typed: string): Checked {
  const value = typed
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim();
  if (!visible(value)) return { problem: 'name-invisible' };
  return utf8Bytes(value) > limits.nickBytesMax ? { problem: 'name-long' } : { value };
}

/** A channel name, with its # put in front when it was left out. */
export function checkChannel(typed: string): Checked {
  const bare = typed.normalize('NFC').trim().replace(/^#/, '');
  if (!visible(bare)) return { problem: 'channel-empty' };
  if (/[\s,#\p{C}]/u.test(bare)) return { problem: 'channel-signs' };
  const value = `#${bare}`;
  return utf8Bytes(value) > limits.channelBytesMax ? { problem: 'channel-long' } : { value };
}

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Bytes a base58 text stands for, or `undefined` when it is not one. */
function base58Length(text: string): number | undefined {
  let value = 0n;
  for (const sign of text) {
    const digit = base58.indexOf(sign);
    if (digit < 0) return undefined;
    value = value * 58n + BigInt(digit);
  }
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  const hex = value === 0n ? '' : value.toString(16);
  return zeros + Math.ceil(hex.length / 2);
}

/** A channel secret: nothing at all, or base58 of exactly 32 bytes. */
export function checkSecret(typed: string): Checked {
  const value = typed.trim();
  if (value === '') return { value };
  // 32 bytes never take more than 44 signs; longer text is refused before any arithmetic.
  return value.length <= 44 && base58Length(value) === 32 ? { value } : { problem: 'secret-shape' };
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** A relay address; a bare host gets `wss://`. Plain `ws://` only to this computer. */
export function checkAddress(typed: string, known: readonly string[] = []): Checked {
  const text = typed.trim();
  if (text === '') return { problem: 'address-empty' };
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'wss' && scheme !== 'ws') return { problem: 'address-scheme' };
  const address = parseAddress(scheme === undefined ? `wss://${text}` : text);
  if (!address) return { problem: 'address-shape' };
  if (address.protocol === 'ws:' && !loopback.test(address.hostname)) return { problem: 'address-plain' };
  const value = address.pathname === '/' && address.search === '' ? address.origin : address.href;
  const listed = known.some((url) => url === value || url === `${value}/`);
  return listed ? { problem: 'address-known' } : { value };
}

/** The parsed address, or `undefined` when it has no usable host, carries a name and password, or a fragment. */
function parseAddress(text: string): URL | undefined {
  if (/[\s<>]/.test(text) || !URL.canParse(text) || utf8Bytes(text) > limits.urlBytesMax) return undefined;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.hash !== '') return undefined;
  return loopback.test(url.hostname) || /[.:]/.test(url.hostname) ? url : undefined;
}
