import type { FetchedEvent } from '../core/graph/fetched';
import type { Layers } from '../core/graph/slot-row';
import { newestSlots, type Tip } from '../core/graph/slots';
import type { AccountId, Bytes, EventId, Slot } from '../core/ids';
import { limits } from '../core/limits';
import type { RelayPutOutcome, RelayTakeOutcome } from '../core/transactions/relay';
import type { Header } from '../core/wire/event';
import type { NetworkProfile } from '../core/wire/profile';
import type { Store } from '../engine/ports';
import { type ServedGraph, servedHeaders, servedTips } from '../engine/serving';

/** A relay has one graph and no accounts; its rows carry this in place of one. */
const relayAccount: AccountId = '00'.repeat(16);

/** What the relay's graph is bound to. */
export interface GraphBounds {
  readonly profile: NetworkProfile;
  readonly slotsRetained: number;
  readonly slotsSynced: number;
  readonly storeBytesMax: number;
}

/** The relay's graph: the named transactions over its store, with its own bounds and clock filled in. */
export class RelayGraph {
  /** The first sync is done: before it every event is answered NotSynced. */
  synced: boolean;
  readonly #served: ServedGraph;

  constructor(
    private readonly store: Store,
    private readonly bounds: GraphBounds,
    private readonly now: () => number,
    synced: boolean,
  ) {
    this.synced = synced;
    const { profile, slotsRetained } = bounds;
    this.#served = { store, account: relayAccount, profile, slotsRetained };
  }

  get profile(): NetworkProfile {
    return this.bounds.profile;
  }

  /** The slots of a first sync, oldest first. */
  slotsToSync(): readonly Slot[] {
    return newestSlots(this.bounds.profile, this.now(), this.bounds.slotsSynced);
  }

  /** The slots whose window is open: their events may be put to others. */
  openSlots(): readonly Slot[] {
    const now = this.now();
    const { profile } = this;
    return newestSlots(profile, now, 2).filter(
      (slot) => now < slot + profile.rotationMs + limits.eventTimeDriftMs,
    );
  }

  async put(event: Bytes, blob: Bytes, flooded: boolean): Promise<RelayPutOutcome> {
    const args = { ...this.#args(), event, blob, flooded, now: this.now(), synced: this.synced };
    const { outcome } = await this.store.transact('relayPut', {
      ...args,
      bytesMax: this.bounds.storeBytesMax,
    });
    return outcome;
  }

  async take(slot: Slot, events: readonly FetchedEvent[]): Promise<RelayTakeOutcome> {
    const args = { ...this.#args(), slot, events, now: this.now(), bytesMax: this.bounds.storeBytesMax };
    return (await this.store.transact('relayTake', args)).outcome;
  }

  lacking(slot: Slot, ids: readonly EventId[], layers?: Layers): Promise<readonly EventId[]> {
    return this.store.read('graphLacking', { ...this.#args(), slot, ids, ...(layers && { layers }) });
  }

  /** Tips of a slot; none of a slot that is not kept. An unsynced relay answers too, or two would wait for ever. */
  tips(slot: Slot | undefined): Promise<readonly Tip[]> {
    return servedTips(this.#served, slot, this.now());
  }

  headers(slot: Slot | undefined, tips: readonly EventId[]): Promise<readonly Header[]> {
    return servedHeaders(this.#served, slot, this.now(), tips);
  }

  bodies(
    ids: readonly EventId[],
    eventsMax: number,
    bytesMax: number,
    contentBytesMax: number = limits.contentBytesMax,
  ): Promise<readonly FetchedEvent[]> {
    const bounds = { eventsMax, bytesMax, contentBytesMax };
    return this.store.read('graphBodies', { account: relayAccount, ids, ...bounds });
  }

  /** Forgets slots that are no longer kept. Returns how many events went. */
  async prune(): Promise<number> {
    let events = 0;
    for (;;) {
      const { outcome } = await this.store.transact('pruneGraph', { ...this.#args(), now: this.now() });
      events += outcome.events;
      if (!outcome.more) return events;
    }
  }

  #args(): { readonly account: AccountId; readonly profile: string; readonly slotsRetained: number } {
    return {
      account: relayAccount,
      profile: this.bounds.profile.name,
      slotsRetained: this.bounds.slotsRetained,
    };
  }
}
