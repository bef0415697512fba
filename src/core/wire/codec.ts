import { DecodeError, EncodeError } from '../errors';
import type { Bytes } from '../ids';

const utf8 = new TextEncoder();
// Without `ignoreBOM` a text that starts with U+FEFF would come back shorter than it was sent.
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Well-formed bytes that break a bound of ours: more items, or a longer item, than the format admits. */
export class BoundError extends DecodeError {}

/** UTF-8 bytes of a text. A lone surrogate becomes U+FFFD. */
export function utf8Bytes(text: string): Bytes {
  return utf8.encode(text);
}

/** Text of UTF-8 bytes. Throws `DecodeError` when they are not valid UTF-8. */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new DecodeError('not UTF-8');
  }
}

/** How many bytes the VarInt of `value` takes: 1, 3, 5 or 9 (event-graph.md 1.1). */
export function varIntBytes(value: number | bigint): number {
  if (value <= 0xfc) return 1;
  if (value <= 0xffff) return 3;
  return value <= 0xffffffff ? 5 : 9;
}

/** How many bytes a length-prefixed run of `length` bytes takes. */
export function prefixedBytes(length: number): number {
  return varIntBytes(length) + length;
}

/**
 * Reads DarkFi serialisation (event-graph.md 1.1) from bytes it never changes. Total: every method returns a value or
 * throws `DecodeError`, and no allocation is larger than the input that is left.
 */
export class Reader {
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly input: Uint8Array) {
    this.view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  }

  /** Bytes not read yet. */
  get left(): number {
    return this.input.length - this.at;
  }

  /** Throws unless everything was read. */
  end(): void {
    if (this.left !== 0) throw new DecodeError('bytes after the end');
  }

  u8(): number {
    return this.view.getUint8(this.take(1));
  }
  u16(): number {
    return this.view.getUint16(this.take(2), true);
  }
  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }
  u64(): bigint {
    return this.view.getBigUint64(this.take(8), true);
  }
  i8(): number {
    return this.view.getInt8(this.take(1));
  }
  i32(): number {
    return this.view.getInt32(this.take(4), true);
  }
  i64(): bigint {
    return this.view.getBigInt64(this.take(8), true);
  }
  f32(): number {
    return this.view.getFloat32(this.take(4), true);
  }
  f64(): number {
    return this.view.getFloat64(this.take(8), true);
  }

  /** A bool as upstream reads it: anything but zero is true. */
  bool(): boolean {
    return this.u8() !== 0;
  }

  /** A bool that is 0 or 1 and nothing else. */
  strictBool(): boolean {
    const value = this.u8();
    if (value > 1) throw new DecodeError('a bool of neither 0 nor 1');
    return value === 1;
  }

  /** A VarInt; non-minimal forms and values beyond 2^53 - 1 are refused. */
  varInt(): number {
    const first = this.u8();
    if (first < 0xfd) return first;
    const value = first === 0xfd ? this.u16() : first === 0xfe ? this.u32() : Number(this.u64());
    if (!Number.isSafeInteger(value)) throw new DecodeError('VarInt too large');
    if (varIntBytes(value) !== 1 + 2 ** (first - 0xfc)) throw new DecodeError('VarInt not minimal');
    return value;
  }

  /** The next `length` bytes, copied. */
  bytes(length: number): Bytes {
    const from = this.take(length);
    return new Uint8Array(this.input.subarray(from, from + length));
  }

  /** A VarInt length of at most `max`, and that many bytes. */
  prefixed(max: number): Bytes {
    return this.bytes(this.count(1, max));
  }

  /** A String of at most `max` UTF-8 bytes. */
  string(max: number): string {
    return utf8Text(this.prefixed(max));
  }

  /** A Vec of at most `max` elements, none of which takes less than `minBytes` (at least 1). */
  vec<T>(minBytes: number, max: number, read: (reader: Reader) => T): T[] {
    const values: T[] = [];
    for (let left = this.count(minBytes, max); left > 0; left--) values.push(read(this));
    return values;
  }

  /** An Option: `undefined`, or what `read` reads. */
  option<T>(read: (reader: Reader) => T): T | undefined {
    return this.bool() ? read(this) : undefined;
  }

  private count(minBytes: number, max: number): number {
    const count = this.varInt();
    if (count * minBytes > this.left) throw new DecodeError('a count beyond the input');
    if (count > max) throw new BoundError(`more than ${max}`);
    return count;
  }

  private take(length: number): number {
    const from = this.at;
    if (length > this.left) throw new DecodeError('input ends early');
    this.at += length;
    return from;
  }
}

