import type { FetchedEvent } from '../../src/core/graph/fetched';
import { newestSlots } from '../../src/core/graph/slots';
import { beginFetch, beginSync, type SyncInput, type SyncState, stepSync } from '../../src/core/graph/sync';
import { type Bytes, type EventId, type Slot, toHex } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { frameOf, type Message, type Question } from '../../src/core/link/messages';
import { receive } from '../../src/core/link/receive';
import {
  ask,
  nextDeadline,
  openSession,
  type Session,
  type SessionEvent,
  tick,
} from '../../src/core/link/session';
import {
  type Args,
  type Outcome,
  type ReadName,
  registered,
  type Scripts,
  type WriteName,
} from '../../src/core/transactions/registry';
import type { PutResult } from '../../src/core/wire/event-put';
import { holdfast, slotOf } from '../../src/core/wire/profile';
import { featuresOf } from '../../src/core/wire/version';
import { runSynchronously } from '../../src/store/group/run-synchronously';
import { MemoryTables } from '../../src/store/memory/memory-tables';
import { goingAway, type Link, type Listener, type Network } from './network';
import type { FaultRates } from './plan';
import type { Watch } from './watch';
import { Life, timeItself, type World } from './world';

type Answer = Extract<SessionEvent, { readonly type: 'tips' | 'headers' | 'events' }> | undefined;

const place = {
  account: '00'.repeat(16),
  profile: holdfast.name,
  slotsRetained: holdfast.relaySlotsRetained,
};
const bytesMax = 1_000_000_000;
const redialMs = 4_000;
const dialMs = 15_000;
const resyncMs = 240_000;
/** Slots a relay syncs with another: the network of a run is a few slots old. */
const syncSlots = 6;

/** Work that is done one piece after another. What waits for a life that is over is never done. */
class WorkLine {
  readonly #waiting: (() => Promise<void>)[] = [];
  #working = false;

  push(work: () => Promise<void>): void {
    this.#waiting.push(work);
    if (!this.#working) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#working = true;
    for (let work = this.#waiting.shift(); work !== undefined; work = this.#waiting.shift()) await work();
    this.#working = false;
  }
}

/** One session of a relay, with whoever is at the other end. */
class Peer {
  session: Session;
  readonly #asked = new Map<string, (answer: Answer) => void>();
  #tags = 0;
  #timer: Life | undefined;

  constructor(
    private readonly relay: SimRelay,
    readonly link: Link,
    readonly side: 'dialling' | 'answering',
    readonly isRelay: boolean,
    private readonly life: Life,
  ) {
    const config = {
      profile: holdfast,
      nodeId: relay.nodeId,
      address: `wss://${relay.name}`,
      features: featuresOf(),
      nonce: relay.world.random.below(0x1_0000),
    };
    const step = openSession(config, relay.clock());
    this.session = step.session;
    this.#apply(step);
  }

  get ready(): boolean {
    return this.session.phase === 'ready';
  }

  take(bytes: Bytes): void {
    this.#apply(receive(this.session, bytes, this.relay.clock()));
  }

  say(message: Message): void {
    if (!this.ready) return;
    if (message.say === 'status' && this.session.limits?.status !== true) return;
    this.link.send(this.side, frameOf(holdfast, message));
  }

  ask(question: (tag: string) => Question): Promise<Answer> {
    const tag = `${++this.#tags}`;
    return new Promise((resolve) => {
      this.#asked.set(tag, resolve);
      this.#apply(ask(this.session, question(tag), this.relay.clock()));
    });
  }

  end(): void {
    this.session = { ...this.session, phase: 'closed' };
    this.#timer?.end();
    for (const resolve of this.#asked.values()) resolve(undefined);
    this.#asked.clear();
  }

  #apply(step: { session: Session; out: readonly Bytes[]; events: readonly SessionEvent[] }): void {
    this.session = step.session;
    for (const frame of step.out) this.link.send(this.side, frame);
    for (const event of step.events) this.#onEvent(event);
    this.#setTimer();
  }

  #onEvent(event: SessionEvent): void {
    switch (event.type) {
      case 'tips':
      case 'headers':
      case 'events':
        return this.#settle(event.tag, event);
      case 'refused':
        return this.#settle(event.tag, undefined);
      case 'closed':
        this.link.close(this.side, event.code);
        return this.relay.lost(this);
      case 'ready':
        return this.relay.onReady(this);
      case 'dropped':
      case 'status':
        return;
      default:
        this.relay.handle(this, event);
    }
  }

  #settle(tag: string, answer: Answer): void {
    this.#asked.get(tag)?.(answer);
    this.#asked.delete(tag);
  }

