import type { AccountId, EventId, Slot } from '../ids';
import { limits } from '../limits';
import type { EventRow } from '../tables';
import { type Ask, all, get } from '../transaction';
import { contentBytesOf, readableEvent } from '../wire/event';
import { genesisOf } from '../wire/profile';
import type { FetchedEvent } from './fetched';
import type { GraphPlace } from './insert';
import { type Layers, rowsNear, slotRowOf } from './slot-row';
import { byHeight, type Tip } from './slots';

/** The tips of a slot as an answer may hold them: of more than it may, those of the highest layers (formats.md 3.3). */
export function* tipsOf(place: GraphPlace, slot: Slot): Ask<readonly Tip[]> {
  const { tips } = yield* slotRowOf(place, slot);
  return tips.toSorted(byHeight).slice(0, limits.tipReplyTipsMax);
}

/** Those of `ids` whose events are not here; where their layers are known, few questions tell. The genesis always is. */
export function* lackingOf(
  place: GraphPlace,
  slot: Slot,
  ids: readonly EventId[],
  layers?: Layers,
): Ask<readonly EventId[]> {
  const { account } = place;
  const near = layers === undefined ? undefined : yield* rowsNear(account, slot, layers);
  const found = near ?? (yield* all(ids.map((id) => get('events', [account, id]))));
  const here = new Set(found.map((row) => row?.id)).add(genesisOf(place.profile, slot).id);
  return ids.filter((id) => !here.has(id));
}

/** Which bodies to send, and how many at most: the bounds both sides agreed on. */
export interface BodiesWanted {
  readonly ids: readonly EventId[];
  readonly eventsMax: number;
  readonly bytesMax: number;
  /** Longest content the peer takes; ours where it announced none. */
  readonly contentBytesMax?: number;
}

const bodiesAtOnce = 16;

/**
 * The events of `ids` in that order, as many as fit the bounds; whoever asked asks again for the rest. The first one
 * is given even when it alone is over the bytes, or it could never be had. One whose content is more than the peer, or
 * the wire, takes is never given: it would end the session each time it is asked for (RD-14). Nor is a damaged one.
 */
export function* bodiesOf(account: AccountId, wanted: BodiesWanted): Ask<readonly FetchedEvent[]> {
  const ids = wanted.ids.slice(0, wanted.eventsMax);
  const served: FetchedEvent[] = [];
  const contentMax = Math.min(wanted.contentBytesMax ?? limits.contentBytesMax, limits.contentBytesMax);
  let room = wanted.bytesMax;
  for (let from = 0; from < ids.length; from += bodiesAtOnce) {
    const found = yield* all(ids.slice(from, from + bodiesAtOnce).map((id) => get('events', [account, id])));
    for (const row of found) {
      if (row === undefined || contentBytesOf(row.event.length) > contentMax || !readableEvent(row.event))
        continue;
      room -= bodyBytes(row);
      if (room < 0 && served.length > 0) return served;
      served.push({ event: row.event, blob: row.blob });
    }
  }
  return served;
}

/** Bytes of an event in an answer or a put: its own, and the lengths of blob and event. */
export function bodyBytes(row: EventRow): number {
  return row.event.length + row.blob.length + 6;
}
