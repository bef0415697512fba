import { assert } from '../assert';
import type { EventId, Slot } from '../ids';
import { limits } from '../limits';
import type { Header } from '../wire/event';
import { genesisOf, type NetworkProfile } from '../wire/profile';
import type { FetchedEvent } from './fetched';
import { type Breach, fitsSlot, headerBreach, type KnownHeader, knowHeader } from './rules';
import type { Layers } from './slot-row';
import { byDepth, type Tip } from './slots';

/** Bounds of one sync: what the peer serves at once. */
export interface SyncBounds {
  readonly batchEventsMax: number;
}

/** How the sync of one slot with one peer ended. It never speaks for other slots or peers. */
export type SyncResult =
  /** Everything the peer named is here. */
  | { readonly end: 'complete'; readonly inserted: number }
  /** The peer has tips or parents it does not give: ask another. */
  | { readonly end: 'incomplete'; readonly inserted: number }
  /** The peer broke a rule. */
  | {
      readonly end: 'broken';
      readonly inserted: number;
      readonly breach: Breach;
      /** What the goal stands on can never be valid, so neither is what it was fetched for. */
      readonly inVain: boolean;
    }
  /** We have no room. */
  | { readonly end: 'full'; readonly inserted: number };

/** An event of an answer, and the id it was asked by. */
export interface NamedEvent extends FetchedEvent {
  readonly id: EventId;
}

/** What a sync wants next. There is always exactly one thing, and one input that answers it. */
export type SyncOutput =
  | { readonly want: 'peer-tips'; readonly slot: Slot }
  | {
      readonly want: 'lacking';
      readonly slot: Slot;
      readonly ids: readonly EventId[];
      /** Where all of them are, if that is known. */
      readonly layers?: Layers;
    }
  | { readonly want: 'own-tips'; readonly slot: Slot }
  | {
      readonly want: 'headers';
      readonly slot: Slot;
      readonly tips: readonly Tip[];
    }
  | {
      readonly want: 'events';
      readonly slot: Slot;
      readonly ids: readonly EventId[];
    }
  | {
      readonly want: 'insert';
      readonly slot: Slot;
      readonly events: readonly NamedEvent[];
    }
  | { readonly want: 'nothing'; readonly result: SyncResult };

/** What became of fetched events, in numbers: rows need not cross a door for it. */
export interface TakenIn {
  readonly inserted: number;
  readonly broken: readonly Breach[];
  readonly invalid: readonly EventId[];
  readonly full: boolean;
}

/** The answer to what a sync wanted. */
export type SyncInput =
  | { readonly got: 'peer-tips'; readonly tips: readonly Tip[] }
  | { readonly got: 'lacking'; readonly ids: readonly EventId[] }
  | { readonly got: 'own-tips'; readonly tips: readonly Tip[] }
  | { readonly got: 'headers'; readonly headers: readonly Header[] }
  | {
      readonly got: 'events';
      readonly events: readonly NamedEvent[];
    }
  | { readonly got: 'inserted'; readonly outcome: TakenIn }
  /** In place of the events asked for: others were asked for them, and some may be here. */
  | { readonly got: 'meanwhile' };

/** Where the sync of one slot with one peer stands. */
export interface SyncState {
  readonly profile: NetworkProfile;
  readonly slot: Slot;
  readonly bounds: SyncBounds;
  readonly output: SyncOutput;
  /** What a look-up of lacking ids is for. */
  readonly stage: 'tips' | 'headers' | 'bodies' | 'goal';
  /** What the peer named as its newest, so far as we lack it; it ends the sync. */
  readonly goal: readonly EventId[];
  /** Of a fetch: what its goal is known to stand on, itself among it. */
  readonly under: ReadonlySet<EventId>;
  /** Headers of the last answer, until it is known which of their bodies we lack. */
  readonly offered: readonly Tip[];
  /** Bodies still to be had, parents first. */
  readonly wanted: readonly EventId[];
  readonly inserted: number;
  /** A peer could invent ancestors without end: a fetch takes so many and leaves the rest to the sync of the slot. */
  readonly insertedMax: number;
  /** Events inserted since the last question for headers: without any, asking again brings nothing new. */
  readonly progress: number;
  /** The goal itself was asked for, since no header led to it. */
  readonly askedGoal: boolean;
}

