import { StoreError } from '../core/errors';
import type { Ports, Store } from './ports';

/** The same ports, which tell when the store says that a newer engine has begun: whichever call hears it first. */
export function fenceWatched(ports: Ports, onFenced: () => void): Ports {
  const watched = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      if (error instanceof StoreError && error.kind === 'fenced') onFenced();
      throw error;
    }
  };
  const store: Store = {
    transact: (name, args, term) => watched(ports.store.transact(name, args, term)),
    read: (name, args) => ports.store.read(name, args),
  };
  return { ...ports, store };
}
