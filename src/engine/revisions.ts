import type { Effect } from '../core/effects';

/**
 * Which changes of an account the engine knows without looking: its own, which it acted upon when they were committed.
 * Revisions count every change, so a gap between two of its own means that somebody else changed something between.
 */
export class Revisions {
  #known = 0;

  /** Effects of an own commit. After a gap the store is to be looked at all the same. */
  committed(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.type === 'look' && effect.revision === this.#known + 1) this.#known = effect.revision;
    }
  }

  /** Whether a signal tells of a change that is not known. Once looked at, it is. */
  isNews(revision: number): boolean {
    if (revision <= this.#known) return false;
    this.#known = revision;
    return true;
  }
}
