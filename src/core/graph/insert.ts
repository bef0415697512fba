import { present } from '../assert';
import type { AccountId, Bytes, EventId, Slot } from '../ids';
import { limits } from '../limits';
import type { EventRow, SlotRow } from '../tables';
import { type Ask, all, type Change, decide, get, put, type Script } from '../transaction';
import { genesisOf, type NetworkProfile, slotOf } from '../wire/profile';
import {
  type Breach,
  isForeignGenesis,
  type KnownEvent,
  knowEvent,
  liveBreach,
  type ParentFacts,
  proofBreach,
  slotBreach,
} from './rules';
import { slotRowOf } from './slot-row';
import type { Tip } from './slots';

/** Judges an event's proof: what to change with its insertion, or why it does not enter. */
export type ProofGate = (event: KnownEvent, blob: Bytes) => Ask<readonly Change[] | Breach>;

/** Whose graph a script works on. */
export interface GraphPlace {
  readonly account: AccountId;
  readonly profile: NetworkProfile;
  /** How many slots are kept, the current one among them. */
  readonly slotsRetained: number;
  /** Asked about every event where the network limits rates; reads need none. */
  readonly gate?: ProofGate;
  /** Lane position of an event this installation made, however it comes back; a relay makes none. */
  readonly ownPosition?: (event: KnownEvent) => Ask<number | undefined>;
}

/** A live event, as a peer put it. */
export interface LiveEvent {
  /** The encoded event: header, length, content. */
  readonly event: Bytes;
  readonly blob: Bytes;
  readonly now: number;
  /** The first sync is done; before it every event is answered NotSynced. */
  readonly synced: boolean;
  /** The sender's allowance is used up: only what is known already is still answered. */
  readonly flooded: boolean;
  /** Bytes the store may still take. */
  readonly room: number;
}

/** Why an event was not taken, in the words of the wire. */
export type Refusal = 'too-old' | 'not-synced' | 'invalid' | 'busy';

/**
 * What became of an event. `inserted` and `known` are `Has`, `refused` is a `Nack`; `missing` names the parents to
 * fetch first (answer Busy when that fails); `flood` owes no answer. A strike is due only where `strike` says so, and
 * an event counts against its sender's allowance unless `counted` is false (event-graph.md 3.2).
 */
export type InsertOutcome =
  | { readonly verdict: 'inserted'; readonly row: EventRow }
  | {
      readonly verdict: 'known';
      readonly id: EventId;
      readonly counted: boolean;
    }
  | {
      readonly verdict: 'refused';
      readonly reason: Refusal;
      readonly strike: boolean;
      readonly counted: boolean;
      readonly breach?: Breach;
    }
  | {
      readonly verdict: 'missing';
      readonly slot: Slot;
      readonly parents: readonly EventId[];
    }
  | { readonly verdict: 'flood' };

/** Takes in a live event, in the order of event-graph.md 3.2. */
export function* insertLive(place: GraphPlace, live: LiveEvent): Script<InsertOutcome> {
  if (!live.synced) return decide(refuse('not-synced', { counted: false }));
  const known = knowEvent(live.event);
  const found = typeof known === 'string' ? undefined : yield* get('events', [place.account, known.id]);
  const current = slotOf(place.profile, live.now);
  if (found?.slot === current) return decide({ verdict: 'known', id: found.id, counted: false });
  if (live.flooded) return decide({ verdict: 'flood' });
  if (typeof known === 'string') return decide(invalid(known));
  if (found !== undefined) return decide({ verdict: 'known', id: found.id, counted: true });
  if (known.time < current) return decide(refuse('too-old'));
  const blob = place.profile.rateLimit ? live.blob : noBlob;
  const breach = liveBreach(known, blob, live.now) ?? proofBreach(place.profile, blob);
  if (breach !== undefined) return decide(invalid(breach));
  if (ofNextSlot(place.profile, current, known)) return decide(refuse('busy'));
  const decision = yield* insertKnown(place, current, known, {
    blob,
    room: live.room,
  });
  return {
    ...decision,
    outcome: asLive(decision.outcome, known.time < current + place.profile.rotationMs),
  };
}

const noBlob: Bytes = new Uint8Array(0);

/** A peer whose clock runs before ours builds in the next slot already: not wrong, only early. */
function ofNextSlot(profile: NetworkProfile, current: Slot, known: KnownEvent): boolean {
  const next = current + profile.rotationMs;
  return known.time >= next && known.layer === 1 && known.parents.includes(genesisOf(profile, next).id);
}

/**
 * Three things look different in a live event: what was built wholly on a slot that has closed came too late; what was
 * built on one that has not begun, since our clock went back, came too early; and parents that nobody has asked for yet
 * may lie in such a one.
 */
function asLive(outcome: InsertOutcome, inSlot: boolean): InsertOutcome {
  if (outcome.verdict === 'refused' && outcome.breach === 'older-slot') return refuse('too-old');
  if (outcome.verdict === 'refused' && outcome.breach === 'later-slot') return refuse('busy');
  return outcome.verdict === 'missing' && !inSlot ? refuse('busy') : outcome;
}

/** What a script has looked up already: rows, and that there is none. */
export type Seen = ReadonlyMap<EventId, EventRow | undefined>;

