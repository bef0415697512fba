import { assert } from './assert';
import { type TableName, type TableSpec, tables } from './tables';
import type { Key, KeyPart, Range } from './transaction';

const numberTag = 0x10;
const textTag = 0x20;
const bytesTag = 0x30;

/**
 * A text of char codes 0..255 whose plain order is the order of keys: numbers before texts before bytes, parts from
 * left to right, a prefix before what it begins. One encoding orders memory, SQLite (as latin1 bytes) and overlays
 * alike, in the order IndexedDB keeps.
 */
export function encodeKey(key: Key): string {
  let text = '';
  for (const part of key) text += encodePart(part);
  return text;
}

function encodePart(part: KeyPart): string {
  if (typeof part === 'number') return String.fromCharCode(numberTag) + encodeNumber(part);
  if (typeof part === 'string') return String.fromCharCode(textTag) + encodeText(part);
  return String.fromCharCode(bytesTag) + encodeBytes(part);
}

const numberView = new DataView(new ArrayBuffer(8));

function encodeNumber(value: number): string {
  assert(!Number.isNaN(value), 'a key is never NaN');
  numberView.setFloat64(0, value === 0 ? 0 : value);
  const negative = value < 0;
  let text = '';
  for (let at = 0; at < 8; at++) {
    const byte = numberView.getUint8(at);
    text += String.fromCharCode(negative ? byte ^ 0xff : at === 0 ? byte ^ 0x80 : byte);
  }
  return text;
}

/** Zero bytes are escaped as 00 ff and the end is 00 00, so that no text is a prefix of another's encoding. */
function encodeBytes(bytes: Iterable<number>): string {
  let text = '';
  for (const byte of bytes) text += byte === 0 ? zeroByte : String.fromCharCode(byte);
  return text + endOfText;
}

const zeroByte = '\u0000\u00ff';
const endOfText = '\u0000\u0000';
/** Only units of one byte, none of them zero, as in ids and names. */
const plainText = /^[ -\xff]+$/;

function encodeText(value: string): string {
  // Every key of a batch is made of ids: the same bytes as below, without a step per unit.
  if (plainText.test(value)) return zeroByte + value.split('').join(zeroByte) + endOfText;
  let text = '';
  for (let at = 0; at < value.length; at++) {
    const unit = value.charCodeAt(at);
    const high = unit >> 8;
    const low = unit & 0xff;
    text += high === 0 ? zeroByte : String.fromCharCode(high);
    text += low === 0 ? zeroByte : String.fromCharCode(low);
  }
  return text + endOfText;
}

/** Inclusive lower and exclusive upper bound of a range, as encoded keys. */
export function encodeRange(range: Range): {
  readonly lower: string;
  readonly upper: string;
} {
  const prefix = encodeKey(range.prefix);
  const lower = range.from === undefined ? prefix : prefix + encodePart(range.from);
  const upper = range.to === undefined ? prefix : prefix + encodePart(range.to);
  return { lower, upper: `${upper}\u00ff` };
}

/** The primary key of a row. */
export function keyOf(table: TableName, row: unknown): Key {
  return pick(row, tables[table].key) ?? missing(table);
}

/** The key of a row in an index; `undefined` when the row is not in it. */
export function indexKeyOf(table: TableName, index: string, row: unknown): Key | undefined {
  const spec: TableSpec = tables[table];
  const path = spec.indexes[index];
  assert(path !== undefined, `table ${table} has no index ${index}`);
  return pick(row, path);
}

function pick(row: unknown, path: readonly string[]): Key | undefined {
  const parts: KeyPart[] = [];
  for (const name of path) {
    const part = (row as Readonly<Record<string, KeyPart | undefined>>)[name];
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return parts;
}

function missing(table: TableName): never {
  throw new TypeError(`a row of ${table} lacks a part of its key`);
}
