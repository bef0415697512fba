import type { EventId, Slot } from '../ids';
import { isSlot, type NetworkProfile, slotOf } from '../wire/profile';
import { slotOfDag } from '../wire/sync';

/** The oldest slot kept at `now` when `retained` slots are, the current one among them. */
export function oldestRetained(profile: NetworkProfile, now: number, retained: number): Slot {
  const oldest = slotOf(profile, now) - (retained - 1) * profile.rotationMs;
  return Math.max(oldest, profile.initialGenesisMs);
}

/** True when `slot` starts a slot of this network that is kept at `now`. */
export function isRetained(profile: NetworkProfile, slot: Slot, now: number, retained: number): boolean {
  if (!isSlot(profile, slot)) return false;
  return slot <= slotOf(profile, now) && slot >= oldestRetained(profile, now, retained);
}

/** The `count` newest slots at `now`, oldest first: the order in which a sync takes them. */
export function newestSlots(profile: NetworkProfile, now: number, count: number): readonly Slot[] {
  const slots: Slot[] = [];
  for (
    let slot = oldestRetained(profile, now, count);
    slot <= slotOf(profile, now);
    slot += profile.rotationMs
  ) {
    slots.push(slot);
  }
  return slots;
}

/** The slot of this network that a wire name means; `undefined` for anything else, the static graph among it. */
export function slotOfName(profile: NetworkProfile, name: string): Slot | undefined {
  const slot = slotOfDag(name);
  return slot !== undefined && isSlot(profile, slot) ? slot : undefined;
}

/** An event nobody references yet, and its layer. */
export interface Tip {
  readonly id: EventId;
  readonly layer: number;
}

/** Highest layer first, then by id: the order in which parents are chosen, so that a choice can be repeated. */
export function byHeight(left: Tip, right: Tip): number {
  return right.layer - left.layer || compareIds(left.id, right.id);
}

/** Lowest layer first, then by id: parents before children (event-graph.md 2.8). */
export function byDepth(left: Tip, right: Tip): number {
  return left.layer - right.layer || compareIds(left.id, right.id);
}

function compareIds(left: EventId, right: EventId): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
