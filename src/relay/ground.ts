import { randomBytes } from 'node:crypto';
import type { Bytes } from '../core/ids';
import type { Keys } from '../core/transactions/keys';
import type { Store } from '../engine/ports';
import { dial } from '../net/node/dial';
import { SqliteStore } from '../store/sqlite/sqlite-store';
import type { DialledSocket } from './socket';
import { systemTiming, type Timing } from './timing';

/** A store that is a relay's own. */
export interface RelayStore extends Store {
  /** Rows that cannot be read and are passed over. */
  readonly damagedRows?: number;
  close(): Promise<void>;
}

/** What a relay stands on, given to it: its store, its timers, its chance. The simulator gives false ones. */
export interface Ground {
  /** For the deadlines of sessions and the turn of slots. */
  readonly timing: Timing;
  /** For pauses that are chosen: before a dial, in a queue. A test moves them apart from the deadlines. */
  readonly pauses: Timing;
  /** Calls `act` every `ms`; what it returns ends that. */
  every(ms: number, act: () => void): () => void;
  /** Opens the store of a name. Throws a `StoreError` when it cannot. */
  openStore(file: string, keys: () => Keys): RelayStore;
  random(bytes: number): Bytes;
  /** Begins a connection to an address; whoever calls hears of its end by `close`, also when it never opened. */
  dial(address: string): DialledSocket;
}

/** This machine. */
export const systemGround: Ground = {
  timing: systemTiming,
  pauses: systemTiming,
  every: (ms, act) => {
    const timer = setInterval(act, ms);
    return () => clearInterval(timer);
  },
  openStore: (file, keys) => new SqliteStore({ file, keys }),
  dial,
  random: (bytes) => new Uint8Array(randomBytes(bytes)),
};
