import { limits } from '../core/limits';
import { type EventBody, frameOf } from '../core/link/messages';
import { closeCodes, type SessionConfig } from '../core/link/session';
import { slotOf } from '../core/wire/profile';
import { featuresOf, ourLimits, type PeerLimits } from '../core/wire/version';
import { ConfigError, type RelayConfig } from './config';
import { Dialler } from './dialler';
import { GraphSync } from './graph-sync';
import type { Ground, RelayStore } from './ground';
import { Identities } from './identities';
import type { Log, LogWord } from './log';
import { type NodeIds, newNodeIds } from './node-name';
import { Peer, type PeerHost } from './peer';
import { RelayGraph } from './relay-graph';
import { putTips } from './repair';
import type { PeerSocket } from './socket';
import type { Source } from './sources';

/** Seconds a peer of a relay that goes away is asked to wait before it comes back. */
const comeBackAfter = '5';

/** Longest wait of a timer of Node, ms. */
const timerMax = 2 ** 31 - 1;

/** What the health page tells: counts and states, never a peer. */
export interface RelayHealth {
  readonly synced: boolean;
  readonly peers: number;
  readonly ready: number;
  /** Relays this one dials, and how many of them it has. */
  readonly outbound: number;
  readonly reached: number;
  /** Events that found no room on their way to a peer; what it lacks for that, it is made to ask for. */
  readonly dropped: number;
  /** Rows of the store that cannot be read and are passed over, if there are any. */
  readonly damagedRows?: number;
}

/** A relay without its listening socket: store, graph, peers and the turn of slots. */
export class Relay {
  readonly #identities: Identities | undefined;
  readonly #store: RelayStore;
  readonly #graph: RelayGraph;
  readonly #peers = new Set<Peer>();
  readonly #sync: GraphSync<Peer>;
  readonly #host: PeerHost;
  readonly #ids: NodeIds;
  readonly #dialler: Dialler<Peer>;
  #dropped = 0;
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
    this.#ids = newNodeIds(ground.random);
    this.#host = this.#hostOfPeers();
    this.#dialler = new Dialler(this.#hostOfDialler(), config.outbound);
    this.#sync = new GraphSync({
      graph: this.#graph,
      log,
      now,
      every: ground.every,
      peers: () => this.#peers,
      relay: (from, event) => this.#relay(from, event),
      left: (from) => this.#markBehind(from),
    });
  }

  /** Forgets old slots and does so again at every turn of the slot; asks peers for what they have, and again. */
  async start(): Promise<void> {
    this.#sync.start();
    await this.#prune();
    this.#dialler.start();
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

  /** Takes in an open connection from somewhere. */
  accept(socket: PeerSocket, source?: Source): void {
    if (this.#stopping) return socket.close(closeCodes.goingAway, comeBackAfter);
    const peer = new Peer(this.#host, socket);
    peer.source = source;
    this.#peers.add(peer);
  }

  health(): RelayHealth {
    const ready = [...this.#peers].filter((peer) => peer.isReady).length;
    const { damagedRows = 0 } = this.#store;
    const health = {
      synced: this.#graph.synced,
      peers: this.#peers.size,
      ready,
      outbound: this.config.outbound.length,
      reached: this.#dialler.reached,
      dropped: this.#dropped,
    };
    return damagedRows === 0 ? health : { ...health, damagedRows };
  }

  /** Sends everyone away, writes everything down and closes the store. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#cancelPrune();
    this.#sync.stop();
    this.#dialler.stop();
    for (const peer of this.#peers) peer.close(closeCodes.goingAway, 'going away', comeBackAfter);
    await this.#store.close();
  }

  #hostOfPeers(): PeerHost {
    const { config, now, ground } = this;
    return {
      session: { ...sessionOf(config, ground), nodeId: this.#ids.name },
      graph: this.#graph,
      outboundBytesMax: config.outboundBytesMax,
      eventsPerMinuteMax: config.eventsPerMinuteMax,
      bytesPerMinuteMax: config.bytesPerMinuteMax,
      now,
      timing: ground.timing,
      pauses: ground.pauses,
      ready: (peer) => this.#onReady(peer),
      admitted: (peer) => this.#onAdmitted(peer),
      gone: (peer, why) => this.#onGone(peer, why),
      relay: (from, body) => this.#relay(from, body),
      leftOut: (peer) => this.#sync.onLeftOut(peer),
      heldBack: (peer) => this.#markBehind(peer),
      dropped: () => {
        this.#dropped += 1;
      },
      repair: (peer) => this.#repair(peer),
    };
  }

  #hostOfDialler(): ConstructorParameters<typeof Dialler<Peer>>[0] {
    const { log, now } = this;
    const { pauses, dial } = this.ground;
    return {
      name: this.#ids.name,
      timing: pauses,
      log,
      now,
      dial,
      opened: (socket, address) => {
        const session = { ...this.#host.session, nodeId: this.#ids.secret, address };
        const peer = new Peer(this.#host, socket, session);
        this.#peers.add(peer);
        return peer;
      },
      peers: () => this.#peers,
    };
  }

  #onReady(peer: Peer): void {
    this.log('info', 'peer ready', { peers: this.#peers.size });
    this.#dialler.onReady(peer);
    this.#sync.onReady(peer);
  }

  /** What either side took in while there was no link, the other one has to ask for. */
  #onAdmitted(peer: Peer): void {
    this.#sync.onMeshLink(peer);
    peer.markBehind();
  }

  #onGone(peer: Peer, why: LogWord): void {
    this.#peers.delete(peer);
    peer.source?.left(why);
    this.#dialler.onGone(peer);
    this.log('info', 'peer gone', { why, peers: this.#peers.size });
  }

  /** One frame serves all: the bytes are the same for everyone. */
  #relay(from: Peer, body: EventBody): void {
    const frame = frameOf(this.config.profile, { say: 'put', ...body });
    for (const peer of this.#peers) if (peer !== from) peer.handOn(frame);
  }

  #markBehind(from: Peer): void {
    for (const peer of this.#peers) if (peer !== from) peer.markBehind();
  }

  async #repair(peer: Peer): Promise<void> {
    try {
      await putTips(peer, this.#graph);
    } catch {
      this.log('error', 'repair failed', { why: 'store' });
    }
  }

  async #prune(): Promise<void> {
    try {
      const events = await this.#graph.prune();
      if (events > 0) this.log('info', 'slots forgotten', { events });
    } catch {
      this.log('error', 'pruning failed', { why: 'store' });
    }
    const { damagedRows = 0 } = this.#store;
    if (damagedRows > 0) this.log('error', 'rows damaged', { rows: damagedRows });
    if (this.#stopping) return;
    const { profile } = this.config;
    const wait = slotOf(profile, this.now()) + profile.rotationMs - this.now();
    this.#cancelPrune = this.ground.timing.after(Math.min(wait, timerMax), () => void this.#prune());
  }
}

function sessionOf(config: RelayConfig, { random }: Ground): Omit<SessionConfig, 'nodeId'> {
  const [high = 0, low = 0] = random(2);
  return {
    profile: config.profile,
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
