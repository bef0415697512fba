/** Bytes of our own: never a view over shared memory, so they may cross every realm and stand in every store. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** Lower-case hex of a 32-byte event id. Hex, so that it can key a Map, a row and a log line alike. */
export type EventId = string;
/** Lower-case hex of the 16 random bytes that name an account on this device. */
export type AccountId = string;
/** Lower-case hex of the 16 bytes that name a conversation on this device. */
export type ConversationId = string;
/** Lower-case hex of the 16 bytes a caller chose for one message: the command id, and the logical id on the wire. */
export type LogicalId = string;
/** Start of a rotation slot, unix milliseconds. */
export type Slot = number;

const digits = '0123456789abcdef';

/** Lower-case hex of `bytes`. */
export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += digits.charAt(byte >> 4) + digits.charAt(byte & 15);
  return text;
}

/** Bytes of a lower- or upper-case hex text; `undefined` when it is not one. */
export function fromHex(text: string): Bytes | undefined {
  if (text.length % 2 !== 0) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at++) {
    const byte = (digitOf(text.charCodeAt(2 * at)) << 4) | digitOf(text.charCodeAt(2 * at + 1));
    if (byte < 0) return undefined;
    bytes[at] = byte;
  }
  return bytes;
}

/** Value of a hex digit by its char code; -1 for any other. Every id of every event goes through here. */
function digitOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** True when both hold the same bytes. Not constant in time: for public values only. */
export function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}
