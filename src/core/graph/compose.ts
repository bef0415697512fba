import { present } from '../assert';
import type { Bytes, EventId, Slot } from '../ids';
import { limits } from '../limits';
import type { EventRow } from '../tables';
import type { Ask, Change } from '../transaction';
import { encodeEvent, makeEvent } from '../wire/event';
import { slotOf } from '../wire/profile';
import { type GraphPlace, insertKnown } from './insert';
import { knowMade } from './rules';
import { slotRowOf } from './slot-row';
import { byHeight } from './slots';

/** What an own event is made of. */
export interface OwnEvent {
  readonly content: Bytes;
  /** The blob that goes with the event, made when its id is known; none where rates are not limited. */
  readonly blobOf?: (event: EventId) => Bytes;
  /** Trusted time, unix ms. */
  readonly now: number;
  /** Time of the last own event, so that the next is strictly later. */
  readonly ownTime: number;
  /** Position of the entry it is a generation of. */
  readonly covers: number;
}

/** The time an own event made now is given: strictly later than the last one's. */
export function ownEventTime(own: Pick<OwnEvent, 'now' | 'ownTime'>): number {
  return Math.max(own.now, own.ownTime + 1);
}

/** An own event, made and checked but not stored until `changes` are. */
export interface Composed {
  readonly id: EventId;
  readonly slot: Slot;
  readonly time: number;
  /** Exactly the bytes to expose. */
  readonly event: Bytes;
  readonly blob: Bytes;
  readonly row: EventRow;
  readonly changes: readonly Change[];
}

/**
 * Makes an own event in the current slot, on up to five tips, highest layer first (event-graph.md 2.3). `undefined`
 * when no time of this slot is later than the last own event: the clock went back, or the slot is over.
 */
export function* compose(place: GraphPlace, own: OwnEvent): Ask<Composed | undefined> {
  const slot = slotOf(place.profile, own.now);
  const time = ownEventTime(own);
  if (time < slot || time >= slot + place.profile.rotationMs) return undefined;
  const { tips } = yield* slotRowOf(place, slot);
  const chosen = tips.toSorted(byHeight).slice(0, limits.eventParents);
  const layer = present(chosen[0], 'a slot has at least one tip').layer + 1;
  const made = makeEvent(
    BigInt(time),
    chosen.map((tip) => tip.id),
    BigInt(layer),
    own.content,
  );
  const event = encodeEvent(made);
  const known = knowMade(made, event);
  if (typeof known === 'string') throw new TypeError(`an own event is broken: ${known}`);
  // Through the same door as everyone's: what we would refuse from others never leaves here.
  const blob = own.blobOf?.(known.id) ?? new Uint8Array(0);
  const { outcome, changes } = yield* insertKnown(place, slot, known, {
    blob,
    covers: own.covers,
    tips: chosen,
  });
  if (outcome.verdict !== 'inserted') throw new TypeError(`an own event is refused: ${outcome.verdict}`);
  return {
    id: known.id,
    slot,
    time,
    event,
    blob,
    row: outcome.row,
    changes,
  };
}
