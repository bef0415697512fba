import { backoffMs } from '../core/backoff';
import type { Effect } from '../core/effects';
import { StoreError } from '../core/errors';
import type { AccountId, EventId } from '../core/ids';
import { limits } from '../core/limits';
import type { ContentBounds } from '../core/outbox/operation';
import { nextForHead, type Verdict } from '../core/outbox/policy';
import type { MessageRow } from '../core/tables';
import type { MakingArgs } from '../core/transactions/materialise';
import type { PutResult } from '../core/wire/event-put';
import type { NetworkProfile } from '../core/wire/profile';
import type { PeerLimits } from '../core/wire/version';
import type { Committed, Ports } from './ports';
import { Revisions } from './revisions';

/** What delivery needs to know of the rest of the engine at the moment it decides. */
export interface DeliverySituation {
  /** Relays that can take an event now: session ready, current slot's tips answered. */
  ready(): readonly string[];
  minPeers(): number;
  clockTrusted(): boolean;
  /** Trusted time, ms. */
  now(): number;
  /** Longest content each ready relay takes, bytes. */
  contentMax(): ContentBounds;
  /** What a relay announced that it takes. */
  boundsOf(relay: string): PeerLimits;
  /** `state` may be another now. */
  changed(): void;
}

/** Where delivery stands, for the screen. */
export interface DeliveryState {
  readonly parked?: string;
  readonly wakeAt?: number;
  /** There is a head. */
  readonly busy: boolean;
}

/** Where the pages of open operations go on for a relay. */
interface OpenCursor {
  readonly after: number;
  readonly upTo?: number;
  /** The pages began here, and end here once they have gone on from the start. */
  readonly wrapAt?: number;
}

function openTimer(relay: string): string {
  return `open ${relay}`;
}

/** Failures of the store in a row, after which the pause between tries stops growing. */
const pauseDoublingsMax = 5;
const pauseFirstMs = 1_000;
/** Pause after a store that refused a page of what is open. */
const storePauseMs = pauseFirstMs * 2 ** pauseDoublingsMax;

/**
 * The head scheduler: the only place that sends own events. It reads the head, asks the policy, makes the decision
 * durable and only then carries its effects out. It keeps nothing that matters: a new one goes on from the store.
 */
export class Delivery {
  #running = false;
  #again = false;
  #failures = 0;
  #stopped = false;
  readonly #revisions = new Revisions();
  /** Where the pages of a relay's last link ended, when there were more than a link is given. */
  readonly #openAfter = new Map<string, number>();
  /** Counts the links of a relay: what was begun for one that is dead has no say in the next. */
  readonly #openLinks = new Map<string, number>();
  /** How much of what each relay said is not recorded yet. */
  readonly #answers = new Map<string, number>();
  state: DeliveryState = { busy: false };

  constructor(
    private readonly ports: Ports,
    private readonly account: AccountId,
    private readonly profile: NetworkProfile,
    private readonly term: number,
    private readonly situation: DeliverySituation,
    private readonly carryOut: (effects: readonly Effect[]) => void,
  ) {}

