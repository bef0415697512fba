import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Bytes, toHex } from '../core/ids';
import type { Registry } from '../core/rate/gate';
import { ed25519Limiter } from '../core/rate/limiter';
import { ConfigError } from './config';

const place = 'profile.identities';
const keyBytes = 32;

/**
 * The identities of an operator's list: one `base64url-key # label` a line, empty lines and comments between them.
 * Throws a `ConfigError` that names every line that is none.
 */
export function parseIdentities(text: string): readonly Bytes[] {
  const keys: Bytes[] = [];
  const wrong: number[] = [];
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const word = line.replace(/#.*$/, '').trim();
    if (word === '') continue;
    const key = new Uint8Array(Buffer.from(word, 'base64url'));
    // Node passes over what is no base64url; only what comes back the same was one.
    if (key.length === keyBytes && Buffer.from(key).toString('base64url') === word) keys.push(key);
    else wrong.push(at + 1);
  }
  if (wrong.length > 0) {
    throw new ConfigError(
      'invalid',
      place,
      `no key of ${keyBytes} bytes in base64url in line ${wrong.join(', ')}`,
    );
  }
  return keys;
}

/** Whom a relay that limits rates admits, as its list says now. */
export class Identities implements Registry {
  readonly limiter = ed25519Limiter((signature, message, publicKey) => {
    const key = this.#keys.get(toHex(publicKey));
    return key !== undefined && verify(null, message, key, signature);
  });
  #keys: ReadonlyMap<string, KeyObject>;

  /** Reads the list. Throws a `ConfigError` when it cannot be read or a line of it is wrong. */
  constructor(private readonly file: string) {
    this.#keys = this.#read();
  }

  get size(): number {
    return this.#keys.size;
  }

  has(identity: string): boolean {
    return this.#keys.has(identity);
  }

  /** Reads the list again, whole or not at all. Throws as the constructor does. */
  reload(): void {
    this.#keys = this.#read();
  }

  #read(): ReadonlyMap<string, KeyObject> {
    let text: string;
    try {
      text = readFileSync(this.file, 'utf8');
    } catch {
      throw new ConfigError('missing', place, `cannot read ${this.file}`);
    }
    return new Map(parseIdentities(text).map((bytes) => [toHex(bytes), publicKeyOf(bytes)]));
  }
}

function publicKeyOf(bytes: Bytes): KeyObject {
  const x = Buffer.from(bytes).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}
