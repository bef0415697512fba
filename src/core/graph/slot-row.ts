import type { AccountId, EventId, Slot } from '../ids';
import { limits } from '../limits';
import type { EventRow, SlotRow } from '../tables';
import { type Ask, get, rows } from '../transaction';
import { Reader } from '../wire/codec';
import { type Header, parentsOf, readHeader } from '../wire/event';
import { genesisOf, type NetworkProfile } from '../wire/profile';
import type { Tip } from './slots';

interface Place {
  readonly account: AccountId;
  readonly profile: NetworkProfile;
}

/** A slot's row. Where there is none nobody has written in the slot, or it was lost and is made anew. */
export function* slotRowOf(place: Place, slot: Slot): Ask<SlotRow> {
  const { account } = place;
  const stored = yield* get('slots', [account, slot]);
  if (stored !== undefined) return stored;
  const highest = { prefix: [account, slot], reverse: true };
  const events = yield* rows('events', highest, limits.slotRecountEventsMax, 'slot');
  return events.length === 0 ? emptySlot(place, slot) : recounted(place, slot, events);
}

/** The header of a stored event; `undefined` of a damaged one, which must not stop the rest. */
export function storedHeader(row: EventRow): Header | undefined {
  return row.event.length < limits.eventHeaderBytes ? undefined : readHeader(new Reader(row.event));
}

/** A slot nobody has written in: its one tip is the genesis, which is derived and never stored. */
function emptySlot(place: Place, slot: Slot): SlotRow {
  const genesis: Tip = { id: genesisOf(place.profile, slot).id, layer: 0 };
  return { account: place.account, slot, tips: [genesis], events: 0, bytes: 0 };
}

/** Every edge leads to a lower layer, so what nobody above references is a tip. Lower events than these count for nothing. */
function recounted({ account }: Place, slot: Slot, highestFirst: readonly EventRow[]): SlotRow {
  const referenced = new Set<EventId>();
  const tips: Tip[] = [];
  let bytes = 0;
  for (const row of highestFirst) {
    if (!referenced.has(row.id)) tips.push({ id: row.id, layer: row.layer });
    const header = storedHeader(row);
    if (header !== undefined) for (const parent of parentsOf(header)) referenced.add(parent);
    bytes += row.event.length + row.blob.length;
  }
  return { account, slot, tips, events: highestFirst.length, bytes };
}

/** Layers of a slot, both ends among them. */
export interface Layers {
  readonly from: number;
  readonly to: number;
}

/** Rows of some layers that are looked at together; where there are more, each event is asked for. */
const nearRowsMax = 32;

/**
 * All events of these layers; `undefined` when they are many. Whoever catches up has next to nothing in the layers of an
 * answer, and one question says so.
 */
export function* rowsNear(
  account: AccountId,
  slot: Slot,
  layers: Layers,
): Ask<readonly EventRow[] | undefined> {
  const near = yield* rows('events', { prefix: [account, slot], ...layers }, nearRowsMax, 'slot');
  return near.length < nearRowsMax ? near : undefined;
}
