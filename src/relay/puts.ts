import type { FetchedEvent } from '../core/graph/fetched';
import type { SyncResult } from '../core/graph/sync';
import type { Bytes, EventId } from '../core/ids';
import { limits } from '../core/limits';
import { Allowance } from '../core/link/allowance';
import { closeCodes } from '../core/link/session';
import type { RelayPutOutcome } from '../core/transactions/relay';
import type { PutResult } from '../core/wire/event-put';
import type { Asked } from './asked';
import type { LogWord } from './log';
import type { RelayGraph } from './relay-graph';
import type { Source } from './sources';
import { fetchMissing, type Missing } from './sync';

interface Put {
  readonly id: EventId;
  readonly event: Bytes;
  readonly blob: Bytes;
}

/** The connection that events come from. */
export interface PutSource extends Asked {
  readonly isReady: boolean;
  /** What it shares an allowance with. */
  readonly source?: Source | undefined;
  /** A relay this one was told to know: it brings what many members put, so no member's allowance holds for it. */
  readonly isAdmitted?: boolean;
  report(id: EventId, result: PutResult): void;
  close(code: number, why: LogWord): void;
  /** Something that waited is done, or more waits. */
  balance(): void;
  /** A relay's event was not taken through no fault of its own, and it does not put it again. */
  leftOut(): void;
  /** More ancestors were fetched than are handed on: the others may lack them. */
  heldBack(): void;
  /** The event is durable: the others are to have it. */
  relay(put: { readonly event: Bytes; readonly blob: Bytes }): void;
}

/** Which allowance an event finds used up. */
type Spent = 'own' | 'shared' | undefined;

/** What events are measured by and put into. */
export interface PutHost {
  readonly graph: RelayGraph;
  readonly eventsPerMinuteMax: number;
  readonly bytesPerMinuteMax: number;
  now(): number;
}

/** Events of one peer that wait or are under way, before its socket is not read any further. */
const waitingMax = 64;

/** Times an event is tried again after its parents were fetched. */
const fetchesMax = 3;

/**
 * The events one peer puts: into the store, then the status, then on to the others. Only what is durable is answered
 * `Has`, and only what was really inserted `Has{inserted: true}` (event-graph.md 0.6).
 */
