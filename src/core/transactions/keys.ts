import type { DataKey } from '../crypto/seal';
import { StoreError } from '../errors';
import type { Registry } from '../rate/gate';

/** What a store holds in memory while it runs scripts: its keys, and what its realm alone knows. */
export interface Keys {
  /** Opens and seals records at rest; absent while locked. */
  readonly data?: DataKey;
  /** Bytes the outbox may hold on this device (OB-30). */
  readonly outboxBytesMax?: number;
  /** A relay's registered identities, where it limits rates. */
  readonly registry?: Registry;
}

/** The data key, or a `StoreError` of kind `locked`: the caller repeats the call with the key. */
export function dataKey(keys: Keys): DataKey {
  if (keys.data === undefined) throw new StoreError('locked');
  return keys.data;
}
