import { poly1305 } from '@noble/ciphers/_poly1305.js';
import { hchacha, xchacha20 } from '@noble/ciphers/chacha.js';
import { equalBytes } from '@noble/ciphers/utils.js';
import { assert } from '../assert';
import { DecodeError, EncodeError } from '../errors';
import type { Bytes } from '../ids';
import { limits } from '../limits';
import { base58BytesMax, decodeBase58, encodeBase58 } from '../wire/base58';
import { utf8Bytes, utf8Text } from '../wire/codec';
import { type Privmsg, sealAddsBytes, sealedNameBytes } from '../wire/privmsg';
import { secretBytes } from '../wire/secret';
import { x25519 } from './x25519';

/** Bytes of the nonce of one box. */
export const boxNonceBytes = 24;
const tagKeyBytes = 32;

/** What everyone who holds a channel's secret computes from it once. Keep it no longer than the secret itself. */
export interface ChannelKey {
  readonly boxKey: Bytes;
}

/** One nonce a field; each random and used for nothing else. */
export interface ChannelNonces {
  readonly channel: Bytes;
  readonly nick: Bytes;
  readonly text: Bytes;
}

/** What a secret channel's message says. */
export interface Spoken {
  readonly nick: string;
  readonly text: string;
}

/**
 * Key of a channel's boxes: X25519 of the secret with its own public key, so that all holders share it, then HChaCha20
 * of that under a zero input (event-graph.md 6.3).
 */
export function channelKey(secret: Bytes): ChannelKey {
  assert(secret.length === secretBytes, 'a channel secret is 32 bytes');
  const shared = x25519.getSharedSecret(secret, x25519.getPublicKey(secret));
  return { boxKey: bytesOfWords(hchachaOf(wordsOf(shared))) };
}

/**
 * base58(nonce ‖ tag ‖ ciphertext) of `plain`. The same nonce never seals two things. The construction is that of
 * libsodium's secret boxes, not the AEAD: the first 32 bytes of the key stream are the Poly1305 key, the text continues
 * where they end, and the tag is over the bare ciphertext.
 */
export function sealBox(key: ChannelKey, plain: Uint8Array, nonce: Bytes): string {
  assert(nonce.length === boxNonceBytes, 'a box nonce is 24 bytes');
  const { output: cipher, tagKey } = streamed(key, nonce, plain);
  const box = new Uint8Array(sealAddsBytes + plain.length);
  box.set(nonce);
  box.set(poly1305(cipher, tagKey), boxNonceBytes);
  box.set(cipher, sealAddsBytes);
  return encodeBase58(box);
}

/** What stands in a box of at most `maxBytes`; `undefined` when this key does not open it. */
export function openBox(key: ChannelKey, text: string, maxBytes: number): Bytes | undefined {
  const box = boxBytes(text, maxBytes);
  if (box === undefined) return undefined;
  const cipher = box.subarray(sealAddsBytes);
  const { output: plain, tagKey } = streamed(key, box.subarray(0, boxNonceBytes), cipher);
  const same = equalBytes(poly1305(cipher, tagKey), box.subarray(boxNonceBytes, sealAddsBytes));
  return same ? plain : undefined;
}

/**
 * The fields of a message in a secret channel: 24 zero bytes for the channel, the nick padded to 24, the text as it is.
 * Throws `EncodeError` when the nick is longer than that.
 */
export function sealChannel(
  key: ChannelKey,
  spoken: Spoken,
  nonces: ChannelNonces,
): Pick<Privmsg, 'channel' | 'nick' | 'text'> {
  const nick = utf8Bytes(spoken.nick);
  if (nick.length > sealedNameBytes) throw new EncodeError('nick too long to seal');
  const padded = new Uint8Array(sealedNameBytes);
  padded.set(nick);
  return {
    channel: sealBox(key, new Uint8Array(sealedNameBytes), nonces.channel),
    nick: sealBox(key, padded, nonces.nick),
    text: sealBox(key, utf8Bytes(spoken.text), nonces.text),
  };
}

/** What a message says in the channel of this key; `undefined` when it is not one of that channel. */
export function openChannel(key: ChannelKey, privmsg: Privmsg): Spoken | undefined {
  // The short channel field decides, so that a foreign message costs little.
  if (openBox(key, privmsg.channel, sealedNameBytes) === undefined) return undefined;
  const nick = openBox(key, privmsg.nick, sealedNameBytes);
  const text = openBox(key, privmsg.text, limits.textBytesMax);
  if (nick === undefined || text === undefined) return undefined;
  let length = nick.length;
  while (length > 0 && nick[length - 1] === 0) length--;
  try {
    return { nick: utf8Text(nick.subarray(0, length)), text: utf8Text(text) };
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function streamed(key: ChannelKey, nonce: Uint8Array, input: Uint8Array): { output: Bytes; tagKey: Bytes } {
  const block = new Uint8Array(tagKeyBytes + input.length);
  block.set(input, tagKeyBytes);
  const stream = new Uint8Array(xchacha20(key.boxKey, nonce, block));
  return { tagKey: stream.slice(0, tagKeyBytes), output: stream.slice(tagKeyBytes) };
}

function boxBytes(text: string, maxBytes: number): Bytes | undefined {
  try {
    const box = decodeBase58(text, base58BytesMax(maxBytes + sealAddsBytes));
    return box.length > sealAddsBytes ? box : undefined;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function hchachaOf(key: Uint32Array): Uint32Array {
  const sigma = wordsOf(utf8Bytes('expand 32-byte k'));
  const out = new Uint32Array(8);
  hchacha(sigma, key, new Uint32Array(4), out);
  return out;
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, at) => view.getUint32(at * 4, true));
}

function bytesOfWords(words: Uint32Array): Bytes {
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  words.forEach((word, at) => {
    view.setUint32(at * 4, word, true);
  });
  return bytes;
}
