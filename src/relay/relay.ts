import { toHex } from '../core/ids';
import { limits } from '../core/limits';
import { type EventBody, frameOf } from '../core/link/messages';
import { closeCodes, type SessionConfig } from '../core/link/session';
import { slotOf } from '../core/wire/profile';
import { featuresOf, ourLimits, type PeerLimits } from '../core/wire/version';
import { ConfigError, type RelayConfig } from './config';
import { GraphSync } from './graph-sync';
import type { Ground, RelayStore } from './ground';
import { Identities } from './identities';
import type { Log, LogWord } from './log';
import { Peer, type PeerHost, type PeerSocket } from './peer';
import { RelayGraph } from './relay-graph';

/** Seconds a peer of a relay that goes away is asked to wait before it comes back. */
const comeBackAfter = '5';

/** Longest wait of a timer of Node, ms. */
const timerMax = 2 ** 31 - 1;

/** What the health page tells: counts and states, never a peer. */
export interface RelayHealth {
  readonly synced: boolean;
  readonly peers: number;
  readonly ready: number;
}

/** A relay without its listening socket: store, graph, peers and the turn of slots. */
export class Relay {
  readonly #identities: Identities | undefined;
  readonly #store: RelayStore;
  readonly #graph: RelayGraph;
  readonly #peers = new Set<Peer>();
  readonly #sync: GraphSync<Peer>;
  readonly #host: PeerHost;
  #cancelPrune: () => void = () => undefined;
  #stopping = false;

  /** Opens the store. Throws a `StoreError` when it cannot, a `ConfigError` when the list of identities is none. */
  constructor(
    private readonly config: RelayConfig,
    private readonly log: Log,
    private readonly now: () => number,
    private readonly ground: Ground,
  ) {
    this.#identities = config.identities === undefined ? undefined : new Identities(config.identities);
    const registry = this.#identities;
    this.#store = ground.openStore(config.store, () => (registry ? { registry } : {}));
    this.#graph = new RelayGraph(this.#store, config, now, config.bootstrap);
    this.#host = {
      session: sessionOf(config, ground),
      timing: ground.timing,
      graph: this.#graph,
      outboundBytesMax: config.outboundBytesMax,
      eventsPerMinuteMax: config.eventsPerMinuteMax,
      bytesPerMinuteMax: config.bytesPerMinuteMax,
      now,
      ready: (peer) => this.#onReady(peer),
      gone: (peer, why) => this.#onGone(peer, why),
      relay: (from, body) => this.#relay(from, body),
    };
    this.#sync = new GraphSync({
      graph: this.#graph,
      log,
      every: ground.every,
      peers: () => this.#peers,
      relay: (from, event) => this.#relay(from, event),
    });
  }

  /** Forgets old slots and does so again at every turn of the slot; asks peers for what they have, and again. */
  async start(): Promise<void> {
    this.#sync.start();
    await this.#prune();
  }

  /** Reads the registered identities again; a list that is wrong leaves the old one standing. */
  reload(): void {
    if (this.#identities === undefined) return;
    try {
      this.#identities.reload();
      this.log('info', 'identities read', { identities: this.#identities.size });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.log('error', 'identities kept', { why: error.kind, identities: this.#identities.size });
    }
  }

  /** Takes in an open connection, whichever side dialled. */
  accept(socket: PeerSocket): void {
    if (this.#stopping) socket.close(closeCodes.goingAway, comeBackAfter);
    else this.#peers.add(new Peer(this.#host, socket));
  }

  health(): RelayHealth {
    const ready = [...this.#peers].filter((peer) => peer.isReady).length;
    return { synced: this.#graph.synced, peers: this.#peers.size, ready };
  }

  /** Sends everyone away, writes everything down and closes the store. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#cancelPrune();
    this.#sync.stop();
    for (const peer of this.#peers) peer.close(closeCodes.goingAway, 'going away', comeBackAfter);
    await this.#store.close();
  }

  #onReady(peer: Peer): void {
    // A node that comes again before its old connection is known to be dead; upstream nodes have no id.
    for (const other of this.#peers) {
      const same = other !== peer && other.nodeId !== '' && other.nodeId === peer.nodeId;
      if (same) other.close(closeCodes.replaced, 'replaced');
    }
    this.log('info', 'peer ready', { peers: this.#peers.size });
    this.#sync.onReady(peer);
  }

  #onGone(peer: Peer, why: LogWord): void {
    this.#peers.delete(peer);
    this.log('info', 'peer gone', { why, peers: this.#peers.size });
  }

  /** One frame serves all: the bytes are the same for everyone. */
  #relay(from: Peer, body: EventBody): void {
    const frame = frameOf(this.config.profile, { say: 'put', ...body });
    for (const peer of this.#peers) if (peer !== from && peer.isReady) peer.sendFrame(frame);
  }

  async #prune(): Promise<void> {
    try {
      const events = await this.#graph.prune();
      if (events > 0) this.log('info', 'slots forgotten', { events });
    } catch {
      this.log('error', 'pruning failed', { why: 'store' });
    }
    if (this.#stopping) return;
    const { profile } = this.config;
    const wait = slotOf(profile, this.now()) + profile.rotationMs - this.now();
    this.#cancelPrune = this.ground.timing.after(Math.min(wait, timerMax), () => void this.#prune());
  }
}

function sessionOf(config: RelayConfig, { random }: Ground): SessionConfig {
  const [high = 0, low = 0] = random(2);
  return {
    profile: config.profile,
    nodeId: toHex(random(16)),
    address: config.publicUrl,
    features: featuresOf(announcedBy(config)),
    nonce: high * 256 + low,
    handshakeMs: config.handshakeMs,
  };
}

/** A batch of what a peer has to put again must never be a flood: where the allowance is smaller, so is the batch. */
function announcedBy(config: RelayConfig): PeerLimits {
  const { eventsPerMinuteMax, bytesPerMinuteMax } = config;
  const events = Math.floor((eventsPerMinuteMax * limits.eventReplyEventsMax) / limits.floodEventsMax);
  return {
    ...ourLimits,
    batchEventsMax: Math.max(1, Math.min(ourLimits.batchEventsMax, events)),
    batchBytesMax: Math.min(ourLimits.batchBytesMax, Math.floor(bytesPerMinuteMax / 2)),
  };
}
