import { createHash } from 'node:crypto';
import { Crashes } from './crash';
import { Prng } from './prng';

/**
 * One life of a realm. What was parked for a life that is over never happens; a child ends with its parent.
 */
export class Life {
  #alive = true;

  constructor(
    readonly name: string,
    private readonly parent?: Life,
  ) {}

  get alive(): boolean {
    return this.#alive && (this.parent?.alive ?? true);
  }

  end(): void {
    this.#alive = false;
  }
}

/** What no realm's death ends: restarts, and the steps of a plan. */
export const timeItself = new Life('time');

interface Parked {
  readonly at: number;
  /** At the same instant, what was received goes before timers (architecture.md, "The one pattern"). */
  readonly rank: 0 | 1;
  readonly tie: number;
  readonly life: Life;
  readonly what: string;
  readonly run: () => void;
}

/** A property that does not hold. */
export interface Breach {
  readonly kind: string;
  readonly what: string;
  readonly step: number;
}

/**
 * Virtual time and the one queue of parked port calls. Every call of every realm waits here, and the seed chooses
 * which completes next: realms interleave at each transaction and each frame.
 */
export class World {
  readonly trace: string[] = [];
  readonly breaches: Breach[] = [];
  readonly faults = new Map<string, number>();
  readonly crashes: Crashes;
  readonly random: Prng;
  readonly #delays: Prng;
  readonly #heap: Parked[] = [];
  now: number;
  steps = 0;
  /** Faults happen at random while this holds: the safety phase. */
  faulty = true;

  constructor(seed: string, startMs: number) {
    this.random = new Prng(seed);
    this.#delays = this.random.fork('delays');
    this.now = startMs;
    this.crashes = new Crashes((point) => {
      this.note(`crash at ${point}`);
      this.count('crash');
    });
  }

  /** Parks something for a life, to happen after so many ms. */
  park(life: Life, what: string, delayMs: number, run: () => void, rank: 0 | 1 = 0): void {
    const tie = this.#delays.u32();
    this.#push({ at: this.now + Math.max(0, delayMs), rank, tie, life, what, run });
  }

  /** A delay by the seed: mostly short, now and then long. */
  delay(shortMs: number, longMs: number): number {
    const long = this.faulty && this.#delays.perMille(20);
    return this.#delays.between(0, long ? longMs : shortMs);
  }

  /** A fault by the seed, counted by its kind. */
  fault(kind: string, perMille: number): boolean {
    if (!this.faulty || perMille === 0 || !this.#delays.perMille(perMille)) return false;
    this.count(kind);
    return true;
  }

  count(kind: string): void {
    this.faults.set(kind, (this.faults.get(kind) ?? 0) + 1);
  }

  note(line: string): void {
    this.trace.push(`${this.now} ${line}`);
  }

  breach(kind: string, what: string): void {
    this.note(`BREACH ${kind}: ${what}`);
    this.breaches.push({ kind, what, step: this.steps });
  }

  /** Lets one parked thing happen and everything that follows from it at once. False when nothing is parked. */
  async step(): Promise<boolean> {
    for (;;) {
      const next = this.#pop();
      if (next === undefined) return false;
      if (!next.life.alive) continue;
      this.now = Math.max(this.now, next.at);
      this.steps += 1;
      this.note(`${next.life.name} ${next.what}`);
      next.run();
      await settled();
      return true;
    }
  }

  /** Steps until a moment, a condition, or the first breach. */
  async runUntil(atMs: number, done: () => boolean = () => false): Promise<void> {
    while (this.breaches.length === 0 && !done()) {
      const next = this.#heap[0];
      if (next === undefined || next.at > atMs) {
        this.now = Math.max(this.now, atMs);
        return;
      }
      await this.step();
    }
  }

  /** Equal for equal runs, and for no others. */
  traceHash(): string {
    return createHash('sha1').update(this.trace.join('\n')).digest('hex');
  }

  #push(one: Parked): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(one);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || !before(one, parent)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = one;
  }

  #pop(): Parked | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      let lesser = heap[child];
      const right = heap[child + 1];
      if (lesser === undefined) break;
      if (right !== undefined && before(right, lesser)) {
        child += 1;
        lesser = right;
      }
      if (!before(lesser, last)) break;
      heap[at] = lesser;
      at = child;
    }
    heap[at] = last;
    return top;
  }
}

function before(left: Parked, right: Parked): boolean {
  if (left.at !== right.at) return left.at < right.at;
  if (left.rank !== right.rank) return left.rank < right.rank;
  return left.tie < right.tie;
}

/** Every promise that can go on has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
