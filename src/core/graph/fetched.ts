import type { AccountId, Bytes, EventId, Slot } from '../ids';
import type { EventRow } from '../tables';
import { type Ask, all, decide, get, part, type Script } from '../transaction';
import { genesisOf, type NetworkProfile } from '../wire/profile';
import { type GraphPlace, insertKnown } from './insert';
import {
  type Breach,
  eventBreach,
  isForGood,
  isPeersFault,
  type KnownEvent,
  knowEvent,
  proofBreach,
} from './rules';
import { rowsNear, slotRowOf } from './slot-row';
import { byDepth, isRetained } from './slots';

/** One event of an answer to a request. */
export interface FetchedEvent {
  /** The encoded event: header, length, content. */
  readonly event: Bytes;
  readonly blob: Bytes;
}

/** Events that were asked for, all of one slot. */
export interface Fetched {
  readonly slot: Slot;
  readonly events: readonly FetchedEvent[];
  readonly now: number;
  /** Bytes the store may still take. */
  readonly room: number;
}

/** What became of fetched events. */
export interface FetchedOutcome {
  /** New rows, parents before children. */
  readonly inserted: readonly EventRow[];
  /** Rules that were broken, one an event: whoever sent them is no honest peer. */
  readonly broken: readonly Breach[];
  /** Those of them that can never be valid, and so nothing that stands on them. */
  readonly invalid: readonly EventId[];
  /** How many were not taken through no fault of the peer's: a parent is missing, the slot or identity is not kept. */
  readonly left: number;
  /** There was no room for at least one. */
  readonly full: boolean;
}

/**
 * Takes in events that were asked for, parents first, in one transaction. Neither the rule of the minute nor the
 * first sync applies to them (event-graph.md 3.3). What is known already is passed over.
 */
export function* insertFetched(place: GraphPlace, fetched: Fetched): Script<FetchedOutcome> {
  const { slot, events, now } = fetched;
  if (!isRetained(place.profile, slot, now, place.slotsRetained)) {
    return decide({
      inserted: [],
      broken: [],
      invalid: [],
      left: events.length,
      full: false,
    });
  }
  const { named, broken, invalid } = nameAll(place, fetched);
  const seen = yield* lookAhead(place, slot, named);
  const inserted: EventRow[] = [];
  let room = fetched.room;
  let left = 0;
  let full = false;
  for (const { known, blob } of named) {
    if (seen.get(known.id) !== undefined) continue;
    const outcome = yield* part(insertKnown(place, slot, known, { blob, room, seen }));
    if (outcome.verdict === 'inserted') {
      inserted.push(outcome.row);
      seen.set(known.id, outcome.row);
      room -= known.bytes.length + blob.length;
    } else if (outcome.verdict !== 'refused') left += 1;
    else if (outcome.breach === undefined) full = true;
    else if (!isPeersFault(outcome.breach)) left += 1;
    else {
      broken.push(outcome.breach);
      if (isForGood(outcome.breach)) invalid.push(known.id);
    }
  }
  return decide({ inserted, broken, invalid, left, full });
}

/**
 * Looks for the events, and for what they stand on, before any of them enters: one after another, each would wait for
 * the database. An event has one slot, since what it stands on has.
 */
function* lookAhead(
  place: GraphPlace,
  slot: Slot,
  named: readonly Named[],
): Ask<Map<EventId, EventRow | undefined>> {
  const { account, ownPosition } = place;
  const ids = new Set(named.map(({ known }) => known.id));
  const parents = new Set(named.flatMap(({ known }) => known.parents));
  const below = [...parents].filter((id) => !ids.has(id) && id !== genesisOf(place.profile, slot).id);
  const layers = { from: named[0]?.known.layer ?? 0, to: named.at(-1)?.known.layer ?? 0 };
  const [near, found] = yield* all([
    rowsNear(account, slot, layers),
    rowsOf(account, below),
    slotRowOf(place, slot),
    all(ownPosition === undefined ? [] : named.map(({ known }) => ownPosition(known))),
  ]);
  const there = near ?? (yield* rowsOf(account, [...ids]));
  const seen = new Map<EventId, EventRow | undefined>([...ids, ...below].map((id) => [id, undefined]));
  for (const row of [...there, ...found]) if (row !== undefined) seen.set(row.id, row);
  return seen;
}

function* rowsOf(account: AccountId, ids: readonly EventId[]): Ask<readonly (EventRow | undefined)[]> {
  return yield* all(ids.map((id) => get('events', [account, id])));
}

interface Named {
  readonly known: KnownEvent;
  readonly blob: Bytes;
}

/** Genesis events are derived by everyone, so one that was sent all the same is neither stored nor held against anyone. */
function nameAll(
  place: GraphPlace,
  fetched: Fetched,
): { readonly named: readonly Named[]; readonly broken: Breach[]; readonly invalid: EventId[] } {
  const genesis = genesisOf(place.profile, fetched.slot).id;
  const named: Named[] = [];
  const broken: Breach[] = [];
  const invalid: EventId[] = [];
  for (const one of fetched.events) {
    const known = knowEvent(one.event);
    const blob = place.profile.rateLimit ? one.blob : new Uint8Array(0);
    const breach = breachOf(place.profile, known, genesis, blob);
    if (breach !== undefined) broken.push(breach);
    if (typeof known === 'string' || known.id === genesis) continue;
    if (breach === undefined) named.push({ known, blob });
    else if (isForGood(breach)) invalid.push(known.id);
  }
  named.sort((left, right) => byDepth(left.known, right.known));
  return { named, broken, invalid };
}

function breachOf(
  profile: NetworkProfile,
  known: KnownEvent | Breach,
  genesis: EventId,
  blob: Bytes,
): Breach | undefined {
  if (typeof known === 'string') return known;
  return known.id === genesis ? undefined : (eventBreach(known, blob) ?? proofBreach(profile, blob));
}
