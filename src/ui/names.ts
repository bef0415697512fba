import { limits } from '../core/limits';
import { channelReason, nickReason } from '../core/wire/privmsg';
import { parseSecret } from '../core/wire/secret';

/** What is wrong with something a person typed; the catalogue words it. */
export type NameProblem =
  | 'name-invisible'
  | 'name-long'
  | 'name-signs'
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

/** True when at least one character of `text` leaves ink: spaces, controls, joiners and fillers do not. */
export function visible(text: string): boolean {
  return /[^\s\p{C}\p{M}\p{Z}\u115f\u1160\u2800\u3164\uffa0]/u.test(text);
}

/** A nick: something to see, of the signs the network takes, within its bytes. */
export function checkNick(typed: string): Checked {
  const value = typed.trim();
  if (!visible(value)) return { problem: 'name-invisible' };
  const reason = nickReason(value);
  if (reason === undefined) return { value };
  return { problem: reason === 'too-long' ? 'name-long' : 'name-signs' };
}

/** A channel name, with its # put in front when it was left out. */
export function checkChannel(typed: string): Checked {
  const value = `#${typed.trim().replace(/^#/, '')}`;
  if (!visible(value.slice(1))) return { problem: 'channel-empty' };
  const reason = channelReason(value);
  if (reason === undefined) return { value };
  return { problem: reason === 'too-long' ? 'channel-long' : 'channel-signs' };
}

/** A channel secret: nothing at all, or base58 of exactly 32 bytes. */
export function checkSecret(typed: string): Checked {
  const value = typed.trim();
  if (value === '') return { value };
  return parseSecret(value) ? { value } : { problem: 'secret-shape' };
}

/** The only hosts the headers of the app let it reach without encryption (formats.md 11). */
const loopback = /^(localhost|127\.0\.0\.1)$/;

/** A relay address; a bare host gets `wss://`, this computer, the only one `ws://` may go to, that. */
export function checkAddress(typed: string, known: readonly string[] = []): Checked {
  const text = typed.trim();
  if (text === '') return { problem: 'address-empty' };
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'wss' && scheme !== 'ws') return { problem: 'address-scheme' };
  const local = loopback.test(text.replace(/[:/].*$/, ''));
  const address = parseAddress(scheme === undefined ? `${local ? 'ws' : 'wss'}://${text}` : text);
  if (!address) return { problem: 'address-shape' };
  if (address.protocol === 'ws:' && !loopback.test(address.hostname)) return { problem: 'address-plain' };
  const value = shownAddress(address.href);
  return known.some((url) => shownAddress(url) === value) ? { problem: 'address-known' } : { value };
}

/** The parsed address, or `undefined` when it has no usable host, or carries a password, a query or a fragment. */
function parseAddress(text: string): URL | undefined {
  if (/[\s<>]/.test(text) || !URL.canParse(text) || text.length > limits.urlBytesMax) return undefined;
  const url = new URL(text);
  if (url.username + url.password + url.search + url.hash !== '') return undefined;
  return loopback.test(url.hostname) || /[.:]/.test(url.hostname) ? url : undefined;
}

/** An address as it is shown and compared: without the slash that says nothing. */
export function shownAddress(url: string): string {
  return url.replace(/(?<=:\/\/[^/]+)\/$/, '');
}
