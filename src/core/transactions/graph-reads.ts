import { present } from '../assert';
import type { FetchedEvent } from '../graph/fetched';
import { type HeadersOutcome, type HeaderWalk, headersAfter } from '../graph/headers';
import type { GraphPlace } from '../graph/insert';
import { type BodiesWanted, bodiesOf, lackingOf, tipsOf } from '../graph/serve';
import type { Layers } from '../graph/slot-row';
import type { Tip } from '../graph/slots';
import type { AccountId, Bytes, EventId, Slot } from '../ids';
import { limits } from '../limits';
import { judgeProof } from '../rate/gate';
import { type Ask, all, get, rows } from '../transaction';
import { profileOf } from '../wire/profile';
import type { Keys } from './keys';
import { limiter } from './ticket';

/** A slot of an account's graph. */
export interface SlotArgs {
  readonly account: AccountId;
  readonly profile: string;
  readonly slotsRetained: number;
  readonly slot: Slot;
}

/** The place a script works on, from arguments that may cross a door. */
export function placeOf(args: Omit<SlotArgs, 'slot'>): GraphPlace {
  const profile = present(profileOf(args.profile), 'an account has a profile of this build');
  return { account: args.account, profile, slotsRetained: args.slotsRetained };
}

/** The same place for a script that takes events in: where rates are limited it judges their proofs. */
export function gatedPlaceOf(args: Omit<SlotArgs, 'slot'>, keys: Keys): GraphPlace {
  const place = placeOf(args);
  const { registry } = keys;
  const at = { account: place.account, magic: place.profile.magic, limiter: registry?.limiter ?? limiter };
  const where = registry === undefined ? at : { ...at, registry };
  return { ...place, gate: (event, blob) => judgeProof(where, event, blob) };
}

/** Tips of a slot, as an answer or a question may hold them. */
export function graphTips(args: SlotArgs): Ask<readonly Tip[]> {
  return tipsOf(placeOf(args), args.slot);
}

/** Those of `ids` whose events are not here. */
export function graphLacking(
  args: SlotArgs & { readonly ids: readonly EventId[]; readonly layers?: Layers },
): Ask<readonly EventId[]> {
  return lackingOf(placeOf(args), args.slot, args.ids, args.layers);
}

/** Headers of a slot that do not lie below `tips`; a long walk takes several reads. */
export function graphHeaders(
  args: SlotArgs & {
    readonly tips: readonly EventId[];
    readonly walk?: HeaderWalk;
  },
): Ask<HeadersOutcome> {
  return headersAfter(placeOf(args), args.slot, args.tips, args.walk);
}

/** Whole events by id, as many as fit the bounds. */
export function graphBodies(
  args: BodiesWanted & { readonly account: AccountId },
): Ask<readonly FetchedEvent[]> {
  return bodiesOf(args.account, args);
}

/** Slots that hold events, oldest first: what is kept does not depend on what any clock says. */
export function* graphSlots(args: { readonly account: AccountId }): Ask<{
  readonly slots: readonly Slot[];
  /** Revision of the mark that messages of some of them are in no conversation yet. */
  readonly unapplied?: number;
}> {
  const [found, counters] = yield* all([
    rows('slots', { prefix: [args.account] }, limits.scriptRowsMax),
    get('counters', [args.account]),
  ]);
  const slots = found.map((row) => row.slot);
  return counters?.unapplied === undefined ? { slots } : { slots, unapplied: counters.unapplied.revision };
}

/** One page of a slot's events, parents first. */
export interface GraphPageArgs {
  readonly account: AccountId;
  readonly slot: Slot;
  /** Only events of at least this layer; with `after` those of this very layer behind that event. */
  readonly fromLayer: number;
  readonly after?: EventId;
  readonly limit: number;
}

/** Events of a slot in the order of their layers, for a channel that is joined after they came. */
export function* graphPage(args: GraphPageArgs): Ask<
  readonly {
    readonly id: EventId;
    readonly layer: number;
    readonly event: Bytes;
    readonly own: boolean;
  }[]
> {
  const { account, slot, fromLayer, after } = args;
  const inLayer = { prefix: [account, slot, fromLayer], from: after ?? '' };
  const range = after === undefined ? { prefix: [account, slot], from: fromLayer } : inLayer;
  const limit = after === undefined ? args.limit : args.limit + 1;
  const found = yield* rows('events', range, Math.min(limit, limits.scriptRowsMax), 'slot');
  return found
    .filter((row) => row.id !== after)
    .map((row) => ({
      id: row.id,
      layer: row.layer,
      event: row.event,
      own: row.own,
    }));
}
