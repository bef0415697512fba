import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { insertFetched } from '../../../src/core/graph/fetched';
import { type HeaderWalk, headersAfter } from '../../../src/core/graph/headers';
import { bodiesOf, lackingOf, tipsOf } from '../../../src/core/graph/serve';
import type { EventId } from '../../../src/core/ids';
import { limits } from '../../../src/core/limits';
import { eventId, type Header } from '../../../src/core/wire/event';
import { genesisOf, holdfast } from '../../../src/core/wire/profile';
import type { Drawing } from '../../fixtures/draw-graph';
import { GraphWorld, type Made, make, noBlob, one, slot } from '../../fixtures/graph-world';

function headers(
  world: GraphWorld,
  tips: readonly EventId[],
): { readonly found: Header[]; readonly reads: number } {
  let walk: HeaderWalk | undefined;
  for (let reads = 1; ; reads++) {
    const from = walk;
    const outcome = world.ask(() => headersAfter(world.place, slot, tips, from));
    // However much a slot holds, a walk keeps no more than an answer of it.
    if (!outcome.done) expect(outcome.walk.found.length).toBeLessThanOrEqual(limits.headerReplyHeadersMax);
    if (outcome.done) return { found: [...outcome.headers], reads };
    walk = outcome.walk;
  }
}

/** A graph of up to 30 events, each on up to three earlier ones, and a choice of tips. */
const graphs = fc
  .array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 1, maxLength: 30 })
  .map((picks): Drawing => {
    const names = picks.map((_, at) => `e${at}`);
    return new Map(
      picks.map((pick, at) => [
        names[at] ?? '',
        at === 0 ? [] : [...new Set(pick.map((one) => names[one % at] ?? ''))],
      ]),
    );
  });

function ancestors(drawing: Drawing, of: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const open = [...of];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    open.push(...(drawing.get(name) ?? []));
  }
  return seen;
}

describe('headers after tips', () => {
  test('are those the tips do not reach, parents first', () => {
    fc.assert(
      fc.property(graphs, fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), (drawing, picks) => {
        const world = new GraphWorld();
        const made = make(drawing);
        world.putAll(made, slot + 50_000);
        const names = [...made.keys()];
        const chosen = picks.map((pick) => names[pick % names.length] ?? '');
        const reached = ancestors(drawing, chosen);
        const found = headers(
          world,
          chosen.map((name) => made.get(name)?.id ?? ''),
        ).found.map(eventId);
        const expected = names.filter((name) => !reached.has(name)).map((name) => made.get(name)?.id);
        expect([...found].sort()).toEqual([...expected].sort());
        const layers = new Map([...made.values()].map((event) => [event.id, event.layer]));
        const order = found.map((id) => layers.get(id) ?? 0);
        expect(order).toEqual(order.toSorted((left, right) => left - right));
      }),
      { numRuns: 150 },
    );
  });

  test('with no tips begin at the genesis; tips nobody knows reach nothing', () => {
    const world = new GraphWorld();
    world.putAll(make('a - b'));
    expect(headers(world, []).found.map(eventId)[0]).toBe(genesisOf(holdfast, slot).id);
    expect(headers(world, []).found).toHaveLength(3);
    expect(headers(world, ['ff'.repeat(32)]).found).toHaveLength(2);
  });

  test('a long difference takes several reads, and an answer is cut at its bound', () => {
    const world = new GraphWorld();
    const chain: Made[] = [];
    for (let at = 0; at < 5_400; at++) {
      const parent = chain.at(-1)?.id ?? genesisOf(holdfast, slot).id;
      chain.push(one(slot + at, [parent], at + 1, 'x'));
    }
    for (let from = 0; from < chain.length; from += 600) {
      const events = chain.slice(from, from + 600).map(({ bytes }) => ({ event: bytes, blob: noBlob }));
      world.run(() => insertFetched(world.place, { slot, events, now: slot + 9_000, room: 1e9 }));
    }
    const all = headers(world, [genesisOf(holdfast, slot).id]);
    expect(all.reads).toBeGreaterThan(1);
    expect(all.found).toHaveLength(limits.headerReplyHeadersMax);
    expect(all.found.map((header) => Number(header.layer))).toEqual(
      Array.from({ length: limits.headerReplyHeadersMax }, (_, at) => at + 1),
    );
    // With no tips at all the genesis is the first of as many.
    const first = headers(world, []).found.map((header) => Number(header.layer));
    expect(first).toEqual(Array.from({ length: limits.headerReplyHeadersMax }, (_, at) => at));
    const last = headers(world, [chain[limits.headerReplyHeadersMax - 1]?.id ?? '']);
    expect(last.found).toHaveLength(5_400 - limits.headerReplyHeadersMax);
  });
});

describe('serving', () => {
  test('tips are capped to the highest layers', () => {
    const world = new GraphWorld();
    const genesis = genesisOf(holdfast, slot).id;
    const low = Array.from({ length: limits.tipReplyTipsMax + 1 }, (_, at) =>
      one(slot + 1, [genesis], 1, `${at}`),
    );
    const top = one(slot + 2, [low[0]?.id ?? ''], 2, 'top');
    const events = [...low, top].map(({ bytes }) => ({ event: bytes, blob: noBlob }));
    world.run(() => insertFetched(world.place, { slot, events, now: slot + 9_000, room: 1e9 }));
    const tips = world.ask(() => tipsOf(world.place, slot));
    expect(tips).toHaveLength(limits.tipReplyTipsMax);
    expect(tips[0]).toEqual({ id: top.id, layer: 2 });
  });

  test('what is lacking never names the genesis', () => {
    const world = new GraphWorld();
    const made = make('a - b');
    world.put(made.get('a')?.bytes ?? noBlob);
    const ids = [genesisOf(holdfast, slot).id, made.get('a')?.id ?? '', made.get('b')?.id ?? ''];
    expect(world.ask(() => lackingOf(world.place, slot, ids))).toEqual([made.get('b')?.id]);
  });

  test('bodies obey both bounds, in the order asked, and the first is always given', () => {
    const world = new GraphWorld();
    const made = make('a - b - c');
    world.putAll(made);
    const ids = ['c', 'a', 'b'].map((name) => made.get(name)?.id ?? '');
    const size = made.get('a')?.bytes.length ?? 0;
    const bodies = (eventsMax: number, bytesMax: number) =>
      world
        .ask(() => bodiesOf(world.place.account, { ids: ['ee'.repeat(32), ...ids], eventsMax, bytesMax }))
        .map((body) => [...made].find(([, event]) => event.bytes === body.event)?.[0]);
    expect(bodies(4, 1e6)).toEqual(['c', 'a', 'b']);
    expect(bodies(3, 1e6)).toEqual(['c', 'a']);
    expect(bodies(4, 2 * (size + 6))).toEqual(['c', 'a']);
    expect(bodies(4, 1)).toEqual(['c']);
  });
});
