/** What the registration tells, and the one thing it can be told. */
export interface UpdateEvents {
  /** A new version is installed and waits. */
  onWaiting(listener: () => void): void;
  /** Another worker took control of this page. */
  onControlling(listener: () => void): void;
  /** Lets the waiting version take over. Without one it does nothing. */
  skipWaiting(): void;
}

/** What updating stands on. */
export interface UpdateParts {
  readonly events: UpdateEvents;
  /** This page's own build. */
  readonly build: string;
  /** Build of the worker in control. */
  workerBuild(): Promise<string>;
  /** Stores what is not stored yet; false forbids the reload, because text would be lost. */
  beforeReload(): Promise<boolean>;
  /** A new version can be used; called again when a reload was forbidden. */
  onReady(ready: boolean): void;
  reload(): void;
}

/** How often, ms, and how many times the waiting version is told to take over. */
const skipAgainMs = 1_000;
const skipsMax = 60;

/**
 * The way to a new version. Every tab of the old one reloads when a worker of another build takes control, whoever
 * asked for it, but never over text that is not stored: then the page goes on, says so, and tries again when asked.
 */
export class Updates {
  #due = false;
  #reloading = false;
  #skipping: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly parts: UpdateParts) {
    parts.events.onWaiting(() => parts.onReady(true));
    parts.events.onControlling(() => void this.#controlled());
  }

  /** Uses the new version: lets it take over, in every tab; or reloads at last when it already has. */
  use(): void {
    if (this.#due) void this.#reload();
    else this.#skip(skipsMax);
  }

  /**
   * The old worker is stopped first; a call that comes in between starts it once more, and then the browser lets it
   * live its full 30 s (observed). Told again, it goes at once.
   */
  #skip(times: number): void {
    clearTimeout(this.#skipping);
    this.parts.events.skipWaiting();
    if (times > 1) this.#skipping = setTimeout(() => this.#skip(times - 1), skipAgainMs);
  }

  /** Tries again a reload that was forbidden. */
  retry(): void {
    if (this.#due) void this.#reload();
  }

  /** A page taken under control late (first visit, hard reload) sees this event too, but is of the same build. */
  async #controlled(): Promise<void> {
    const build = await this.parts.workerBuild().catch(() => undefined);
    if (build === undefined || build === this.parts.build) return;
    clearTimeout(this.#skipping);
    this.#due = true;
    await this.#reload();
  }

  async #reload(): Promise<void> {
    if (this.#reloading) return;
    this.#reloading = true;
    const safe = await this.parts.beforeReload().catch(() => false);
    if (safe) this.parts.reload();
    else this.parts.onReady(true);
    this.#reloading = false;
  }
}
