import { describe, expect, test } from 'vitest';
import { type Composed, compose, type OwnEvent } from '../../../src/core/graph/compose';
import { prune } from '../../../src/core/graph/prune';
import { tipsOf } from '../../../src/core/graph/serve';
import { newestSlots, oldestRetained, slotOfName } from '../../../src/core/graph/slots';
import { decide, get, rows } from '../../../src/core/transaction';
import { utf8Bytes } from '../../../src/core/wire/codec';
import { decodeEvent, parentsOf } from '../../../src/core/wire/event';
import { genesisOf, holdfast } from '../../../src/core/wire/profile';
import { GraphWorld, make, noBlob, one, slot } from '../../fixtures/graph-world';

const genesis = genesisOf(holdfast, slot).id;
const own: OwnEvent = { content: utf8Bytes('own'), now: slot + 60_000, ownTime: 0, covers: 7 };

function composeIn(world: GraphWorld, event: Partial<OwnEvent> = {}): Composed | undefined {
  return world.run(function* () {
    const made = yield* compose(world.place, { ...own, ...event });
    return decide(made, made?.changes ?? []);
  });
}

describe('an own event', () => {
  test('stands on the genesis of an empty slot, and is stored with the position it covers', () => {
    const world = new GraphWorld();
    const made = composeIn(world);
    expect(made).toMatchObject({ slot, time: own.now, row: { own: true, covers: 7, layer: 1 } });
    const { header } = decodeEvent(made?.event ?? noBlob);
    expect(parentsOf(header)).toEqual([genesis]);
    expect(world.ask(() => tipsOf(world.place, slot))).toEqual([{ id: made?.id, layer: 1 }]);
  });

  test('takes up to five tips, highest layer first, then by id, so that the choice can be repeated', () => {
    const world = new GraphWorld();
    const low = Array.from({ length: 6 }, (_, at) => one(slot + 1_000, [genesis], 1, `low ${at}`));
    const top = one(slot + 2_000, [low[5]?.id ?? ''], 2, 'top');
    for (const event of [...low, top]) world.put(event.bytes);
    const ids = low.slice(0, 5).map((event) => event.id);
    const made = composeIn(world);
    expect(parentsOf(decodeEvent(made?.event ?? noBlob).header)).toEqual([top.id, ...ids.sort().slice(0, 4)]);
    expect(made?.row.layer).toBe(3);
    expect(world.ask(() => tipsOf(world.place, slot)).map((tip) => tip.id)).toEqual([
      made?.id,
      ids.sort()[4],
    ]);
  });

  test('is later than the last own one, and never leaves its slot', () => {
    const world = new GraphWorld();
    expect(composeIn(world, { ownTime: own.now + 5_000 })?.time).toBe(own.now + 5_001);
    const end = slot + holdfast.rotationMs;
    expect(composeIn(world, { now: end - 1 })?.time).toBe(end - 1);
    expect(composeIn(world, { now: end - 1, ownTime: end - 1 })).toBeUndefined();
  });

  test('[EG-09] one of our own that comes back, and one of others, are answered alike', () => {
    const world = new GraphWorld();
    const made = composeIn(world);
    const foreign = one(slot + 1_000, [genesis], 1, 'foreign');
    world.put(foreign.bytes);
    const answers = [made?.event ?? noBlob, foreign.bytes].map((bytes) => world.put(bytes));
    expect(answers).toEqual([
      { verdict: 'known', id: made?.id, counted: false },
      { verdict: 'known', id: foreign.id, counted: false },
    ]);
  });
});

describe('what an event covers', () => {
  test('is the highest of its parents in the slot', () => {
    const world = new GraphWorld();
    const first = composeIn(world, { covers: 3 });
    const aside = one(slot + 1_000, [genesis], 1, 'aside');
    const onAside = one(slot + 2_000, [aside.id], 2, 'on aside');
    const merge = one(slot + 3_000, [onAside.id, first?.id ?? ''], 3, 'merge');
    const above = one(slot + 4_000, [merge.id], 4, 'above');
    for (const event of [aside, onAside, merge, above]) world.put(event.bytes, { now: slot + 90_000 });
    const covers = [aside, onAside, merge, above].map((event) =>
      world.ask(() => get('events', [world.place.account, event.id])),
    );
    expect(covers.map((row) => row?.covers)).toEqual([0, 0, 3, 3]);
  });
});

describe('slots', () => {
  test('the kept ones end with the current', () => {
    expect(newestSlots(holdfast, slot + 5, 3)).toEqual([
      slot - 2 * holdfast.rotationMs,
      slot - holdfast.rotationMs,
      slot,
    ]);
    expect(oldestRetained(holdfast, holdfast.initialGenesisMs + 5, 24)).toBe(holdfast.initialGenesisMs);
  });

  test('a wire name means a slot only when it is the start of one', () => {
    expect(slotOfName(holdfast, String(slot))).toBe(slot);
    for (const name of ['static-dag', String(slot + 1), `0${slot}`, '', '-1', '9'.repeat(17)]) {
      expect(slotOfName(holdfast, name), name).toBeUndefined();
    }
  });
});

describe('pruning', () => {
  test('forgets what is older, a bounded number at a time, and nothing else', () => {
    const world = new GraphWorld();
    const before = slot - holdfast.rotationMs;
    const many = Array.from({ length: 70 }, (_, at) =>
      one(before + 1_000, [genesisOf(holdfast, before).id], 1, `${at}`),
    );
    for (const event of many) world.put(event.bytes, { now: before + 2_000 });
    world.putAll(make('a - b'));
    const steps = [];
    for (let more = true; more; ) {
      const outcome = world.run(() => prune(world.place.account, slot));
      steps.push(outcome.events);
      more = outcome.more;
    }
    expect(steps).toEqual([64, 6, 0]);
    const left = world.ask(() => rows('events', { prefix: [world.place.account] }, 100));
    expect(left.map((row) => row.slot)).toEqual([slot, slot]);
    expect(world.ask(() => rows('slots', { prefix: [world.place.account] }, 9))).toHaveLength(1);
  });
});
