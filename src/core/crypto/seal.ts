import { gcm } from '@noble/ciphers/aes.js';
import { assert, present } from '../assert';
import { type Bytes, fromHex } from '../ids';
import { utf8Bytes } from '../wire/codec';

/** A storage key and the number that records sealed with it carry. */
export interface DataKey {
  /** u32 */
  readonly id: number;
  /** 32 bytes. */
  readonly bytes: Bytes;
}

/** Our record types (formats.md 6); each comment names the fields that bind a record to its row. */
export const recordTypes = {
  /** account, command id */
  outboxBody: 32,
  /** account, message id */
  historyBody: 33,
  /** account, conversation */
  draft: 34,
  /** account */
  accountIdentity: 35,
  /** account, conversation */
  channelSecret: 36,
  /** account, kind, id */
  mirrorRow: 37,
  /** none; the plaintext is the data key, sealed under a key from the passphrase */
  passphraseKey: 38,
} as const;

/** Why a sealed record does not open, in the order in which it is looked at (ksecuremessage.md 7.2). */
export type SealErrorKind =
  /** It is cut short, or what it holds is not what its type should. */
  | 'malformed'
  /** Another format, version or algorithm. */
  | 'unsupported'
  /** Sealed under another key; no other key is tried. */
  | 'key-unavailable'
  /** Changed, moved to another row, or sealed under other bytes of the same key number. */
  | 'authentication-failed';

/** A sealed record that does not open, told apart by `kind`. */
export class SealError extends Error {
  override readonly name = 'SealError';
  constructor(readonly kind: SealErrorKind) {
    super(kind);
  }
}

/** Bytes of the nonce of a sealed record. */
export const sealNonceBytes = 12;

const magic = utf8Bytes('KSMR');
const formatByte = 1;
const algorithmByte = 1;
const headBytes = 10;
const nonceAt = headBytes;
const bodyAt = nonceAt + sealNonceBytes;
const tagBytes = 16;
const keyBytes = 32;
const domain = utf8Bytes('KSecureMessage-Storage-v1');

/**
 * A record of `plaintext`, bound to its type and fields (KSMR version 1, AES-256-GCM). `nonce` is 12 random bytes that
 * seal nothing else under this key.
 */
export function seal(
  key: DataKey,
  type: number,
  fields: readonly Uint8Array[],
  plaintext: Uint8Array,
  nonce: Bytes,
): Bytes {
  assert(key.bytes.length === keyBytes, 'a data key is 32 bytes');
  assert(nonce.length === sealNonceBytes, 'a record nonce is 12 bytes');
  const head = headOf(key.id);
  const body = gcm(key.bytes, nonce, associatedData(head, type, fields)).encrypt(plaintext);
  return joined([head, nonce, body]);
}

/** What a record of this type and these fields holds. Throws `SealError`. */
export function open(key: DataKey, type: number, fields: readonly Uint8Array[], record: Uint8Array): Bytes {
  assert(key.bytes.length === keyBytes, 'a data key is 32 bytes');
  if (record.length < magic.length) throw new SealError('malformed');
  if (!isOurs(record)) throw new SealError('unsupported');
  if (record.length < bodyAt + tagBytes) throw new SealError('malformed');
  const head = record.subarray(0, headBytes);
  if (keyIdOf(head) !== key.id) throw new SealError('key-unavailable');
  const nonce = record.subarray(nonceAt, bodyAt);
  try {
    return new Uint8Array(
      gcm(key.bytes, nonce, associatedData(head, type, fields)).decrypt(record.subarray(bodyAt)),
    );
  } catch {
    // Lengths were checked, so the tag is what failed.
    throw new SealError('authentication-failed');
  }
}

/** Ids in hex as fields of a record. */
export function idFields(...ids: readonly string[]): Bytes[] {
  return ids.map((id) => present(fromHex(id), 'an id is hex'));
}

function headOf(keyId: number): Bytes {
  assert(Number.isInteger(keyId) && keyId >= 0 && keyId <= 0xffffffff, 'a key number is a u32');
  return joined([magic, new Uint8Array([formatByte, algorithmByte]), u32(keyId)]);
}

function keyIdOf(head: Uint8Array): number {
  return new DataView(head.buffer, head.byteOffset, head.byteLength).getUint32(6);
}

/** True when no byte of magic, version and algorithm is another one; a record may end before the last of them. */
function isOurs(record: Uint8Array): boolean {
  const expected = [...magic, formatByte, algorithmByte];
  return expected.every((byte, at) => at >= record.length || record[at] === byte);
}

function associatedData(head: Uint8Array, type: number, fields: readonly Uint8Array[]): Bytes {
  assert(fields.length <= 0xff, 'fields are counted in a byte');
  const parts = fields.flatMap((field) => [u32(field.length), field]);
  return joined([head, u32(domain.length), domain, new Uint8Array([type, fields.length]), ...parts]);
}

function u32(value: number): Bytes {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
