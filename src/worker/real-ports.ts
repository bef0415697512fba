import type { Clock, Observer, Random } from '../engine/ports';

/** A timer may not lie further ahead than this; a later one is set again when it fires. */
const timerMsMax = 2_147_483_647;

/** This realm's clock. Timers in a SharedWorker are not throttled when tabs are hidden (measured: platform.md 4). */
export class RealClock implements Clock {
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();

  now(): number {
    return Date.now();
  }

  elapsed(): number {
    return performance.now();
  }

  set(name: string, at: number, fire: () => void): void {
    this.clear(name);
    const wait = Math.min(timerMsMax, Math.max(0, at - Date.now()));
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      if (Date.now() + 1 < at && wait === timerMsMax) this.set(name, at, fire);
      else fire();
    }, wait);
    this.#timers.set(name, timer);
  }

  clear(name: string): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }
}

/** The platform's unpredictable bytes. */
export const realRandom: Random = {
  bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
};

/** Nobody watches in production: what an engine does is seen in the store. */
export const silentObserver: Observer = { note: () => undefined };
