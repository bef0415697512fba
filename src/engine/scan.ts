import { StoreError } from '../core/errors';
import type { AccountId, ConversationId, EventId, Slot } from '../core/ids';
import type { Heard } from '../core/transactions/receive';
import type { Hearing } from './hearing';
import type { Ports } from './ports';

const pageEvents = 200;

/** Whose kept events are looked through. */
export interface Scanned {
  readonly account: AccountId;
  readonly hearing: Hearing;
}

/** Pauses after a store that refuses, and after one that is locked: that lasts as long as a person pleases. */
const retryMs = 1_000;
const lockedMs = 30_000;

/**
 * Brings what the graph already holds of newly joined channels into their conversations, oldest slot first, and what
 * came while the store was locked. Messages that are there already are passed over; a store that fails in between is
 * asked again, from the start.
 */
export class Scanner {
  readonly #channels = new Set<ConversationId>();
  #scanning = false;
  /** A try is under way or has its time: more channels wait for it. */
  #waiting = false;
  #stopped = false;

  constructor(
    private readonly ports: Ports,
    private readonly scanned: Scanned,
    private readonly term: number,
    private readonly now: () => number,
  ) {}

  /** Looks through the kept events for these channels, as often as it takes. */
  look(channels: readonly ConversationId[]): void {
    for (const channel of channels) this.#channels.add(channel);
    if (!this.#scanning && !this.#waiting) void this.#run();
  }

  /** Kept events are being looked at, or have to be again. */
  get isBusy(): boolean {
    return this.#scanning || this.#channels.size > 0;
  }

  stop(): void {
    this.#stopped = true;
    this.ports.clock.clear('scan');
  }

  async #run(): Promise<void> {
    this.#scanning = true;
    try {
      while (this.#channels.size > 0 && !this.#stopped && !this.#waiting) {
        const channels = [...this.#channels];
        this.#channels.clear();
        await this.#try(channels);
      }
    } finally {
      this.#scanning = false;
    }
  }

  /** Whatever stops a scan, a fault of ours among it, it is tried again. */
  async #try(channels: readonly ConversationId[]): Promise<void> {
    let pauseMs = retryMs;
    try {
      pauseMs = await this.#scan(channels);
    } finally {
      if (pauseMs > 0) this.#runLater(channels, pauseMs);
    }
  }

  #runLater(channels: readonly ConversationId[], pauseMs: number): void {
    for (const channel of channels) this.#channels.add(channel);
    if (this.#stopped) return;
    this.#waiting = true;
    this.ports.clock.set('scan', this.ports.clock.now() + pauseMs, () => {
      this.#waiting = false;
      this.look([]);
    });
  }

  /** How long to wait before it is tried again; 0 when it is done. */
  async #scan(channels: readonly ConversationId[]): Promise<number> {
    const { account, hearing } = this.scanned;
    try {
      const { slots, unapplied } = await this.ports.store.read('graphSlots', { account });
      for (const slot of slots) await this.#scanSlot(slot, channels);
      const isAll = hearing.freshSince(0).every((channel) => channels.includes(channel));
      if (unapplied !== undefined && isAll) await this.#hand([], unapplied);
      return 0;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.ports.observer.note('scan-stopped', { kind: error.kind });
      return error.kind === 'locked' ? lockedMs : retryMs;
    }
  }

  async #hand(heard: readonly Heard[], applied?: number): Promise<void> {
    const base = { account: this.scanned.account, heard, now: this.now(), seed: this.ports.random.bytes(32) };
    const args = applied === undefined ? base : { ...base, applied };
    await this.ports.store.transact('scanChannel', args, this.term);
  }

  async #scanSlot(slot: Slot, channels: readonly ConversationId[]): Promise<void> {
    const { account, hearing } = this.scanned;
    let from: { readonly fromLayer: number; readonly after?: EventId } = { fromLayer: 0 };
    for (;;) {
      const page = await this.ports.store.read('graphPage', { account, slot, ...from, limit: pageEvents });
      const heard: Heard[] = [];
      for (const one of page) {
        if (one.own) continue;
        for (const channel of channels) {
          const message = hearing.hear(one.id, one.event, channel);
          if (message !== undefined) heard.push(message);
        }
      }
      if (heard.length > 0) await this.#hand(heard);
      const last = page.at(-1);
      if (last !== undefined && page.length >= pageEvents) from = { fromLayer: last.layer, after: last.id };
      else if (from.after !== undefined) from = { fromLayer: from.fromLayer + 1 };
      else return;
    }
  }
}
