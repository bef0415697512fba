import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DecodeError, EncodeError } from '../../../src/core/errors';
import { toHex } from '../../../src/core/ids';
import {
  BoundError,
  decodeAll,
  encodeWith,
  prefixedBytes,
  Reader,
  utf8Text,
  varIntBytes,
  type Writer,
} from '../../../src/core/wire/codec';
import { core, messages, primitives } from '../../vectors/event-graph';
import { bytes } from '../hex';

type Case = [
  name: string,
  value: unknown,
  hex: string,
  write: (w: Writer) => void,
  read: (r: Reader) => unknown,
];

function scalars(): Case[] {
  const rows = <T>(
    name: string,
    vectors: readonly (readonly [T, string])[],
    write: (w: Writer, value: T) => void,
    read: (r: Reader) => unknown,
  ): Case[] => vectors.map(([value, hex]) => [name, value, hex, (w) => write(w, value), read]);
  const vec = <T>(one: (w: Writer, value: T) => void) => {
    return (w: Writer, values: readonly T[]) => void w.vec(values, 9, one);
  };
  return [
    ...rows(
      'u16',
      primitives.u16,
      (w, v) => w.u16(v),
      (r) => r.u16(),
    ),
    ...rows(
      'u32',
      primitives.u32,
      (w, v) => w.u32(v),
      (r) => r.u32(),
    ),
    ...rows(
      'i32',
      primitives.i32,
      (w, v) => w.i32(v),
      (r) => r.i32(),
    ),
    ...rows(
      'u64',
      primitives.u64,
      (w, v) => w.u64(v),
      (r) => r.u64(),
    ),
    ...rows(
      'i64',
      primitives.i64,
      (w, v) => w.i64(v),
      (r) => r.i64(),
    ),
    ...rows(
      'f64',
      primitives.f64,
      (w, v) => w.f64(v),
      (r) => r.f64(),
    ),
    ...rows(
      'f32',
      primitives.f32,
      (w, v) => w.f32(v),
      (r) => r.f32(),
    ),
    ...rows(
      'VarInt',
      primitives.varInt,
      (w, v) => w.varInt(v),
      (r) => r.varInt(),
    ),
    ...rows(
      'String',
      primitives.string,
      (w, v) => w.string(v, 9),
      (r) => r.string(9),
    ),
    ...rows(
      'enum tag',
      primitives.discriminants,
      (w, v) => w.u8(v),
      (r) => r.u8(),
    ),
    ...rows(
      'Vec<u8>',
      primitives.vecU8,
      vec((w, v) => w.u8(v)),
      (r) => r.vec(1, 9, (one) => one.u8()),
    ),
    ...rows(
      'Vec<u16>',
      primitives.vecU16 as readonly (readonly [readonly number[], string])[],
      vec((w, v) => w.u16(v)),
      (r) => r.vec(2, 9, (one) => one.u16()),
    ),
    ...rows(
      'Vec<u32>',
      primitives.vecU32,
      vec((w, v) => w.u32(v)),
      (r) => r.vec(4, 9, (one) => one.u32()),
    ),
    ...rows(
      'Vec<i8>',
      primitives.vecI8,
      vec((w, v) => w.i8(v)),
      (r) => r.vec(1, 9, (one) => one.i8()),
    ),
    ...rows(
      'Vec<i32>',
      primitives.vecI32,
      vec((w, v) => w.i32(v)),
      (r) => r.vec(4, 9, (one) => one.i32()),
    ),
  ];
}

const vecOfBytes = (reader: Reader) => [...reader.prefixed(100_000)];

