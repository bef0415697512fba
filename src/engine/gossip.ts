import type { Effect } from '../core/effects';
import type { NamedEvent, SyncResult, TakenIn } from '../core/graph/sync';
import type { AccountId, Bytes, ConversationId, EventId, Slot } from '../core/ids';
import { limits } from '../core/limits';
import type { SessionEvent } from '../core/link/session';
import type { MakingArgs } from '../core/transactions/materialise';
import type { Heard, ReceiveOutcome } from '../core/transactions/receive';
import { decodeAll } from '../core/wire/codec';
import { readHeader } from '../core/wire/event';
import type { PutResult } from '../core/wire/event-put';
import type { NetworkProfile } from '../core/wire/profile';
import type { Hearing } from './hearing';
import type { Ports } from './ports';
import type { RelayPeer } from './relay-peer';
import { type ServedGraph, servedHeaders, servedTips } from './serving';
import { WorkLine } from './work-line';

/** What gossip needs from the rest of the engine. */
export interface GossipOwner {
  now(): number;
  clockTrusted(): boolean;
  synced(): boolean;
  making(): MakingArgs | undefined;
  carryOut(effects: readonly Effect[]): void;
  /** These channels may have missed an event that was under way when they came. */
  missed(channels: readonly ConversationId[]): void;
  /** The head left the lane by what was received. */
  acknowledged(next: { readonly kind: string } | undefined): void;
  /** An event of a peer could not be taken in, and it is not sent again by itself: what the peer has is asked for soon. */
  behind(peer: RelayPeer): void;
  /** Fetches what an event stands on; `undefined` when that was not carried through. */
  parents(peer: RelayPeer, slot: Slot, ids: readonly EventId[]): Promise<SyncResult | undefined>;
  /** The peer broke the rules too often. */
  drop(peer: RelayPeer): void;
}

interface Policing {
  strikes: number;
  /** When counted events came, newest last. */
  readonly events: number[];
}

/** Events waiting to be taken in, of all peers together; above it a peer is told Busy and sends again. */
const waitingMax = 256;

/** The receiving side: events of peers into the graph, their questions out of it. */
export class Gossip {
  /**
   * Events and questions wait apart: an event may have to wait for the peer's answers, and the peer for ours. In one
   * line each side would wait for the other.
   */
  readonly #puts: WorkLine;
  readonly #served: ServedGraph;
  readonly #questions: WorkLine;
  readonly #policing = new WeakMap<RelayPeer, Policing>();
  /** Events of peers whose first sync is under way. */
  readonly #early = new Map<RelayPeer, SessionEvent[]>();

  constructor(
    private readonly ports: Ports,
    private readonly account: AccountId,
    private readonly profile: NetworkProfile,
    private readonly term: number,
    private readonly hearing: Hearing,
    private readonly owner: GossipOwner,
  ) {
    const slotsRetained = limits.clientSlotsRetained;
    this.#served = { store: ports.store, account, profile, slotsRetained };
    const refused = (kind: string): void => this.ports.observer.note('store-refused', { kind });
    this.#puts = new WorkLine(refused);
    this.#questions = new WorkLine(refused);
  }

