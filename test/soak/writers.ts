import type { EventId, Slot } from '../../src/core/ids';
import { frameOf } from '../../src/core/link/messages';
import { genesisOf, holdfast, slotOf } from '../../src/core/wire/profile';
import { type Made, noBlob, one } from '../fixtures/graph-world';
import { LoadPeer } from '../fixtures/load-peer';

/** What became of the load. */
export interface LoadCount {
  sent: number;
  accepted: number;
  refused: number;
  /** Events of others that came to the writers. */
  heard: number;
  /** Links that ended by themselves. */
  ended: number;
  /** From the put to its answer, ms, in classes of a tenth of a millisecond. */
  readonly answerMs: Map<number, number>;
}

interface Tip {
  readonly id: EventId;
  readonly layer: number;
  readonly slot: Slot;
}

/** One member: it builds on its own last event and on the newest one of somebody else that it heard was accepted. */
class Writer {
  #own: Tip | undefined;
  #last = 0;
  readonly #sentAt = new Map<string, { readonly at: number; readonly made: Made; readonly slot: Slot }>();
  peer: LoadPeer | undefined;

  constructor(
    private readonly count: LoadCount,
    private readonly accepted: (tip: Tip) => void,
    private readonly ended: () => void,
  ) {}

  async connect(url: string): Promise<void> {
    this.peer = await LoadPeer.connect(url, {
      answered: (id, answer) => this.#answered(id.toString('hex'), answer),
      put: () => {
        this.count.heard += 1;
      },
      ended: this.ended,
    });
  }

  write(now: number, other: Tip | undefined): void {
    const slot = slotOf(holdfast, now);
    const parents = [this.#own, other].filter((tip) => tip !== undefined).filter((tip) => tip.slot === slot);
    const ids =
      parents.length === 0 ? [genesisOf(holdfast, slot).id] : [...new Set(parents.map((tip) => tip.id))];
    const layer = Math.max(0, ...parents.map((tip) => tip.layer)) + 1;
    this.#last = Math.max(now, this.#last + 1);
    const made = one(this.#last, ids, layer, `${this.#last} ${'words and more words '.repeat(8)}`);
    this.#own = { id: made.id, layer, slot };
    this.#sentAt.set(made.id, { at: performance.now(), made, slot });
    this.count.sent += 1;
    this.peer?.send(frameOf(holdfast, { say: 'put', event: made.bytes, blob: noBlob }));
  }

  #answered(id: string, answer: 'inserted' | 'known' | 'refused'): void {
    const sent = this.#sentAt.get(id);
    if (sent === undefined) return;
    this.#sentAt.delete(id);
    const tenth = Math.round((performance.now() - sent.at) * 10);
    this.count.answerMs.set(tenth, (this.count.answerMs.get(tenth) ?? 0) + 1);
    if (answer === 'refused') {
      this.count.refused += 1;
      return;
    }
    this.count.accepted += 1;
    this.accepted({ id, layer: sent.made.layer, slot: sent.slot });
  }
}

/** Members who together put so many events a second, each within what a member may. */
export class Writers {
  readonly count: LoadCount = { sent: 0, accepted: 0, refused: 0, heard: 0, ended: 0, answerMs: new Map() };
  readonly #writers: Writer[] = [];
  readonly #newest: (Tip | undefined)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ending = false;

  static async connect(url: string, connections: number): Promise<Writers> {
    const writers = new Writers();
    for (let at = 0; at < connections; at++) {
      const accepted = (tip: Tip): void => {
        writers.#newest[at] = tip;
      };
      const writer = new Writer(writers.count, accepted, () => {
        if (!writers.#ending) writers.count.ended += 1;
      });
      await writer.connect(url);
      writers.#writers.push(writer);
    }
    return writers;
  }

  /** Writes in turn, at `rate` a second; what a late timer left undone is made up for at the next. */
  begin(rate: number): void {
    const begunAt = performance.now();
    this.#timer = setInterval(() => {
      const due = Math.floor(((performance.now() - begunAt) * rate) / 1_000);
      while (this.count.sent < due) {
        const at = this.count.sent % this.#writers.length;
        const other = this.#newest[(at + 7) % this.#writers.length];
        this.#writers[at]?.write(Date.now(), other);
      }
    }, 1_000 / rate);
  }

  /** Writes no more; resolves when everything is answered, or nothing more will be. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    const answered = () => this.count.accepted + this.count.refused;
    for (let tries = 0; answered() < this.count.sent && tries < 200; tries++) {
      await new Promise((over) => setTimeout(over, 50));
    }
    this.#ending = true;
    for (const { peer } of this.#writers) peer?.close();
  }
}