describe('DarkFi serialisation', () => {
  test.each(scalars().map(([name, value, ...rest]) => [name, String(value), value, ...rest] as const))(
    'upstream vector: %s %s',
    (_, __, value, hex, write, read) => {
      expect(toHex(encodeWith(write))).toBe(hex);
      expect(decodeAll(bytes(hex), read)).toEqual(value);
    },
  );

  test('length of a VarInt', () => {
    for (const [value, length] of primitives.varIntBytes) expect(varIntBytes(value)).toBe(length);
    expect(prefixedBytes(0xfc)).toBe(0xfd);
    expect(prefixedBytes(0xfd)).toBe(0x100);
  });

  test('a length that is not minimal is refused, the least of each form is not', () => {
    for (const hex of primitives.notMinimal) {
      expect(() => decodeAll(bytes(hex), vecOfBytes)).toThrow(DecodeError);
    }
    expect(decodeAll(new Uint8Array([...bytes('fd0001'), ...new Uint8Array(256)]), vecOfBytes)).toHaveLength(
      256,
    );
    expect(decodeAll(new Uint8Array([...bytes('fdfd00'), ...new Uint8Array(253)]), vecOfBytes)).toHaveLength(
      253,
    );
  });

  test('a bool reads anything but zero as true; the strict one only 1', () => {
    const read = (hex: string) => decodeAll(bytes(hex), (reader) => reader.bool());
    expect([read('3a'), read('01'), read('00')]).toEqual([true, true, false]);
    for (const hex of ['3a00', '0001', '']) expect(() => read(hex)).toThrow(DecodeError);
    const strict = (hex: string) => decodeAll(bytes(hex), (reader) => reader.strictBool());
    expect([strict('01'), strict('00')]).toEqual([true, false]);
    for (const hex of ['02', '3a', 'ff', '']) expect(() => strict(hex)).toThrow(DecodeError);
  });

  test('a Vec takes exactly what its count says', () => {
    expect(decodeAll(bytes('03020304'), vecOfBytes)).toEqual([2, 3, 4]);
    expect(() => decodeAll(bytes('040203040506'), vecOfBytes)).toThrow(DecodeError);
    expect(() => decodeAll(bytes('0402'), vecOfBytes)).toThrow(DecodeError);
  });

  test('an Option is a bool and then its value', () => {
    const option = (hex: string) => decodeAll(bytes(hex), (reader) => reader.option((one) => one.u16()));
    expect([option('00'), option('013412')]).toEqual([undefined, 0x1234]);
    expect(() => option('0134')).toThrow(DecodeError);
    expect(
      toHex(encodeWith((w) => w.option(0x1234, (one, v) => one.u16(v)).option(undefined, () => {}))),
    ).toBe('01341200');
  });

  test('text is UTF-8, and a leading byte order mark stays', () => {
    for (const hex of ['01ff', '02c080', '03eda080', '04f8808080', '01c3']) {
      expect(() => decodeAll(bytes(hex), (reader) => reader.string(9))).toThrow(DecodeError);
    }
    const marked = '\ufeffhi';
    expect(
      decodeAll(
        encodeWith((w) => w.string(marked, 9)),
        (reader) => reader.string(9),
      ),
    ).toBe(marked);
    expect(() => utf8Text(bytes('ff'))).toThrow(DecodeError);
  });

  test('bounds: too many, though all of it is there, is a BoundError', () => {
    expect(() => decodeAll(bytes('03010203'), (reader) => reader.vec(1, 2, (r) => r.u8()))).toThrow(
      BoundError,
    );
    expect(() => decodeAll(bytes('03616263'), (reader) => reader.string(2))).toThrow(BoundError);
    expect(decodeAll(bytes('03616263'), (reader) => reader.string(3))).toBe('abc');
  });

  test('a hostile count is refused before anything is read or allocated for it', () => {
    const counts = ['fdffff', 'fe00000080', 'feffffffff', 'ffffffffffffff1f00', 'ffffffffffffffffff'];
    let read = 0;
    for (const count of counts) {
      const input = bytes(`${count}0102`);
      // An allocation of such a size would throw a RangeError, or end the process.
      expect(() => new Reader(input).prefixed(Number.MAX_SAFE_INTEGER)).toThrow(DecodeError);
      expect(() => new Reader(input).string(Number.MAX_SAFE_INTEGER)).toThrow(DecodeError);
      expect(() => new Reader(input).vec(1, Number.MAX_SAFE_INTEGER, () => read++)).toThrow(DecodeError);
    }
    // Three elements of at least two bytes in five bytes: the third would fail, so the first is not begun.
    expect(() => new Reader(bytes('030102030405')).vec(2, 9, () => read++)).toThrow(DecodeError);
    expect(read).toBe(0);
  });

  test('what a type cannot hold is an EncodeError', () => {
    const refused: ((w: Writer) => unknown)[] = [
      (w) => w.u8(256),
      (w) => w.u8(-1),
      (w) => w.u16(0.5),
      (w) => w.u32(2 ** 32),
      (w) => w.u64(2n ** 64n),
      (w) => w.u64(-1n),
      (w) => w.i8(128),
      (w) => w.i32(2 ** 31),
      (w) => w.i64(2n ** 63n),
      (w) => w.varInt(2 ** 53),
      (w) => w.varInt(Number.NaN),
      (w) => w.string('abc', 2),
      (w) => w.prefixed(new Uint8Array(3), 2),
      (w) => w.vec([1, 2, 3], 2, (one, v) => one.u8(v)),
    ];
    for (const write of refused) expect(() => encodeWith((w) => void write(w))).toThrow(EncodeError);
  });

  test('vectors of messages this build does not speak yet: getaddr, addr, RangeReq', () => {
    const names = ['tor', 'tls', 'tcp', 'nym', 'i2p', 'tor+tls', 'nym+tls', 'tcp+tls', 'i2p+tls'];
    const getaddr = encodeWith((w) => w.u32(255).vec(names, 9, (one, name) => one.string(name, 9)));
    expect(toHex(getaddr)).toBe(core.getaddr);
    expect(getaddr).toHaveLength(57);
    const read = decodeAll(bytes(core.addr), (r) => r.vec(9, 9, (one) => [one.string(99), one.u64()]));
    expect(read).toEqual([['tcp+tls://203.0.113.7:9600/', 1_767_225_601n]]);
    const range = encodeWith((w) =>
      w
        .string('1767225600000', 20)
        .u64(2n ** 64n - 1n)
        .bytes(new Uint8Array(32))
        .u8(1)
        .u32(50),
    );
    expect(toHex(range)).toBe(messages.rangeReq);
  });

  test('what is written reads back, whatever it is', () => {
    const value = fc.record({
      u64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      varInt: fc.maxSafeNat(),
      text: fc.string({ unit: 'binary', maxLength: 300 }),
      raw: fc.uint8Array({ maxLength: 600 }),
      list: fc.array(fc.integer({ min: -128, max: 127 }), { maxLength: 300 }),
    });
    fc.assert(
      fc.property(value, (given) => {
        const encoded = encodeWith((w) =>
          w
            .u64(given.u64)
            .varInt(given.varInt)
            .string(given.text, 9_999)
            .prefixed(given.raw, 600)
            .vec(given.list, 300, (one, v) => one.i8(v)),
        );
        const read = decodeAll(encoded, (r) => ({
          u64: r.u64(),
          varInt: r.varInt(),
          text: r.string(9_999),
          raw: r.prefixed(600),
          list: r.vec(1, 300, (one) => one.i8()),
        }));
        expect(read).toEqual({ ...given, raw: new Uint8Array(given.raw) });
      }),
    );
  });

  test('bytes read are copies, also of a view into a larger buffer', () => {
    const whole = bytes('ffff02aabbff');
    const read = decodeAll(whole.subarray(2, 5), (reader) => reader.prefixed(9));
    expect(toHex(read)).toBe('aabb');
    read.fill(0);
    expect(toHex(whole)).toBe('ffff02aabbff');
    expect(read.buffer.byteLength).toBe(2);
  });
});