/** Begins the sync of a slot with a peer: asks for its tips first. */
export function beginSync(profile: NetworkProfile, slot: Slot, bounds: SyncBounds): SyncState {
  return {
    profile,
    slot,
    bounds,
    output: { want: 'peer-tips', slot },
    stage: 'tips',
    goal: [],
    under: new Set(),
    insertedMax: Number.POSITIVE_INFINITY,
    offered: [],
    wanted: [],
    inserted: 0,
    progress: 0,
    askedGoal: false,
  };
}

/** Begins to fetch what `goal` names and all it stands on: the parents a live event of this peer lacked. */
export function beginFetch(
  profile: NetworkProfile,
  slot: Slot,
  bounds: SyncBounds,
  goal: readonly EventId[],
): SyncState {
  return {
    ...beginSync(profile, slot, bounds),
    goal,
    under: new Set(goal),
    insertedMax: limits.parentFetchEventsMax,
    output: { want: 'own-tips', slot },
  };
}

/**
 * One step: the answer to what the state wanted, and the state that wants the next thing. Every round must bring at
 * least one new event, so no peer can keep it going with answers that lead nowhere.
 */
export function stepSync(state: SyncState, input: SyncInput): SyncState {
  const asked = state.output.want === 'insert' ? 'inserted' : state.output.want;
  if (input.got === 'meanwhile' && state.output.want === 'events') {
    return wantLacking(state, 'bodies', state.output.ids);
  }
  assert(input.got === asked, `a sync that wanted ${asked} got ${input.got}`);
  switch (input.got) {
    case 'peer-tips':
      return wantLacking(
        state,
        'tips',
        input.tips.map((tip) => tip.id),
      );
    case 'lacking':
      return onLacking(state, input.ids);
    case 'own-tips':
      return {
        ...state,
        progress: 0,
        output: { want: 'headers', slot: state.slot, tips: input.tips },
      };
    case 'headers':
      return onHeaders(state, input.headers);
    case 'events':
      return onEvents(state, input.events);
    case 'inserted':
      return onInserted(state, input.outcome);
  }
}

function onLacking(state: SyncState, ids: readonly EventId[]): SyncState {
  if (state.stage === 'bodies') return onMeanwhile(state, ids);
  if (state.stage === 'headers') {
    const lacking = new Set(ids);
    const wanted = state.offered.filter((tip) => lacking.has(tip.id)).map((tip) => tip.id);
    if (wanted.length === 0) return wantGoal(state);
    return wantEvents({ ...state, offered: [], wanted });
  }
  if (ids.length === 0) return end(state, 'complete');
  if (state.stage === 'goal' && state.progress === 0) return wantGoal(state);
  return {
    ...state,
    goal: ids,
    output: { want: 'own-tips', slot: state.slot },
  };
}

/** What others brought is progress too: what stands on it can enter now. */
function onMeanwhile(state: SyncState, lacking: readonly EventId[]): SyncState {
  const looked = state.output.want === 'lacking' ? state.output.ids : [];
  const here = new Set(looked.filter((id) => !lacking.includes(id)));
  const wanted = state.wanted.filter((id) => !here.has(id));
  return wantRest({ ...state, wanted, progress: state.progress + here.size });
}

