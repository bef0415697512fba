import { type Profiler, Session } from 'node:inspector';

/** Which characters of which scripts have run; found by V8's own counters, block by block. */
export class Coverage {
  readonly #session = new Session();
  readonly #seen = new Map<string, Uint8Array>();
  readonly #texts: (url: string) => boolean;

  /** Counts in the scripts whose addresses `counts` says yes to. */
  constructor(counts: (url: string) => boolean) {
    this.#texts = counts;
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** How many characters of code have run so far. */
  get characters(): number {
    let sum = 0;
    for (const seen of this.#seen.values()) for (const one of seen) sum += one;
    return sum;
  }

  /** What ran since the last look: true when some of it never ran before. It is remembered only if `keep` says so. */
  look(keep: boolean): boolean {
    let isNew = false;
    for (const script of this.#take()) {
      if (this.#texts(script.url) && this.#merge(script, keep)) isNew = true;
    }
    return isNew;
  }

  end(): void {
    this.#post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }

  #take(): readonly Profiler.ScriptCoverage[] {
    let taken: readonly Profiler.ScriptCoverage[] = [];
    // A session of one's own thread answers before the call returns.
    this.#session.post('Profiler.takePreciseCoverage', (error, answer) => {
      if (error !== null) throw error;
      taken = answer.result;
    });
    return taken;
  }

  #post(method: 'Profiler.enable' | 'Profiler.stopPreciseCoverage'): void {
    this.#session.post(method);
  }

  /** Outer ranges come before inner ones, of functions and of blocks alike, so the last word on a character is its own. */
  #merge(script: Profiler.ScriptCoverage, keep: boolean): boolean {
    const ran = script.functions.filter(({ ranges }) => ranges.some((range) => range.count > 0));
    if (ran.length === 0) return false;
    const length = Math.max(...script.functions.map(({ ranges }) => ranges[0]?.endOffset ?? 0));
    const now = new Uint8Array(length);
    for (const { ranges } of script.functions) {
      for (const { startOffset, endOffset, count } of ranges)
        now.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    }
    const seen = this.#seenOf(script.url, length);
    let isNew = false;
    for (let at = 0; at < length; at++) {
      if (now[at] !== 1 || seen[at] === 1) continue;
      isNew = true;
      if (!keep) break;
      seen[at] = 1;
    }
    return isNew;
  }

  #seenOf(url: string, length: number): Uint8Array {
    const seen = this.#seen.get(url);
    if (seen !== undefined && seen.length >= length) return seen;
    const longer = new Uint8Array(length);
    if (seen !== undefined) longer.set(seen);
    this.#seen.set(url, longer);
    return longer;
  }
}