  /** Something changed: look at the head again. Any number of calls make one look at a time (BL-05). */
  look(): void {
    if (this.#stopped) return;
    this.#again = true;
    if (!this.#running) void this.#run();
  }

  /** A signal says that entries changed: a look, unless it was a change of our own, which is acted upon already. */
  heard(revision: number): void {
    if (this.#revisions.isNews(revision)) this.look();
  }

  /** No more decisions; a call under way may still commit, and the next engine goes on from what it left. */
  stop(): void {
    this.#stopped = true;
    this.ports.clock.clear('head');
  }

  /**
   * A relay said something of an event. One that says more than anybody asked is not listened to beyond a bound; what
   * an honest one said is asked for again by the next round.
   */
  async answered(relay: string, id: EventId, result: PutResult): Promise<void> {
    const waiting = this.#answers.get(relay) ?? 0;
    if (waiting >= limits.statusesWaitingMax) return;
    this.#answers.set(relay, waiting + 1);
    try {
      await this.#record(relay, id, result);
    } finally {
      this.#answers.set(relay, (this.#answers.get(relay) ?? 1) - 1);
    }
  }

  /** A Has ends the head and makes the next in one transaction (OB-13, OB-14). */
  async #record(relay: string, id: EventId, result: PutResult): Promise<void> {
    const making = this.making();
    const base = {
      account: this.account,
      id,
      relay,
      result,
      now: this.situation.now(),
    };
    const args = making === undefined ? base : { ...base, next: making };
    const committed = await this.#attempt(() => this.ports.store.transact('answer', args, this.term));
    if (committed === undefined) return this.#retryAnswer(relay, id, result);
    this.#failures = 0;
    this.#carryOut(committed.effects);
    const { outcome } = committed;
    if (outcome.kind === 'acknowledged') this.acknowledged(outcome.next);
    // A refusal may change when the head is due.
    else if (outcome.kind === 'refused') this.look();
  }

  /** The head left the lane; `next` is what the same transaction made of the one behind it. */
  acknowledged(next: { readonly kind: string } | undefined): void {
    if (next?.kind === 'made') this.#wake(this.situation.now() + backoffMs(1, 0));
    else this.look();
  }

  /** A relay's link is dead: its claims are free for the next link (RD-07). */
  async linkDied(relay: string): Promise<void> {
    this.#openLink(relay);
    const args = { account: this.account, relay, now: this.situation.now() };
    const committed = await this.#attempt(() => this.ports.store.transact('release', args, this.term));
    if (committed !== undefined) this.#carryOut(committed.effects);
    this.look();
  }

  /** What a script needs to make the next head at once; `undefined` while nothing may be made. */
  making(): MakingArgs | undefined {
    const relays = this.situation.ready();
    if (relays.length < this.situation.minPeers() || !this.situation.clockTrusted()) return undefined;
    return {
      profile: this.profile.name,
      now: this.situation.now(),
      relays,
      term: this.term,
      jitter: this.#jitter(),
      seed: this.ports.random.bytes(32),
      contentMax: this.situation.contentMax(),
    };
  }

  /**
   * A relay is ready: what has left the lane and is still open for it goes to it once (RD-04, RD-07), no more at once
   * than it announced that it takes (RD-10). What is over waits until the relay's allowance is whole again.
   */
  async claimOpen(relay: string, from = this.#openFrom(relay), link = this.#openLink(relay)): Promise<void> {
    const bounds = this.situation.boundsOf(relay);
    let events = bounds.batchEventsMax;
    let bytesMax = bounds.batchBytesMax;
    let cursor = from;
    for (let pages = 0; pages < limits.openPagesMax && events > 0 && !this.#stopped; pages++) {
      const { wrapAt, ...page } = cursor;
      const room = { limit: Math.min(limits.openPageRows, events), bytesMax, alone: pages === 0 };
      const base = {
        account: this.account,
        relay,
        ...page,
        ...room,
        contentBytesMax: bounds.contentBytesMax,
      };
      const args = { ...base, term: this.term, now: this.situation.now() };
      const committed = await this.#attempt(() => this.ports.store.transact('claimOpen', args, this.term));
      // The link died meanwhile: its claims are released, and the next link claims for itself.
      if (this.#openLinks.get(relay) !== link) return;
      if (committed === undefined) return this.#claimOpenLater(relay, cursor, link, storePauseMs);
      this.#carryOut(committed.effects);
      const { last, upTo, more, full, bytes, claimed } = committed.outcome;
      if (!more && wrapAt === undefined) return void this.#openAfter.delete(relay);
      cursor = more ? { ...cursor, after: last, upTo } : { after: 0, upTo: wrapAt ?? 0 };
      events -= claimed;
      bytesMax -= bytes;
      if (full) break;
    }
    this.#openAfter.set(relay, cursor.after);
    this.#claimOpenLater(relay, cursor, link, limits.floodWindowMs + limits.pacedMarginMs);
  }

  /** Another link of the relay, or none. */
  #openLink(relay: string): number {
    this.ports.clock.clear(openTimer(relay));
    const link = (this.#openLinks.get(relay) ?? 0) + 1;
    this.#openLinks.set(relay, link);
    return link;
  }

  /** What a link before had no turn for comes first: what a relay never accepts must not keep the rest from it. */
  #openFrom(relay: string): OpenCursor {
    const after = this.#openAfter.get(relay) ?? 0;
    return after === 0 ? { after } : { after, wrapAt: after };
  }

  /** Goes on with the pages, unless the link dies before. */
  #claimOpenLater(relay: string, cursor: OpenCursor, link: number, pauseMs: number): void {
    if (this.#stopped) return;
    const at = this.ports.clock.now() + pauseMs;
    this.ports.clock.set(openTimer(relay), at, () => void this.claimOpen(relay, cursor, link));
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        await this.#step();
      }
    } catch (error) {
      // A fault of ours comes to light, and does not end the lane.
      this.#pause('internal');
      throw error;
    } finally {
      this.#running = false;
    }
  }

