import type { FetchedEvent } from '../core/graph/fetched';
import { limits } from '../core/limits';
import type { Asked } from './asked';
import type { Log } from './log';
import type { RelayGraph } from './relay-graph';
import { type SlotEnd, syncSlot } from './sync';

/** A peer that can be asked for what it has. */
export interface SyncPeer extends Asked {
  readonly isReady: boolean;
}

/** What the relay's side of syncs works with. */
export interface GraphSyncHost<P extends SyncPeer> {
  readonly graph: RelayGraph;
  readonly log: Log;
  now(): number;
  /** Calls `act` again and again; what it returns ends that. */
  every(ms: number, act: () => void): () => void;
  /** Everyone who is connected. */
  peers(): Iterable<P>;
  /** An event that only a sync brought: the others lack it as well. */
  relay(from: P, event: FetchedEvent): void;
  /** More was brought than is handed on: everyone but this peer may lack some of it. */
  left(from: P): void;
}

/** Pause between two tries of a first sync. */
const firstSyncMs = limits.heartbeatMs;
const ticksPerRound = limits.resyncMs / firstSyncMs;

/** Peers asked in one round, and events of one sync that are handed on; what is more, the others have to ask for. */
const peersMax = 3;
const handedOnMax = 64;

/**
 * Keeps the relay's graph at what its peers have: a first sync, after which events are taken, and from then on soon after
 * the first peer has come and every 15 minutes, since what was said elsewhere while a link was down never comes again by
 * itself. One peer is asked at a time; one that fails, or has not all it names, ends neither the rest nor the whole, and
 * one that takes long gives way when others wait: it may give one event after another for ever.
 */
export class GraphSync<P extends SyncPeer> {
  readonly #waiting = new Set<P>();
  readonly #asked = new WeakMap<P, number>();
  readonly #mesh = new WeakSet<P>();
  /** Put what could not be taken. */
  readonly #behind = new Set<P>();
  /** There was no room: to ask again soon would bring nothing. */
  #full = false;
  #rounds = 0;
  /** The first peer has come: it may know what was missed while there was none. */
  #roundIsDue = false;
  #running = false;
  #end: () => void = () => undefined;

  constructor(private readonly host: GraphSyncHost<P>) {}

  /** Begins to ask every 15 minutes, and before the first sync is done every half minute. */
  start(): void {
    let ticks = 0;
    this.#end = this.host.every(firstSyncMs, () => {
      ticks += 1;
      if (ticks % ticksPerRound === 0) this.#full = false;
      if (!this.host.graph.synced || this.#roundIsDue || ticks % ticksPerRound === 0) this.#round();
      for (const peer of this.#behind) this.#ask(peer);
      this.#behind.clear();
    });
  }

  stop(): void {
    this.#end();
    this.#waiting.clear();
    this.#behind.clear();
  }

  /** A peer is ready. */
  onReady(peer: P): void {
    const ready = [...this.host.peers()].filter((one) => one.isReady);
    // A peer that has just come asks for much itself, so a relay that is synced lets it begin.
    if (!this.host.graph.synced) this.#ask(peer);
    else this.#roundIsDue ||= ready.length === 1;
  }

  /** A link to a relay of the mesh stands: what was said beyond it while there was none never comes again by itself. */
  onMeshLink(peer: P): void {
    this.#mesh.add(peer);
    this.#ask(peer);
  }

  /**
   * A relay of the mesh put an event that was no fault of its own and could not be taken: too late, too early, or while
   * we were not synced. A member would put it again; this one does not, so what it has is asked for at the next tick.
   */
  onLeftOut(peer: P): void {
    if (!this.#full) this.#behind.add(peer);
  }

  /** Those that were asked longest ago. */
  #round(): void {
    this.#rounds += 1;
    this.#roundIsDue = false;
    const ready = [...this.host.peers()].filter((one) => one.isReady);
    const when = (peer: P): number => this.#asked.get(peer) ?? 0;
    for (const peer of ready.sort((left, right) => when(left) - when(right)).slice(0, peersMax)) {
      this.#asked.set(peer, this.#rounds);
      this.#ask(peer);
    }
  }

  #ask(peer: P): void {
    this.#waiting.add(peer);
    if (!this.#running) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#running = true;
    for (const peer of this.#waiting) {
      this.#waiting.delete(peer);
      if (peer.isReady) await this.#with(peer);
    }
    this.#running = false;
  }

  /** The kept slots, oldest first, so that the current one ends last: with it the relay is synced. */
  async #with(peer: P): Promise<void> {
    const { graph, log } = this.host;
    const first = !graph.synced;
    let left = first ? 0 : handedOnMax;
    const taken = (event: FetchedEvent): void => {
      left -= 1;
      if (left >= 0) this.host.relay(peer, event);
    };
    const began = this.host.now();
    const isEnough = (): boolean =>
      this.#waiting.size > 0 && Math.abs(this.host.now() - began) >= limits.syncTurnMs;
    try {
      let end: SlotEnd = 'complete';
      for (const slot of graph.slotsToSync()) {
        end = await syncSlot(peer, graph, slot, { taken, isEnough });
        // What it brought is kept, and it goes on after the others.
        if (end === 'incomplete' && isEnough()) return void this.#waiting.add(peer);
        if (end !== 'complete') log('info', 'slot not complete', { why: end === 'gone' ? 'left' : end });
        if (end === 'full') this.#full = true;
        if (end === 'gone' || end === 'broken') return;
      }
      // Of the current slot a peer that names more than it gives is no witness; a full store takes no more from anyone.
      if (!first || end === 'incomplete') return;
      graph.synced = true;
      // Members ask for much themselves now; what other relays have comes from nowhere else.
      for (const one of this.#waiting) if (!this.#mesh.has(one)) this.#waiting.delete(one);
      log('info', 'synced');
    } catch {
      log('error', 'sync failed', { why: 'store' });
    } finally {
      if (left < 0) this.host.left(peer);
    }
  }
}
