import { assert } from '../assert';
import { type DataKey, idFields, open, recordTypes, SealError, seal } from '../crypto/seal';
import { DecodeError } from '../errors';
import { type AccountId, type Bytes, type ConversationId, type LogicalId, sameBytes } from '../ids';
import { limits } from '../limits';
import type { AccountRow, ConversationRow, DraftRow, MessageRow } from '../tables';
import { decodeAll, encodeWith, type Reader, utf8Bytes, type Writer } from '../wire/codec';

/** Everything a generation of an own message is rebuilt from, as it was when it was accepted. */
export interface OwnBody {
  readonly nick: string;
  readonly channel: string;
  readonly text: string;
  /** Secret of a closed channel, 32 bytes. */
  readonly secret?: Bytes;
}

/** What is shown of a received message. */
export interface ReceivedBody {
  readonly nick: string;
  readonly text: string;
}

/** A channel as its member knows it. */
export interface Channel {
  readonly name: string;
  /** 32 bytes; absent in an open channel. */
  readonly secret?: Bytes;
}

/** The account's own names. */
export interface Identity {
  readonly nick: string;
  /** 32 bytes: what its events are proven with where rates are limited. */
  readonly rateSecret?: Bytes;
}

const version = 1;
/** Of an identity's record that may hold a rate secret; one without is written as version 1, which older code reads. */
const identityVersion = 2;
const secretBytes = 32;
const labelBytesMax = 255;

/** Seals an own message's body: record 32 of formats.md 6, bound to account and command id. */
export function sealOwnBody(
  key: DataKey,
  account: AccountId,
  command: LogicalId,
  body: OwnBody,
  nonce: Bytes,
): Bytes {
  const plain = encodeWith((writer) => {
    writer.u8(version).string(body.nick, labelBytesMax).string(body.channel, labelBytesMax);
    writer.string(body.text, limits.contentBytesMax);
    writeSecret(writer, body.secret);
  });
  return seal(key, recordTypes.outboxBody, idFields(account, command), plain, nonce);
}

/** Opens what `sealOwnBody` sealed. Throws the seal's typed errors, or `DecodeError`. */
export function openOwnBody(key: DataKey, row: MessageRow): OwnBody {
  const plain = open(key, recordTypes.outboxBody, idFields(row.account, row.logical), row.body);
  return decodeAll(plain, (reader) => {
    readVersion(reader);
    const nick = reader.string(labelBytesMax);
    const channel = reader.string(labelBytesMax);
    const text = reader.string(limits.contentBytesMax);
    return { nick, channel, text, ...readSecret(reader) };
  });
}

/**
 * True when two bodies say the same, so that a repeated command is the same command. Texts are compared by the bytes
 * they are kept as: a half surrogate pair is kept as U+FFFD, and as a string it would never equal what it became.
 */
export function sameOwnBody(left: OwnBody, right: OwnBody): boolean {
  const secrets = left.secret === undefined || right.secret === undefined;
  const equal = secrets ? left.secret === right.secret : sameBytes(left.secret, right.secret);
  const sameText = (one: string, other: string) => sameBytes(utf8Bytes(one), utf8Bytes(other));
  return (
    equal &&
    sameText(left.nick, right.nick) &&
    sameText(left.channel, right.channel) &&
    sameText(left.text, right.text)
  );
}

/** Seals a received message: record 33, bound to account and message id. */
export function sealReceivedBody(
  key: DataKey,
  account: AccountId,
  message: LogicalId,
  body: ReceivedBody,
  nonce: Bytes,
): Bytes {
  const plain = encodeWith((writer) => {
    writer.u8(version).string(body.nick, limits.contentBytesMax).string(body.text, limits.contentBytesMax);
  });
  return seal(key, recordTypes.historyBody, idFields(account, message), plain, nonce);
}

/** Opens what `sealReceivedBody` sealed. */
export function openReceivedBody(key: DataKey, row: MessageRow): ReceivedBody {
  const plain = open(key, recordTypes.historyBody, idFields(row.account, row.logical), row.body);
  return decodeAll(plain, (reader) => {
    readVersion(reader);
    return { nick: reader.string(limits.contentBytesMax), text: reader.string(limits.contentBytesMax) };
  });
}

/** Seals a channel's name and secret: record 36, bound to account and conversation. */
export function sealChannel(
  key: DataKey,
  account: AccountId,
  conversation: ConversationId,
  channel: Channel,
  nonce: Bytes,
): Bytes {
  const plain = encodeWith((writer) => {
    writer.u8(version).string(channel.name, labelBytesMax);
    writeSecret(writer, channel.secret);
  });
  return seal(key, recordTypes.channelSecret, idFields(account, conversation), plain, nonce);
}

/** Opens what `sealChannel` sealed. */
export function openChannel(key: DataKey, row: ConversationRow): Channel {
  const fields = idFields(row.account, row.conversation);
  return decodeAll(open(key, recordTypes.channelSecret, fields, row.sealed), (reader) => {
    readVersion(reader);
    return { name: reader.string(labelBytesMax), ...readSecret(reader) };
  });
}

/** Seals a draft: record 34, bound to account and conversation. */
export function sealDraft(
  key: DataKey,
  account: AccountId,
  conversation: ConversationId,
  text: string,
  nonce: Bytes,
): Bytes {
  const plain = encodeWith((writer) => {
    writer.u8(version).string(text, limits.draftBytesMax);
  });
  return seal(key, recordTypes.draft, idFields(account, conversation), plain, nonce);
}

/** Opens what `sealDraft` sealed. */
export function openDraft(key: DataKey, row: DraftRow): string {
  const fields = idFields(row.account, row.conversation);
  return decodeAll(open(key, recordTypes.draft, fields, row.sealed), (reader) => {
    readVersion(reader);
    return reader.string(limits.draftBytesMax);
  });
}

/** Seals an account's identity: record 35, bound to the account. */
export function sealIdentity(key: DataKey, account: AccountId, identity: Identity, nonce: Bytes): Bytes {
  const plain = encodeWith((writer) => {
    const { nick, rateSecret } = identity;
    writer.u8(rateSecret === undefined ? version : identityVersion).string(nick, labelBytesMax);
    if (rateSecret !== undefined) writeSecret(writer, rateSecret);
  });
  return seal(key, recordTypes.accountIdentity, idFields(account), plain, nonce);
}

/** Opens what `sealIdentity` sealed. */
export function openIdentity(key: DataKey, row: AccountRow): Identity {
  return decodeAll(open(key, recordTypes.accountIdentity, idFields(row.account), row.sealed), (reader) => {
    const read = readVersion(reader, identityVersion);
    const nick = reader.string(labelBytesMax);
    const { secret } = read === version ? {} : readSecret(reader);
    return secret === undefined ? { nick } : { nick, rateSecret: secret };
  });
}

function writeSecret(writer: Writer, secret: Bytes | undefined): void {
  writer.option(secret, (inner, value) => {
    assert(value.length === secretBytes, 'a secret is 32 bytes');
    inner.bytes(value);
  });
}

function readSecret(reader: Reader): { readonly secret?: Bytes } {
  const secret = reader.option((inner) => inner.bytes(secretBytes));
  return secret === undefined ? {} : { secret };
}

/** A later version of a record is read by later code only; this one says so instead of guessing. */
function readVersion(reader: Reader, newest = version): number {
  const read = reader.u8();
  if (read < version || read > newest) throw new DecodeError('a record of another version');
  return read;
}

/** What `open` opens; `undefined` when the record is damaged, so that one bad record never stops the rest. */
export function readable<T>(open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof SealError || error instanceof DecodeError) return undefined;
    throw error;
  }
}