/** Writes DarkFi serialisation (event-graph.md 1.1). Throws `EncodeError` on a value its type cannot hold. */
export class Writer {
  private buffer: Bytes = new Uint8Array(256);
  private view = new DataView(this.buffer.buffer);
  private length = 0;

  u8(value: number): this {
    inRange(value, 0, 0xff);
    return this.put(1, (view, at) => view.setUint8(at, value));
  }
  u16(value: number): this {
    inRange(value, 0, 0xffff);
    return this.put(2, (view, at) => view.setUint16(at, value, true));
  }
  u32(value: number): this {
    inRange(value, 0, 0xffffffff);
    return this.put(4, (view, at) => view.setUint32(at, value, true));
  }
  u64(value: bigint): this {
    if (BigInt.asUintN(64, value) !== value) throw new EncodeError('not a u64');
    return this.put(8, (view, at) => view.setBigUint64(at, value, true));
  }
  i8(value: number): this {
    inRange(value, -0x80, 0x7f);
    return this.put(1, (view, at) => view.setInt8(at, value));
  }
  i32(value: number): this {
    inRange(value, -0x80000000, 0x7fffffff);
    return this.put(4, (view, at) => view.setInt32(at, value, true));
  }
  i64(value: bigint): this {
    if (BigInt.asIntN(64, value) !== value) throw new EncodeError('not an i64');
    return this.put(8, (view, at) => view.setBigInt64(at, value, true));
  }
  f32(value: number): this {
    return this.put(4, (view, at) => view.setFloat32(at, value, true));
  }
  f64(value: number): this {
    return this.put(8, (view, at) => view.setFloat64(at, value, true));
  }

  bool(value: boolean): this {
    return this.u8(value ? 1 : 0);
  }

  varInt(value: number): this {
    inRange(value, 0, Number.MAX_SAFE_INTEGER);
    const size = varIntBytes(value);
    if (size === 1) return this.u8(value);
    if (size === 3) return this.u8(0xfd).u16(value);
    return size === 5 ? this.u8(0xfe).u32(value) : this.u8(0xff).u64(BigInt(value));
  }

  /** The bytes alone, without a length. */
  bytes(value: Uint8Array): this {
    return this.put(value.length, (_, at) => this.buffer.set(value, at));
  }

  /** VarInt length and bytes, of which there may be `max`. */
  prefixed(value: Uint8Array, max: number): this {
    if (value.length > max) throw new EncodeError(`longer than ${max} bytes`);
    return this.varInt(value.length).bytes(value);
  }

  /** A String of at most `max` UTF-8 bytes. */
  string(value: string, max: number): this {
    return this.prefixed(utf8Bytes(value), max);
  }

  /** A Vec of at most `max` elements. */
  vec<T>(values: readonly T[], max: number, write: (writer: Writer, value: T) => void): this {
    if (values.length > max) throw new EncodeError(`more than ${max} items`);
    this.varInt(values.length);
    for (const value of values) write(this, value);
    return this;
  }

  option<T>(value: T | undefined, write: (writer: Writer, value: T) => void): this {
    this.bool(value !== undefined);
    if (value !== undefined) write(this, value);
    return this;
  }

  /** A copy of everything written so far. */
  finish(): Bytes {
    return this.buffer.slice(0, this.length);
  }

  /** Makes room first: growing replaces buffer and view. */
  private put(size: number, write: (view: DataView, at: number) => void): this {
    const at = this.length;
    this.length += size;
    if (this.length > this.buffer.length) {
      const larger = new Uint8Array(Math.max(this.length, this.buffer.length * 2));
      larger.set(this.buffer);
      this.buffer = larger;
      this.view = new DataView(larger.buffer);
    }
    write(this.view, at);
    return this;
  }
}

/** Reads one value that must take the whole input (upstream's `deserialize`). Throws `DecodeError` only. */
export function decodeAll<T>(input: Uint8Array, read: (reader: Reader) => T): T {
  const reader = new Reader(input);
  const value = read(reader);
  reader.end();
  return value;
}

/** Bytes of what `write` writes. */
export function encodeWith(write: (writer: Writer) => void): Bytes {
  const writer = new Writer();
  write(writer);
  return writer.finish();
}

function inRange(value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max) throw new EncodeError(`not in ${min}..${max}`);
}
