/**
 * What a kill must never do. `lostAfterWipe` alone is no fault of the app: the browser can delete a whole database
 * after a kill (platform.md 3). `stalled` is a queue that does not empty though its messages have arrived.
 */
export interface Breach {
  readonly kind: 'lostWithoutWipe' | 'lostAfterWipe' | 'duplicated' | 'reordered' | 'stalled';
  readonly what: string;
}

/** One event of a relay's store, in the order in which it was first put there. */
export interface Arrival {
  readonly event: string;
  /** Undefined when the content carries none, which is a copy nobody can collapse. */
  readonly logical: string | undefined;
  readonly text: string;
}

interface Said {
  readonly text: string;
  wiped: boolean;
  settled: boolean;
}

/**
 * What one sender was promised, noted outside the browser, against what a relay holds. Texts are said once each, so a
 * text under two logical ids was enqueued twice; several events of one logical id are copies that a reader collapses.
 */
export class Ledger {
  readonly #said: Said[] = [];
  readonly #places = new Map<string, number>();
  readonly #kept = new Set<string>();
  readonly #events = new Set<string>();
  readonly #logicalOf = new Map<string, string | undefined>();
  #newest = -1;
  /** Further events of a logical id that had arrived. */
  copies = 0;

  /** The sender is about to say a text; the order of these calls is the order that has to hold. */
  says(text: string): void {
    this.#places.set(text, this.#places.size);
  }

  /** The app told the sender that it keeps the text. */
  kept(text: string): void {
    if (!this.#places.has(text)) throw new TypeError(`${text} was never said`);
    if (this.#kept.has(text)) return;
    this.#kept.add(text);
    this.#said.push({ text, wiped: false, settled: false });
  }

  /** The database is seen to be empty: what was kept before it may be gone. */
  wiped(): void {
    for (const one of this.#said) one.wiped = true;
  }

  /** Texts the app keeps. */
  get keptCount(): number {
    return this.#kept.size;
  }

  /** Texts that are in the relay's store. */
  get arrivedCount(): number {
    return this.#logicalOf.size;
  }

  /** Whether the app should have own messages to show. */
  get keepsSome(): boolean {
    return this.#said.some((one) => !one.wiped);
  }

  /** Kept texts that no wipe excuses and that have not arrived. */
  missing(): string[] {
    return this.#said.filter((one) => !one.wiped && !this.#logicalOf.has(one.text)).map(({ text }) => text);
  }

  /** Takes the next event of the relay's store. */
  arrives({ event, logical, text }: Arrival): Breach[] {
    const place = this.#places.get(text);
    if (place === undefined)
      return [{ kind: 'duplicated', what: `an event with a text never said: ${text}` }];
    if (this.#events.has(event)) return [{ kind: 'duplicated', what: `${text}: event ${event} twice` }];
    this.#events.add(event);
    if (this.#logicalOf.has(text)) {
      if (logical !== undefined && this.#logicalOf.get(text) === logical) {
        this.copies += 1;
        return [];
      }
      return [
        { kind: 'duplicated', what: `${text}: logical ids ${this.#logicalOf.get(text)} and ${logical}` },
      ];
    }
    this.#logicalOf.set(text, logical);
    const late = place < this.#newest;
    this.#newest = Math.max(this.#newest, place);
    return late ? [{ kind: 'reordered', what: `${text} arrived behind a later one` }] : [];
  }

  /** Own texts of a timeline, from its beginning: each once, in order. */
  shows(texts: readonly string[]): Breach[] {
    const breaches: Breach[] = [];
    const seen = new Set<string>();
    let before = -1;
    for (const text of texts) {
      const place = this.#places.get(text) ?? -1;
      if (seen.has(text)) breaches.push({ kind: 'duplicated', what: `${text} twice in the timeline` });
      else if (place < before) breaches.push({ kind: 'reordered', what: `${text} late in the timeline` });
      seen.add(text);
      before = Math.max(before, place);
    }
    return breaches;
  }

  /** After the drain: what was kept and has not arrived is lost. Each is told once. */
  settle(): Breach[] {
    return this.#said.flatMap((one) => {
      if (one.settled) return [];
      one.settled = true;
      if (this.#logicalOf.has(one.text)) return [];
      return [
        { kind: one.wiped ? ('lostAfterWipe' as const) : ('lostWithoutWipe' as const), what: one.text },
      ];
    });
  }
}
