import { randomBytes } from 'node:crypto';
import type { Bytes } from '../core/ids';
import type { Keys } from '../core/transactions/keys';
import type { Store } from '../engine/ports';
import { SqliteStore } from '../store/sqlite/sqlite-store';
import { systemTiming, type Timing } from './timing';

/** A store that is a relay's own. */
export interface RelayStore extends Store {
  close(): Promise<void>;
}

/** What a relay stands on, given to it: its store, its timers, its chance. The simulator gives false ones. */
export interface Ground {
  readonly timing: Timing;
  /** Calls `act` every `ms`; what it returns ends that. */
  every(ms: number, act: () => void): () => void;
  /** Opens the store of a name. Throws a `StoreError` when it cannot. */
  openStore(file: string, keys: () => Keys): RelayStore;
  random(bytes: number): Bytes;
}

/** This machine. */
export const systemGround: Ground = {
  timing: systemTiming,
  every: (ms, act) => {
    const timer = setInterval(act, ms);
    return () => clearInterval(timer);
  },
  openStore: (file, keys) => new SqliteStore({ file, keys }),
  random: (bytes) => new Uint8Array(randomBytes(bytes)),
};
