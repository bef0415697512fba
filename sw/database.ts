import { limits } from '../src/core/limits';
import {
  type Args,
  type Outcome,
  type ReadName,
  reads,
  type WriteName,
  writes,
} from '../src/core/transactions/registry';
import { IdbStore } from '../src/store/idb/idb-store';
import type { NamedStore } from './server';

/**
 * The durable store, opened at the first call or in `activate`, never while installing: the worker in charge then
 * still holds the older version open. No other realm opens this database.
 */
export function makeDatabase(name: string): NamedStore {
  let outboxBytesMax: number = limits.outboxBytesMax;
  const store = new IdbStore({
    name,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    outboxBytesMax: () => outboxBytesMax,
  });
  let measured: Promise<void> | undefined;
  const open = async (): Promise<void> => {
    measured ??= outboxShare().then((share) => {
      outboxBytesMax = Math.min(limits.outboxBytesMax, share);
    });
    await measured;
    await store.open();
  };
  return {
    open,
    kindOf: (call) =>
      Object.hasOwn(writes, call) ? 'write' : Object.hasOwn(reads, call) ? 'read' : undefined,
    async write(call, args, term) {
      await open();
      return store.transact(call as WriteName, args as Args<WriteName>, term);
    },
    async read(call, args): Promise<Outcome<ReadName>> {
      await open();
      return store.read(call as ReadName, args as Args<ReadName>);
    },
  };
}

/** The outbox's share of what the browser grants this origin, bytes; no bound when it does not say. */
async function outboxShare(): Promise<number> {
  try {
    const { quota } = await navigator.storage.estimate();
    return quota === undefined
      ? Number.POSITIVE_INFINITY
      : Math.floor(quota * limits.outboxBytesShareOfEstimate);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