  /**
   * Holds back what a peer puts until the sync that its session begins with has ended, however it ends: what is said
   * now must not enter a conversation before what was said in the hours we were away.
   */
  async holdDuring(peer: RelayPeer, sync: Promise<void>): Promise<void> {
    const held: SessionEvent[] = [];
    this.#early.set(peer, held);
    // Strikes are of one link (event-graph.md 3.1): after some hours of use the next one would be the last straw.
    this.#policingOf(peer).strikes = 0;
    try {
      await sync;
    } finally {
      if (this.#early.get(peer) === held) this.#early.delete(peer);
      for (const event of held) this.onMessage(peer, event);
    }
  }

  /** A message of a ready session. One event, and one question, is handled at a time, as they came. */
  onMessage(peer: RelayPeer, event: SessionEvent): void {
    const early = event.type === 'put' ? this.#early.get(peer) : undefined;
    const line = event.type === 'put' ? this.#puts : this.#questions;
    if (early !== undefined && early.length < waitingMax) return void early.push(event);
    if (early !== undefined || line.length >= waitingMax) {
      if (event.type !== 'put') return;
      this.#say(peer, event.id, { type: 'nack', reason: 'busy' });
      return this.#onFlood(peer);
    }
    line.push(() => this.#handle(peer, event));
  }

  /** Fetched events into the graph, with the messages in them and what they acknowledge. */
  async take(slot: Slot, events: readonly NamedEvent[]): Promise<TakenIn> {
    const said: { readonly layer: number; readonly message: Heard }[] = [];
    for (const one of events) {
      const message = this.hearing.hear(one.id, one.event);
      if (message === undefined) continue;
      const header = decodeAll(one.event.subarray(0, limits.eventHeaderBytes), readHeader);
      said.push({ layer: Number(header.layer), message });
    }
    // A peer may answer in whatever order; a person reads what was said first above what builds on it.
    const heard = said.sort((left, right) => left.layer - right.layer).map((one) => one.message);
    const args = { ...this.#receiving(), slot, events, heard };
    const call = () => this.ports.store.transact('receiveFetched', args, this.term);
    const { outcome, effects } = await this.#listening(call);
    this.#follow(outcome, effects);
    return outcome;
  }

  #follow(outcome: Pick<ReceiveOutcome, 'acknowledged' | 'unapplied'>, effects: readonly Effect[]): void {
    this.owner.carryOut(effects);
    if (outcome.acknowledged !== undefined) this.owner.acknowledged(outcome.acknowledged.next);
    if (outcome.unapplied) this.owner.missed(this.hearing.freshSince(0));
  }

  #receiving(): {
    readonly account: AccountId;
    readonly profile: string;
    readonly now: number;
    readonly seed: Bytes;
    readonly next?: MakingArgs;
  } {
    const next = this.owner.making();
    const base = {
      account: this.account,
      profile: this.profile.name,
      now: this.owner.now(),
      seed: this.ports.random.bytes(32),
    };
    return next === undefined ? base : { ...base, next };
  }

  /** Runs a call that carries what was heard; channels that came meanwhile must hear it too. */
  async #listening<T>(call: () => Promise<T>): Promise<T> {
    const { version } = this.hearing;
    try {
      return await call();
    } finally {
      const fresh = this.hearing.freshSince(version);
      if (fresh.length > 0) this.owner.missed(fresh);
    }
  }

