import { buildLock } from './names';

/**
 * Holds the lock that keeps the files of this build in the cache, for as long as this page or worker lives: an older
 * page goes on finding its files after a newer service worker took over.
 */
export function holdBuild(locks: LockManager, build: string): void {
  const untilDeath = () => new Promise<never>(() => {});
  locks.request(buildLock(build), { mode: 'shared' }, untilDeath).catch(() => {
    // The realm is ending, or may not hold locks: then its files go a little earlier.
  });
}
