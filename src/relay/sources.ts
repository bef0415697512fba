import { limits } from '../core/limits';
import { Allowance } from '../core/link/allowance';
import type { LogWord } from './log';

/** Where connections come from: what all of them together may do, and what is held against them. */
export interface Source {
  /** What all its connections together may put. */
  readonly allowance: Allowance;
  /** A connection of it ended; some ends are held against it. */
  left(why: LogWord): void;
}

/** What sources are measured by. */
export interface SourceBounds {
  readonly connectionsPerSourceMax: number;
  readonly eventsPerMinuteMax: number;
  readonly bytesPerMinuteMax: number;
  /** How long a ban lasts, ms; 0 bans nobody. */
  readonly banMs: number;
}

/**
 * Ends that are held against a source. Upstream bans at the first flood; an app that was long offline may flood with
 * what it has queued until its pauses have grown, and several people may share an address, so here it takes some.
 */
const faults: ReadonlySet<LogWord> = new Set<LogWord>([
  'flood',
  'unknown commands',
  'strikes',
  'bad frame',
  'too big',
]);

/**
 * The sources that are connected, and those heard of lately. A ban is of a source and ends by itself. The table is
 * bounded: of those that have no connection the one heard of longest ago makes room.
 */
export class Sources {
  readonly #known = new Map<string, Known>();

  constructor(
    private readonly bounds: SourceBounds,
    private readonly now: () => number,
    private readonly knownMax: number = limits.sourcesKnownMax,
  ) {}

  get size(): number {
    return this.#known.size;
  }

  /** How long the source stays banned, ms; 0 when it is not. */
  bannedForMs(name: string): number {
    const known = this.#known.get(name);
    if (known === undefined) return 0;
    this.#touch(name, known);
    const left = known.bannedUntil - this.now();
    // Further away than a ban is long: the clock went back, and the ban with it.
    return left > 0 && left <= this.bounds.banMs ? left : 0;
  }

  /** True when the source has as many connections as it may. */
  isFull(name: string): boolean {
    return (this.#known.get(name)?.open ?? 0) >= this.bounds.connectionsPerSourceMax;
  }

  /** A connection of the source begins; `closed` ends it. Nothing is held against one that is exempt. */
  open(name: string, exempt: boolean): { readonly source: Source; readonly closed: () => void } {
    const known = this.#known.get(name) ?? this.#begin();
    this.#touch(name, known);
    known.open += 1;
    const left = (why: LogWord): void => {
      if (!exempt && faults.has(why)) this.#hold(known);
    };
    return {
      source: { allowance: known.allowance, left },
      closed: () => {
        known.open -= 1;
      },
    };
  }

  #hold(known: Known): void {
    if (this.bounds.banMs === 0) return;
    const now = this.now();
    known.faultsAt = [...known.faultsAt.filter((at) => at > now - limits.banWindowMs && at <= now), now];
    if (known.faultsAt.length < limits.banFaults) return;
    known.faultsAt = [];
    known.bannedUntil = now + this.bounds.banMs;
  }

  #begin(): Known {
    const { eventsPerMinuteMax, bytesPerMinuteMax } = this.bounds;
    const many = limits.sourceAllowances;
    const bytes = many * bytesPerMinuteMax;
    return {
      open: 0,
      allowance: new Allowance(many * eventsPerMinuteMax, bytes, limits.floodWindowMs),
      faultsAt: [],
      bannedUntil: 0,
    };
  }

  /** A map keeps its order, so the first is the one heard of longest ago. */
  #touch(name: string, known: Known): void {
    this.#known.delete(name);
    this.#known.set(name, known);
    if (this.#known.size <= this.knownMax) return;
    for (const [other, { open }] of this.#known) {
      if (open > 0) continue;
      this.#known.delete(other);
      return;
    }
  }
}

interface Known {
  open: number;
  readonly allowance: Allowance;
  faultsAt: readonly number[];
  bannedUntil: number;
}
