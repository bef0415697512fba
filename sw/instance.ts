import { instanceLock } from '../src/store/doors/names';

/** This run of the worker. A new one starts whenever the browser stopped the last. */
export interface Instance {
  readonly id: string;
  /**
   * Resolves once the lock that tells of this instance's death is held. No answer may leave before: a client that
   * asked for the lock earlier would get it and believe a living worker dead.
   */
  alive(): Promise<void>;
}

/** Names this instance; takes its lock at the first `alive()`. */
export function makeInstance(): Instance {
  const id = crypto.randomUUID();
  let held: Promise<void> | undefined;
  const take = (): Promise<void> =>
    new Promise((granted, refused) => {
      const untilDeath = () => {
        granted();
        return new Promise<never>(() => {});
      };
      navigator.locks.request(instanceLock(id), untilDeath).catch(refused);
    });
  return {
    id,
    alive() {
      held ??= take();
      return held;
    },
  };
}
