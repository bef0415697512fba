interface Spent {
  readonly at: number;
  readonly bytes: number;
}

/** What one connection or source may still put: events and their bytes within a sliding window (formats.md 1.5). */
export class Allowance {
  /** In the order of time; those before `#first` have left the window. */
  #spent: Spent[] = [];
  #first = 0;
  #bytes = 0;

  constructor(
    private readonly eventsMax: number,
    private readonly bytesMax: number,
    private readonly windowMs: number,
  ) {}

  /** True when it is used up, or would be by what is under way and not yet known to count. */
  isSpent(now: number, underWay: { readonly events: number; readonly bytes: number } = none): boolean {
    this.#forget(now);
    const events = this.#spent.length - this.#first + underWay.events;
    return events >= this.eventsMax || this.#bytes + underWay.bytes >= this.bytesMax;
  }

  /** How many more events there is room for; their bytes may be the narrower bound. */
  eventsLeft(now: number): number {
    return this.isSpent(now) ? 0 : this.eventsMax - (this.#spent.length - this.#first);
  }

  /** When the first of what counts leaves the window, so that there is room again. */
  freeAt(now: number): number {
    this.#forget(now);
    return (this.#spent[this.#first]?.at ?? now - this.windowMs) + this.windowMs;
  }

  /** An event that counts. */
  spend(now: number, bytes: number): void {
    this.#forget(now);
    this.#spent.push({ at: now, bytes });
    this.#bytes += bytes;
  }

  /** What left the window counts no more; nor does what a clock that went back puts into the future. */
  #forget(now: number): void {
    if ((this.#spent.at(-1)?.at ?? now) > now) {
      this.#spent = this.#spent.slice(this.#first).filter(({ at }) => at <= now);
      this.#first = 0;
      this.#bytes = this.#spent.reduce((sum, { bytes }) => sum + bytes, 0);
    }
    for (let next = this.#spent[this.#first]; next !== undefined; next = this.#spent[this.#first]) {
      if (next.at > now - this.windowMs) break;
      this.#bytes -= next.bytes;
      this.#first += 1;
    }
    if (this.#first <= this.#spent.length / 2) return;
    this.#spent = this.#spent.slice(this.#first);
    this.#first = 0;
  }
}

const none = { events: 0, bytes: 0 };