  async #handle(peer: RelayPeer, event: SessionEvent): Promise<void> {
    switch (event.type) {
      case 'put':
        return this.#onPut(peer, event);
      case 'tips-asked':
        return this.#onTipsAsked(peer, event.slot);
      case 'headers-asked':
        return this.#onHeadersAsked(peer, event.slot, event.tips);
      case 'events-asked':
        return this.#onEventsAsked(peer, event.ids);
      default:
        return;
    }
  }

  async #onPut(peer: RelayPeer, put: SessionEvent & { readonly type: 'put' }): Promise<void> {
    let outcome: ReceiveOutcome;
    try {
      outcome = await this.#receive(peer, put);
      if (outcome.verdict.type === 'missing') {
        const { slot, parents } = outcome.verdict;
        const fetched = await this.owner.parents(peer, slot, parents);
        if (fetched?.end === 'complete') outcome = await this.#receive(peer, put);
        if (fetched?.end === 'broken' && fetched.inVain) {
          outcome = { verdict: { type: 'nack', reason: 'invalid', strike: false, counted: true } };
        }
      }
    } catch (error) {
      // Not the peer's fault, so it is told to try again rather than left without an answer (EG-07).
      this.#say(peer, put.id, { type: 'nack', reason: 'busy' });
      this.owner.behind(peer);
      throw error;
    }
    this.#answer(peer, put.id, outcome);
  }

  async #receive(peer: RelayPeer, put: SessionEvent & { readonly type: 'put' }): Promise<ReceiveOutcome> {
    const heard = this.hearing.hear(put.id, put.event);
    const args = {
      ...this.#receiving(),
      event: put.event,
      blob: put.blob,
      synced: this.owner.synced(),
      flooded: this.#isFlooded(peer),
      ...(heard === undefined ? {} : { heard }),
    };
    const blames = this.owner.clockTrusted() && peer.ready;
    const call = () => this.ports.store.transact('receive', args, this.term);
    const { outcome, effects } = await this.#listening(call);
    this.#follow(outcome, effects);
    const { verdict } = outcome;
    if (blames || verdict.type !== 'nack' || !verdict.strike) return outcome;
    // The wrong clock may be ours: then nothing is established, least of all a fault of the peer.
    return { ...outcome, verdict: { ...verdict, reason: 'busy', strike: false } };
  }

  #answer(peer: RelayPeer, id: EventId, outcome: ReceiveOutcome): void {
    const { verdict } = outcome;
    switch (verdict.type) {
      case 'has':
        if (verdict.inserted) this.#count(peer);
        return this.#say(peer, id, { type: 'has', inserted: verdict.inserted });
      case 'nack':
        if (verdict.counted) this.#count(peer);
        this.#say(peer, id, { type: 'nack', reason: verdict.reason });
        if (verdict.strike) this.#strike(peer);
        // What is not wrong but came too late, too early or in want of room, the peer's graph still has.
        if (verdict.reason !== 'invalid') this.owner.behind(peer);
        return;
      case 'missing':
        this.#count(peer);
        this.owner.behind(peer);
        return this.#say(peer, id, { type: 'nack', reason: 'busy' });
      case 'silent':
        return this.#onFlood(peer);
    }
  }

  /**
   * A relay hands on what all its peers say, so more than one of them may say is no offence of its own: dropping it
   * would let two busy members cut every reader off. What was left out is fetched with the next sync; a stream that
   * goes far beyond is ended.
   */
  #onFlood(peer: RelayPeer): void {
    this.#count(peer);
    if (this.#counted(peer).length >= limits.relayFloodEventsMax) this.owner.drop(peer);
    else this.owner.behind(peer);
  }

  #say(peer: RelayPeer, id: EventId, result: PutResult): void {
    peer.say({ say: 'status', status: { id, result } });
  }

  #policingOf(peer: RelayPeer): Policing {
    const known = this.#policing.get(peer) ?? { strikes: 0, events: [] };
    this.#policing.set(peer, known);
    return known;
  }

  #count(peer: RelayPeer): void {
    this.#counted(peer).push(this.ports.clock.now());
  }

  /** What was counted in the window that ends now. */
  #counted(peer: RelayPeer): number[] {
    const { events } = this.#policingOf(peer);
    const since = this.ports.clock.now() - limits.floodWindowMs;
    while ((events[0] ?? since) < since) events.shift();
    return events;
  }

  #isFlooded(peer: RelayPeer): boolean {
    return this.#counted(peer).length >= limits.floodEventsMax;
  }

  #strike(peer: RelayPeer): void {
    const policing = this.#policingOf(peer);
    policing.strikes += 1;
    if (policing.strikes >= limits.strikesMax) this.owner.drop(peer);
  }

  async #onTipsAsked(peer: RelayPeer, slot: Slot | undefined): Promise<void> {
    peer.say({ say: 'tips', tips: await servedTips(this.#served, slot, this.owner.now()) });
  }

  async #onHeadersAsked(peer: RelayPeer, slot: Slot | undefined, tips: readonly EventId[]): Promise<void> {
    const headers = await servedHeaders(this.#served, slot, this.owner.now(), tips);
    peer.say({ say: 'headers', headers });
  }

  async #onEventsAsked(peer: RelayPeer, ids: readonly EventId[]): Promise<void> {
    const bounds = peer.session?.limits;
    const events = await this.ports.store.read('graphBodies', {
      account: this.account,
      ids,
      eventsMax: bounds?.batchEventsMax ?? limits.eventReplyEventsMax,
      bytesMax: bounds?.batchBytesMax ?? limits.batchBytesMax,
      contentBytesMax: bounds?.contentBytesMax ?? limits.contentBytesMax,
    });
    peer.say({ say: 'events', events });
  }
}
