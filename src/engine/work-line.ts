import { StoreError, type StoreErrorKind } from '../core/errors';

/**
 * Work done one piece after another, in the order in which it came. A store that refuses ends one piece, not the line;
 * neither does any other error, which is nobody's to handle and comes to light as such.
 */
export class WorkLine {
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = false;

  constructor(private readonly onRefused: (kind: StoreErrorKind) => void) {}

  /** Pieces that have not begun. */
  get length(): number {
    return this.#waiting.length;
  }

  push(work: () => Promise<void>): void {
    this.#waiting.push(work);
    if (!this.#running) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#running = true;
    try {
      for (let work = this.#waiting.shift(); work !== undefined; work = this.#waiting.shift()) {
        await this.#carryOut(work);
      }
    } finally {
      this.#running = false;
      if (this.#waiting.length > 0) void this.#drain();
    }
  }

  async #carryOut(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.onRefused(error.kind);
    }
  }
}
