import { describe, expect, test, vi } from 'vitest';
import { insertFetched } from '../../../src/core/graph/fetched';
import { insertLive } from '../../../src/core/graph/insert';
import { prune } from '../../../src/core/graph/prune';
import { lackingOf, tipsOf } from '../../../src/core/graph/serve';
import { limits } from '../../../src/core/limits';
import { get, type Script } from '../../../src/core/transaction';
import { encodeEvent } from '../../../src/core/wire/event';
import { genesisOf, holdfast } from '../../../src/core/wire/profile';
import { runSynchronously } from '../../../src/store/group/run-synchronously';
import { GraphWorld, type Made, make, noBlob, one, slot } from '../../fixtures/graph-world';

const genesis = genesisOf(holdfast, slot).id;
const diamond = String.raw`
   b
  / \
 a   d - e
  \ /
   c`;

function namesOf(world: GraphWorld, made: ReturnType<typeof make>): string[] {
  const names = new Map([...made].map(([name, event]) => [event.id, name]));
  return world.ask(() => tipsOf(world.place, slot)).map((tip) => names.get(tip.id) ?? tip.id);
}

describe('a live event', () => {
  test('[EG-01] a fresh valid event is inserted', () => {
    const world = new GraphWorld();
    const { bytes, id } = one(slot + 1_000, [genesis], 1, 'a');
    expect(world.put(bytes)).toMatchObject({ verdict: 'inserted', row: { id, slot, layer: 1, own: false } });
    expect(world.ask(() => get('events', [world.place.account, id]))?.event).toEqual(bytes);
  });

  test('[EG-02] an event of the current slot is known, and does not count against the allowance', () => {
    const world = new GraphWorld();
    const { bytes, id } = one(slot + 1_000, [genesis], 1, 'a');
    world.put(bytes);
    expect(world.put(bytes)).toEqual({ verdict: 'known', id, counted: false });
    expect(world.put(bytes, { flooded: true })).toEqual({ verdict: 'known', id, counted: false });
  });

  test('[EG-03] an event of a slot that has closed, in no retained slot, is too old and no strike', () => {
    const world = new GraphWorld();
    const before = slot - holdfast.rotationMs;
    const { bytes } = one(before + 1_000, [genesisOf(holdfast, before).id], 1, 'a');
    expect(world.put(bytes)).toEqual({ verdict: 'refused', reason: 'too-old', strike: false, counted: true });
  });

  test('[EG-04] an event of an older slot that is retained is known', () => {
    const world = new GraphWorld();
    const { bytes, id } = one(slot + 1_000, [genesis], 1, 'a');
    world.put(bytes);
    const later = slot + 3 * holdfast.rotationMs;
    expect(world.put(bytes, { now: later })).toEqual({ verdict: 'known', id, counted: true });
  });

  test('[EG-05] before the first sync everything is answered NotSynced, what is known too', () => {
    const world = new GraphWorld();
    const { bytes } = one(slot + 1_000, [genesis], 1, 'a');
    const answer = { verdict: 'refused', reason: 'not-synced', strike: false, counted: false };
    expect(world.put(bytes, { synced: false })).toEqual(answer);
    world.put(bytes);
    expect(world.put(bytes, { synced: false })).toEqual(answer);
  });

  test('what stands on a closed slot but bears a time of the current one came too late', () => {
    const world = new GraphWorld();
    const { id } = make('a').get('a') ?? { id: '' };
    world.putAll(make('a'));
    const next = slot + holdfast.rotationMs;
    const { bytes } = one(next + 10, [id], 2, 'b');
    expect(world.put(bytes, { now: next + 100 })).toMatchObject({ reason: 'too-old', strike: false });
  });

  test('a minute is no bound to the past inside the slot, and one to the future', () => {
    const world = new GraphWorld();
    const old = one(slot, [genesis], 1, 'old');
    expect(world.put(old.bytes, { now: slot + 50 * 60_000 }).verdict).toBe('inserted');
    const now = slot + 120_000;
    const limit = one(now + limits.eventTimeDriftMs, [genesis], 1, 'limit');
    expect(world.put(limit.bytes, { now }).verdict).toBe('inserted');
    const beyond = one(now + limits.eventTimeDriftMs + 1, [genesis], 1, 'beyond');
    expect(world.put(beyond.bytes, { now })).toMatchObject({
      reason: 'invalid',
      breach: 'time',
      strike: true,
    });
  });

  test('a peer whose clock runs ahead into the next slot is asked to come back', () => {
    const world = new GraphWorld();
    const next = slot + holdfast.rotationMs;
    const now = next - 5_000;
    const first = one(next + 1, [genesisOf(holdfast, next).id], 1, 'a');
    expect(world.put(first.bytes, { now })).toMatchObject({ reason: 'busy', strike: false });
    const second = one(next + 2, [first.id], 2, 'b');
    expect(world.put(second.bytes, { now })).toMatchObject({ reason: 'busy', strike: false });
    expect(world.put(first.bytes, { now: next }).verdict).toBe('inserted');
  });
});

