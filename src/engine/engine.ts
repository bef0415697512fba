import type { Effect } from '../core/effects';
import { StoreError } from '../core/errors';
import type { AccountId, EventId, Slot } from '../core/ids';
import { limits } from '../core/limits';
import type { SessionEvent } from '../core/link/session';
import type { ContentBounds } from '../core/outbox/operation';
import type { Overview } from '../core/transactions/reads';
import type { ClockVerdict } from '../core/trusted-clock';
import type { PutResult } from '../core/wire/event-put';
import { minPeersOf, type NetworkProfile, profileOf, slotOf } from '../core/wire/profile';
import { featuresOf, ourLimits } from '../core/wire/version';
import { CatchUp } from './catch-up';
import { ClockWatch } from './clock-watch';
import { Delivery } from './delivery';
import { fenceWatched } from './fence';
import { Gossip } from './gossip';
import { Hearing } from './hearing';
import type { LinkEvent, Ports } from './ports';
import { Pruner } from './prune';
import { RelayPeer } from './relay-peer';
import { Resync } from './resync';
import { Scanner } from './scan';
import type { EngineStatus } from './status';

/** Names of one birth of an engine. */
export interface EngineBirth {
  /** 16 random bytes in hex: the fencing identity and the node id of its sessions. */
  readonly id: string;
}

/** Everything that works for one account. */
interface Working {
  readonly account: AccountId;
  readonly profile: NetworkProfile;
  readonly delivery: Delivery;
  readonly gossip: Gossip;
  readonly hearing: Hearing;
  readonly catchUp: CatchUp;
  readonly scanner: Scanner;
  readonly pruner: Pruner;
}

const lookMs = 60_000;
const reloadRetryMs = 1_000;

/**
 * The one engine of all tabs. It decides when the head is sent, keeps sessions with relays and the graph up to date.
 * Nothing durable lives in it: a new one goes on from the store, and the fencing term keeps an old one out.
 */
export class Engine {
  readonly #peers = new Map<string, RelayPeer>();
  /** The slot a peer last answered the tips of: it can take own events of that slot. */
  readonly #answered = new Map<RelayPeer, Slot>();
  #working: Working | undefined;
  #overview: Overview | undefined;
  #term = 0;
  #links = 0;
  #stopped = false;
  #reloading: Promise<void> | undefined;
  #reloadAgain = false;
  #onStatus: (status: EngineStatus) => void = () => undefined;
  #onReplaced: () => void = () => undefined;
  private readonly ports: Ports;
  readonly #watch: ClockWatch;
  readonly #resync: Resync;

  constructor(
    ports: Ports,
    private readonly birth: EngineBirth,
  ) {
    this.ports = fenceWatched(ports, () => this.#onFenced());
    const sync = async (peer: RelayPeer) => this.#working?.catchUp.withPeer(peer);
    this.#resync = new Resync(ports.clock, () => this.#peers.values(), sync);
    this.#watch = new ClockWatch(ports.clock, this.#peers, () => this.#armRotation());
  }

  /**
   * Begins its reign and starts working. Resolves once the term is durable. `onReplaced` is called once when the
   * store has seen a newer engine and this one has stopped: a realm that still holds the engine's lock then begins
   * another one, since a late copy of a call can begin an engine that is dead.
   */
  async start(onStatus: (status: EngineStatus) => void, onReplaced?: () => void): Promise<void> {
    this.#onStatus = onStatus;
    this.#onReplaced = onReplaced ?? this.#onReplaced;
    const begun = await this.ports.store.transact('beginEngine', { engine: this.birth.id });
    this.#term = begun.outcome.term;
    this.ports.links.listen((event) => this.#onLink(event));
    this.ports.looks.listen((effect) => this.#onLook(effect));
    this.#armLook();
    await this.reload();
  }

  /** This engine's fencing term; 0 before it began. */
  get term(): number {
    return this.#term;
  }

  /** Stops working: sockets close, timers fall. A call under way may still commit; the term fences the rest. */
  stop(): void {
    this.#stopped = true;
    this.#leave();
    this.#resync.stop();
    for (const name of ['rotation', 'reload', 'look']) this.ports.clock.clear(name);
  }

  /** Ends what works for a profile, its sessions with it. */
  #leave(): void {
    this.#working?.delivery.stop();
    this.#working?.scanner.stop();
    this.#working?.pruner.stop();
    this.#working = undefined;
    for (const peer of this.#peers.values()) peer.stop();
    this.#peers.clear();
    this.#answered.clear();
  }

  /** The network may be back, or a carrier is: try unreachable relays at once, and look at the head. */
  nudge(): void {
    for (const peer of this.#peers.values()) peer.retryNow();
    this.#working?.delivery.look();
  }

  /** What the screen may know now. */
  status(): EngineStatus {
    const now = this.#now();
    const delivery = this.#working?.delivery.state ?? { busy: false };
    return {
      relays: [...this.#peers.values()].map((peer) => ({
        url: peer.url,
        state: peer.state === 'answering' && !this.#isReady(peer, now) ? 'catching-up' : peer.state,
        ...(peer.nextTryAt === undefined ? {} : { nextTryAt: peer.nextTryAt }),
        ...(peer.lastEventAt === undefined ? {} : { lastEventAt: peer.lastEventAt }),
        ...(peer.latencyMs === undefined ? {} : { latencyMs: peer.latencyMs }),
      })),
      ready: this.#ready().length,
      minPeers: this.#minPeers(),
      clock: this.#clock(),
      ...delivery,
    };
  }

  /** Reads the account again: relays come and go, channels are joined. One at a time; a call meanwhile runs once more. */
  reload(): Promise<void> {
    this.#reloadAgain = true;
    this.#reloading ??= this.#reloadAll().finally(() => {
      this.#reloading = undefined;
    });
    return this.#reloading;
  }

