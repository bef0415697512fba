import { insertFetched } from '../graph/fetched';
import { type InsertOutcome, insertLive } from '../graph/insert';
import type { TakenIn } from '../graph/sync';
import type { AccountId, Bytes, EventId, Slot } from '../ids';
import type { CountersRow } from '../tables';
import { type Ask, decide, get, part, put, rows, type Script } from '../transaction';
import { gatedPlaceOf, type SlotArgs } from './graph-reads';
import type { Keys } from './keys';
import { newCounters } from './rows';

type GraphArgs = Omit<SlotArgs, 'slot'>;

/** Slots that are counted in one transaction. */
const slotsCountedMax = 2_048;

/** A live event of a peer of the relay. */
export interface RelayPutArgs extends GraphArgs {
  readonly event: Bytes;
  readonly blob: Bytes;
  readonly now: number;
  readonly synced: boolean;
  readonly flooded: boolean;
  /** Bytes the relay's graph may hold. */
  readonly bytesMax: number;
}

/** What became of a live event: as the graph says, without the row. */
export type RelayPutOutcome =
  | { readonly verdict: 'inserted' }
  | Exclude<InsertOutcome, { readonly verdict: 'inserted' }>;

/** Takes a live event in, or says why not. Beyond the relay's bytes it is Busy. */
export function* relayPut(args: RelayPutArgs, keys: Keys): Script<RelayPutOutcome> {
  const held = yield* heldBy(args.account);
  const room = args.bytesMax - held.graphBytes;
  const outcome = yield* part(insertLive(gatedPlaceOf(args, keys), { ...args, room }));
  if (outcome.verdict !== 'inserted') return decide(outcome);
  const graphBytes = held.graphBytes + outcome.row.event.length + outcome.row.blob.length;
  return decide({ verdict: 'inserted' }, [put('counters', { ...held, graphBytes })]);
}

/** Events a peer gave because the relay asked. */
export interface RelayTakeArgs extends GraphArgs {
  readonly slot: Slot;
  readonly events: readonly { readonly event: Bytes; readonly blob: Bytes }[];
  readonly now: number;
  readonly bytesMax: number;
}

/** What became of them, and the ids of those that are new. */
export interface RelayTakeOutcome extends TakenIn {
  readonly ids: readonly EventId[];
}

/** Takes in events that were asked for. */
export function* relayTake(args: RelayTakeArgs, keys: Keys): Script<RelayTakeOutcome> {
  const held = yield* heldBy(args.account);
  const room = args.bytesMax - held.graphBytes;
  const taken = yield* part(insertFetched(gatedPlaceOf(args, keys), { ...args, room }));
  const { inserted, broken, invalid, full } = taken;
  const outcome = { inserted: inserted.length, broken, invalid, full, ids: inserted.map((row) => row.id) };
  if (inserted.length === 0) return decide(outcome);
  const bytes = inserted.reduce((sum, row) => sum + row.event.length + row.blob.length, 0);
  return decide(outcome, [put('counters', { ...held, graphBytes: held.graphBytes + bytes })]);
}

/** What the relay holds. Where that row was lost it is counted anew, or the bound of its store would hold no longer. */
function* heldBy(account: AccountId): Ask<CountersRow> {
  const stored = yield* get('counters', [account]);
  if (stored !== undefined) return stored;
  const slots = yield* rows('slots', { prefix: [account] }, slotsCountedMax);
  return { ...newCounters(account), graphBytes: slots.reduce((sum, row) => sum + row.bytes, 0) };
}