test('[EG-07] a clock that went back into the slot before makes nobody wrong who builds in the next one', () => {
  const world = new GraphWorld();
  const next = slot + holdfast.rotationMs;
  const first = one(next + 1, [genesisOf(holdfast, next).id], 1, 'a');
  const second = one(next + 2, [first.id], 2, 'b');
  expect(world.put(first.bytes, { now: next + 1_000 }).verdict).toBe('inserted');
  expect(world.put(second.bytes, { now: next - 5_000 })).toMatchObject({ reason: 'busy', strike: false });
  expect(world.put(second.bytes, { now: next + 2_000 }).verdict).toBe('inserted');
});

describe('[EG-06] a broken event is Invalid, and a strike', () => {
  const a = one(slot + 1_000, [genesis], 1, 'a');
  const foreign = genesisOf(holdfast, slot - holdfast.rotationMs).id;
  const altered = encodeEvent({ header: a.event.header, content: new Uint8Array([1, 2, 3]) });
  test.each([
    ['content that is not the hashed one', altered, 'content-hash'],
    ['no content', one(slot + 1_000, [genesis], 1, '').bytes, 'empty-content'],
    ['no parent', one(slot + 1_000, [], 1, 'x').bytes, 'no-parent'],
    ['a parent twice', one(slot + 1_000, [genesis, genesis], 1, 'x').bytes, 'parent-twice'],
    ['layer 0', one(slot + 1_000, [genesis], 0, 'x').bytes, 'layer'],
    ['a layer too high', one(slot + 1_000, [genesis], 2, 'x').bytes, 'layer'],
    [
      'a layer no number holds',
      one(slot + 1_000, [genesis], Number.MAX_SAFE_INTEGER + 1, 'x').bytes,
      'undecodable',
    ],
    ['a foreign genesis', one(slot + 1_000, [foreign], 1, 'x').bytes, 'foreign-genesis'],
    [
      'a genesis beside another parent of layer 1',
      one(slot + 1_000, [genesis, foreign], 1, 'x').bytes,
      'foreign-genesis',
    ],
    ['bytes that are no event', new Uint8Array(20), 'undecodable'],
    ['an absurd time', one(Number.MAX_SAFE_INTEGER, [genesis], 1, 'x').bytes, 'time'],
  ])('%s', (_name, bytes, breach) => {
    const world = new GraphWorld();
    expect(world.put(bytes)).toEqual({
      verdict: 'refused',
      reason: 'invalid',
      strike: true,
      counted: true,
      breach,
    });
    expect(world.ask(() => tipsOf(world.place, slot))).toEqual([{ id: genesis, layer: 0 }]);
  });

  test('parents of two slots', () => {
    const world = new GraphWorld();
    const before = slot - holdfast.rotationMs;
    const old = one(before + 1_000, [genesisOf(holdfast, before).id], 1, 'old');
    world.put(old.bytes, { now: before + 2_000 });
    world.put(a.bytes);
    const { bytes } = one(slot + 2_000, [a.id, old.id], 2, 'x');
    expect(world.put(bytes)).toMatchObject({ reason: 'invalid', breach: 'other-slot' });
  });
});