export class Puts {
  readonly #waiting: Put[] = [];
  readonly #allowance: Allowance;
  /** What events of this peer may make us fetch, beyond themselves. */
  readonly #ancestors = new Allowance(
    limits.parentFetchEventsMax,
    limits.parentFetchBytesMax,
    limits.floodWindowMs,
  );
  /** Those of them that are handed on: no more than it may put itself, or one event would make us say thousands. */
  readonly #handedOn: Allowance;
  #underWay = { events: 0, bytes: 0 };
  #waitingBytes = 0;
  #strikes = 0;
  #stopped = false;
  #fetching: Promise<SyncResult | undefined> | undefined;

  constructor(
    private readonly peer: PutSource,
    private readonly host: PutHost,
  ) {
    const { eventsPerMinuteMax, bytesPerMinuteMax } = host;
    this.#allowance = new Allowance(eventsPerMinuteMax, bytesPerMinuteMax, limits.floodWindowMs);
    this.#handedOn = new Allowance(eventsPerMinuteMax, bytesPerMinuteMax, limits.floodWindowMs);
  }

  get isFull(): boolean {
    return this.#waiting.length + this.#underWay.events >= waitingMax;
  }

  push(put: Put): void {
    if (this.#stopped) return;
    this.#waiting.push(put);
    this.#waitingBytes += put.event.length + put.blob.length;
    // While parents are fetched the socket must be read on, so this is where that ends.
    if (this.#waitingBytes + this.#underWay.bytes > limits.heldPutBytesMax) {
      this.#stopped = true;
      this.peer.close(closeCodes.flood, 'flood');
      return;
    }
    this.#pump();
    this.peer.balance();
  }

  /**
   * Near the end of the allowance events go one by one, since only their outcome says whether they count: a known
   * event never does.
   */
  #pump(): void {
    const now = this.host.now();
    while (!this.#stopped && this.#waiting.length > 0) {
      const spent = this.#spentBy(now);
      if (this.#underWay.events > 0 && this.#isOwnSpent(now, this.#underWay)) return;
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#waitingBytes -= next.event.length + next.blob.length;
      void this.#carryOut(next, spent);
    }
  }

  /** Whose allowance is used up: its own, or what all connections of its source may put, and it may be innocent. */
  #spentBy(now: number): Spent {
    if (this.#isOwnSpent(now)) return 'own';
    const crowded = this.peer.isAdmitted !== true && this.peer.source?.allowance.isSpent(now) === true;
    return crowded ? 'shared' : undefined;
  }

  #isOwnSpent(now: number, underWay?: Parameters<Allowance['isSpent']>[1]): boolean {
    return this.peer.isAdmitted !== true && this.#allowance.isSpent(now, underWay);
  }

  async #carryOut(put: Put, spent: Spent): Promise<void> {
    const bytes = put.event.length + put.blob.length;
    this.#count(1, bytes);
    try {
      const outcome = await this.#settle(put, spent !== undefined);
      if (!this.#stopped) this.#conclude(put, bytes, outcome, spent);
    } catch {
      this.#report(put, busy);
    } finally {
      this.#count(-1, -bytes);
      this.#pump();
      this.peer.balance();
    }
  }

  async #settle(put: Put, flooded: boolean): Promise<RelayPutOutcome> {
    for (let fetches = 0; ; fetches++) {
      const outcome = await this.host.graph.put(put.event, put.blob, flooded);
      if (outcome.verdict !== 'missing' || fetches === fetchesMax || !this.peer.isReady) return outcome;
      if (this.#hasEnough()) return outcome;
      const { slot, parents } = outcome;
      const mine = this.#fetching === undefined;
      this.#fetching ??= this.#fetch({ slot, parents, of: put.id });
      const fetched = await this.#fetching;
      // One fetch serves all that wait, but only for the one it was made for does it prove anything.
      if (mine && fetched?.end === 'broken' && fetched.inVain) return inVain;
    }
  }

  /** More ancestors were had than events of one member may make us fetch. */
  #hasEnough(): boolean {
    return this.peer.isAdmitted !== true && this.#ancestors.isSpent(this.host.now());
  }

  async #fetch(missing: Missing): Promise<SyncResult | undefined> {
    let isAllHandedOn = true;
    try {
      return await fetchMissing(this.peer, this.host.graph, missing, {
        taken: (event) => {
          this.#ancestors.spend(this.host.now(), event.event.length + event.blob.length);
          isAllHandedOn = this.#handOn(event) && isAllHandedOn;
        },
        isEnough: () => this.#hasEnough(),
      });
    } finally {
      this.#fetching = undefined;
      if (!isAllHandedOn) this.peer.heldBack();
    }
  }

  #handOn(ancestor: FetchedEvent): boolean {
    const now = this.host.now();
    if (this.#handedOn.isSpent(now)) return false;
    this.#handedOn.spend(now, ancestor.event.length + ancestor.blob.length);
    this.peer.relay(ancestor);
    return true;
  }

  #conclude(put: Put, bytes: number, outcome: RelayPutOutcome, spent: Spent): void {
    if (outcome.verdict === 'flood') {
      if (spent === 'shared') {
        // Whoever goes on all the same uses up its own.
        this.#allowance.spend(this.host.now(), bytes);
        return this.peer.report(put.id, busy);
      }
      this.#stopped = true;
      return this.peer.close(closeCodes.flood, 'flood');
    }
    const free = (outcome.verdict === 'known' || outcome.verdict === 'refused') && !outcome.counted;
    if (!free && this.peer.isAdmitted !== true) this.#spend(bytes);
    this.#report(put, resultOf(outcome));
    if (outcome.verdict === 'inserted') this.peer.relay(put);
    if (outcome.verdict === 'refused' && outcome.strike) this.#strike();
  }

  #report(put: Put, result: PutResult): void {
    this.peer.report(put.id, result);
    const leftOut = result.type === 'nack' && result.reason !== 'invalid';
    if (leftOut && this.peer.isAdmitted === true) this.peer.leftOut();
  }

  #spend(bytes: number): void {
    const now = this.host.now();
    this.#allowance.spend(now, bytes);
    this.peer.source?.allowance.spend(now, bytes);
  }

  #strike(): void {
    this.#strikes += 1;
    if (this.#strikes < limits.strikesMax) return;
    this.#stopped = true;
    this.peer.close(closeCodes.badFrame, 'strikes');
  }

  #count(events: number, bytes: number): void {
    this.#underWay = { events: this.#underWay.events + events, bytes: this.#underWay.bytes + bytes };
  }
}

/** What an event stands on is invalid for good: so is the event, though whoever puts it need not know (event-graph.md 3.3). */
const inVain: RelayPutOutcome = { verdict: 'refused', reason: 'invalid', strike: false, counted: true };

const busy: PutResult = { type: 'nack', reason: 'busy' };

/** Parents that could not be had are no proof against the event: Busy (EG-07). */
function resultOf(outcome: Exclude<RelayPutOutcome, { readonly verdict: 'flood' }>): PutResult {
  switch (outcome.verdict) {
    case 'inserted':
      return { type: 'has', inserted: true };
    case 'known':
      return { type: 'has', inserted: false };
    case 'missing':
      return busy;
    case 'refused':
      return { type: 'nack', reason: outcome.reason };
  }
}
