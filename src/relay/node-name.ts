import { createHash } from 'node:crypto';
import { type Bytes, toHex } from '../core/ids';

/** Bytes of a node id (formats.md 3.1). */
const idBytes = 16;

/**
 * The two node ids of a relay. Whoever dials it reads `name`; whom it dials reads `secret`, of which `name` is the hash.
 * So every relay is known by one name, whichever side dialled and by whatever address, and nobody who only knows the
 * name can dial in under it and take the place of its link.
 */
export interface NodeIds {
  readonly secret: string;
  readonly name: string;
}

/** New ones, for one birth of a relay. */
export function newNodeIds(random: (bytes: number) => Bytes): NodeIds {
  const secret = toHex(random(idBytes));
  return { secret, name: nameOf(secret) };
}

/** The name of the node that dialled in with this id. */
export function nameOf(id: string): string {
  return createHash('sha256')
    .update(id)
    .digest('hex')
    .slice(0, 2 * idBytes);
}