describe('[EG-07] what may pass is Busy, never Invalid', () => {
  test('no room', () => {
    const world = new GraphWorld();
    const { bytes } = one(slot + 1_000, [genesis], 1, 'a');
    expect(world.put(bytes, { room: bytes.length - 1 })).toMatchObject({ reason: 'busy', strike: false });
    expect(world.put(bytes, { room: bytes.length }).verdict).toBe('inserted');
  });

  test('parents that are not here are named, to be fetched', () => {
    const world = new GraphWorld();
    const made = make(diamond);
    const [a, d] = [made.get('a'), made.get('d')];
    world.put(a?.bytes ?? noBlob);
    expect(world.put(d?.bytes ?? noBlob)).toEqual({
      verdict: 'missing',
      slot,
      parents: [made.get('b')?.id, made.get('c')?.id],
    });
  });

  test('more tips than a slot holds, but an event that joins some still enters', () => {
    const world = new GraphWorld();
    const events = Array.from({ length: limits.slotTipsMax }, (_, at) =>
      one(slot + 1_000, [genesis], 1, `e${at}`),
    );
    for (let from = 0; from < events.length; from += 500) {
      const batch = events.slice(from, from + 500).map(({ bytes }) => ({ event: bytes, blob: noBlob }));
      world.run(() => insertFetched(world.place, { slot, events: batch, now: slot + 9_000, room: 1e9 }));
    }
    expect(world.put(one(slot + 1_000, [genesis], 1, 'more').bytes)).toMatchObject({ reason: 'busy' });
    const parents = events.slice(0, 2).map((event) => event.id);
    expect(world.put(one(slot + 2_000, parents, 2, 'join').bytes).verdict).toBe('inserted');
  });
});

describe('[EG-08] policing', () => {
  test('over its allowance a peer gets no answer for anything new, broken or not', () => {
    const world = new GraphWorld();
    const flooded = { flooded: true };
    expect(world.put(one(slot + 1_000, [genesis], 1, 'a').bytes, flooded)).toEqual({ verdict: 'flood' });
    expect(world.put(new Uint8Array(3), flooded)).toEqual({ verdict: 'flood' });
    expect(world.ask(() => tipsOf(world.place, slot))).toEqual([{ id: genesis, layer: 0 }]);
  });
});

describe('what the graph keeps', () => {
  test('[EG-13] is events and slots: whatever comes, nothing is registered to be sent, and nothing is asked to be sent', () => {
    const world = new GraphWorld();
    const made = make(diamond);
    const [a, e] = [made.get('a'), made.get('e')];
    const written = vi.spyOn(world.tables, 'write');
    const live = { blob: noBlob, now: slot + 20_000, synced: true, flooded: false, room: 1e9 };
    const bodies = [...made.values()].map(({ bytes }) => ({ event: bytes, blob: noBlob }));
    const fetched = { slot, events: bodies, now: slot + 20_000, room: 1e9 };
    const scripts: readonly (() => Script<unknown>)[] = [
      () => insertLive(world.place, { event: e?.bytes ?? noBlob, ...live }),
      () => insertLive(world.place, { event: a?.bytes ?? noBlob, ...live }),
      () => insertLive(world.place, { event: a?.bytes ?? noBlob, ...live }),
      () => insertLive(world.place, { event: new Uint8Array(9), ...live }),
      () =>
        insertLive(world.place, { event: e?.bytes ?? noBlob, ...live, now: slot + 2 * holdfast.rotationMs }),
      () => insertFetched(world.place, fetched),
      () => prune(world.place.account, slot + holdfast.rotationMs),
    ];
    const said = scripts.map((start) => runSynchronously([{ name: 'test', start }], world.tables)[0]);
    expect(said.every((result) => result?.ok === true && result.effects.length === 0)).toBe(true);
    const tables = written.mock.calls.flatMap(([changes]) =>
      changes.map((change) => ('put' in change ? change.put : change.remove)),
    );
    expect([...new Set(tables)].sort()).toEqual(['events', 'slots']);
  });
});

describe('tips', () => {
  test('follow the drawing', () => {
    const world = new GraphWorld();
    const made = make(diamond);
    const tips: string[][] = [];
    for (const { bytes } of made.values()) {
      world.put(bytes);
      tips.push(namesOf(world, made).sort());
    }
    expect([...made.keys()].join('')).toBe('abcde');
    expect(tips).toEqual([['a'], ['b'], ['b', 'c'], ['d'], ['e']]);
  });
});

