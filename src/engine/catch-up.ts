import { StoreError } from '../core/errors';
import { newestSlots } from '../core/graph/slots';
import {
  beginFetch,
  beginSync,
  type NamedEvent,
  type SyncInput,
  type SyncResult,
  type SyncState,
  stepSync,
  type TakenIn,
} from '../core/graph/sync';
import type { AccountId, EventId, Slot } from '../core/ids';
import { limits } from '../core/limits';
import { type NetworkProfile, slotOf } from '../core/wire/profile';
import { AskedBodies, type BodiesTurn } from './asked-bodies';
import type { Ports } from './ports';
import type { RelayPeer } from './relay-peer';

/** What catching up needs from the rest of the engine. */
export interface CatchUpOwner {
  now(): number;
  /** Stores fetched events, with what they mean; answers as the graph's own script does. */
  take(slot: Slot, events: readonly NamedEvent[]): Promise<TakenIn>;
  /** The peer answered for the current slot: it can take own events now. */
  onCurrent(peer: RelayPeer, slot: Slot): void;
  onProgress(events: number): void;
  /** The store did not take part: what is missing has to be asked for again soon. */
  behind(peer: RelayPeer): void;
  /** There is no room: to ask again soon would bring nothing. */
  full(): void;
}

/** Brings the graph to what peers have: their tips, the headers above ours, the bodies below those. */
export class CatchUp {
  readonly #bodies: AskedBodies;
  /** Peers that named more of a slot than could be taken in. */
  readonly #left = new Map<Slot, Set<RelayPeer>>();

  constructor(
    private readonly ports: Ports,
    private readonly account: AccountId,
    private readonly profile: NetworkProfile,
    private readonly owner: CatchUpOwner,
  ) {
    this.#bodies = new AskedBodies(ports.clock);
  }

  /**
   * Syncs every kept slot with one peer. The current slot's tips are asked first, since with them the peer can take
   * own events; the bodies then come oldest slot first, so that a conversation grows downwards.
   */
  async withPeer(peer: RelayPeer): Promise<void> {
    const slots = newestSlots(this.profile, this.owner.now(), limits.clientSlotsRetained);
    const current = slotOf(this.profile, this.owner.now());
    for (const slot of this.#left.keys()) if (!slots.includes(slot)) this.#left.delete(slot);
    const asked = await peer.ask((tag) => ({ ask: 'tips', tag, slot: current }));
    if (asked?.type !== 'tips') return;
    this.owner.onCurrent(peer, current);
    for (const slot of slots) {
      if (!peer.ready) return;
      const first = slot === current ? asked.tips : undefined;
      await this.#run(peer, beginSync(this.profile, slot, this.#bounds(peer)), first);
    }
  }

  /** Fetches what a live event of this peer stands on. */
  parents(peer: RelayPeer, slot: Slot, ids: readonly EventId[]): Promise<SyncResult | undefined> {
    return this.#run(peer, beginFetch(this.profile, slot, this.#bounds(peer), ids), undefined);
  }

  /** Asks one peer for the tips of a slot that has just begun. */
  async current(peer: RelayPeer): Promise<void> {
    const slot = slotOf(this.profile, this.owner.now());
    const asked = await peer.ask((tag) => ({ ask: 'tips', tag, slot }));
    if (asked?.type !== 'tips') return;
    this.owner.onCurrent(peer, slot);
    await this.#run(peer, beginSync(this.profile, slot, this.#bounds(peer)), asked.tips);
  }

  #bounds(peer: RelayPeer): { readonly batchEventsMax: number } {
    const announced = peer.session?.limits?.batchEventsMax ?? limits.eventRequestIdsMax;
    return { batchEventsMax: Math.min(announced, limits.eventRequestIdsMax) };
  }

