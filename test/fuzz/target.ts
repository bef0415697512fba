import type { Arbitrary } from 'fast-check';
import { DecodeError } from '../../src/core/errors';
import { type Bytes, sameBytes } from '../../src/core/ids';

/** Whether an input was one of its kind. */
export type Verdict = 'read' | 'refused';

/** Something that takes bytes of a stranger. */
export interface Target {
  readonly name: string;
  /** Valid inputs: where mutation begins. */
  readonly valid: Arbitrary<Bytes>;
  /** Looks at an input. What it throws is a fault of ours. */
  readonly judge: (input: Bytes) => Verdict;
}

/** Decoder and encoder of one format. */
export interface Format<T> {
  readonly name: string;
  readonly values: Arbitrary<T>;
  readonly encode: (value: T) => Bytes;
  readonly decode: (input: Bytes) => T;
  /** Why bytes that were read may be written back otherwise; without one they are written back the same. */
  readonly deviation?: string;
}

/** Ours did something else than the format says, without throwing. */
export class Fault extends Error {
  override readonly name = 'Fault';
}

/** Puts the parts of a format together, so that its types meet. */
export function format<T>(
  name: string,
  values: Arbitrary<T>,
  encode: (value: T) => Bytes,
  decode: (input: Bytes) => T,
  deviation?: string,
): Format<T> {
  return { name, values, encode, decode, ...(deviation === undefined ? {} : { deviation }) };
}

/** A format as a target: what is read is written back, the same or, where a deviation is named, once and for all. */
export function targetOf<T>(of: Format<T>): Target {
  return { name: of.name, valid: of.values.map(of.encode), judge: (input) => judge(of, input) };
}

function judge<T>(of: Format<T>, input: Bytes): Verdict {
  let value: T;
  try {
    value = of.decode(input);
  } catch (error) {
    if (error instanceof DecodeError) return 'refused';
    throw error;
  }
  const again = of.encode(value);
  if (sameBytes(again, input)) return 'read';
  if (of.deviation === undefined) throw new Fault('written back otherwise than it was read');
  if (!sameBytes(of.encode(of.decode(again)), again)) throw new Fault('written back otherwise again');
  return 'read';
}
