import { StoreError } from '../core/errors';
import type { AccountId } from '../core/ids';
import { limits } from '../core/limits';
import type { NetworkProfile } from '../core/wire/profile';
import type { Ports } from './ports';

/** Forgets the slots that are no longer kept, a bounded number of events at a time, one run at a time. */
export class Pruner {
  #running = false;
  #stopped = false;

  constructor(
    private readonly ports: Ports,
    private readonly account: AccountId,
    private readonly profile: NetworkProfile,
    private readonly term: number,
  ) {}

  /** Forgets what is too old at `now`. A store that refuses is asked again when the next run is due. */
  async run(now: number): Promise<void> {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    const graph = { profile: this.profile.name, slotsRetained: limits.clientSlotsRetained };
    const args = { account: this.account, ...graph, now };
    try {
      while ((await this.ports.store.transact('pruneGraph', args, this.term)).outcome.more && !this.#stopped);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.ports.observer.note('store-refused', { kind: error.kind });
    } finally {
      this.#running = false;
    }
  }

  /** No more runs; a call under way may still commit. */
  stop(): void {
    this.#stopped = true;
  }
}