  /** How it ended; `undefined` when the peer or the store did not take part to the end. */
  async #run(
    peer: RelayPeer,
    begun: SyncState,
    tips: Extract<SyncInput, { readonly got: 'peer-tips' }>['tips'] | undefined,
  ): Promise<SyncResult | undefined> {
    const turn = this.#bodies.begin(begun.slot);
    try {
      return await this.#drive(
        peer,
        tips === undefined ? begun : stepSync(begun, { got: 'peer-tips', tips }),
        turn,
      );
    } finally {
      turn.end();
    }
  }

  async #drive(peer: RelayPeer, begun: SyncState, turn: BodiesTurn): Promise<SyncResult | undefined> {
    let state = begun;
    let ahead: AskedAhead | undefined;
    for (;;) {
      if (state.output.want === 'nothing') {
        const { result } = state.output;
        this.ports.observer.note('sync-ended', { end: result.end, inserted: result.inserted });
        if (result.end === 'full') this.owner.full();
        this.#ended(peer, state.slot, result);
        return result;
      }
      const next = this.#askAhead(peer, state, turn);
      const input = await (answerAhead(ahead, state) ?? this.#answer(peer, state, turn));
      ahead = next;
      if (input === undefined) return undefined;
      state = stepSync(state, input);
    }
  }

  /**
   * Asks for the next bodies while the last ones are taken in: the store and the peer need not wait for each other. What
   * comes counts only if the sync, once it knows what became of the last ones, wants just that; so the peer must have
   * given something of use before.
   */
  #askAhead(peer: RelayPeer, state: SyncState, turn: BodiesTurn): AskedAhead | undefined {
    if (state.output.want !== 'insert' || state.inserted === 0) return undefined;
    const outcome = { inserted: state.output.events.length, broken: [], invalid: [], full: false };
    const { output } = stepSync(state, { got: 'inserted', outcome });
    const ids = output.want === 'events' ? turn.toAskAhead(output.ids) : [];
    if (output.want !== 'events' || ids.length === 0) return undefined;
    return { ids, answer: this.#askPeer(peer, { ...output, ids }) };
  }

  /** What others have of a slot may stand on what this one brought only now: they are asked again. */
  #ended(peer: RelayPeer, slot: Slot, { end, inserted }: SyncResult): void {
    const left = this.#left.get(slot) ?? new Set();
    if (end === 'incomplete') left.add(peer);
    else left.delete(peer);
    if (inserted > 0) {
      for (const one of left) this.owner.behind(one);
      left.clear();
    }
    if (left.size > 0) this.#left.set(slot, left);
    else this.#left.delete(slot);
  }

  /** The answer to what the state wants; `undefined` when the peer or the store does not give one now. */
  async #answer(peer: RelayPeer, state: SyncState, turn: BodiesTurn): Promise<SyncInput | undefined> {
    const { output } = state;
    try {
      switch (output.want) {
        case 'peer-tips':
        case 'headers':
          return await this.#askPeer(peer, output);
        case 'events': {
          const ids = await turn.toAsk(output.ids);
          return ids === undefined ? { got: 'meanwhile' } : await this.#askPeer(peer, { ...output, ids });
        }
        case 'lacking':
          return { got: 'lacking', ids: await this.ports.store.read('graphLacking', this.#at(output)) };
        case 'own-tips':
          return { got: 'own-tips', tips: await this.ports.store.read('graphTips', this.#at(output)) };
        case 'insert': {
          const outcome = await this.owner.take(output.slot, output.events);
          turn.took(outcome.inserted);
          this.owner.onProgress(outcome.inserted);
          return { got: 'inserted', outcome };
        }
        case 'nothing':
          return undefined;
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.ports.observer.note('store-refused', { kind: error.kind });
      this.owner.behind(peer);
      return undefined;
    }
  }

  async #askPeer(
    peer: RelayPeer,
    output: Extract<SyncState['output'], { readonly want: 'peer-tips' | 'headers' | 'events' }>,
  ): Promise<SyncInput | undefined> {
    const answer = await peer.ask((tag) => {
      if (output.want === 'peer-tips') return { ask: 'tips', tag, slot: output.slot };
      if (output.want === 'headers') return { ask: 'headers', tag, slot: output.slot, tips: output.tips };
      return { ask: 'events', tag, ids: output.ids };
    });
    if (answer?.type === 'tips') return { got: 'peer-tips', tips: answer.tips };
    if (answer?.type === 'headers') return { got: 'headers', headers: answer.headers };
    if (answer?.type === 'events') return { got: 'events', events: answer.events };
    return undefined;
  }

  #at<T extends { readonly slot: Slot }>(output: T): T & Place {
    const place = {
      account: this.account,
      profile: this.profile.name,
      slotsRetained: limits.clientSlotsRetained,
    };
    return { ...output, ...place };
  }
}

/** Bodies that were asked for before the sync wanted them. */
interface AskedAhead {
  readonly ids: readonly EventId[];
  readonly answer: Promise<SyncInput | undefined>;
}

function answerAhead(ahead: AskedAhead | undefined, { output }: SyncState): AskedAhead['answer'] | undefined {
  if (ahead === undefined || output.want !== 'events') return undefined;
  return ahead.ids.every((id, at) => id === output.ids[at]) ? ahead.answer : undefined;
}

interface Place {
  readonly account: AccountId;
  readonly profile: string;
  readonly slotsRetained: number;
}
