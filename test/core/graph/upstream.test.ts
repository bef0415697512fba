import { describe, expect, test } from 'vitest';
import { compose } from '../../../src/core/graph/compose';
import { insertFetched } from '../../../src/core/graph/fetched';
import { headersAfter } from '../../../src/core/graph/headers';
import { prune } from '../../../src/core/graph/prune';
import { fitsSlot } from '../../../src/core/graph/rules';
import { lackingOf, tipsOf } from '../../../src/core/graph/serve';
import { newestSlots, oldestRetained } from '../../../src/core/graph/slots';
import type { EventId, Slot } from '../../../src/core/ids';
import { limits } from '../../../src/core/limits';
import type { EventRow, SlotRow } from '../../../src/core/tables';
import { decide, get, put, rows } from '../../../src/core/transaction';
import { graphPage } from '../../../src/core/transactions/graph-reads';
import { decodeEvent, eventId, type Header, parentsOf } from '../../../src/core/wire/event';
import { genesisOf, holdfast, isSlot, slotOf } from '../../../src/core/wire/profile';
import { type Drawing, drawn } from '../../fixtures/draw-graph';
import { GraphWorld, type Made, make, noBlob, one, slot } from '../../fixtures/graph-world';

/*
 * The scenarios of upstream's own tests of insertion, slots and storage (event-graph.md 10.1), by the names they have
 * there; what they say of the static graph, of archives and of pages by time has no counterpart here.
 */

const hour = holdfast.rotationMs;
const genesis = genesisOf(holdfast, slot).id;

function slotRow(world: GraphWorld, of: Slot = slot): SlotRow | undefined {
  return world.ask(() => get('slots', [world.place.account, of]));
}

function eventRows(world: GraphWorld): readonly EventRow[] {
  return world.ask(() => rows('events', { prefix: [world.place.account] }, 4_000));
}

function fetched(world: GraphWorld, events: readonly Made[], of: Slot = slot, now = of + 90_000) {
  const bodies = events.map(({ bytes }) => ({ event: bytes, blob: noBlob }));
  return world.run(() => insertFetched(world.place, { slot: of, events: bodies, now, room: 1e9 }));
}

function headersFrom(world: GraphWorld, tips: readonly EventId[] = []): readonly Header[] {
  let outcome = world.ask(() => headersAfter(world.place, slot, tips));
  while (!outcome.done) {
    const { walk } = outcome;
    outcome = world.ask(() => headersAfter(world.place, slot, tips, walk));
  }
  return outcome.headers;
}

