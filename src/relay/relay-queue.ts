import type { Bytes } from '../core/ids';
import { limits } from '../core/limits';
import type { Pace } from './pace';
import type { Timing } from './timing';

/** The socket of one peer, and what to do for it. */
export interface RelaySink {
  /** Bytes that wait in the socket. */
  readonly waitingBytes: number;
  send(frame: Bytes): void;
  /** An event found no room. */
  onDropped(): void;
  /** Nothing was read while so much found no room that nothing will be. */
  onStalled(): void;
  /** The peer may lack events that will not come to it again: brings it what lets it ask for them. */
  repair(): Promise<void>;
}

/** How often a paced queue looks whether it may go on, ms. */
const paceMs = 1_000;

/**
 * Events of others on their way to one peer. What its socket does not take waits here, in bounds; what finds no room is
 * dropped. A peer that missed something is repaired as soon as the queue is empty again: nobody waits for a later event
 * to show the gap.
 */
export class RelayQueue {
  readonly #waiting: Bytes[] = [];
  #bytes = 0;
  #droppedBytes = 0;
  #behind = false;
  #repairing = false;
  #closed = false;
  #pace: Pace | undefined;
  #callOff: (() => void) | undefined;
  #drained: (() => void) | undefined;

  /** `bytesMax` bounds what waits here. */
  constructor(
    private readonly sink: RelaySink,
    private readonly bytesMax: number,
    private readonly now: () => number,
    private readonly timing: Timing,
  ) {}

  /** Sends the frame, keeps it until the socket takes it, or drops it. */
  push(frame: Bytes): void {
    if (this.#closed) return;
    const full =
      this.#waiting.length >= limits.relayQueueEventsMax || this.#bytes + frame.length > this.bytesMax;
    if (full) return this.#drop(frame.length);
    this.#waiting.push(frame);
    this.#bytes += frame.length;
    this.#pump();
  }

  /** The peer may lack events. */
  markBehind(): void {
    this.#behind = true;
    this.#pump();
  }

  /** Sends no more than this at a time; `undefined` lifts it. */
  pace(pace: Pace | undefined): void {
    this.#pace = pace;
    this.#pump();
  }

  /** Resolves when nothing waits here, or nothing will be sent any more. */
  drained(): Promise<void> {
    if (this.#waiting.length === 0 || this.#closed) return Promise.resolve();
    return new Promise((settle) => {
      const before = this.#drained;
      this.#drained = () => {
        before?.();
        settle();
      };
    });
  }

  /** The peer is gone. */
  close(): void {
    this.#closed = true;
    this.#callOff?.();
    this.#waiting.length = 0;
    this.#settle();
  }

  /** Something was written: the socket may take more. */
  resume(): void {
    this.#droppedBytes = 0;
    this.#pump();
  }

  /** Who reads slowly is repaired; who reads nothing while as much again is dropped as waits here has stopped. */
  #drop(bytes: number): void {
    this.#behind = true;
    this.sink.onDropped();
    // While it is we who hold back, nothing can be read.
    if (this.#callOff === undefined) this.#droppedBytes += bytes;
    if (this.#droppedBytes > this.bytesMax) this.sink.onStalled();
  }

  #pump(): void {
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined) break;
      const held = this.sink.waitingBytes;
      // An empty socket takes whatever there is; one with enough to do is heard of again when something was written.
      if (held > 0 && held + next.length > limits.relaySocketBytesMax) return;
      if (this.#isHeldBack(next.length)) return;
      this.#waiting.shift();
      this.#bytes -= next.length;
      this.sink.send(next);
    }
    this.#settle();
    if (this.#behind && !this.#repairing) void this.#repair();
  }

  #isHeldBack(bytes: number): boolean {
    if (this.#pace === undefined) return false;
    if (this.#pace.isSpent(this.now())) {
      this.#callOff ??= this.timing.after(paceMs, () => {
        this.#callOff = undefined;
        this.#pump();
      });
      return true;
    }
    this.#pace.spend(this.now(), bytes);
    return false;
  }

  async #repair(): Promise<void> {
    this.#repairing = true;
    while (this.#behind && !this.#closed) {
      this.#behind = false;
      await this.sink.repair();
      await this.drained();
    }
    this.#repairing = false;
  }

  #settle(): void {
    this.#drained?.();
    this.#drained = undefined;
  }
}
