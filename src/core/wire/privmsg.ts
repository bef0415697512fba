import { DecodeError, EncodeError } from '../errors';
import { type Bytes, fromHex, type LogicalId, toHex } from '../ids';
import { limits } from '../limits';
import { base58BytesMax } from './base58';
import { encodeWith, prefixedBytes, Reader, utf8Bytes } from './codec';
import type { NetworkProfile } from './profile';

/** First byte of an event's content that is a channel message: its version. */
export const privmsgVersion = 0;

/** Bytes of a logical id. */
const logicalIdBytes = 16;

/** A channel message as it travels; the fields of a secret channel are sealed texts (event-graph.md 6.1, 6.3). */
export interface Privmsg {
  readonly channel: string;
  readonly nick: string;
  readonly text: string;
  /** u8 that upstream always sends as 0. */
  readonly type: number;
  /** Only in profiles with logical ids. */
  readonly logical?: LogicalId | undefined;
}

/** Channel and nick of a secret channel are 24 bytes, sealed. */
export const sealedNameBytes = 24;
/** What sealing adds: nonce and tag. */
export const sealAddsBytes = 24 + 16;
/** Longest channel or nick that is read: the base58 of a sealed one. Names in clear are shorter. */
const nameFieldBytesMax = base58BytesMax(sealedNameBytes + sealAddsBytes);

/** Content of an event that carries `privmsg`. Throws `EncodeError` when a bound is broken. */
export function encodePrivmsg(privmsg: Privmsg): Bytes {
  const logical = privmsg.logical === undefined ? new Uint8Array() : fromHex(privmsg.logical);
  if (logical === undefined || (privmsg.logical !== undefined && logical.length !== logicalIdBytes)) {
    throw new EncodeError('a logical id is 16 bytes');
  }
  const content = encodeWith((writer) =>
    writer
      .u8(privmsgVersion)
      .u8(privmsg.type)
      .string(privmsg.channel, nameFieldBytesMax)
      .string(privmsg.nick, nameFieldBytesMax)
      .string(privmsg.text, limits.contentBytesMax)
      .bytes(logical),
  );
  if (content.length > limits.contentBytesMax) throw new EncodeError('content too long');
  return content;
}

/**
 * Reads content that is a channel message. What follows the text is the logical id, in profiles that have one and when
 * there is enough of it; anything else there is ignored, as upstream does. Throws `DecodeError`.
 */
export function decodePrivmsg(profile: NetworkProfile, content: Uint8Array): Privmsg {
  const reader = new Reader(content);
  if (reader.u8() !== privmsgVersion) throw new DecodeError('not a channel message of version 0');
  const type = reader.u8();
  const channel = reader.string(nameFieldBytesMax);
  const nick = reader.string(nameFieldBytesMax);
  const text = reader.string(limits.contentBytesMax);
  const named = profile.logicalIds && reader.left >= logicalIdBytes;
  return { type, channel, nick, text, logical: named ? toHex(reader.bytes(logicalIdBytes)) : undefined };
}

/** Why a name is refused. */
export type NameReason = 'empty' | 'too-long' | 'bad-start' | 'bad-character';

/** Why `name` is no channel: `#` and 1 to 23 visible ASCII characters, no comma, no second `#` (event-graph.md 6.2). */
export function channelReason(name: string): NameReason | undefined {
  if (name === '' || name === '#') return 'empty';
  if (!name.startsWith('#')) return 'bad-start';
  if (!/^#[!-"$-+\--~]*$/.test(name)) return 'bad-character';
  return name.length > limits.channelBytesMax ? 'too-long' : undefined;
}

/** Why `name` is no nick: 1 to 24 ASCII letters, digits or one of ``-_[]\`^{}|`` (event-graph.md 6.2). */
export function nickReason(name: string): NameReason | undefined {
  if (name === '') return 'empty';
  if (!/^[0-9A-Za-z\-_[\]\\`^{}|]*$/.test(name)) return 'bad-character';
  return name.length > limits.nickBytesMax ? 'too-long' : undefined;
}

/**
 * Bytes the content of this message takes in its event, logical id included. Exact in the clear. In a secret channel
 * the base58 of a sealed field may come out a character shorter than counted, never longer.
 */
export function privmsgFrameBytes(
  profile: NetworkProfile,
  channel: string,
  nick: string,
  text: string,
  secret = false,
): number {
  return frameBytes(profile, channel, nick, utf8Bytes(text).length, secret);
}

function frameBytes(
  profile: NetworkProfile,
  channel: string,
  nick: string,
  textBytes: number,
  secret: boolean,
): number {
  const names = secret
    ? [sealedNameBytes, sealedNameBytes].map(sealedFieldBytes)
    : [channel, nick].map((name) => utf8Bytes(name).length);
  const fields = [...names, secret ? sealedFieldBytes(textBytes) : textBytes];
  const tail = profile.logicalIds ? logicalIdBytes : 0;
  return fields.reduce((sum, bytes) => sum + prefixedBytes(bytes), 2) + tail;
}

/**
 * How many bytes a message is over what may be sent; 0 when it fits. Both bounds count: the text's own, and that of the
 * content (of the relay's, where it announced a lower one).
 */
export function privmsgBytesOver(
  profile: NetworkProfile,
  channel: string,
  nick: string,
  text: string,
  secret = false,
  contentBytesMax: number = limits.contentBytesMax,
): number {
  const textBytes = utf8Bytes(text).length;
  return Math.max(
    0,
    textBytes - profile.textBytesMax,
    frameBytes(profile, channel, nick, textBytes, secret) - contentBytesMax,
  );
}

function sealedFieldBytes(plainBytes: number): number {
  return base58BytesMax(plainBytes + sealAddsBytes);
}
