import type { EventId, Slot } from '../core/ids';
import { limits } from '../core/limits';
import type { Clock } from './ports';

interface Claim {
  readonly by: BodiesTurn;
  /** From then on others may be asked as well: whoever is slow holds nothing up. */
  readonly until: number;
}

/** What the syncs of one slot have in common. */
interface Shared {
  readonly claims: Map<EventId, Claim>;
  readonly waiting: Set<() => void>;
  /** Raised when bodies were taken in: what another sync lacked may be here. */
  taken: number;
  turns: number;
  waits: number;
}

function newShared(): Shared {
  return { claims: new Map(), waiting: new Set(), taken: 0, turns: 0, waits: 0 };
}

/** Bodies that peers are asked for: no two peers are asked for the same one at the same time. */
export class AskedBodies {
  readonly #slots = new Map<Slot, Shared>();

  constructor(private readonly clock: Clock) {}

  /** The part of one sync of a slot; to be ended with it. */
  begin(slot: Slot): BodiesTurn {
    const shared = this.#slots.get(slot) ?? newShared();
    this.#slots.set(slot, shared);
    shared.turns += 1;
    return new BodiesTurn(this.clock, slot, shared, () => {
      shared.turns -= 1;
      if (shared.turns === 0) this.#slots.delete(slot);
    });
  }
}

/** What one sync asks its peer for. */
export class BodiesTurn {
  /** Claimed once: a peer that does not give them cannot keep others from being asked again and again. */
  readonly #had = new Set<EventId>();
  /** Asked for while those before them are taken in. */
  #ahead: ReadonlySet<EventId> = new Set();
  #seen: number;

  constructor(
    private readonly clock: Clock,
    private readonly slot: Slot,
    private readonly shared: Shared,
    private readonly onEnd: () => void,
  ) {
    this.#seen = shared.taken;
  }

  /**
   * What to ask the peer for, of bodies given parents first: up to the first that somebody else is asked for, since what
   * stands on it could not enter. `undefined`, sooner or later, when it must be looked again which are lacking.
   */
  async toAsk(ids: readonly EventId[]): Promise<readonly EventId[] | undefined> {
    this.#ahead = new Set();
    this.#release();
    if (this.#seen !== this.shared.taken) {
      this.#seen = this.shared.taken;
      return undefined;
    }
    const free = this.#claim(ids);
    if (free.length > 0 || ids.length === 0) return free;
    return void (await this.#wait(this.shared.claims.get(ids[0] ?? '')?.until ?? this.clock.now()));
  }

  /** What the peer may be asked for while its last bodies are taken in: the next ones, if nobody else gives them. */
  toAskAhead(ids: readonly EventId[]): readonly EventId[] {
    const free = this.#seen === this.shared.taken ? this.#claim(ids) : [];
    this.#ahead = new Set(free);
    return free;
  }

  #claim(ids: readonly EventId[]): readonly EventId[] {
    const now = this.clock.now();
    const isBusy = (id: EventId): boolean => (this.shared.claims.get(id)?.until ?? now) > now;
    const busy = ids.findIndex(isBusy);
    const free = busy < 0 ? ids : ids.slice(0, busy);
    for (const id of free) {
      if (this.#had.has(id)) continue;
      this.#had.add(id);
      this.shared.claims.set(id, { by: this, until: now + limits.bodyClaimMs });
    }
    return free;
  }

  /** So many of the bodies were new. */
  took(inserted: number): void {
    const knew = this.#seen === this.shared.taken;
    if (inserted > 0) this.shared.taken += 1;
    if (knew) this.#seen = this.shared.taken;
    this.#release();
  }

  end(): void {
    this.#ahead = new Set();
    this.#release();
    this.onEnd();
  }

  #release(): void {
    const own = [...this.shared.claims].filter(([id, claim]) => claim.by === this && !this.#ahead.has(id));
    for (const [id] of own) this.shared.claims.delete(id);
    // Whoever is woken for nothing looks again, and would wake others for nothing.
    if (own.length > 0) for (const wake of this.shared.waiting) wake();
  }

  /** Until somebody is through with what they asked for, or has had the time for it. */
  #wait(until: number): Promise<void> {
    this.shared.waits += 1;
    const name = `bodies ${this.slot} ${this.shared.waits}`;
    return new Promise((done) => {
      const wake = (): void => {
        this.shared.waiting.delete(wake);
        this.clock.clear(name);
        done();
      };
      this.shared.waiting.add(wake);
      this.clock.set(name, until, wake);
    });
  }
}