  async #reloadAll(): Promise<void> {
    while (this.#reloadAgain && !this.#stopped) {
      this.#reloadAgain = false;
      try {
        this.#overview = await this.ports.store.read('overview', {});
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        const at = this.ports.clock.now() + reloadRetryMs;
        this.ports.clock.set('reload', at, () => void this.reload());
        return;
      }
      await this.#take(this.#overview);
    }
  }

  async #take(overview: Overview): Promise<void> {
    if (this.#stopped || overview.account === undefined) return;
    const { account } = overview.account;
    const profile = profileOf(overview.account.profile);
    if (profile === undefined) return this.ports.observer.note('unknown-profile');
    if (this.#working?.profile !== profile) this.#leave();
    this.#working ??= this.#begin(account, profile);
    const working = this.#working;
    this.#armRotation();
    const fresh = working.hearing.update(overview.conversations);
    this.#follow(
      profile,
      overview.relays.map((row) => row.url),
    );
    working.delivery.look();
    working.scanner.look(fresh);
    this.#tell();
  }

  #begin(account: AccountId, profile: NetworkProfile): Working {
    const hearing = new Hearing(profile);
    const carryOut = (effects: readonly Effect[]) => this.#carryOut(effects);
    const delivery: Delivery = new Delivery(
      this.ports,
      account,
      profile,
      this.#term,
      {
        ready: () => this.#ready(),
        minPeers: () => this.#minPeers(),
        clockTrusted: () => this.#clock().trusted,
        now: () => this.#now(),
        contentMax: () => this.#contentMax(),
        boundsOf: (relay) => this.#peers.get(relay)?.bounds ?? ourLimits,
        changed: () => this.#tell(),
      },
      carryOut,
    );
    const gossip: Gossip = new Gossip(this.ports, account, profile, this.#term, hearing, {
      now: () => this.#now(),
      clockTrusted: () => this.#clock().trusted,
      synced: () => this.#answered.size > 0,
      making: () => delivery.making(),
      carryOut,
      acknowledged: (next) => delivery.acknowledged(next),
      parents: (peer, slot, ids) => catchUp.parents(peer, slot, ids),
      drop: (peer) => this.#drop(peer),
      missed: (channels) => scanner.look(channels),
      behind: (peer) => this.#resync.soon(peer),
    });
    const scanned = { account, hearing };
    const scanner = new Scanner(this.ports, scanned, this.#term, () => this.#now());
    const catchUp: CatchUp = new CatchUp(this.ports, account, profile, {
      now: () => this.#now(),
      take: (slot, events) => gossip.take(slot, events),
      onCurrent: (peer, slot) => this.#onCurrent(peer, slot),
      onProgress: () => this.#tell(),
      behind: (peer) => this.#resync.soon(peer),
      full: () => this.#resync.noRoom(),
    });
    this.#resync.start();
    const pruner = new Pruner(this.ports, account, profile, this.#term);
    return { account, profile, delivery, gossip, hearing, catchUp, scanner, pruner };
  }

  #follow(profile: NetworkProfile, urls: readonly string[]): void {
    for (const [url, peer] of this.#peers) {
      if (urls.includes(url)) continue;
      this.#peers.delete(url);
      this.#answered.delete(peer);
      peer.stop();
    }
    for (const url of urls) {
      if (this.#peers.has(url)) continue;
      const config = { profile, nodeId: this.birth.id, features: featuresOf() };
      const peer = new RelayPeer(this.ports, url, config, this.#owner, () => ++this.#links);
      this.#peers.set(url, peer);
      peer.connect();
    }
  }

  readonly #owner = {
    onReady: (peer: RelayPeer) => {
      this.#armRotation();
      // What is now may be another slot than others were asked for, since our clock is known better.
      this.#askCurrent((other) => other !== peer && !this.#isReady(other, this.#now()));
      const working = this.#working;
      if (working !== undefined) void working.gossip.holdDuring(peer, working.catchUp.withPeer(peer));
    },
    onMessage: (peer: RelayPeer, event: SessionEvent) => this.#working?.gossip.onMessage(peer, event),
    onStatus: (peer: RelayPeer, id: EventId, result: PutResult) => {
      const said = result.type === 'has' ? { inserted: result.inserted } : { reason: result.reason };
      this.ports.observer.note('status', { relay: peer.url, id, result: result.type, ...said });
      void this.#working?.delivery.answered(peer.url, id, result);
    },
    onLinkDied: (peer: RelayPeer) => {
      this.#answered.delete(peer);
      void this.#working?.delivery.linkDied(peer.url);
    },
    isReached: (node: string) =>
      [...this.#peers.values()].some((peer) => peer.ready && peer.session?.version?.nodeId === node),
    onChange: () => {
      this.#working?.delivery.look();
      this.#tell();
    },
  };

  #onCurrent(peer: RelayPeer, slot: Slot): void {
    // Looked at first: a step of our clock is found out by it, and then no peer is ready, this one neither.
    const { trusted } = this.#clock();
    if (!peer.ready) return;
    const first = !this.#answered.has(peer);
    this.#answered.set(peer, slot);
    // First what has left the lane: what leaves it from now on was handed to this link already.
    if (first) void this.#working?.delivery.claimOpen(peer.url);
    this.#working?.delivery.look();
    // Only while a peer confirms our clock: a wrong one alone must not cost the history. And nothing goes that is
    // being looked through for a channel that was joined.
    const { pruner, scanner } = this.#working ?? {};
    if (trusted && scanner?.isBusy === false) void pruner?.run(this.#now());
    this.#tell();
  }

  #isReady(peer: RelayPeer, now: number): boolean {
    const profile = this.#working?.profile;
    return profile !== undefined && peer.ready && this.#answered.get(peer) === slotOf(profile, now);
  }

  #ready(): readonly string[] {
    const now = this.#now();
    const ready = [...this.#peers.values()].filter((peer) => this.#isReady(peer, now));
    return ready.filter((peer) => peer.room.events > 0).map((peer) => peer.url);
  }

  #contentMax(): ContentBounds {
    const ready = [...this.#peers.values()].filter((peer) => peer.session?.limits !== undefined);
    return Object.fromEntries(
      ready.map((peer) => [peer.url, peer.session?.limits?.contentBytesMax ?? limits.contentBytesMax]),
    );
  }

  #minPeers(): number {
    const profile = this.#working?.profile;
    const relays = [...this.#peers.values()].filter((peer) => peer.isHopeful).length;
    return profile === undefined ? 1 : minPeersOf(profile, relays);
  }

  #clock(): ClockVerdict {
    return this.#watch.verdict();
  }

  #now(): number {
    return this.#watch.now();
  }

  #onLink(event: LinkEvent): void {
    this.#peers.get(event.relay)?.onLink(event);
  }

  #onLook(effect: Effect & { readonly type: 'look' }): void {
    if (this.#stopped) return;
    if (effect.store === 'account' || effect.store === 'conversations') void this.reload();
    if (effect.store === 'outbox') this.#working?.delivery.heard(effect.revision);
  }

  #carryOut(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.type !== 'put-event') continue;
      for (const url of effect.relays) {
        this.#peers.get(url)?.put(effect);
      }
    }
    this.#armPace();
  }

  /** Where a relay has no room now, the lane goes on as soon as it has. */
  #armPace(): void {
    const rooms = [...this.#peers.values()].filter((peer) => peer.ready).map((peer) => peer.room);
    const full = rooms.filter((room) => room.events === 0);
    if (full.length === 0) return;
    const at = Math.min(...full.map((room) => room.freeAt));
    this.ports.clock.set('pace', at, () => this.#working?.delivery.look());
  }

  #onFenced(): void {
    if (this.#stopped) return;
    this.ports.observer.note('fenced', { term: this.#term });
    this.stop();
    this.#onReplaced();
  }

  #drop(peer: RelayPeer): void {
    this.#answered.delete(peer);
    peer.drop();
  }

  /** A new slot: peers are asked for its tips, so that events can be made in it. Armed anew when our clock is known better. */
  #armRotation(): void {
    const profile = this.#working?.profile;
    if (profile === undefined || this.#stopped) return;
    const now = this.#now();
    const offset = now - this.ports.clock.now();
    const next = slotOf(profile, now) + profile.rotationMs;
    this.ports.clock.set('rotation', next - offset, () => {
      this.#askCurrent(() => true);
      this.#working?.delivery.look();
      this.#armRotation();
    });
  }

  #askCurrent(whom: (peer: RelayPeer) => boolean): void {
    for (const peer of this.#peers.values()) {
      if (peer.ready && whom(peer)) void this.#working?.catchUp.current(peer);
    }
  }

  /** A look signal may be lost: then the store is read all the same, only later. */
  #armLook(): void {
    if (this.#stopped) return;
    this.ports.clock.set('look', this.ports.clock.now() + lookMs, () => {
      void this.reload();
      this.#armLook();
    });
  }

  #tell(): void {
    if (!this.#stopped) this.#onStatus(this.status());
  }
}
