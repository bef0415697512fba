/** What one connection may still put: events and their bytes within a sliding window (formats.md 1.5). */
export class Allowance {
  #spent: { readonly at: number; readonly bytes: number }[] = [];

  constructor(
    private readonly eventsMax: number,
    private readonly bytesMax: number,
    private readonly windowMs: number,
  ) {}

  /** True when it is used up, or would be by what is under way and not yet known to count. */
  isSpent(now: number, underWay: { readonly events: number; readonly bytes: number } = none): boolean {
    this.#spent = this.#spent.filter((one) => one.at > now - this.windowMs && one.at <= now);
    const bytes = this.#spent.reduce((sum, one) => sum + one.bytes, underWay.bytes);
    return this.#spent.length + underWay.events >= this.eventsMax || bytes >= this.bytesMax;
  }

  /** An event that counts. */
  spend(now: number, bytes: number): void {
    this.#spent.push({ at: now, bytes });
  }
}

const none = { events: 0, bytes: 0 };
