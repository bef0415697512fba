import { type EventId, type Slot, toHex } from '../../../src/core/ids';
import { limits } from '../../../src/core/limits';
import type { EventBody } from '../../../src/core/link/messages';
import type { SessionEvent } from '../../../src/core/link/session';
import { registered } from '../../../src/core/transactions/registry';
import { type Event, eventId } from '../../../src/core/wire/event';
import type { PutResult } from '../../../src/core/wire/event-put';
import { genesisOf, slotOf } from '../../../src/core/wire/profile';
import type { Store } from '../../../src/engine/ports';
import { RelayGraph } from '../../../src/relay/relay-graph';
import { syncSlot } from '../../../src/relay/sync';
import { runSynchronously } from '../../../src/store/group/run-synchronously';
import { MemoryTables } from '../../../src/store/memory/memory-tables';
import { profile } from '../names';
import type { EndOwner, Link, Listener, Network, Side } from '../network';
import type { Prng } from '../prng';
import { Life, timeItself, type World } from '../world';
import { Dialler } from './dialler';
import { badEvents, bodyOf, type Footing, Lies } from './lies';
import { LyingPeer } from './lying-peer';
import type { LiarOptions } from './plan';

const slotsRetained = 24;
const mischiefMs = 8_000;
const rememberedMax = 64;

type Asking<T extends SessionEvent['type']> = SessionEvent & { readonly type: T };

/**
 * Somebody who answers the dials of others and dials them itself, knows the real graph and lies about it: says that it
 * has what it has not, and the other way round, names tips nobody made, alters and withholds bodies, and puts what no
 * honest peer ever would.
 */
export class Liar implements Listener {
  readonly nodeId: string;
  readonly #random: Prng;
  readonly #lies: Lies;
  readonly #tables = new MemoryTables();
  readonly #graph: RelayGraph;
  #life: Life;
  #peers = new Set<LyingPeer>();
  /** Events it was given or made, to be given again. */
  readonly #remembered: EventBody[] = [];
  readonly #ids: EventId[] = [];
  /** Bodies of its own that only their children were put of. */
  readonly #withheld = new Map<EventId, EventBody>();
  /** It makes events of its own; afterwards it only lies. */
  makes = true;

