import type { Bytes } from '../../src/core/ids';
import { closeCodes } from '../../src/core/link/session';
import { Reader } from '../../src/core/wire/codec';
import { kindOf } from './crash';
import type { FaultRates } from './plan';
import type { Watch } from './watch';
import type { Life, World } from './world';

/** A process at an address: it can crash as a whole. */
export interface Site {
  readonly name: string;
  crash(): void;
}

/** What one end of a link is told. */
export interface EndOwner {
  opened(): void;
  frame(bytes: Bytes): void;
  /** A frame it sent has been taken, or is lost: it waits no more. */
  drained?(): void;
  /** Absent where nobody asks for it. */
  written?(sequence: number): void;
  closed(code: number): void;
}

/** One end of a link. */
interface End {
  readonly site: Site;
  readonly life: Life;
  readonly owner: EndOwner;
  /** It was told that the link is over, or ended it itself. */
  over: boolean;
  /** Frames of one link stay in order. */
  lastAt: number;
  /** What was sent to it and has not come. */
  waitingBytes: number;
}

/** Where links can be dialled. */
export interface Listener extends Site {
  /** The end that answers; `undefined` while the process is down. */
  accept(link: Link): { readonly life: Life; readonly owner: EndOwner } | undefined;
}

const abnormal = 1006;

/** What a link ends with whose other end seems to speak another language, or none. */
const misunderstood: ReadonlySet<number> = new Set([
  closeCodes.badFrame,
  closeCodes.incompatible,
  closeCodes.flood,
  closeCodes.tooBig,
]);

/** Which end of a link. */
export type Side = 'dialling' | 'answering';

/** One link: two ends, frames in order, a death that each end learns in its own time. */
export class Link {
  answering: End | undefined;
  /** Frames under way are gone. */
  lost = false;
  /** Nothing passes any more and nobody is told. */
  silent = false;
  /** The dialler may still get what was under way when the link ended: a carrier hands it on late. */
  late = false;

  constructor(
    private readonly network: Network,
    readonly dialling: End,
    readonly target: string,
  ) {}

  send(from: Side, bytes: Bytes, sequence = 0): void {
    const end = this[from];
    if (end?.life.alive && !end.over) this.network.carry(this, end, this.other(end), bytes, sequence);
  }

  close(from: Side, code: number): void {
    const end = this[from];
    if (end === undefined || end.over) return;
    end.over = true;
    const other = this.other(end);
    this.network.closed(end.site.name, other?.site.name ?? this.target, code);
    this.late = this.network.isLate();
    if (other !== undefined && !this.silent) this.network.tell(this, other, code);
  }

  /** The network ends it: both ends learn it, each in its time, and what was under way may be lost. */
  cut(): void {
    this.lost = !this.network.isLate();
    for (const end of [this.dialling, this.answering]) {
      // What was under way may come after the news of the end, as from a carrier that hands it on late.
      if (end !== undefined) this.network.tell(this, end, abnormal, this.lost);
    }
  }

  other(end: End): End | undefined {
    return end === this.dialling ? this.answering : this.dialling;
  }

  get over(): boolean {
    return this.dialling.over && (this.answering?.over ?? true);
  }
}

/** Latency, loss as death of the link, delay, silence and partitions. A completed write is no delivery. */
export class Network {
  readonly #listeners = new Map<string, Listener>();
  readonly #apart = new Set<string>();
  readonly #slowMs = new Map<string, number>();
  #links: Link[] = [];

