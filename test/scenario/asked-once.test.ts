import { describe, expect, test, vi } from 'vitest';
import type { Bytes, EventId } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { put } from '../../src/core/transaction';
import { utf8Bytes } from '../../src/core/wire/codec';
import { encodeEvent, eventId, makeEvent } from '../../src/core/wire/event';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idOf } from '../fixtures/home';

const count = 200;
const long = chain(290);
const bodies = long.slice(0, count);

/** Events of others, each on the one before. */
function chain(length: number): readonly Bytes[] {
  let parent: EventId = genesisOf(holdfast, slot).id;
  return Array.from({ length }, (_, at) => {
    const made = makeEvent(BigInt(t0 + at), [parent], BigInt(at + 1), utf8Bytes(`\x02 ${at}`));
    parent = eventId(made.header);
    return encodeEvent(made);
  });
}

/** Relays that all hold the chain, and how often each gave each body. */
async function holding(...names: readonly string[]) {
  const world = await EngineWorld.with(0, names);
  const given = world.relays.map((relay) => {
    const ids: EventId[] = [];
    relay.holds = bodies;
    relay.given = (events) => {
      ids.push(...events.map((body) => idOf(body.event)));
      return events;
    };
    return ids;
  });
  return { world, given, kept: () => world.home.rows('events').length };
}

describe('one relay', () => {
  test('that has shown itself useful gives the next bodies while the store is busy with those before, each once', async () => {
    const { world, given, kept } = await holding('one');
    world.relay(0).holds = long;
    const { store } = world.home;
    const transact = store.transact.bind(store);
    const wasAhead = () => (given[0]?.length ?? 0) > kept() + limits.eventRequestIdsMax;
    const ahead: boolean[] = [];
    vi.spyOn(store, 'transact').mockImplementation(async (name, args, term) => {
      if (name === 'receiveFetched') {
        // As long as a disk takes, in steps the engine can use.
        for (let step = 0; step < 100; step++) await Promise.resolve();
        ahead.push(wasAhead());
      }
      return transact(name, args, term);
    });
    await world.start();
    await world.clock.pass(limits.bodyClaimMs - 1);
    expect(kept()).toBe(long.length);
    expect(given[0]).toHaveLength(long.length);
    expect(ahead).toEqual([false, true, false]);
  });
});

describe('relays that have the same', () => {
  test.each([2, 3])('%i asked at once give each body once, all of them together', async (peers) => {
    const { world, given, kept } = await holding(...['one', 'two', 'three'].slice(0, peers));
    await world.start();
    await world.clock.pass(limits.bodyClaimMs - 1);
    expect(kept()).toBe(count);
    const all = given.flat();
    expect([all.length, new Set(all).size]).toEqual([count, count]);
  });

  test('one that never answers holds the others up for seconds, once', async () => {
    const { world, given, kept } = await holding('one', 'two');
    world.relay(0).answersEvents = false;
    await world.start();
    await world.clock.pass(limits.bodyClaimMs + 1);
    expect(kept()).toBe(count);
    expect(given.map((ids) => ids.length)).toEqual([0, count]);
  });

  test.each<[string, (nth: number) => boolean]>([
    ['gives nothing', () => false],
    ['gives one at a time', (nth) => nth === 0],
  ])('one that %s holds nobody up', async (_what, gives) => {
    const { world, given, kept } = await holding('one', 'two');
    world.relay(0).given = (events) => events.filter((_, nth) => gives(nth));
    await world.start();
    await world.clock.pass(limits.bodyClaimMs - 1);
    expect(kept()).toBe(count);
    expect(given[1]?.length).toBeGreaterThan(count / 2);
  });

  test('one that alters what it gives holds nobody up, and nothing altered is kept', async () => {
    const { world, kept } = await holding('one', 'two');
    const truth = new Set(bodies.map((bytes) => bytes.join()));
    world.relay(0).given = (events) =>
      events.map((body) => ({
        ...body,
        event: body.event.map((byte, at) => (at === 210 ? byte ^ 1 : byte)),
      }));
    await world.start();
    await world.clock.pass(limits.bodyClaimMs - 1);
    expect(kept()).toBe(count);
    expect(world.home.rows('events').every((row) => truth.has(row.event.join()))).toBe(true);
  });

  test('one whose link breaks in the middle leaves the rest to the others', async () => {
    const { world, given, kept } = await holding('one', 'two');
    const relay = world.relay(0);
    const { given: give } = relay;
    relay.given = (events) => {
      if ((given[0]?.length ?? 0) > 0) relay.breakLink(true);
      return give(events);
    };
    await world.start();
    await world.clock.pass(limits.bodyClaimMs - 1);
    expect(kept()).toBe(count);
  });

  test('of different parts each gives what it has', async () => {
    const { world, given, kept } = await holding('one', 'two');
    const half = (odd: boolean) => new Set(bodies.filter((_, at) => at % 80 < 40 === odd).map(idOf));
    for (const [at, relay] of world.relays.entries()) {
      const { given: give } = relay;
      const own = half(at === 0);
      relay.given = (events) => give(events.filter((body) => own.has(idOf(body.event))));
    }
    await world.start();
    await world.clock.pass(60_000);
    expect(kept()).toBe(count);
    expect(given.map((ids) => new Set(ids).size).every((size) => size >= 80)).toBe(true);
  });

  test('what a full store leaves out is no endless asking', async () => {
    const { world, given, kept } = await holding('one', 'two');
    const [counters] = world.home.rows('counters');
    if (counters === undefined) throw new Error('no counters');
    world.home.tables.write([
      put('counters', { ...counters, graphBytes: limits.clientGraphBytesMax - 12_000 }),
    ]);
    await world.start();
    await world.clock.pass(60_000);
    expect(kept()).toBeLessThan(count);
    expect(given.flat().length).toBeLessThan(2 * count);
  });
});