  constructor(
    readonly world: World,
    private readonly network: Network,
    readonly name: string,
    private readonly options: LiarOptions,
  ) {
    this.#random = world.random.fork(`lies of ${name}`);
    this.#lies = new Lies(this.#random);
    this.nodeId = toHex(this.#random.bytes(16));
    const bounds = { profile, slotsRetained, slotsSynced: 2, storeBytesMax: 1e9 };
    this.#graph = new RelayGraph(this.#store(), bounds, () => this.clock(), true);
    this.#life = new Life(name);
    network.serve(this);
    this.#begin();
  }

  clock(): number {
    return this.world.now + this.options.skewMs;
  }

  crash(downMs: number = this.#random.between(500, 8_000)): void {
    if (!this.#life.alive) return;
    this.#life.end();
    this.network.gone((life) => !life.alive);
    this.world.park(timeItself, `${this.name} starts again`, downMs, () => this.#begin());
  }

  /** It is never seen again. */
  leave(): void {
    this.#life.end();
    this.network.gone((life) => !life.alive);
  }

  accept(link: Link): { readonly life: Life; readonly owner: EndOwner } | undefined {
    if (!this.#life.alive) return undefined;
    const life = this.#life;
    let peer: LyingPeer | undefined;
    const owner: EndOwner = {
      opened: () => {
        peer = this.#newPeer(link, 'answering', life);
      },
      frame: (bytes) => peer?.owner.frame(bytes),
      closed: (code) => peer?.owner.closed(code),
    };
    return { life, owner };
  }

  onReady(peer: LyingPeer): void {
    if (this.#random.perMille(500)) void this.#learn(peer);
    this.#mischiefLater(peer);
  }

  left(peer: LyingPeer): void {
    this.#peers.delete(peer);
  }

  async answer(peer: LyingPeer, event: SessionEvent): Promise<void> {
    switch (event.type) {
      case 'put':
        return this.#onPut(peer, event);
      case 'tips-asked':
        return this.#onTipsAsked(peer, event);
      case 'headers-asked':
        return this.#onHeadersAsked(peer, event);
      case 'events-asked':
        return this.#onEventsAsked(peer, event);
      default:
    }
  }

  #begin(): void {
    const life = new Life(this.name);
    this.#life = life;
    this.#peers = new Set();
    const dialler = new Dialler(this.world, this.network, this, life, (link) => {
      const peer = this.#newPeer(link, 'dialling', life);
      return {
        frame: peer.owner.frame,
        closed: (code) => {
          peer.owner.closed(code);
          dialler.ended(link);
        },
      };
    });
    for (const other of this.options.dials) dialler.dial(other);
  }

  #newPeer(link: Link, side: Side, life: Life): LyingPeer {
    const peer = new LyingPeer(this, link, side, life);
    this.#peers.add(peer);
    return peer;
  }

  #lie(kind: string): boolean {
    if (!this.#random.perMille(this.options.lies)) return false;
    this.world.count(`lie-${kind}`);
    return true;
  }

  async #onPut(peer: LyingPeer, put: Asking<'put'>): Promise<void> {
    this.#remember(put.id, put);
    const say = (result: PutResult): void => peer.say({ say: 'status', status: { id: put.id, result } });
    if (this.#lie('put')) {
      const kind = this.#random.pick([
        'has',
        'has',
        'too-old',
        'too-old',
        'nack',
        'silent',
        'untold',
      ] as const);
      this.world.count(`lie-${kind}`);
      if (kind === 'has') return say({ type: 'has', inserted: this.#random.perMille(500) });
      if (kind === 'too-old') return say({ type: 'nack', reason: 'too-old' });
      if (kind === 'nack') {
        return say({ type: 'nack', reason: this.#random.pick(['invalid', 'busy', 'not-synced'] as const) });
      }
      if (kind === 'silent') return;
      // Taken, and told to nobody else.
      await this.#graph.put(put.event, put.blob, false);
      return say({ type: 'has', inserted: true });
    }
    const outcome = await this.#graph.put(put.event, put.blob, false);
    if (outcome.verdict === 'inserted' || outcome.verdict === 'known') {
      say({ type: 'has', inserted: outcome.verdict === 'inserted' });
      if (outcome.verdict === 'inserted') this.#tell(put, peer);
    } else say({ type: 'nack', reason: 'busy' });
  }

  async #onTipsAsked(peer: LyingPeer, { slot }: Asking<'tips-asked'>): Promise<void> {
    const tips = await this.#graph.tips(slot);
    if (!this.#lie('tips')) return peer.say({ say: 'tips', tips });
    const kind = this.#random.pick([
      'tips-invented',
      'tips-invented',
      'tips-withheld',
      'tips-unanswered',
    ] as const);
    this.world.count(`lie-${kind}`);
    if (kind === 'tips-invented') peer.say({ say: 'tips', tips: [...tips, ...this.#lies.tips()] });
    if (kind === 'tips-withheld') peer.say({ say: 'tips', tips: [] });
  }

  async #onHeadersAsked(peer: LyingPeer, asked: Asking<'headers-asked'>): Promise<void> {
    const headers = await this.#graph.headers(asked.slot, asked.tips);
    if (!this.#lie('headers')) return peer.say({ say: 'headers', headers });
    const kind = this.#random.pick([
      'headers-invented',
      'headers-withheld',
      'headers-looped',
      'headers-repeated',
    ] as const);
    this.world.count(`lie-${kind}`);
    const footing = await this.#footing();
    if (kind === 'headers-invented') {
      peer.say({ say: 'headers', headers: [...headers, this.#lies.header(footing)] });
    } else if (kind === 'headers-looped') {
      peer.say({ say: 'headers', headers: [...this.#lies.loop(footing), ...headers] });
    } else if (kind === 'headers-repeated') {
      peer.say({ say: 'headers', headers: [...headers, ...headers].reverse() });
    } else peer.say({ say: 'headers', headers: [] });
  }

  async #onEventsAsked(peer: LyingPeer, { ids }: Asking<'events-asked'>): Promise<void> {
    const { eventReplyEventsMax, batchBytesMax } = limits;
    const kept = await this.#graph.bodies(ids, eventReplyEventsMax, batchBytesMax);
    const hidden = ids.flatMap((id) => this.#withheld.get(id) ?? []);
    const events = [...kept, ...(this.#random.perMille(500) ? hidden : [])];
    if (!this.#lie('events')) return peer.say({ say: 'events', events });
    const kind = this.#random.pick([
      'bodies-altered',
      'bodies-altered',
      'bodies-withheld',
      'bodies-unasked',
    ] as const);
    this.world.count(`lie-${kind}`);
    if (kind === 'bodies-altered') {
      peer.say({ say: 'events', events: events.map((body) => this.#lies.altered(body)) });
    } else if (kind === 'bodies-withheld') {
      peer.say({ say: 'events', events: events.slice(0, this.#random.below(events.length + 1)) });
    } else {
      // An answer with anything that was not asked for is none; the real one follows.
      peer.say({ say: 'events', events: [...events, ...this.#remembered.slice(-1)] });
      peer.say({ say: 'events', events });
    }
  }

  /** Learns the real graph, to lie about it. */
  async #learn(peer: LyingPeer): Promise<void> {
    for (const slot of this.#graph.slotsToSync()) await syncSlot(peer, this.#graph, slot);
  }

  #mischiefLater(peer: LyingPeer): void {
    this.world.park(this.#life, 'makes mischief', this.#random.between(500, mischiefMs), () => {
      if (!peer.isReady || (!this.makes && !this.world.faulty)) return;
      void this.#mischief(peer);
      this.#mischiefLater(peer);
    });
  }

  async #mischief(peer: LyingPeer): Promise<void> {
    if (!this.#lie('put-unasked')) return;
    const footing = await this.#footing();
    const kind = this.#random.pick([
      'bad',
      'bad',
      'bad-many',
      'good',
      'half',
      'orphan',
      'replay',
      'status',
      'answer',
    ] as const);
    this.world.count(`lie-put-${kind}`);
    switch (kind) {
      case 'bad':
        return this.#bad(peer, footing);
      case 'bad-many':
        for (let nth = 0; nth <= limits.strikesMax; nth++) this.#bad(peer, footing);
        return;
      case 'good':
        return this.#put(peer, this.#lies.good(footing));
      case 'half':
        return this.#half(peer, footing, true);
      case 'orphan':
        return this.#half(peer, footing, false);
      case 'replay':
        for (const body of this.#remembered.slice(-3)) peer.say({ say: 'put', ...body });
        return;
      case 'status': {
        const id = this.#ids.length === 0 ? this.#lies.id() : this.#random.pick(this.#ids);
        const result: PutResult = this.#random.perMille(500)
          ? { type: 'has', inserted: false }
          : { type: 'nack', reason: 'too-old' };
        return peer.say({ say: 'status', status: { id, result } });
      }
      case 'answer':
        peer.say({ say: 'tips', tips: this.#lies.tips() });
        return peer.say({ say: 'events', events: this.#remembered.slice(-2) });
    }
  }

  #bad(peer: LyingPeer, footing: Footing): void {
    const how = this.#random.pick(badEvents);
    this.world.count(`bad-${how}`);
    peer.say({ say: 'put', ...bodyOf(this.#lies.bad(how, footing)) });
  }

  /** A good event, told to one peer only. */
  #put(peer: LyingPeer, event: Event): void {
    const body = bodyOf(event);
    this.#remember(eventId(event.header), body);
    void this.#graph.put(body.event, body.blob, false);
    peer.say({ say: 'put', ...body });
  }

  /** A good event that only its child is put of; the parent is given when it is asked for, or mostly not. */
  #half(peer: LyingPeer, footing: Footing, given: boolean): void {
    const parent = this.#lies.good(footing);
    const body = bodyOf(parent);
    if (given) this.#withheld.set(eventId(parent.header), body);
    peer.say({ say: 'put', ...bodyOf(this.#lies.child(parent, footing.now)) });
  }

  #tell(put: EventBody, from: LyingPeer): void {
    for (const peer of this.#peers)
      if (peer !== from) peer.say({ say: 'put', event: put.event, blob: put.blob });
  }

  #remember(id: EventId, { event, blob }: EventBody): void {
    this.#ids.push(id);
    this.#remembered.push({ event, blob });
    if (this.#ids.length <= rememberedMax) return;
    this.#ids.shift();
    this.#remembered.shift();
  }

  async #footing(): Promise<Footing> {
    const now = this.clock();
    const slot: Slot = slotOf(profile, now);
    const tips = await this.#graph.tips(slot);
    const genesis = { id: genesisOf(profile, slot).id, layer: 0 };
    return { slot, now, tips: tips.length === 0 ? [genesis] : tips, older: this.#ids[0] };
  }

  /** Its store never dies and never waits: it is no honest one's concern. */
  #store(): Store {
    const done = <T>(result: { readonly ok: boolean; readonly outcome?: unknown } | undefined): T => {
      if (result?.ok !== true) throw new TypeError('a script of a liar failed');
      return result.outcome as T;
    };
    return {
      transact: async (name, args) => {
        const [result] = runSynchronously([registered.write(name, args, {}, undefined)], this.#tables);
        return { outcome: done(result), effects: [] };
      },
      read: async (name, args) => {
        const [result] = runSynchronously([registered.read(name, args, {})], this.#tables);
        return done(result);
      },
    };
  }
}