  constructor(
    private readonly world: World,
    private readonly rates: FaultRates,
    private readonly watch: Watch,
  ) {
    watch.isConnected = (site) =>
      this.#links.some(
        (link) => link.dialling.site.name === site && link.answering !== undefined && !link.over,
      );
  }

  serve(listener: Listener): void {
    this.#listeners.set(listener.name, listener);
  }

  dial(site: Site, life: Life, owner: EndOwner, target: string): Link {
    const dialling: End = { site, life, owner, over: false, lastAt: 0, waitingBytes: 0 };
    const link = new Link(this, dialling, target);
    this.#links = this.#links.filter((one) => !one.over);
    this.#links.push(link);
    this.watch.dialled(life, target, link);
    this.world.park(life, `dials ${target}`, this.world.delay(40, 2_000), () => this.#reach(link));
    return link;
  }

  #reach(link: Link): void {
    const { dialling, target } = link;
    if (dialling.over) return;
    const listener = this.#listeners.get(target);
    const apart = this.#apart.has(pair(dialling.site.name, target));
    const accepted = apart ? undefined : listener?.accept(link);
    if (listener === undefined || accepted === undefined) {
      // Some refuse at once; from others nothing is heard at all.
      if (apart && this.world.fault('dial-silent', 300)) return;
      return this.tell(link, dialling, abnormal);
    }
    link.answering = { site: listener, ...accepted, over: false, lastAt: 0, waitingBytes: 0 };
    dialling.owner.opened();
    accepted.owner.opened();
  }

  carry(link: Link, from: End, to: End | undefined, bytes: Bytes, sequence: number): void {
    const kind = kindOfFrame(bytes);
    const { crashes } = this.world;
    if (crashes.at(`${kind}/send:before`, () => from.site.crash())) return;
    this.watch.sent(from.site.name, to?.site.name ?? link.target, kind, bytes, link);
    if (to !== undefined && !link.silent) this.#fly(link, to, kind, bytes);
    if (kind === 'EventPut' && from.owner.written !== undefined) {
      this.world.park(from.life, 'written', this.world.delay(5, 50), () => from.owner.written?.(sequence));
    }
    if (crashes.at(`${kind}/send:after`, () => from.site.crash())) return;
    if (this.world.fault('cut', this.rates.cut)) link.cut();
    else if (this.world.fault('silence', this.rates.silence)) link.silent = true;
  }

  #fly(link: Link, to: End, kind: string, bytes: Bytes): void {
    const { now } = this.world;
    const slowMs = this.#slowMs.get(to.site.name) ?? 0;
    if (slowMs > 0) this.world.count('frame-slow');
    // Later than the one before, not at its instant: the seed orders what happens at one instant.
    const at = Math.max(to.lastAt + 1 + slowMs, now + this.world.delay(60, 4_000));
    to.lastAt = at;
    to.waitingBytes += bytes.length;
    this.world.park(to.life, `gets ${kind}`, at - now, () => {
      to.waitingBytes -= bytes.length;
      this.#land(link, to, kind, bytes);
      const from = link.other(to);
      if (from?.life.alive) from.owner.drained?.();
    });
  }

  /** A site takes so long over each frame, ms; 0 for no longer than others. */
  slow(site: string, frameMs: number): void {
    this.#slowMs.set(site, frameMs);
  }

  #land(link: Link, to: End, kind: string, bytes: Bytes): void {
    if (link.lost || link.silent) return;
    if (to.over) {
      if (to !== link.dialling || !link.late) return;
      this.world.count('late-frame');
    }
    if (this.world.crashes.at(`${kind}/receive:before`, () => to.site.crash())) return;
    const from = link.other(to)?.site.name ?? link.target;
    this.watch.delivered(from, to.site.name, kind, bytes, link);
    to.owner.frame(bytes);
  }

  /** Lets an end know that the link is over, mostly after what was sent to it before. */
  tell(link: Link, end: End, code: number, inOrder = true): void {
    const soon = this.world.now + this.world.delay(30, 3_000);
    const at = inOrder ? Math.max(end.lastAt + 1, soon) : soon;
    end.lastAt = Math.max(end.lastAt, at);
    this.world.park(end.life, 'hears of the end', at - this.world.now, () => {
      if (end.over) return;
      end.over = true;
      link.late = true;
      end.owner.closed(code);
    });
  }

  /** A process is gone: its links end, and the other side learns it, or not. */
  gone(isGone: (life: Life) => boolean): void {
    for (const link of this.#links) {
      for (const end of [link.dialling, link.answering]) {
        if (end === undefined || end.over || !isGone(end.life)) continue;
        end.over = true;
        const other = link.other(end);
        if (this.world.fault('half-open', 100)) link.silent = true;
        else if (other !== undefined) this.tell(link, other, abnormal);
      }
    }
  }

  /** Two sites cannot reach each other. */
  part(left: string, right: string): void {
    this.#apart.add(pair(left, right));
    for (const link of this.#between(left, right)) {
      if (this.world.random.perMille(500)) link.silent = true;
      else link.cut();
    }
  }

  join(left: string, right: string): void {
    this.#apart.delete(pair(left, right));
  }

  /** The network is whole again; links that had fallen silent are dead all the same. */
  heal(): void {
    this.#apart.clear();
    this.#slowMs.clear();
  }

  cut(left: string, right: string): void {
    for (const link of this.#between(left, right)) link.cut();
  }

  /** Whatever carried the links of a site is gone. */
  cutAll(site: string): void {
    for (const link of this.#links) if (!link.over && link.dialling.site.name === site) link.cut();
  }

  #between(left: string, right: string): readonly Link[] {
    const wanted = pair(left, right);
    return this.#links.filter((link) => !link.over && pair(link.dialling.site.name, link.target) === wanted);
  }

  isLate(): boolean {
    return this.world.fault('late-frames', 300);
  }

  /** Whoever speaks the protocol may not be taken for something else by another that does. */
  closed(site: string, other: string, code: number): void {
    if (!misunderstood.has(code)) return;
    const honest = this.watch.isHonest(site) && this.watch.isHonest(other);
    if (honest) this.world.breach('misunderstood', `${site} ends a link with ${other} by ${code}`);
    else if (this.watch.isHonest(site)) this.world.count('liar-sent-away');
  }
}

/** The code a link ends with when its process goes away in order. */
export const goingAway = closeCodes.goingAway;

function pair(left: string, right: string): string {
  return left < right ? `${left}|${right}` : `${right}|${left}`;
}

const magicBytes = 4;
const commandBytesMax = 255;

function kindOfFrame(bytes: Bytes): string {
  const reader = new Reader(bytes);
  reader.bytes(magicBytes);
  return kindOf(reader.string(commandBytesMax));
}
