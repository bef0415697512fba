import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { insertFetched } from '../../../src/core/graph/fetched';
import { headersAfter } from '../../../src/core/graph/headers';
import { prune } from '../../../src/core/graph/prune';
import { bodiesOf, tipsOf } from '../../../src/core/graph/serve';
import type { EventId } from '../../../src/core/ids';
import { limits } from '../../../src/core/limits';
import type { EventRow } from '../../../src/core/tables';
import { get, put, remove, rows } from '../../../src/core/transaction';
import { decodeEvent, eventId } from '../../../src/core/wire/event';
import { genesisOf, holdfast } from '../../../src/core/wire/profile';
import type { Drawing } from '../../fixtures/draw-graph';
import { GraphWorld, type Made, make, noBlob, one, slot } from '../../fixtures/graph-world';

/*
 * A record of the store that is lost or no longer what it was must not keep the rest of its slot from anybody.
 */

const genesis = genesisOf(holdfast, slot).id;

/** Graphs of named events, each standing on up to three earlier ones. */
const graphs: fc.Arbitrary<Drawing> = fc
  .array(fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 30 })
  .map(
    (picks) =>
      new Map(
        picks.map((pick, at) => [`e${at}`, at === 0 ? [] : [...new Set(pick.map((nth) => `e${nth % at}`))]]),
      ),
  );

function listed(world: GraphWorld, tips: readonly EventId[]): EventId[] {
  let outcome = world.ask(() => headersAfter(world.place, slot, tips));
  for (let reads = 0; !outcome.done; reads++) {
    if (reads > 200) throw new Error('the listing does not end');
    const { walk } = outcome;
    outcome = world.ask(() => headersAfter(world.place, slot, tips, structuredClone(walk)));
  }
  return outcome.headers.map(eventId);
}

function stored(world: GraphWorld, id: EventId): EventRow {
  const row = world.ask(() => get('events', [world.place.account, id]));
  if (row === undefined) throw new Error('no such event');
  return row;
}

type Damage = (world: GraphWorld, id: EventId) => void;

const cut: Damage = (world, id) => {
  const row = stored(world, id);
  world.tables.write([put('events', { ...row, event: row.event.slice(0, 90) })]);
};
const lose: Damage = (world, id) => {
  world.tables.write([remove('events', [world.place.account, id])]);
};

describe('what is served around a record that is', () => {
  test.each<[string, Damage]>([
    ['cut', cut],
    ['lost', lose],
  ])('%s: to whoever has nothing, every other event of the slot, once, parents first', (_what, damage) => {
    fc.assert(
      fc.property(graphs, fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), (drawing, picks) => {
        const world = new GraphWorld();
        const made = make(drawing);
        world.putAll(made, slot + 50_000);
        const ids = [...made.values()].map((event) => event.id);
        const bad = new Set(picks.map((pick) => ids[pick % ids.length] ?? ''));
        for (const id of bad) damage(world, id);
        const whole = ids.filter((id) => !bad.has(id));
        const found = listed(world, []);
        expect(found[0]).toBe(genesis);
        expect(found.slice(1).toSorted()).toEqual(whole.toSorted());
        const layers = new Map([...made.values()].map((event) => [event.id, event.layer]));
        const order = found.slice(1).map((id) => layers.get(id) ?? 0);
        expect(order).toEqual(order.toSorted((left, right) => left - right));
        const wanted = { ids, eventsMax: 128, bytesMax: 1e6 };
        const bodies = world.ask(() => bodiesOf(world.place.account, wanted));
        expect(bodies.map((body) => eventId(decodeEvent(body.event).header))).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  });

  test('below what the asker has, nothing is looked for', () => {
    const world = new GraphWorld();
    const made = make('a - b - c - d - e');
    world.putAll(made);
    cut(world, made.get('b')?.id ?? '');
    expect(listed(world, [made.get('c')?.id ?? ''])).toEqual(['d', 'e'].map((name) => made.get(name)?.id));
  });

  test('many in a long slot cost a bounded number of looks', () => {
    const world = new GraphWorld();
    const chain: Made[] = [];
    for (let at = 0; at < 1_100; at++) {
      const parent = chain.at(-1)?.id ?? genesis;
      chain.push(one(slot + at, [parent], at + 1, 'x'));
    }
    for (let from = 0; from < chain.length; from += 600) {
      const events = chain.slice(from, from + 600).map(({ bytes }) => ({ event: bytes, blob: noBlob }));
      world.run(() => insertFetched(world.place, { slot, events, now: slot + 9_000, room: 1e9 }));
    }
    const bad = chain.filter((_, at) => at % 100 === 30);
    for (const { id } of bad) lose(world, id);
    expect(listed(world, [])).toHaveLength(1 + chain.length - bad.length);
  });
});

describe('a slot whose own row is lost', () => {
  test('has the same tips again, and goes on from them', () => {
    fc.assert(
      fc.property(graphs, (drawing) => {
        const world = new GraphWorld();
        const made = make(drawing);
        world.putAll(made, slot + 50_000);
        const before = world.ask(() => tipsOf(world.place, slot));
        world.tables.write([remove('slots', [world.place.account, slot])]);
        expect(world.ask(() => tipsOf(world.place, slot))).toEqual(before);
        const [top] = before;
        const next = one(slot + 50_000, [top?.id ?? ''], (top?.layer ?? 0) + 1, 'next');
        expect(world.put(next.bytes, { now: slot + 50_000 }).verdict).toBe('inserted');
        const after = world.ask(() => tipsOf(world.place, slot)).map((tip) => tip.id);
        expect(after.toSorted()).toEqual(
          [...before.map((tip) => tip.id).filter((id) => id !== top?.id), next.id].toSorted(),
        );
        expect(world.ask(() => get('slots', [world.place.account, slot]))?.events).toBe(made.size + 1);
      }),
      { numRuns: 30 },
    );
  });

  test('is forgotten with its events when its time is over, and nothing newer', () => {
    const world = new GraphWorld();
    world.putAll(make('a - b'));
    const next = slot + holdfast.rotationMs;
    world.putAll(make('x', next), next + 20_000);
    world.tables.write([remove('slots', [world.place.account, slot])]);
    let events = 0;
    for (let more = true; more; ) {
      const outcome = world.run(() => prune(world.place.account, next));
      events += outcome.events;
      ({ more } = outcome);
    }
    expect(events).toBe(2);
    expect(world.ask(() => rows('slots', { prefix: [world.place.account] }, 9))).toMatchObject([
      { slot: next },
    ]);
  });

  test('of very many events is made anew from the highest, in one transaction', () => {
    const world = new GraphWorld();
    const low = Array.from({ length: limits.slotRecountEventsMax }, (_, at) =>
      one(slot + 1_000, [genesis], 1, `${at}`),
    );
    const events = low.map(({ bytes }) => ({ event: bytes, blob: noBlob }));
    world.run(() => insertFetched(world.place, { slot, events, now: slot + 9_000, room: 1e9 }));
    const top = one(slot + 2_000, [low[0]?.id ?? ''], 2, 'top');
    world.put(top.bytes);
    world.tables.write([remove('slots', [world.place.account, slot])]);
    const tips = world.ask(() => tipsOf(world.place, slot));
    expect(tips[0]).toEqual({ id: top.id, layer: 2 });
    expect(tips.length).toBeGreaterThan(limits.slotRecountEventsMax - 3);
    expect(tips.map((tip) => tip.id)).not.toContain(low[0]?.id);
    expect(world.ask(() => rows('slots', { prefix: [world.place.account] }, 9))).toEqual([]);
  });
});