  #setTimer(): void {
    this.#timer?.end();
    const at = nextDeadline(this.session);
    if (!Number.isFinite(at)) return;
    this.#timer = new Life(this.relay.name, this.life);
    const due = at - this.relay.clock();
    this.relay.world.park(
      this.#timer,
      'ticks',
      due,
      () => this.#apply(tick(this.session, this.relay.clock())),
      1,
    );
  }
}

/**
 * A relay of the simulator: the house's link session and graph scripts over rows that survive it. What it has not
 * committed is lost with it.
 */
export class SimRelay implements Listener {
  readonly tables = new MemoryTables();
  nodeId = '';
  #life: Life;
  #peers = new Set<Peer>();
  /** The newest link dialled to each other relay. */
  readonly #dialled = new Map<string, Link>();
  /** Events are taken in one after another, questions are answered one after another: neither waits for the other. */
  #puts = new WorkLine();
  #questions = new WorkLine();
  #synced: boolean;

  constructor(
    readonly world: World,
    private readonly network: Network,
    private readonly watch: Watch,
    private readonly rates: FaultRates,
    readonly name: string,
    /** Other relays; with none it is the first node of its network. */
    private readonly others: readonly string[],
    private readonly skewMs: number,
    private readonly scripts: Scripts = registered,
  ) {
    this.#life = new Life(name);
    this.#synced = others.length === 0;
    network.serve(this);
    this.#begin();
  }

  clock(): number {
    return this.world.now + this.skewMs;
  }

  get alive(): boolean {
    return this.#life.alive;
  }

