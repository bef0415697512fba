import { type Bytes, type ConversationId, toHex } from '../../src/core/ids';
import type { Keys } from '../../src/core/transactions/keys';
import { holdfast } from '../../src/core/wire/profile';
import { Prng } from './prng';

/** The network of every run. */
export const profile = holdfast;

/** What the stores of all relays hold in memory: whom they admit, where the network limits rates. */
export const relayKeys: Keys = {};

/** Address of a relay of a run. */
export function urlOf(relay: string): string {
  return `wss://${relay}.example`;
}

/** The relay at an address. */
export function nameOf(url: string): string {
  return url.slice('wss://'.length, -'.example'.length);
}

/** Secret of the identity a device proves its events with, where the network limits rates. */
export function rateSecretOf(device: string): Bytes {
  return new Prng(`identity of ${device}`).bytes(32);
}

/** The conversation a device keeps a channel in. */
export function conversationOf(device: string, channel: number): ConversationId {
  return toHex(new Prng(`${device} ${channel}`).bytes(16));
}
