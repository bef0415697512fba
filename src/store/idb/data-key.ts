import type { DataKey } from '../../core/crypto/seal';
import type { Bytes } from '../../core/ids';
import { type Database, type KeyRow, keyStore } from './database';

const firstKeyId = 1;
const keyBytes = 32;
const ivBytes = 12;

/**
 * The data key of this database, made at the first opening. Everything asynchronous of WebCrypto happens here, outside
 * any transaction. Without a passphrase this keeps nobody out who copies the browser profile; the README says so.
 */
export async function openDataKey(
  database: Database,
  randomBytes: (length: number) => Bytes,
): Promise<DataKey> {
  const stored =
    (await database.get(keyStore, 'data')) ?? (await keepFirst(database, await makeKey(randomBytes)));
  const algorithm = { name: 'AES-GCM', iv: stored.iv };
  const bytes = await crypto.subtle.decrypt(algorithm, stored.wrapping, stored.wrapped);
  return { id: stored.id, bytes: new Uint8Array(bytes) };
}

async function makeKey(randomBytes: (length: number) => Bytes): Promise<KeyRow> {
  const wrapping = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
  const iv = randomBytes(ivBytes);
  const wrapped = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, wrapping, randomBytes(keyBytes));
  return { name: 'data', id: firstKeyId, wrapping, iv, wrapped };
}

/** Another worker may have made one meanwhile: the first stays, for records may be sealed with it already. */
async function keepFirst(database: Database, made: KeyRow): Promise<KeyRow> {
  const transaction = database.transaction(keyStore, 'readwrite', { durability: 'strict' });
  const earlier = await transaction.store.get('data');
  if (earlier === undefined) await transaction.store.put(made);
  await transaction.done;
  return earlier ?? made;
}