/** Repeatable picks. */
function picker(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

/** A graph of `count` events, each on up to five earlier ones. */
function generated(seed: number, count: number): Drawing {
  const pick = picker(seed);
  const drawing = new Map<string, readonly string[]>();
  for (let at = 0; at < count; at++) {
    const parents = new Set<string>();
    for (let nth = 0; at > 0 && nth < 1 + pick(limits.eventParents); nth++) parents.add(`e${pick(at)}`);
    drawing.set(`e${at}`, [...parents]);
  }
  return drawing;
}

/** Ids nobody references, found by looking at everything. */
function scannedTips(stored: readonly EventRow[]): EventId[] {
  const referenced = new Set(stored.flatMap((row) => parentsOf(decodeEvent(row.event).header)));
  return stored.map((row) => row.id).filter((id) => !referenced.has(id));
}

describe('storage', () => {
  test.each([
    [1, 18],
    [7, 27],
    [19, 36],
  ])('(generated_dags_preserve_storage_invariants) seed %i, %i events', (seed, count) => {
    const world = new GraphWorld();
    const made = make(generated(seed, count));
    world.putAll(made, slot + 50_000);
    const stored = eventRows(world);
    expect(stored).toHaveLength(count);
    const layers = new Map([[genesis, 0], ...stored.map((row) => [row.id, row.layer] as const)]);
    for (const row of stored) {
      const { header } = decodeEvent(row.event);
      const parents = parentsOf(header);
      expect(eventId(header)).toBe(row.id);
      expect(new Set(parents).size).toBe(parents.length);
      expect(row.layer).toBe(Math.max(...parents.map((parent) => layers.get(parent) ?? Number.NaN)) + 1);
    }
    const tips = world.ask(() => tipsOf(world.place, slot)).map((tip) => tip.id);
    expect(tips.toSorted()).toEqual(scannedTips(stored).toSorted());
    const bytes = stored.reduce((sum, row) => sum + row.event.length, 0);
    expect(slotRow(world)).toMatchObject({ events: count, bytes });
    const { account } = world.place;
    const page = world.ask(() => graphPage({ account, slot, fromLayer: 0, limit: 4_000 }));
    expect(page.map((event) => event.id).toSorted()).toEqual(stored.map((row) => row.id).toSorted());
    expect(page.map((event) => event.layer)).toEqual(
      page.map((event) => event.layer).toSorted((a, b) => a - b),
    );
  });

  test('(compute_unreferenced_tips_single_pass) in whatever order parts of a graph come, its tips are those nobody references', () => {
    const drawing = drawn(String.raw`
       c - d
      /     \
 a - b   g   e - f
  \     / \     /
   h - i   j - k`);
    const made = make(drawing);
    const pick = picker(3);
    for (let round = 0; round < 20; round++) {
      const world = new GraphWorld();
      const left = [...made.values()];
      while (left.length > 0) {
        const [event] = left.splice(pick(left.length), 1);
        const verdict = event && world.put(event.bytes, { now: slot + 50_000 }).verdict;
        if (verdict === 'missing' && event !== undefined) left.push(event);
        const tips = world.ask(() => tipsOf(world.place, slot)).map((tip) => tip.id);
        const stored = eventRows(world);
        expect(tips.toSorted()).toEqual(stored.length === 0 ? [genesis] : scannedTips(stored).toSorted());
      }
      expect(eventRows(world)).toHaveLength(made.size);
    }
  });

  test('(duplicate_header_insert_does_not_duplicate_time_index) the same event twice in one answer, and again, counts once', () => {
    const world = new GraphWorld();
    const events = [...make('a - b').values()];
    expect(fetched(world, [...events, ...events]).inserted).toHaveLength(2);
    const before = slotRow(world);
    expect(fetched(world, events)).toMatchObject({ inserted: [], broken: [], left: 0 });
    expect(slotRow(world)).toEqual(before);
    expect(before).toMatchObject({ events: 2, tips: [{ layer: 2 }] });
  });

  test('(fetch_missing_events_rejects_corrupt_header_record) a damaged record is passed over: all above and below it is served', () => {
    const world = new GraphWorld();
    const made = make('a - b - c');
    world.putAll(made);
    const b = eventRows(world).find((row) => row.id === made.get('b')?.id);
    if (b === undefined) throw new Error('b was not stored');
    world.tables.write([put('events', { ...b, event: b.event.slice(0, 100) })]);
    const around = headersFrom(world).map(eventId);
    expect(around).toEqual([genesis, made.get('a')?.id, made.get('c')?.id]);
    const next = make('x - y', slot + hour);
    world.putAll(next, slot + hour + 50_000);
    const found = world.ask(() => headersAfter(world.place, slot + hour, []));
    expect(found.done && found.headers).toHaveLength(3);
    // Its place in the graph is kept apart from its bytes, so what builds on it still enters.
    const above = one(slot + 9_000, [b.id], 3, 'above');
    expect(world.put(above.bytes).verdict).toBe('inserted');
  });
});

describe('slots', () => {
  test('(dag_store_eviction_policy) the 25th slot drops the oldest: 24 stay', () => {
    const world = new GraphWorld();
    const slots = Array.from({ length: 25 }, (_, at) => slot + at * hour);
    for (const start of slots) world.putAll(make('a - b', start), start + 50_000);
    const keepFrom = oldestRetained(holdfast, slot + 24 * hour + 1, limits.clientSlotsRetained);
    while (world.run(() => prune(world.place.account, keepFrom)).more);
    const kept = world
      .ask(() => rows('slots', { prefix: [world.place.account] }, 100))
      .map((row) => row.slot);
    expect(kept).toEqual(slots.slice(1));
    expect(eventRows(world)).toHaveLength(48);
    expect(limits.clientSlotsRetained).toBe(24);
    expect(limits.relaySlotsRetained).toBe(720);
  });

  test.each([1, 2, 3, 4, 5, 6])('(window_matches_generated_config_limits) of %i kept slots', (count) => {
    const now = slot + 17 * hour + 5;
    const kept = newestSlots(holdfast, now, count);
    expect(kept).toHaveLength(count);
    expect(kept.at(-1)).toBe(slot + 17 * hour);
    expect(kept[0]).toBe(oldestRetained(holdfast, now, count));
    const world = new GraphWorld(count);
    const outcomes = Array.from({ length: 8 }, (_, age) => {
      const start = slot + (17 - age) * hour;
      return fetched(world, [...make('a', start).values()], start, now).inserted.length;
    });
    expect(outcomes).toEqual(Array.from({ length: 8 }, (_, age) => (age < count ? 1 : 0)));
  });

  test('(rotation_helpers_are_total) any time has a slot, and the slot is one', () => {
    const first = holdfast.initialGenesisMs;
    const times = [0, -1, first - 1, first, first + hour - 1, first + hour, Date.now(), 8.64e15, 2 ** 52];
    for (const time of times) {
      const start = slotOf(holdfast, time);
      expect([time, isSlot(holdfast, start)]).toEqual([time, true]);
      expect(start).toBeGreaterThanOrEqual(first);
      if (time >= first) expect([start <= time, time < start + hour]).toEqual([true, true]);
    }
    expect(isSlot(holdfast, first - hour)).toBe(false);
    expect(isSlot(holdfast, first + 1)).toBe(false);
    expect(isSlot(holdfast, 0.5)).toBe(false);
  });

  test('(rotating_event_creation_rejects_missing_current_dag_slot) a slot nobody wrote in is derived, never missing', () => {
    const world = new GraphWorld();
    expect(slotRow(world)).toBeUndefined();
    const own = { content: new Uint8Array([7]), now: slot + 1_000, ownTime: 0, covers: 1 };
    const made = world.run(function* () {
      const composed = yield* compose(world.place, own);
      return decide(composed, composed?.changes);
    });
    expect(made?.row.layer).toBe(1);
    expect(slotRow(world)).toMatchObject({ events: 1, tips: [{ id: made?.id, layer: 1 }] });
  });

  test('(header_insert_rejects_unloaded_dag_slot) of a slot that is not kept, or not begun, nothing enters', () => {
    const world = new GraphWorld(2);
    for (const start of [slot - hour, slot + 2 * hour]) {
      const events = [...make('a', start).values()];
      expect(fetched(world, events, start, slot + hour + 1)).toMatchObject({
        inserted: [],
        left: 1,
        broken: [],
      });
    }
    expect(fetched(world, [...make('a').values()], slot + 1, slot + hour)).toMatchObject({
      inserted: [],
      left: 1,
    });
    expect(eventRows(world)).toEqual([]);
  });

  test('(dormant_user_can_post_after_long_silence) the first event after months stands on the genesis of its own slot', () => {
    const world = new GraphWorld();
    world.putAll(make('a - b - c'));
    const later = slot + 4_000 * hour;
    const post = one(later + 1_000, [genesisOf(holdfast, later).id], 1, 'back again');
    expect(world.put(post.bytes, { now: later + 2_000 }).verdict).toBe('inserted');
  });
});

describe('insertion', () => {
  test('(dag_insert_valid_and_duplicate) the first moves the tip to layer 1, the second changes nothing', () => {
    const world = new GraphWorld();
    const { bytes, id } = one(slot + 1_000, [genesis], 1, 'a');
    expect(world.put(bytes)).toMatchObject({ verdict: 'inserted', row: { id } });
    const after = slotRow(world);
    expect(after?.tips).toEqual([{ id, layer: 1 }]);
    expect(world.put(bytes).verdict).toBe('known');
    expect(slotRow(world)).toEqual(after);
  });

  test('(dag_insert_without_header_skipped) what stands on nothing that is here changes nothing', () => {
    const world = new GraphWorld();
    const made = make('a - b - c');
    expect(world.put(made.get('b')?.bytes ?? noBlob).verdict).toBe('missing');
    expect(fetched(world, [made.get('b') as Made, made.get('c') as Made])).toMatchObject({
      inserted: [],
      left: 2,
    });
    expect([eventRows(world), slotRow(world)]).toEqual([[], undefined]);
  });

  test('(event_put_ingests_body_after_header_only_sync) a header alone is not known: the body is still taken', () => {
    const theirs = new GraphWorld();
    const made = make('a - b');
    theirs.putAll(made);
    const ours = new GraphWorld();
    const listed = theirs.ask(() => headersAfter(theirs.place, slot, []));
    const ids = listed.done ? listed.headers.map(eventId) : [];
    expect(ours.ask(() => lackingOf(ours.place, slot, ids))).toEqual(ids.slice(1));
    for (const { bytes } of made.values()) expect(ours.put(bytes).verdict).toBe('inserted');
  });

  test.each<[string, string, Made]>([
    ['header_insert_rejects_layer_jump', 'layer', one(slot + 1_000, [genesis], 3, 'x')],
    [
      'header_insert_rejects_duplicate_parents',
      'parent-twice',
      one(slot + 1_000, [genesis, genesis], 1, 'x'),
    ],
    [
      'header_validate_rejects_layer_overflow_parent',
      'undecodable',
      one(slot + 1_000, [genesis], 2 ** 53, 'x'),
    ],
    ['genesis_with_blob_rejected', 'no-parent', one(slot, [], 0, holdfast.genesisContents)],
  ])('(%s) put or asked for it is broken, and nothing of it stays', (_name, breach, made) => {
    const world = new GraphWorld();
    const blob = new Uint8Array([1]);
    expect(world.put(made.bytes, { blob })).toMatchObject({ reason: 'invalid', breach, strike: true });
    // The slot's own genesis is derived by everyone: given as an answer it is no offence.
    const broken = made.id === genesis ? [] : [breach];
    expect(fetched(world, [made])).toMatchObject({ inserted: [], broken });
    expect(eventRows(world)).toEqual([]);
  });

  test('(header_validate_uses_target_slot_bounds) a minute before and after the slot, to the millisecond', () => {
    const sixHours = { ...holdfast, rotationMs: 6 * hour };
    const start = slotOf(sixHours, slot);
    expect(fitsSlot(sixHours, start, start - 60_000)).toBe(true);
    expect(fitsSlot(sixHours, start, start - 60_001)).toBe(false);
    expect(fitsSlot(sixHours, start, start + 6 * hour + 59_999)).toBe(true);
    expect(fitsSlot(sixHours, start, start + 6 * hour + 60_000)).toBe(false);
    const world = new GraphWorld();
    const early = one(slot - 60_000, [genesis], 1, 'early');
    expect(world.put(early.bytes)).toMatchObject({ reason: 'too-old' });
    expect(fetched(world, [early]).inserted).toHaveLength(1);
    expect(fetched(world, [one(slot - 60_001, [genesis], 1, 'x')])).toMatchObject({ broken: ['time'] });
    expect(fetched(world, [one(slot + hour + 60_000, [genesis], 1, 'x')])).toMatchObject({
      broken: ['time'],
    });
  });

  test('(header_validate_ignores_future_initial_genesis) before the network began there is its first slot and nothing else', () => {
    const first = holdfast.initialGenesisMs;
    const world = new GraphWorld();
    const event = one(first + 1_000, [genesisOf(holdfast, first).id], 1, 'x');
    expect(world.put(event.bytes, { now: first - 10 * hour })).toMatchObject({
      reason: 'invalid',
      breach: 'time',
    });
    expect(newestSlots(holdfast, first - 10 * hour, 24)).toEqual([first]);
    expect(world.put(event.bytes, { now: first + 2_000 }).verdict).toBe('inserted');
  });

  test('(parent_selection_does_not_wrap_saturated_layer) above the highest layer nothing is made, least of all layer 0', () => {
    const world = new GraphWorld();
    const top = { id: 'ab'.repeat(32), layer: Number.MAX_SAFE_INTEGER };
    world.tables.write([
      put('slots', { account: world.place.account, slot, tips: [top], events: 1, bytes: 1 }),
    ]);
    const own = { content: new Uint8Array([7]), now: slot + 1_000, ownTime: 0, covers: 1 };
    expect(() => world.ask(() => compose(world.place, own))).toThrow('an own event is broken: undecodable');
  });

  test('(child rejected when parent body rejected) put, synced or fetched: with the parent refused nothing above it enters', () => {
    const drawing = `
   b - d
  /
 a - c - e`;
    const made = make(drawing);
    const b = made.get('b') as Made;
    const altered = one(0, [], 0, 'other').event.content;
    const forged = { ...b, bytes: new Uint8Array([...b.bytes.slice(0, 208), altered.length, ...altered]) };
    const direct = new GraphWorld();
    direct.put(made.get('a')?.bytes ?? noBlob);
    expect(direct.put(forged.bytes)).toMatchObject({ reason: 'invalid', breach: 'content-hash' });
    expect(direct.put(made.get('d')?.bytes ?? noBlob)).toMatchObject({ verdict: 'missing', parents: [b.id] });
    const synced = new GraphWorld();
    const batch = [...made.values()].map((event) => (event.id === b.id ? forged : event));
    const outcome = fetched(synced, batch);
    expect(outcome).toMatchObject({ broken: ['content-hash'], invalid: [], left: 1 });
    expect(outcome.inserted.map((row) => row.id)).toEqual(['a', 'c', 'e'].map((name) => made.get(name)?.id));
    // The right body, from whomever, mends it.
    expect(fetched(synced, [b, made.get('d') as Made]).inserted).toHaveLength(2);
  });

  test('(ancestor_walk_via_header_tree) every event above given ancestors is found, and none below', () => {
    const made = make(String.raw`
       c - d
      /     \
 a - b       f
      \     /
       e - h`);
    const world = new GraphWorld();
    world.putAll(made, slot + 50_000);
    const named = (tips: string): string => {
      const ids = [...tips].map((name) => made.get(name)?.id ?? '');
      const found = world.ask(() => headersAfter(world.place, slot, ids));
      const names = new Map([...made].map(([name, event]) => [event.id, name]));
      return found.done
        ? found.headers
            .map((header) => names.get(eventId(header)))
            .sort()
            .join('')
        : '';
    };
    const found = ['a', 'b', 'c', 'd', 'h', 'f', 'dh'].map(named);
    expect(found).toEqual(['bcdefh', 'cdefh', 'defh', 'efh', 'cdf', '', 'f']);
  });
});