describe('fetched events', () => {
  const fetchedOf = (made: ReturnType<typeof make>, names: string) =>
    [...names].map((name) => ({ event: made.get(name)?.bytes ?? noBlob, blob: noBlob }));

  test('enter parents first, whatever order they came in, the rule of the minute aside', () => {
    const world = new GraphWorld();
    const made = make(diamond);
    const events = fetchedOf(made, 'edcba');
    const now = slot + 5 * holdfast.rotationMs;
    const outcome = world.run(() => insertFetched(world.place, { slot, events, now, room: 1e9 }));
    expect(outcome.inserted.map((row) => row.layer)).toEqual([1, 2, 2, 3, 4]);
    expect(outcome).toMatchObject({ broken: [], left: 0, full: false });
    expect(namesOf(world, made)).toEqual(['e']);
  });

  test('a child is not taken when its parent was refused', () => {
    const world = new GraphWorld();
    const made = make('a - b - c');
    const b = made.get('b');
    const bad =
      b === undefined ? noBlob : encodeEvent({ header: b.event.header, content: new Uint8Array([9]) });
    const events = [...fetchedOf(made, 'ac'), { event: bad, blob: noBlob }];
    const outcome = world.run(() =>
      insertFetched(world.place, { slot, events, now: slot + 9_000, room: 1e9 }),
    );
    expect(outcome.inserted).toHaveLength(1);
    expect(outcome).toMatchObject({ broken: ['content-hash'], left: 1 });
  });

  test('wait for the database once, however many they are', () => {
    const world = new GraphWorld();
    const chain = [one(slot + 1_000, [genesis], 1, '0')];
    for (let at = 1; at < limits.eventReplyEventsMax; at++) {
      const parents = chain.slice(-2).map((event) => event.id);
      chain.push(one(slot + 1_000 + at, parents, at + 1, `${at}`));
    }
    world.put(one(slot + 500, [genesis], 1, 'before').bytes);
    const asked = vi.spyOn(world.tables, 'answer');
    const events = chain.map(({ bytes }) => ({ event: bytes, blob: noBlob }));
    const fetched = { slot, events, now: slot + 9_000, room: 1e9 };
    const { inserted } = world.run(() => insertFetched(world.place, fetched));
    expect(inserted).toHaveLength(chain.length);
    expect(asked).toHaveBeenCalledTimes(1);
  });

  test('are told from those that are there already, in layers of few events and of many', () => {
    const world = new GraphWorld();
    const wide = Array.from({ length: 60 }, (_, at) => one(slot + 1_000 + at, [genesis], 1, `wide ${at}`));
    const narrow = one(slot + 2_000, [wide[0]?.id ?? '', wide[50]?.id ?? ''], 2, 'narrow');
    const fetch = (made: readonly Made[]) => {
      const events = made.map(({ bytes }) => ({ event: bytes, blob: noBlob }));
      return world.run(() => insertFetched(world.place, { slot, events, now: slot + 9_000, room: 1e9 }));
    };
    expect(fetch(wide.slice(0, 50)).inserted).toHaveLength(50);
    expect(fetch(wide.slice(40)).inserted.map((row) => row.id)).toEqual(
      wide
        .slice(50)
        .map(({ id }) => id)
        .sort(),
    );
    expect(fetch([narrow]).inserted).toHaveLength(1);
    expect(fetch([narrow])).toEqual({ inserted: [], broken: [], invalid: [], left: 0, full: false });
    expect(world.ask(() => get('slots', [world.place.account, slot]))?.events).toBe(61);
    const stray = one(slot + 3_000, [narrow.id], 3, 'stray').id;
    const lacking = (ids: readonly string[], layers?: { from: number; to: number }) =>
      world.ask(() => lackingOf(world.place, slot, [...ids, stray, genesis], layers));
    expect(lacking([narrow.id], { from: 2, to: 3 })).toEqual([stray]);
    expect(
      lacking(
        wide.map(({ id }) => id),
        { from: 1, to: 3 },
      ),
    ).toEqual([stray]);
    expect(lacking([narrow.id])).toEqual([stray]);
  });

  test('of a slot that is not kept are left, and a genesis is passed over', () => {
    const world = new GraphWorld(2);
    const events = fetchedOf(make('a'), 'a');
    const late = slot + 2 * holdfast.rotationMs;
    const outcome = world.run(() => insertFetched(world.place, { slot, events, now: late, room: 1e9 }));
    expect(outcome).toMatchObject({ inserted: [], left: 1 });
    const genesisBytes = encodeEvent(genesisOf(holdfast, slot));
    const passed = world.run(() =>
      insertFetched(world.place, {
        slot,
        events: [{ event: genesisBytes, blob: noBlob }],
        now: slot,
        room: 1e9,
      }),
    );
    expect(passed).toEqual({ inserted: [], broken: [], invalid: [], left: 0, full: false });
  });
});
