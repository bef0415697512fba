import type { EventId, Slot } from '../ids';
import { limits } from '../limits';
import type { EventRow } from '../tables';
import { type Ask, all, get } from '../transaction';
import { Reader } from '../wire/codec';
import { type Header, parentsOf, readHeader } from '../wire/event';
import { genesisOf } from '../wire/profile';
import { emptySlot, type GraphPlace } from './insert';
import { byDepth, type Tip } from './slots';

/** An event of a slot, without its body. */
interface Listed extends Tip {
  readonly header: Header;
}

/** Where a listing of headers stands between two transactions. Plain data, so that it may cross a door. */
export interface HeaderWalk {
  /** Not passed yet; what is `theirs` the asker has, and with it everything below. */
  readonly open: readonly (Listed & { readonly theirs: boolean })[];
  readonly found: readonly Listed[];
}

/** Headers to send, or where to go on. */
export type HeadersOutcome =
  | { readonly done: true; readonly headers: readonly Header[] }
  | { readonly done: false; readonly walk: HeaderWalk };

/**
 * The headers of a slot that cannot be reached from the asker's tips, parents first, as many as an answer holds. It
 * walks down from our tips and theirs at once, highest layer first, and ends where only theirs is left: the work is
 * that of the difference. A long one takes several transactions: ask again with `walk`.
 */
export function* headersAfter(
  place: GraphPlace,
  slot: Slot,
  tips: readonly EventId[],
  from?: HeaderWalk,
): Ask<HeadersOutcome> {
  const walk = new Walk(from ?? (yield* begin(place, slot, tips)));
  let looked = 0;
  while (walk.hasOurs()) {
    const most = Math.floor((limits.headerWalkRowsMax - looked) / limits.eventParents);
    if (most < 1) return { done: false, walk: walk.pause() };
    const below = walk.pass(most);
    const found = yield* all([...below.keys()].map((id) => get('events', [place.account, id])));
    looked += found.length;
    for (const row of found) if (row !== undefined) walk.open(listed(row), below.get(row.id) ?? false);
  }
  // With no tips at all the answer starts at the slot's genesis, as upstream's does (event-graph.md 3.4).
  const genesis = tips.length === 0 ? [genesisOf(place.profile, slot).header] : [];
  return {
    done: true,
    headers: [...genesis, ...walk.headers()].slice(0, limits.headerReplyHeadersMax),
  };
}

function* begin(place: GraphPlace, slot: Slot, theirs: readonly EventId[]): Ask<HeaderWalk> {
  const ours = (yield* get('slots', [place.account, slot])) ?? emptySlot(place, slot);
  const rowsOf = (ids: readonly EventId[]): Ask<readonly (EventRow | undefined)[]> =>
    all(ids.map((id) => get('events', [place.account, id])));
  const [own, foreign] = yield* all([rowsOf(ours.tips.map((tip) => tip.id)), rowsOf(theirs)]);
  const openOf = (rows: readonly (EventRow | undefined)[], flag: boolean): HeaderWalk['open'] =>
    rows.filter((row) => row?.slot === slot).map((row) => ({ ...listed(row as EventRow), theirs: flag }));
  return { open: [...openOf(own, false), ...openOf(foreign, true)], found: [] };
}

function listed(row: EventRow): Listed {
  return {
    id: row.id,
    layer: row.layer,
    header: readHeader(new Reader(row.event)),
  };
}

type OpenLayer = Map<EventId, { readonly at: Listed; theirs: boolean }>;

/** Every edge leads to a lower layer, so when an event is passed, all that stand on it were. */
class Walk {
  readonly #open = new Map<number, OpenLayer>();
  readonly #found: Listed[];
  #ours = 0;

  constructor(from: HeaderWalk) {
    this.#found = [...from.found];
    for (const one of from.open) this.open(one, one.theirs);
  }

  hasOurs(): boolean {
    return this.#ours > 0;
  }

  open(at: Listed, theirs: boolean): void {
    const layer: OpenLayer = this.#open.get(at.layer) ?? new Map();
    this.#open.set(at.layer, layer);
    const known = layer.get(at.id);
    if (known === undefined) {
      layer.set(at.id, {
        at: { id: at.id, layer: at.layer, header: at.header },
        theirs,
      });
      if (!theirs) this.#ours += 1;
    } else if (theirs && !known.theirs) {
      known.theirs = true;
      this.#ours -= 1;
    }
  }

  /** Passes at most `max` events of the highest layer. Gives their parents, and which of them are theirs. */
  pass(max: number): ReadonlyMap<EventId, boolean> {
    const highest = Math.max(...this.#open.keys());
    const layer = this.#open.get(highest) ?? (new Map() as OpenLayer);
    const below = new Map<EventId, boolean>();
    for (const { at, theirs } of [...layer.values()].slice(0, max)) {
      layer.delete(at.id);
      for (const parent of parentsOf(at.header)) below.set(parent, theirs || below.get(parent) === true);
      if (theirs) continue;
      this.#ours -= 1;
      this.#found.push(at);
    }
    if (layer.size === 0) this.#open.delete(highest);
    return below;
  }

  pause(): HeaderWalk {
    const open = [...this.#open.values()].flatMap((layer) => [...layer.values()]);
    return {
      open: open.map(({ at, theirs }) => ({ ...at, theirs })),
      found: this.#found,
    };
  }

  headers(): readonly Header[] {
    return this.#found.toSorted(byDepth).map((one) => one.header);
  }
}
