/** Why a call to the store was not carried out. The store never says so in an outcome; an outcome is data. */
export type StoreErrorKind =
  /** The caller's term is older than the newest engine's. It says nothing about an earlier copy of the call. */
  | 'fenced'
  /** The call's protocol is older than this worker serves. */
  | 'outdated'
  /** The data key is not in hand. */
  | 'locked'
  /** The database is being upgraded. */
  | 'upgrading'
  /** Too much waits already, or the deadline passed: the call may be repeated. */
  | 'busy'
  /** The browser or disk refused: quota, corruption, closed database. */
  | 'storage'
  /** The request is not one this door serves. */
  | 'refused'
  /** No such transaction. */
  | 'unknown'
  /** A programmer's error inside the script. */
  | 'internal';

/** A call to the store that was not carried out, told apart by `kind`. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  constructor(
    readonly kind: StoreErrorKind,
    message: string = kind,
  ) {
    super(message);
  }
}

/** Bytes that are not what they claim to be. Decoders throw nothing else. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** A value that cannot be encoded: it breaks a bound or a rule of the format. */
export class EncodeError extends Error {
  override readonly name = 'EncodeError';
}
