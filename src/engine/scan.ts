import { StoreError } from '../core/errors';
import type { AccountId, ConversationId, Slot } from '../core/ids';
import type { Heard } from '../core/transactions/receive';
import type { Hearing } from './hearing';
import type { Ports } from './ports';

const pageEvents = 200;

/** Whose kept events are looked through. */
export interface Scanned {
  readonly account: AccountId;
  readonly hearing: Hearing;
}

const retryMs = 1_000;

/**
 * Brings what the graph already holds of newly joined channels into their conversations, oldest slot first. Messages
 * that are there already are passed over; a store that fails in between is asked again, from the start.
 */
export class Scanner {
  readonly #channels = new Set<ConversationId>();
  #scanning = false;
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
    if (!this.#scanning) void this.#run();
  }

  stop(): void {
    this.#stopped = true;
    this.ports.clock.clear('scan');
  }

  async #run(): Promise<void> {
    this.#scanning = true;
    while (this.#channels.size > 0 && !this.#stopped) {
      const channels = [...this.#channels];
      this.#channels.clear();
      if (await this.#scan(channels)) continue;
      for (const channel of channels) this.#channels.add(channel);
      if (!this.#stopped) this.ports.clock.set('scan', this.ports.clock.now() + retryMs, () => this.look([]));
      break;
    }
    this.#scanning = false;
  }

  async #scan(channels: readonly ConversationId[]): Promise<boolean> {
    const { account } = this.scanned;
    try {
      const slots = await this.ports.store.read('graphSlots', { account });
      for (const slot of slots) await this.#scanSlot(slot, channels);
      return true;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.ports.observer.note('scan-stopped', { kind: error.kind });
      return false;
    }
  }

  async #scanSlot(slot: Slot, channels: readonly ConversationId[]): Promise<void> {
    const { account, hearing } = this.scanned;
    let fromLayer = 0;
    for (;;) {
      const page = await this.ports.store.read('graphPage', { account, slot, fromLayer, limit: pageEvents });
      const heard: Heard[] = [];
      for (const one of page) {
        if (one.own) continue;
        for (const channel of channels) {
          const message = hearing.hear(one.id, one.event, channel);
          if (message !== undefined) heard.push(message);
        }
      }
      if (heard.length > 0) {
        const scan = { account, heard, now: this.now(), seed: this.ports.random.bytes(32) };
        await this.ports.store.transact('scanChannel', scan, this.term);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < pageEvents) return;
      fromLayer = last.layer === fromLayer ? fromLayer + 1 : last.layer;
    }
  }
}