  /** The process ends, with everything it had not committed, and starts again by itself after a while. */
  crash(downMs: number = this.world.random.between(500, 8_000)): void {
    if (!this.#life.alive) return;
    this.world.count('relay-crash');
    const old = this.#life;
    old.end();
    this.network.gone((life) => !life.alive);
    this.world.park(timeItself, `${this.name} starts again`, downMs, () => this.#begin());
  }

  accept(link: Link): { life: Life; owner: ReturnType<SimRelay['owner']> } | undefined {
    if (!this.#life.alive) return undefined;
    const isRelay = link.dialling.site instanceof SimRelay;
    return { life: this.#life, owner: this.owner(() => link, 'answering', isRelay) };
  }

  /** The relay's end of one link. */
  owner(
    link: () => Link,
    side: 'dialling' | 'answering',
    isRelay: boolean,
  ): {
    opened(): void;
    frame(bytes: Bytes): void;
    written(): void;
    closed(): void;
  } {
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

  handle(peer: Peer, event: SessionEvent): void {
    const line = event.type === 'put' ? this.#puts : this.#questions;
    line.push(() => this.#handle(peer, event));
  }

  #begin(): void {
    this.#life = new Life(this.name);
    this.nodeId = toHex(this.world.random.bytes(16));
    this.#peers = new Set();
    this.#puts = new WorkLine();
    this.#questions = new WorkLine();
    this.#synced = this.others.length === 0 || this.#synced;
    for (const other of this.others) this.#dial(other);
    this.#prune();
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
    this.world.park(
      this.#life,
      `redials ${other}`,
      this.world.random.between(redialMs >> 1, redialMs),
      () => {
        if (this.#dialled.get(other)?.dialling.over !== false) this.#dial(other);
      },
    );
  }

  #resyncLater(): void {
    this.world.park(this.#life, 'syncs again', resyncMs, () => {
      for (const peer of this.#peers) if (peer.isRelay && peer.ready) void this.#syncWith(peer);
      this.#prune();
      this.#resyncLater();
    });
  }

  #prune(): void {
    void this.#transact('pruneGraph', { ...place, now: this.clock() });
  }

  #transact<N extends WriteName>(name: N, args: Args<N>): Promise<Outcome<N>> {
    return new Promise((resolve) => {
      this.world.park(this.#life, `commits ${name}`, this.world.delay(8, 1_500), () => {
        const { crashes } = this.world;
        const crash = (): void => this.crash();
        if (crashes.at(`${name}/commit:before`, crash)) return;
        const [result] = runSynchronously([this.scripts.write(name, args, {}, undefined)], {
          answer: (questions) => this.tables.answer(questions),
          write: (changes) => {
            this.tables.write(changes);
            this.watch.committed(this.name, [name], changes);
          },
        });
        if (crashes.at(`${name}/commit:after`, crash)) return;
        if (result?.ok === true) resolve(result.outcome as Outcome<N>);
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

  async #handle(peer: Peer, event: SessionEvent): Promise<void> {
    switch (event.type) {
      case 'put':
        return this.#onPut(peer, event);
      case 'tips-asked': {
        if (event.slot === undefined) return peer.say({ say: 'tips', tips: [] });
        return peer.say({ say: 'tips', tips: await this.#read('graphTips', { ...place, slot: event.slot }) });
      }
      case 'headers-asked': {
        if (event.slot === undefined) return peer.say({ say: 'headers', headers: [] });
        const at = { ...place, slot: event.slot, tips: event.tips };
        let outcome = await this.#read('graphHeaders', at);
        while (!outcome.done) outcome = await this.#read('graphHeaders', { ...at, walk: outcome.walk });
        return peer.say({ say: 'headers', headers: outcome.headers });
      }
      case 'events-asked': {
        const bounds = { eventsMax: limits.eventReplyEventsMax, bytesMax: limits.batchBytesMax };
        const wanted = { account: place.account, ids: event.ids, ...bounds };
        return peer.say({ say: 'events', events: await this.#read('graphBodies', wanted) });
      }
    }
  }

  async #onPut(peer: Peer, put: SessionEvent & { readonly type: 'put' }): Promise<void> {
    if (this.world.fault('relay-busy', this.rates.relayBusy)) {
      return this.#status(peer, put.id, { type: 'nack', reason: 'busy' });
    }
    let outcome = await this.#put(put);
    if (outcome.verdict === 'missing') {
      const begun = beginFetch(holdfast, outcome.slot, { batchEventsMax: 8 }, outcome.parents);
      if (await this.#run(peer, begun, outcome.slot)) outcome = await this.#put(put);
    }
    switch (outcome.verdict) {
      case 'inserted':
        for (const other of this.#peers) {
          if (other !== peer) other.say({ say: 'put', event: put.event, blob: put.blob });
        }
        return this.#status(peer, put.id, { type: 'has', inserted: true });
      case 'known':
        return this.#status(peer, put.id, { type: 'has', inserted: false });
      case 'refused':
        return this.#status(peer, put.id, { type: 'nack', reason: outcome.reason });
      case 'missing':
        return this.#status(peer, put.id, { type: 'nack', reason: 'busy' });
      case 'flood':
        return;
    }
  }

  #put(put: SessionEvent & { readonly type: 'put' }): Promise<Outcome<'relayPut'>> {
    const { event, blob } = put;
    const how = { now: this.clock(), synced: this.#synced, flooded: false, bytesMax };
    return this.#transact('relayPut', { ...place, event, blob, ...how });
  }

  #status(peer: Peer, id: EventId, result: PutResult): void {
    if (this.world.fault('status-lost', this.rates.statusLost)) return;
    const status = { say: 'status', status: { id, result } } as const;
    peer.say(status);
    if (this.world.fault('status-repeated', this.rates.statusRepeated)) {
      const later = this.world.random.between(1, 50_000);
      this.world.park(this.#life, 'says a status again', later, () => peer.say(status));
    }
  }

  async #syncWith(peer: Peer): Promise<void> {
    for (const slot of newestSlots(holdfast, this.clock(), syncSlots)) {
      if (!peer.ready) return;
      await this.#run(peer, beginSync(holdfast, slot, { batchEventsMax: 8 }), slot);
      if (slot === slotOf(holdfast, this.clock()) && peer.ready) this.#synced = true;
    }
  }

  async #run(peer: Peer, begun: SyncState, slot: Slot): Promise<boolean> {
    let state = begun;
    while (state.output.want !== 'nothing') {
      const input = await this.#answer(peer, state, slot);
      if (input === undefined) return false;
      state = stepSync(state, input);
    }
    return state.output.result.end === 'complete';
  }

  async #answer(peer: Peer, state: SyncState, slot: Slot): Promise<SyncInput | undefined> {
    const { output } = state;
    switch (output.want) {
      case 'peer-tips': {
        const got = await peer.ask((tag) => ({ ask: 'tips', tag, slot }));
        return got?.type === 'tips' ? { got: 'peer-tips', tips: got.tips } : undefined;
      }
      case 'headers': {
        const got = await peer.ask((tag) => ({ ask: 'headers', tag, slot, tips: output.tips }));
        return got?.type === 'headers' ? { got: 'headers', headers: got.headers } : undefined;
      }
      case 'events': {
        const got = await peer.ask((tag) => ({ ask: 'events', tag, ids: output.ids }));
        return got?.type === 'events' ? { got: 'events', events: got.events } : undefined;
      }
      case 'lacking':
        return { got: 'lacking', ids: await this.#read('graphLacking', { ...place, slot, ids: output.ids }) };
      case 'own-tips':
        return { got: 'own-tips', tips: await this.#read('graphTips', { ...place, slot }) };
      case 'insert':
        return { got: 'inserted', outcome: await this.#take(slot, output.events) };
      case 'nothing':
        return undefined;
    }
  }

  #take(slot: Slot, events: readonly FetchedEvent[]): Promise<Outcome<'relayTake'>> {
    return this.#transact('relayTake', { ...place, slot, events, now: this.clock(), bytesMax });
  }
}