  async #step(): Promise<void> {
    const head = await this.#attempt(async () => ({
      row: await this.ports.store.read('head', { account: this.account }),
    }));
    if (head === undefined || this.#stopped) return;
    if (head.row === undefined) {
      this.state = { busy: false };
      this.ports.clock.clear('head');
      this.situation.changed();
      return;
    }
    const verdict = this.#verdict(head.row);
    this.state = {
      busy: true,
      ...(verdict.parked === undefined ? {} : { parked: verdict.parked }),
      ...(verdict.wakeAt === undefined ? {} : { wakeAt: verdict.wakeAt }),
    };
    this.situation.changed();
    if (verdict.send === undefined) {
      if (verdict.wakeAt !== undefined) this.#wake(verdict.wakeAt);
      return;
    }
    const committed = await this.#attempt(() => this.#send(head.row as MessageRow, verdict));
    if (committed === undefined) return;
    this.#failures = 0;
    this.#carryOut(committed.effects);
    // Looks once more: it sets the timer from what was committed, and finds whatever came meanwhile.
    this.#again = true;
  }

  #verdict(head: MessageRow): Verdict {
    return nextForHead(head, {
      now: this.situation.now(),
      synced: this.situation.ready().length > 0,
      ready: this.situation.ready(),
      minPeers: this.situation.minPeers(),
      clockTrusted: this.situation.clockTrusted(),
      rotationMs: this.profile.rotationMs,
      term: this.term,
    });
  }

  #send(head: MessageRow, verdict: Verdict): Promise<Committed<unknown>> {
    const active = head.operation?.generations.at(-1);
    const relays = verdict.relays ?? [];
    const now = this.situation.now();
    const contentMax = this.situation.contentMax();
    const common = {
      account: this.account,
      relays,
      now,
      term: this.term,
      jitter: this.#jitter(),
      contentMax,
    };
    if (verdict.send === 'rebroadcast' && active !== undefined) {
      const round = head.operation?.round ?? 0;
      const decided = { seq: head.seq, event: active.id, round, due: verdict.wakeAt === undefined };
      return this.ports.store.transact('sendRound', { ...common, ...decided }, this.term);
    }
    const making = { profile: this.profile.name, seed: this.ports.random.bytes(32) };
    const decided = { seq: head.seq, supersedes: active?.id ?? null };
    return this.ports.store.transact('materialise', { ...common, ...making, ...decided }, this.term);
  }

  /** Nothing is lost by a failing store, only time: the pause grows and the look comes again (OB-28). */
  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.ports.observer.note('store-refused', { kind: error.kind });
      // A fenced engine has been stopped: its ports have told it.
      if (error.kind !== 'fenced') this.#pause(error.kind);
      return undefined;
    }
  }

  #pause(reason: string): void {
    const pauseMs = pauseFirstMs * 2 ** Math.min(this.#failures, pauseDoublingsMax);
    this.#failures += 1;
    if (reason === 'locked') this.state = { parked: 'locked', busy: true };
    this.#wake(this.situation.now() + pauseMs);
  }

  /** An answer that could not be recorded is asked for again by the next round: the relay will say Has once more. */
  #retryAnswer(relay: string, id: EventId, result: PutResult): void {
    this.ports.observer.note('answer-not-recorded', {
      relay,
      id,
      result: result.type,
    });
  }

  #carryOut(effects: readonly Effect[]): void {
    this.#revisions.committed(effects);
    this.carryOut(effects);
  }

  #wake(at: number): void {
    if (this.#stopped) return;
    const offset = this.situation.now() - this.ports.clock.now();
    this.ports.clock.set('head', at - offset, () => this.look());
  }

  #jitter(): number {
    const [high = 0, low = 0] = this.ports.random.bytes(2);
    return (high * 256 + low) / 65_536;
  }
}
