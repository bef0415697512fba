import type { EventId, Slot } from '../ids';
import { limits } from '../limits';
import type { EventRow } from '../tables';
import { type Ask, all, get, rows } from '../transaction';
import { type Header, parentsOf } from '../wire/event';
import { genesisOf } from '../wire/profile';
import type { GraphPlace } from './insert';
import { slotRowOf, storedHeader } from './slot-row';
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
  /** An event below this layer is lost, and with it the way to what lies there: that has to be looked for. */
  readonly lostBelow?: number;
  /** Everything above this layer was looked for already. */
  readonly lookedDownTo?: number;
}

/** Headers to send, or where to go on. */
export type HeadersOutcome =
  | { readonly done: true; readonly headers: readonly Header[] }
  | { readonly done: false; readonly walk: HeaderWalk };

/**
 * The headers of a slot that cannot be reached from the asker's tips, parents first, as many as an answer holds. It
 * walks down from our tips and theirs at once, highest layer first, and ends where only theirs is left: the work is
 * that of the difference. A long one takes several transactions: ask again with `walk`. Around an event that is lost or
 * damaged it goes on with those below it.
 */
export function* headersAfter(
  place: GraphPlace,
  slot: Slot,
  tips: readonly EventId[],
  from?: HeaderWalk,
): Ask<HeadersOutcome> {
  const walk = new Walk(from ?? (yield* begin(place, slot, tips)));
  const genesis = genesisOf(place.profile, slot);
  let looked = 0;
  if (walk.lostBelow !== undefined) looked = yield* lookBelow(place, slot, walk, walk.lostBelow);
  while (walk.hasOurs() && walk.lostBelow === undefined) {
    const most = Math.floor((limits.headerWalkRowsMax - looked) / limits.eventParents);
    if (most < 1) break;
    const { layer, below } = walk.pass(most);
    const found = yield* all([...below.keys()].map((id) => get('events', [place.account, id])));
    looked += found.length;
    for (const one of listed(found)) {
      walk.open(one, below.get(one.id) ?? false);
      below.delete(one.id);
    }
    below.delete(genesis.id);
    // What the asker has it needs no way to.
    if ([...below.values()].includes(false)) walk.lose(layer);
  }
  if (walk.hasOurs() || walk.lostBelow !== undefined) return { done: false, walk: walk.pause() };
  // With no tips at all the answer starts at the slot's genesis, as upstream's does (event-graph.md 3.4).
  const first = tips.length === 0 ? [genesis.header] : [];
  return { done: true, headers: [...first, ...walk.headers()].slice(0, limits.headerReplyHeadersMax) };
}

/** Opens the highest events below a layer, as if they were tips. */
function* lookBelow(place: GraphPlace, slot: Slot, walk: Walk, layer: number): Ask<number> {
  const range = { prefix: [place.account, slot], to: layer - 1, reverse: true };
  const found = yield* rows('events', range, limits.headerWalkRowsMax, 'slot');
  walk.found(listed(found), found.length < limits.headerWalkRowsMax ? 0 : (found.at(-1)?.layer ?? 0));
  return found.length;
}

function* begin(place: GraphPlace, slot: Slot, theirs: readonly EventId[]): Ask<HeaderWalk> {
  const ours = yield* slotRowOf(place, slot);
  const rowsOf = (ids: readonly EventId[]): Ask<readonly (EventRow | undefined)[]> =>
    all(ids.map((id) => get('events', [place.account, id])));
  const [own, foreign] = yield* all([rowsOf(ours.tips.map((tip) => tip.id)), rowsOf(theirs)]);
  const openOf = (found: readonly (EventRow | undefined)[], flag: boolean): HeaderWalk['open'] =>
    listed(found.filter((row) => row?.slot === slot)).map((one) => ({ ...one, theirs: flag }));
  const open = [...openOf(own, false), ...openOf(foreign, true)];
  const there = new Set(open.map((one) => one.id));
  const isLost = ours.tips.some((tip) => tip.layer > 0 && !there.has(tip.id));
  if (!isLost) return { open, found: [] };
  // From the highest layer down, so that all that is looked for is passed in its order.
  return { open, found: [], lostBelow: Math.max(...ours.tips.map((tip) => tip.layer)) + 1 };
}

function listed(found: readonly (EventRow | undefined)[]): readonly Listed[] {
  return found.flatMap((row) => {
    if (row === undefined) return [];
    const header = storedHeader(row);
    return header === undefined ? [] : [{ id: row.id, layer: row.layer, header }];
  });
}

type OpenLayer = Map<EventId, { readonly at: Listed; theirs: boolean }>;

/** Every edge leads to a lower layer, so when an event is passed, all that stand on it were. */
class Walk {
  readonly #open = new Map<number, OpenLayer>();
  readonly #found: Listed[];
  #ours = 0;
  lostBelow: number | undefined;
  #lookedDownTo: number | undefined;

  constructor(from: HeaderWalk) {
    this.#found = [...from.found];
    this.lostBelow = from.lostBelow;
    this.#lookedDownTo = from.lookedDownTo;
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

  /** A parent of this layer is lost: below it the edges do not lead on, unless what lies there is open already. */
  lose(layer: number): void {
    if (layer <= (this.#lookedDownTo ?? layer)) this.lostBelow = layer;
  }

  /** Takes what was looked for where the edges did not lead. */
  found(events: readonly Listed[], downTo: number): void {
    this.lostBelow = undefined;
    this.#lookedDownTo = downTo;
    for (const one of events) this.open(one, false);
  }

  /** Passes at most `max` events of the highest layer. Gives their parents, and which of them are theirs. */
  pass(max: number): { readonly layer: number; readonly below: Map<EventId, boolean> } {
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
    return { layer: highest, below };
  }

  /** An answer holds the lowest of what was found, so the rest need not be kept, whatever the slot holds. */
  pause(): HeaderWalk {
    const open = [...this.#open.values()].flatMap((layer) => [...layer.values()]);
    return {
      open: open.map(({ at, theirs }) => ({ ...at, theirs })),
      found: this.#found.toSorted(byDepth).slice(0, limits.headerReplyHeadersMax),
      ...(this.lostBelow === undefined ? {} : { lostBelow: this.lostBelow }),
      ...(this.#lookedDownTo === undefined ? {} : { lookedDownTo: this.#lookedDownTo }),
    };
  }

  headers(): readonly Header[] {
    return this.#found.toSorted(byDepth).map((one) => one.header);
  }
}