/** How an event that passed its quick check enters: one of others into the room there is, an own one always. */
export type Entry = { readonly blob: Bytes } & (
  | { readonly room: number; readonly seen?: Seen }
  /**
   * Lane position of an own event just made; others inherit the highest of their parents. It stands on `tips`, which
   * the slot's row names: they are there, and need no look.
   */
  | { readonly covers: number; readonly tips: readonly Tip[] }
);

/** Takes an event into its slot when every parent is there and the slot's rules hold. */
export function* insertKnown(
  place: GraphPlace,
  slot: Slot,
  known: KnownEvent,
  entry: Entry,
): Script<InsertOutcome> {
  const genesis = genesisOf(place.profile, slot).id;
  if (isForeignGenesis(known, genesis)) return decide(invalid('foreign-genesis'));
  // The genesis is derived and always there. An own event has a position of its own and inherits none.
  const given = [{ id: genesis, layer: 0 }, ...('tips' in entry ? entry.tips : [])];
  const seen = 'room' in entry ? entry.seen : undefined;
  const [before, parents, position] = yield* all([
    slotRowOf(place, slot),
    all(known.parents.map((parent) => parentOf(place, slot, parent, { given, seen }))),
    positionOf(place, known, entry),
  ]);
  const found = parents.filter((parent) => parent !== undefined);
  if (found.length < parents.length) {
    const missing = known.parents.filter((_, at) => parents[at] === undefined);
    return decide({ verdict: 'missing', slot, parents: missing });
  }
  const breach = slotBreach(place.profile, slot, known, found);
  if (breach !== undefined) return decide(invalid(breach));
  const after = grow(before, known, entry.blob);
  const proven = yield* admit(place, known, entry.blob);
  if (typeof proven === 'string') return decide(unproven(proven));
  if ('room' in entry && isFull(before, after, entry.room)) return decide(refuse('busy'));
  const row = rowOf(place, slot, known, entry.blob, position ?? { own: false, covers: coversOf(found) });
  return decide({ verdict: 'inserted', row }, [put('events', row), put('slots', after), ...proven]);
}

/** Nothing enters a network that limits rates without its proof, own events among them (OB-26). */
function* admit(place: GraphPlace, known: KnownEvent, blob: Bytes): Ask<readonly Change[] | Breach> {
  if (!place.profile.rateLimit) return [];
  return yield* present(place.gate, 'where rates are limited somebody judges proofs')(known, blob);
}

interface Parent extends ParentFacts {
  readonly covers: number;
}

function* parentOf(
  place: GraphPlace,
  slot: Slot,
  id: EventId,
  { given, seen }: { readonly given: readonly Tip[]; readonly seen: Seen | undefined },
): Ask<Parent | undefined> {
  const tip = given.find((one) => one.id === id);
  if (tip !== undefined) return { ...tip, slot, covers: 0 };
  return seen?.has(id) ? seen.get(id) : yield* get('events', [place.account, id]);
}

type Position = Pick<EventRow, 'own' | 'covers'>;

/**
 * Where an event of this installation stands in the lane; `undefined` for those of others. One that the graph had
 * forgotten and a peer gives back is still our own: it is no evidence, and what builds on it is (OB-11, OB-12).
 */
function* positionOf(place: GraphPlace, known: KnownEvent, entry: Entry): Ask<Position | undefined> {
  const covers = 'covers' in entry ? entry.covers : place.ownPosition && (yield* place.ownPosition(known));
  return covers === undefined ? undefined : { own: true, covers };
}

/** What an event of another builds on: no walk over its ancestors, whatever their number. */
function coversOf(parents: readonly Parent[]): number {
  return Math.max(...parents.map((parent) => parent.covers));
}

function rowOf(place: GraphPlace, slot: Slot, known: KnownEvent, blob: Bytes, position: Position): EventRow {
  return {
    account: place.account,
    id: known.id,
    slot,
    layer: known.layer,
    time: known.time,
    event: known.bytes,
    blob,
    ...position,
  };
}

function grow(before: SlotRow, known: KnownEvent, blob: Bytes): SlotRow {
  const parents = new Set(known.parents);
  const tips = before.tips.filter((tip) => !parents.has(tip.id));
  return {
    ...before,
    tips: [...tips, { id: known.id, layer: known.layer }],
    events: before.events + 1,
    bytes: before.bytes + known.bytes.length + blob.length,
  };
}

/**
 * No room: of bytes, of events in the slot, or of tips. Of these more than the bound are refused only where an
 * event would add one, so that an honest merge always gets in.
 */
function isFull(before: SlotRow, after: SlotRow, room: number): boolean {
  if (after.bytes - before.bytes > room || after.events > limits.slotEventsMax) return true;
  return after.tips.length > before.tips.length && after.tips.length > limits.slotTipsMax;
}

function invalid(breach: Breach): InsertOutcome {
  return {
    verdict: 'refused',
    reason: 'invalid',
    strike: true,
    counted: true,
    breach,
  };
}

/** A proof that does not hold is invalid and costs no strike (event-graph.md 3.2, step 11). */
function unproven(breach: Breach): InsertOutcome {
  return { verdict: 'refused', reason: 'invalid', strike: false, counted: true, breach };
}

function refuse(reason: Refusal, how: { readonly counted?: boolean } = {}): InsertOutcome {
  return {
    verdict: 'refused',
    reason,
    strike: false,
    counted: how.counted ?? true,
  };
}