function onHeaders(before: SyncState, headers: readonly Header[]): SyncState {
  const genesis = genesisOf(before.profile, before.slot).id;
  const known: KnownHeader[] = [];
  for (const header of headers) {
    const named = knowHeader(header);
    if (typeof named === 'string') return broken(before, named, []);
    if (named.id !== genesis) known.push(named);
  }
  const sorted = known.toSorted(byDepth);
  const state = { ...before, under: withAncestors(before.under, sorted) };
  for (const one of sorted) {
    const breach = headerBreach(one) ?? (fitsSlot(state.profile, state.slot, one.time) ? undefined : 'time');
    if (breach !== undefined) return broken(state, breach, [one.id]);
  }
  if (sorted.length === 0) return wantGoal(state);
  const offered = sorted.map(({ id, layer }) => ({ id, layer }));
  return wantLacking(
    { ...state, offered },
    'headers',
    offered.map((tip) => tip.id),
    { from: offered[0]?.layer ?? 0, to: offered.at(-1)?.layer ?? 0 },
  );
}

/** Every honest edge leads to a lower layer, so one look from the highest down finds all that an answer tells. */
function withAncestors(of: ReadonlySet<EventId>, parentsFirst: readonly KnownHeader[]): ReadonlySet<EventId> {
  const under = new Set(of);
  for (const one of parentsFirst.toReversed()) {
    if (under.has(one.id)) for (const parent of one.parents) under.add(parent);
  }
  return under;
}

function onEvents(state: SyncState, events: readonly NamedEvent[]): SyncState {
  if (events.length === 0) return end(state, 'incomplete');
  const given = new Set(events.map((event) => event.id));
  const wanted = state.wanted.filter((id) => !given.has(id));
  if (wanted.length === state.wanted.length) return end(state, 'incomplete');
  return {
    ...state,
    wanted,
    output: { want: 'insert', slot: state.slot, events },
  };
}

function onInserted(state: SyncState, outcome: TakenIn): SyncState {
  const { inserted } = outcome;
  const next = {
    ...state,
    inserted: state.inserted + inserted,
    progress: state.progress + inserted,
  };
  const [breach] = outcome.broken;
  if (breach !== undefined) return broken(next, breach, outcome.invalid);
  if (outcome.full) return end(next, 'full');
  if (next.inserted >= state.insertedMax) return end(next, 'incomplete');
  return wantRest(next);
}

function wantRest(state: SyncState): SyncState {
  return state.wanted.length > 0 ? wantEvents(state) : wantLacking(state, 'goal', state.goal);
}

/** The genesis is derived and always here: a slot nobody has written in needs no look into the store. */
function wantLacking(
  state: SyncState,
  stage: SyncState['stage'],
  named: readonly EventId[],
  layers?: Layers,
): SyncState {
  const genesis = genesisOf(state.profile, state.slot).id;
  const ids = named.filter((id) => id !== genesis);
  if (ids.length === 0) return end(state, 'complete');
  return {
    ...state,
    stage,
    output: { want: 'lacking', slot: state.slot, ids, ...(layers && { layers }) },
  };
}

/**
 * No header leads to the goal. A peer lists only what lies above our tips, and one that we lost lies below: so it is
 * asked for by its id, once.
 */
function wantGoal(state: SyncState): SyncState {
  if (state.askedGoal) return end(state, 'incomplete');
  return wantEvents({ ...state, offered: [], wanted: state.goal, askedGoal: true });
}

function wantEvents(state: SyncState): SyncState {
  const count = Math.min(state.bounds.batchEventsMax, limits.eventRequestIdsMax);
  return {
    ...state,
    output: {
      want: 'events',
      slot: state.slot,
      ids: state.wanted.slice(0, count),
    },
  };
}

function end(state: SyncState, how: 'complete' | 'incomplete' | 'full'): SyncState {
  return {
    ...state,
    output: { want: 'nothing', result: { end: how, inserted: state.inserted } },
  };
}

function broken(state: SyncState, breach: Breach, invalid: readonly EventId[]): SyncState {
  const inVain = invalid.some((id) => state.under.has(id));
  const result = { end: 'broken', inserted: state.inserted, breach, inVain } as const;
  return { ...state, output: { want: 'nothing', result } };
}
