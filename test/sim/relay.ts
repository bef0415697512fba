import { type Bytes, type EventId, toHex } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import type { Message } from '../../src/core/link/messages';
import type { SessionEvent } from '../../src/core/link/session';
import {
  type Args,
  type Outcome,
  type ReadName,
  registered,
  type Scripts,
  type WriteName,
} from '../../src/core/transactions/registry';
import type { PutResult } from '../../src/core/wire/event-put';
import type { Committed, Store } from '../../src/engine/ports';
import { type PutSource, Puts } from '../../src/relay/puts';
import { RelayGraph } from '../../src/relay/relay-graph';
import { syncSlot } from '../../src/relay/sync';
import { runSynchronously } from '../../src/store/group/run-synchronously';
import { MemoryTables } from '../../src/store/memory/memory-tables';
import { profile, relayKeys } from './names';
import { goingAway, type Link, type Listener, type Network, type Side } from './network';
import type { Options } from './plan';
import { FalseSession, type Told } from './session';
import type { Watch } from './watch';
import { Life, timeItself, type World } from './world';

const redialMs = 4_000;
const dialMs = 15_000;
const resyncMs = 240_000;
/** Slots a relay syncs with another: the network of a run is a few slots old. */
const slotsSynced = 6;

/** One session of a relay, with whoever is at the other end. What is put goes the way of the real relay. */
class Peer extends FalseSession implements PutSource {
  readonly #puts: Puts;
  #answers: Promise<void> = Promise.resolve();

  constructor(
    private readonly host: SimRelay,
    link: Link,
    side: Side,
    readonly isRelay: boolean,
    life: Life,
  ) {
    super(host, link, side, life, host.world.random.below(0x1_0000));
    this.#puts = new Puts(this, host.putHost);
  }

  /** Nobody is admitted here: relays of a run ask each other often enough. */
  leftOut(): void {}

  /** Nor does a run say so much. */
  heldBack(): void {}

  report(id: EventId, result: PutResult): void {
    if (this.limits?.status === true) this.host.report(this, this.life, id, result);
  }

  relay(put: { readonly event: Bytes; readonly blob: Bytes }): void {
    this.host.relay(this, put);
  }

  close(code: number): void {
    this.link.close(this.side, code);
    this.host.lost(this);
  }

  balance(): void {
    // A false link holds whatever is under way.
  }

  protected override told(event: Told): void {
    switch (event.type) {
      case 'closed':
        return this.close(event.code);
      case 'ready':
        return this.host.onReady(this);
      case 'put':
        return this.host.isBusy() ? this.report(event.id, busy) : this.#puts.push(event);
      case 'tips-asked':
      case 'headers-asked':
      case 'events-asked':
        this.#answers = this.#answers.then(async () => this.say(await this.#answerTo(event)));
        return;
      case 'dropped':
      case 'status':
        return;
    }
  }

  async #answerTo(
    asked: SessionEvent & { readonly type: 'tips-asked' | 'headers-asked' | 'events-asked' },
  ): Promise<Message> {
    const { graph } = this.host;
    switch (asked.type) {
      case 'tips-asked':
        return { say: 'tips', tips: await graph.tips(asked.slot) };
      case 'headers-asked':
        return { say: 'headers', headers: await graph.headers(asked.slot, asked.tips) };
      case 'events-asked': {
        const { eventReplyEventsMax, batchBytesMax } = limits;
        return { say: 'events', events: await graph.bodies(asked.ids, eventReplyEventsMax, batchBytesMax) };
      }
    }
  }
}

const busy: PutResult = { type: 'nack', reason: 'busy' };

/**
 * A relay of the simulator: the real relay's graph, puts and sync, and the house's link session, over rows that
 * survive it and a false network. What it has not committed is lost with it.
 */
export class SimRelay implements Listener {
  readonly tables = new MemoryTables();
  nodeId = '';
  graph: RelayGraph;
  #life: Life;
  #peers = new Set<Peer>();
  /** The newest link dialled to each other relay. */
  readonly #dialled = new Map<string, Link>();

  constructor(
    readonly world: World,
    private readonly network: Network,
    private readonly watch: Watch,
    private readonly options: Options,
    readonly name: string,
    /** Other relays; with none it is the first node of its network. */
    private readonly others: readonly string[],
    private readonly skewMs: number,
    private readonly scripts: Scripts = registered,
  ) {
    this.#life = new Life(name);
    this.graph = this.#newGraph();
    network.serve(this);
    this.#begin();
  }

  clock(): number {
    return this.world.now + this.skewMs;
  }

  get putHost(): ConstructorParameters<typeof Puts>[1] {
    const { graph } = this;
    return {
      graph,
      eventsPerMinuteMax: limits.floodEventsMax,
      bytesPerMinuteMax: 8_388_608,
      now: () => this.clock(),
    };
  }

