import { assert } from '../core/assert';
import { limits } from '../core/limits';

/** How fast events go out. */
export interface Pace {
  /** True when none may go out now. */
  isSpent(now: number): boolean;
  /** One goes out. */
  spend(now: number, bytes: number): void;
}

/** Events that go out to a member at once, and from then on in a minute. */
const burstEvents = 1_024;
const eventsPerMinute = 4_800;

assert(
  burstEvents + eventsPerMinute < limits.relayFloodEventsMax,
  'what a relay hands on is no flood to who gets it',
);

/**
 * How fast one member is handed what others say: as much as people ever say, and never so much that its app takes the
 * relay for one that floods, whoever makes the relay say it. What finds no room the member is made to ask for, as fast
 * as it likes. Two numbers, since there is one of them for each of very many connections.
 */
export class MemberPace implements Pace {
  #left = burstEvents;
  #at = Number.NEGATIVE_INFINITY;

  isSpent(now: number): boolean {
    this.#refill(now);
    return this.#left < 1;
  }

  spend(now: number): void {
    this.#refill(now);
    this.#left -= 1;
  }

  /** A clock that goes back refills nothing, and takes nothing. */
  #refill(now: number): void {
    const more = (Math.max(0, now - this.#at) * eventsPerMinute) / limits.floodWindowMs;
    this.#left = Math.min(burstEvents, this.#left + more);
    this.#at = now;
  }
}
