import type { Effect } from '../effects';
import { DecodeError, EncodeError, type StoreErrorKind } from '../errors';
import type { Bytes } from '../ids';
import { limits } from '../limits';
import { base64urlOf } from './base64url';

/** The protocol version of calls to the store (formats.md 2.1). */
export const callVersion = 1;

/** A call to the store, in whichever door it goes. */
export interface CallRequest {
  readonly v: typeof callVersion;
  /** Build of the caller: the two sides of a call may be of different builds. */
  readonly build: string;
  /** 16 random bytes, base64url: the same call may be repeated with it, and runs as if once. */
  readonly call: string;
  readonly name: string;
  /** The engine's fencing term, where the caller is an engine. */
  readonly term?: number;
  readonly args: unknown;
}

/** What the store's worker answers: an outcome with the effects of its commit, or why there is none. */
export type CallAnswer = CallDone | CallFailed;

/** The call was carried out. */
export interface CallDone {
  readonly v: number;
  /** Instance of the service worker: its Web Lock tells of its death. */
  readonly sw: string;
  readonly build: string;
  /** Highest revision among the look effects, 0 when there is none. */
  readonly rev: number;
  readonly outcome: unknown;
  readonly effects: readonly Effect[];
}

/** The call was not carried out, or it is not known whether it was. */
export interface CallFailed {
  readonly v: number;
  readonly sw: string;
  readonly build: string;
  readonly err: StoreErrorKind;
}

const errorKinds: ReadonlySet<string> = new Set<StoreErrorKind>([
  'fenced',
  'outdated',
  'locked',
  'upgrading',
  'busy',
  'storage',
  'refused',
  'unknown',
  'internal',
]);

/** The text form of a call id. Throws `EncodeError` unless given 16 bytes. */
export function callId(bytes: Uint8Array): string {
  if (bytes.length !== 16) throw new EncodeError('a call id has 16 bytes');
  return base64urlOf(bytes);
}

/** Checks that a value is a call. A version other than ours is the caller's to tell apart: see `versionOf`. */
export function parseRequest(value: unknown): CallRequest {
  const { v, build, call, name, term, args } = record(value, 'call');
  if (v !== callVersion) throw new DecodeError('version of the call');
  if (!isText(build, limits.callNameMax)) throw new DecodeError('build of the call');
  if (typeof call !== 'string' || !/^[\w-]{21}[AQgw]$/.test(call)) throw new DecodeError('id of the call');
  if (!isText(name, limits.callNameMax)) throw new DecodeError('name of the call');
  const request = { v: callVersion, build, call, name, args } as const;
  if (term === undefined) return request;
  if (!isCount(term)) throw new DecodeError('term of the call');
  return { ...request, term };
}

/** The version a would-be call carries, so that an old caller is told `outdated` and not `refused`. */
export function versionOf(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null || !('v' in value)) return undefined;
  return isCount(value.v) ? value.v : undefined;
}

/** Checks that a value is an answer, of whatever version. */
export function parseAnswer(value: unknown): CallAnswer {
  const { v, sw, build, rev, outcome, effects, err } = record(value, 'answer');
  if (!isCount(v)) throw new DecodeError('version of the answer');
  if (!isText(sw, limits.callNameMax)) throw new DecodeError('instance of the answer');
  if (!isText(build, limits.callNameMax)) throw new DecodeError('build of the answer');
  if (err !== undefined) {
    if (typeof err !== 'string' || !errorKinds.has(err)) throw new DecodeError('error of the answer');
    return { v, sw, build, err: err as StoreErrorKind };
  }
  if (!isCount(rev)) throw new DecodeError('revision of the answer');
  if (!Array.isArray(effects)) throw new DecodeError('effects of the answer');
  return { v, sw, build, rev, outcome, effects: effects as readonly Effect[] };
}

function record(value: unknown, what: string): Readonly<Partial<Record<string, unknown>>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new DecodeError(what);
  return value as Partial<Record<string, unknown>>;
}

function isText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= max;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * The body of the fetch door (formats.md 2.2): u32 LE length, JSON, then the byte arrays of the JSON one after another,
 * each standing in it as `{"$":[offset,length]}`. Throws `EncodeError` for what JSON would change silently (NaN,
 * functions, a property `$`), for depth and for size.
 */
export function encodeBody(value: unknown): Bytes {
  const attached: Uint8Array[] = [];
  let end = 0;
  const text = JSON.stringify(
    plain(value, 0, (bytes) => {
      attached.push(bytes);
      const offset = end;
      end += bytes.length;
      return { $: [offset, bytes.length] };
    }),
  );
  const json = new TextEncoder().encode(text);
  const length = 4 + json.length + end;
  if (length > limits.callBytesMax) throw new EncodeError('the call is too large');
  const body = new Uint8Array(length);
  new DataView(body.buffer).setUint32(0, json.length, true);
  body.set(json, 4);
  let at = 4 + json.length;
  for (const bytes of attached) {
    body.set(bytes, at);
    at += bytes.length;
  }
  return body;
}

function plain(value: unknown, depth: number, attach: (bytes: Uint8Array) => object): unknown {
  if (depth > limits.callDepthMax) throw new EncodeError('the call is too deep');
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new EncodeError('not a number JSON knows');
    return value;
  }
  if (value instanceof Uint8Array) return attach(value);
  if (Array.isArray(value)) return value.map((one) => plain(one ?? null, depth + 1, attach));
  if (typeof value !== 'object') throw new EncodeError(`a ${typeof value} cannot be in a call`);
  const copy: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(value)) {
    if (key === '$' || key === '__proto__') throw new EncodeError(`a property ${key} cannot be in a call`);
    if (one !== undefined) copy[key] = plain(one, depth + 1, attach);
  }
  return copy;
}

/**
 * Reads a body of the fetch door; total: anything but a well-formed body is a `DecodeError`. Byte arrays must stand in
 * the order of their first use, without gap, overlap or rest, so that a small body never asks for much memory.
 */
export function decodeBody(body: Uint8Array): unknown {
  if (body.length > limits.callBytesMax) throw new DecodeError('the call is too large');
  if (body.length < 4) throw new DecodeError('no length');
  const length = new DataView(body.buffer, body.byteOffset, body.length).getUint32(0, true);
  if (length > body.length - 4) throw new DecodeError('JSON cut off');
  const attached = body.subarray(4 + length);
  let end = 0;
  const value = restored(parseJson(body.subarray(4, 4 + length)), 0, (place) => {
    const [offset, size] = Array.isArray(place) && place.length === 2 ? (place as unknown[]) : [];
    if (offset !== end || !isCount(size)) throw new DecodeError('bytes out of order');
    if (size > attached.length - end) throw new DecodeError('bytes cut off');
    end += size;
    return attached.slice(offset, end);
  });
  if (end !== attached.length) throw new DecodeError('bytes nobody names');
  return value;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new DecodeError('not JSON');
  }
}

function restored(value: unknown, depth: number, detach: (place: unknown) => Uint8Array): unknown {
  if (depth > limits.callDepthMax) throw new DecodeError('the call is too deep');
  // JSON writes no such number, and reads 1e400 as one.
  if (typeof value === 'number' && !Number.isFinite(value)) throw new DecodeError('a number beyond all');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => restored(one, depth + 1, detach));
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only?.[0] === '$') return detach(only[1]);
  const copy: Record<string, unknown> = {};
  for (const [key, one] of entries) {
    if (key === '$' || key === '__proto__') throw new DecodeError(`a property ${key}`);
    copy[key] = restored(one, depth + 1, detach);
  }
  return copy;
}