  /** The process ends, with everything it had not committed, and starts again by itself after a while. */
  crash(downMs: number = this.world.random.between(500, 8_000)): void {
    if (!this.#life.alive) return;
    this.world.count('relay-crash');
    this.#life.end();
    this.network.gone((life) => !life.alive);
    this.world.park(timeItself, `${this.name} starts again`, downMs, () => this.#begin());
  }

  accept(link: Link): { readonly life: Life; readonly owner: ReturnType<SimRelay['owner']> } | undefined {
    if (!this.#life.alive) return undefined;
    const isRelay = link.dialling.site instanceof SimRelay;
    return { life: this.#life, owner: this.owner(() => link, 'answering', isRelay) };
  }

  /** The relay's end of one link. */
  owner(
    link: () => Link,
    side: Side,
    isRelay: boolean,
  ): { opened(): void; frame(bytes: Bytes): void; written(): void; closed(): void } {
    let peer: Peer | undefined;
    return {
      opened: () => {
        peer = new Peer(this, link(), side, isRelay, this.#life);
        this.#peers.add(peer);
      },
      frame: (bytes) => peer?.take(bytes),
      written: () => undefined,
      closed: () => {
        if (peer !== undefined) this.lost(peer);
        else if (side === 'dialling') this.#redial(link().target);
      },
    };
  }

  onReady(peer: Peer): void {
    if (peer.isRelay) void this.#syncWith(peer);
  }

  lost(peer: Peer): void {
    if (!this.#peers.delete(peer)) return;
    peer.end();
    if (peer.side === 'dialling') this.#redial(peer.link.target);
  }

  relay(from: Peer, put: { readonly event: Bytes; readonly blob: Bytes }): void {
    for (const peer of this.#peers) if (peer !== from) peer.say({ say: 'put', ...put });
  }

  isBusy(): boolean {
    return this.world.fault('relay-busy', this.options.rates.relayBusy);
  }

  /** A status goes out, or is lost, or goes out again later. */
  report(peer: Peer, life: Life, id: EventId, result: PutResult): void {
    const { rates, statusDelayMs } = this.options;
    if (this.world.fault('status-lost', rates.statusLost)) return;
    const status = { say: 'status', status: { id, result } } as const;
    if (statusDelayMs === undefined) peer.say(status);
    else this.world.park(life, 'says a status', statusDelayMs, () => peer.say(status));
    if (!this.world.fault('status-repeated', rates.statusRepeated)) return;
    this.world.park(life, 'says a status again', this.world.random.between(1, 50_000), () =>
      peer.say(status),
    );
  }

  #newGraph(): RelayGraph {
    const bounds = { profile, slotsRetained: profile.relaySlotsRetained, slotsSynced, storeBytesMax: 1e9 };
    return new RelayGraph(this.#store(), bounds, () => this.clock(), this.others.length === 0);
  }

  #begin(): void {
    this.#life = new Life(this.name);
    this.nodeId = toHex(this.world.random.bytes(16));
    this.#peers = new Set();
    this.graph = this.#newGraph();
    for (const other of this.others) this.#dial(other);
    void this.graph.prune();
    this.#resyncLater();
  }

  #dial(other: string): void {
    const holder: { link?: Link } = {};
    const owner = this.owner(() => holder.link as Link, 'dialling', true);
    const link = this.network.dial(this, this.#life, owner, other);
    holder.link = link;
    this.#dialled.set(other, link);
    // Nobody answers and nobody refuses: tried again.
    this.world.park(this.#life, 'looks after its dial', dialMs, () => {
      if (link.answering !== undefined || link.dialling.over) return;
      link.close('dialling', goingAway);
      this.#redial(other);
    });
  }

  #redial(other: string): void {
    const pauseMs = this.world.random.between(redialMs >> 1, redialMs);
    this.world.park(this.#life, `redials ${other}`, pauseMs, () => {
      if (this.#dialled.get(other)?.dialling.over !== false) this.#dial(other);
    });
  }

  #resyncLater(): void {
    this.world.park(this.#life, 'syncs again', resyncMs, () => {
      for (const peer of this.#peers) if (peer.isRelay && peer.isReady) void this.#syncWith(peer);
      this.#resyncLater();
    });
  }

  async #syncWith(peer: Peer): Promise<void> {
    const { graph } = this;
    for (const slot of graph.slotsToSync()) if ((await syncSlot(peer, graph, slot)) !== 'complete') return;
    graph.synced = true;
  }

  #store(): Store {
    return {
      transact: (name, args) => this.#transact(name, args),
      read: (name, args) => this.#read(name, args),
    };
  }

  #transact<N extends WriteName>(name: N, args: Args<N>): Promise<Committed<Outcome<N>>> {
    return new Promise((resolve) => {
      this.world.park(this.#life, `commits ${name}`, this.world.delay(8, 1_500), () => {
        const { crashes } = this.world;
        const crash = (): void => this.crash();
        if (crashes.at(`${name}/commit:before`, crash)) return;
        const [result] = runSynchronously([this.scripts.write(name, args, relayKeys, undefined)], {
          answer: (questions) => this.tables.answer(questions),
          write: (changes) => {
            this.tables.write(changes);
            this.watch.committed(this.name, [name], changes);
          },
        });
        if (crashes.at(`${name}/commit:after`, crash)) return;
        if (result?.ok === true) resolve({ outcome: result.outcome as Outcome<N>, effects: result.effects });
        else this.world.breach('throw', `${name}: ${String(result?.error)}`);
      });
    });
  }

  #read<N extends ReadName>(name: N, args: Args<N>): Promise<Outcome<N>> {
    return new Promise((resolve) => {
      this.world.park(this.#life, `reads ${name}`, this.world.delay(3, 400), () => {
        const [result] = runSynchronously([this.scripts.read(name, args, {})], this.tables);
        if (result?.ok === true) resolve(result.outcome as Outcome<N>);
        else this.world.breach('throw', `${name}: ${String(result?.error)}`);
      });
    });
  }
}
