import type { EventId, Slot } from '../../src/core/ids';
import { frameOf } from '../../src/core/link/messages';
import { genesisOf, holdfast, slotOf } from '../../src/core/wire/profile';
import { noBlob, one } from '../fixtures/graph-world';
import { type Answer, LoadPeer } from '../fixtures/load-peer';

/** An event that was put, and what its peer was told of it. */
export interface PutEvent {
  readonly id: EventId;
  readonly slot: Slot;
  readonly layer: number;
  readonly parents: readonly EventId[];
  /** The frame it was put in. */
  readonly frame: Uint8Array;
  answer?: Answer;
}

/** Peers, and puts of each that wait for an answer at any time. */
const peersCount = 4;
const inFlightOfPeer = 32;

/** Members who put as fast as they are answered; each builds on its own last event and on one of somebody else. */
export class RelayLoad {
  readonly events: PutEvent[] = [];
  answered = 0;
  readonly #peers: LoadPeer[] = [];
  readonly #own: (PutEvent | undefined)[] = [];
  readonly #byId = new Map<EventId, PutEvent>();
  #ended = 0;
  #stopped = false;
  #last = 0;
  #onEnd: () => void = () => undefined;

  /** `onAnswer` is called for each, as soon as it has come. */
  constructor(private readonly onAnswer: (answered: number) => void) {}

  get inFlight(): number {
    return this.events.length - this.answered;
  }

  async begin(url: string): Promise<void> {
    for (let at = 0; at < peersCount; at++) {
      const peer = await LoadPeer.connect(url, {
        answered: (id, answer) => this.#answered(at, id.toString('hex'), answer),
        ended: () => this.#endOne(),
      });
      this.#peers.push(peer);
    }
    for (let count = 0; count < inFlightOfPeer; count++)
      for (let at = 0; at < peersCount; at++) this.#put(at);
  }

  /** Puts no more, but hears what is still said; resolves when every link has ended. */
  async over(): Promise<void> {
    this.#stopped = true;
    if (this.#ended === peersCount) return;
    await new Promise<void>((settle) => {
      this.#onEnd = settle;
    });
  }

  #endOne(): void {
    this.#ended += 1;
    this.#stopped = true;
    if (this.#ended === peersCount) this.#onEnd();
  }

  #answered(at: number, id: EventId, answer: Answer): void {
    const event = this.#byId.get(id);
    if (event === undefined || event.answer !== undefined) return;
    event.answer = answer;
    this.answered += 1;
    this.onAnswer(this.answered);
    if (!this.#stopped) this.#put(at);
  }

  #put(at: number): void {
    const now = Date.now();
    const slot = slotOf(holdfast, now);
    // What was put on another connection may come later there, so only an answered one is built on.
    const others = this.events.findLast((event) => event.answer === 'inserted');
    const on = [this.#own[at], others].filter((event) => event !== undefined && event.slot === slot);
    const parents = [...new Set(on.map((event) => event?.id ?? ''))];
    const layer = Math.max(0, ...on.map((event) => event?.layer ?? 0)) + 1;
    this.#last = Math.max(now, this.#last + 1);
    const ids = parents.length === 0 ? [genesisOf(holdfast, slot).id] : parents;
    const made = one(Math.min(this.#last, now + 1_000), ids, layer, `${at} ${this.events.length} of a run`);
    const frame = frameOf(holdfast, { say: 'put', event: made.bytes, blob: noBlob });
    const event: PutEvent = { id: made.id, slot, layer, parents: ids, frame };
    this.events.push(event);
    this.#byId.set(event.id, event);
    this.#own[at] = event;
    this.#peers[at]?.send(frame);
  }
}
