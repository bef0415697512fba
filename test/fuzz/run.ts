import fc from 'fast-check';
import { type Bytes, toHex } from '../../src/core/ids';
import { Prng } from '../sim/prng';
import type { Coverage } from './coverage';
import { mutate } from './mutate';
import type { Target } from './target';

/** What a run does. */
export interface Campaign {
  readonly targets: readonly Target[];
  /** Inputs in all; every target gets the same number. */
  readonly inputs: number;
  readonly seed: string;
  readonly coverage: Coverage;
  /** Inputs between two looks at what has run. */
  readonly every: number;
}

/** An input that made a target throw what it must not, or take too long. */
export interface Crash {
  readonly target: string;
  readonly hex: string;
  readonly error: string;
}

/** What one target showed. */
export interface TargetReport {
  readonly name: string;
  readonly inputs: number;
  readonly read: number;
  /** Inputs that reached code nothing had reached before. */
  readonly kept: number;
  readonly slowestMs: number;
  readonly crashes: number;
}

/** What a run showed. */
export interface FuzzReport {
  readonly targets: readonly TargetReport[];
  readonly crashes: readonly Crash[];
}

const validInputs = 64;
const foundMax = 1_024;
const reportedCrashesMax = 20;

/** An input that takes longer than this, every time, takes too long: none of them is larger than a few kB. */
const slowMs = 100;

/**
 * Mutates valid inputs, and those that reached something new, and judges what comes of it. Everything follows from the
 * seed and from what the code does, so a run can be repeated.
 */
export function fuzz(campaign: Campaign): FuzzReport {
  const { targets, inputs, every } = campaign;
  const runs = targets.map((target) => new TargetRun(target, campaign));
  const share = Math.ceil(inputs / targets.length);
  for (let done = 0; done < share; done += every) {
    for (const run of runs) run.batch(Math.min(every, share - done));
  }
  return {
    targets: runs.map((run) => run.report()),
    crashes: runs.flatMap((run) => run.crashes).slice(0, reportedCrashesMax),
  };
}

class TargetRun {
  readonly crashes: Crash[] = [];
  readonly #prng: Prng;
  readonly #valid: readonly Bytes[];
  /** Inputs that reached something new. */
  readonly #found: Bytes[] = [];
  /** Inputs far from where they began. */
  readonly #drift: Bytes[];
  readonly #coverage: Coverage;
  #inputs = 0;
  #read = 0;
  #kept = 0;
  #slowestMs = 0;
  #crashed = 0;

  constructor(
    private readonly target: Target,
    { seed, coverage }: Campaign,
  ) {
    this.#coverage = coverage;
    this.#prng = new Prng(`${seed}/${target.name}`);
    this.#valid = fc.sample(target.valid, { numRuns: validInputs, seed: this.#prng.u32() | 0 });
    this.#drift = [...this.#valid];
    for (const input of this.#valid) this.#judge(input);
    coverage.look(true);
  }

  batch(count: number): void {
    const inputs = Array.from({ length: count }, () => this.#next());
    for (const input of inputs) {
      this.#inputs += 1;
      if (this.#judge(input) !== 'read') continue;
      this.#read += 1;
      // What was read is gone on from now and then, so that mutations add up.
      if (this.#prng.below(validInputs) === 0) this.#drift[this.#prng.below(validInputs)] = input;
    }
    if (!this.#coverage.look(false)) return;
    this.#keep(inputs);
    // What does not show again when it is looked for is remembered all the same, or it would be looked for for ever.
    for (const input of inputs) this.#judge(input);
    this.#coverage.look(true);
  }

  report(): TargetReport {
    return {
      name: this.target.name,
      inputs: this.#inputs,
      read: this.#read,
      kept: this.#kept,
      slowestMs: this.#slowestMs,
      crashes: this.#crashed,
    };
  }

  #next(): Bytes {
    const prng = this.#prng;
    const from = prng.pick([this.#valid, this.#drift, this.#found.length > 0 ? this.#found : this.#valid]);
    return mutate(prng, prng.pick(from), prng.pick(this.#valid));
  }

  /** Finds those of `inputs` that reach something new, by halves. */
  #keep(inputs: readonly Bytes[]): void {
    for (const input of inputs) this.#judge(input);
    const [only] = inputs;
    if (only === undefined || !this.#coverage.look(inputs.length === 1)) return;
    if (inputs.length === 1) return this.#remember(only);
    const half = inputs.length >> 1;
    this.#keep(inputs.slice(0, half));
    this.#keep(inputs.slice(half));
  }

  #remember(input: Bytes): void {
    this.#kept += 1;
    if (this.#found.length < foundMax) this.#found.push(input);
    else this.#found[this.#prng.below(foundMax)] = input;
  }

  #judge(input: Bytes): 'read' | 'refused' | 'crash' {
    const before = performance.now();
    try {
      const verdict = this.target.judge(input);
      this.#time(input, performance.now() - before);
      return verdict;
    } catch (error) {
      this.#crash(input, error instanceof Error ? `${error.name}: ${error.message}` : String(error));
      return 'crash';
    }
  }

  /** A pause of the machine is not the input's: only what is slow again and again counts. */
  #time(input: Bytes, firstMs: number): void {
    if (firstMs <= this.#slowestMs) return;
    let least = firstMs;
    for (let again = 0; again < 3; again++) {
      const before = performance.now();
      this.target.judge(input);
      least = Math.min(least, performance.now() - before);
    }
    this.#slowestMs = Math.max(this.#slowestMs, least);
    if (least > slowMs) this.#crash(input, `slow: ${least.toFixed(0)} ms`);
  }

  #crash(input: Bytes, error: string): void {
    this.#crashed += 1;
    if (this.crashes.some((crash) => crash.error === error)) return;
    this.crashes.push({ target: this.target.name, hex: toHex(input), error });
  }
}
