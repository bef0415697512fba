import { instanceLock } from './names';

/** Tells once when the instance that holds its lock is gone; the returned function stops watching. */
export function watchDeath(locks: LockManager, instance: string, dead: () => void): () => void {
  const watching = new AbortController();
  // Shared: any number of watchers learn of the death in the same moment.
  const options = { mode: 'shared', signal: watching.signal } as const;
  locks
    .request(instanceLock(instance), options, () => {
      if (!watching.signal.aborted) dead();
    })
    .catch(() => {
      // Stopped watching: nobody waits for the answer.
    });
  return () => watching.abort();
}
