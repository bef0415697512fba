import { describe, expect, test } from 'vitest';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { featuresOf } from '../../src/core/wire/version';
import { syncSlot } from '../../src/relay/sync';
import { type Made, make, noBlob, one, slot } from '../fixtures/graph-world';
import { memoryGraph } from '../fixtures/peer';
import { runRelay } from '../fixtures/running-relay';

const now = (): number => slot + 500_000;
const genesis = genesisOf(holdfast, slot).id;
const slots = '[peers]\nbootstrap = true\n[profile]\nretained_slots = 2\nsync_slots = 2';

/** A graph of many events: chains that meet again. */
function many(count: number): Made[] {
  const made: Made[] = [];
  for (let at = 0; at < count; at++) {
    const on = [made.at(-3), made.at(at % 7 === 0 ? -1 : -3)].filter((event) => event !== undefined);
    const parents = on.length === 0 ? [genesis] : [...new Set(on.map((event) => event.id))];
    const layer = Math.max(0, ...on.map((event) => event.layer)) + 1;
    made.push(one(slot + 1_000 + at, parents, layer, `event ${at}`));
  }
  return made;
}

describe('a peer that comes late', () => {
  test('gets everything of a slot, in answers within the bounds', async () => {
    const relay = await runRelay({ now, sections: `${slots}\n[limits]\nevents_per_minute = 1000` });
    const source = await relay.peer();
    const events = many(400);
    for (const event of events) source.say({ say: 'put', event: event.bytes, blob: noBlob });
    await source.next('status', (status) => status.id === events.at(-1)?.id);
    const late = await relay.peer();
    const graph = memoryGraph(now);
    expect(await syncSlot(late, graph, slot)).toBe('complete');
    expect(
      await graph.lacking(
        slot,
        events.map((event) => event.id),
      ),
    ).toEqual([]);
    const sizes = late.of('events').map((answer) => answer.events.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(128);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(400);
  });

  test('with lower bounds of its own is served within those', async () => {
    const relay = await runRelay({ now });
    const source = await relay.peer();
    const events = many(12);
    for (const event of events) await source.put(event);
    const features = featuresOf({
      status: true,
      contentBytesMax: 1_000,
      batchEventsMax: 4,
      batchBytesMax: 500,
    });
    const late = await relay.peer({ features });
    const answer = await late.ask({ ask: 'events', ids: events.map((event) => event.id) });
    expect(answer?.type === 'events' && answer.events).toHaveLength(2);
    const wide = await relay.peer({
      features: featuresOf({
        status: true,
        contentBytesMax: 1_000,
        batchEventsMax: 4,
        batchBytesMax: 500_000,
      }),
    });
    const more = await wide.ask({ ask: 'events', ids: events.map((event) => event.id) });
    expect(more?.type === 'events' && more.events).toHaveLength(4);
  });

  test('is told nothing, rather than left waiting, about slots that are not kept and events nobody has', async () => {
    const relay = await runRelay({ now, sections: slots });
    const peer = await relay.peer();
    const old = slot - 2 * holdfast.rotationMs;
    expect(await peer.ask({ ask: 'tips', slot: old })).toMatchObject({ type: 'tips', tips: [] });
    expect(await peer.ask({ ask: 'headers', slot: old, tips: [] })).toMatchObject({ headers: [] });
    expect(await peer.ask({ ask: 'events', ids: ['ab'.repeat(32)] })).toMatchObject({ events: [] });
    expect(await peer.ask({ ask: 'tips', slot })).toMatchObject({ tips: [{ id: genesis, layer: 0 }] });
  });
});

describe('the turn of a slot', () => {
  test('forgets what is no longer kept, across a restart, and begins a new slot', async () => {
    let time = now();
    const relay = await runRelay({ now: () => time, sections: slots });
    const first = await relay.peer();
    const a = make('a').get('a');
    if (a === undefined) throw new Error('not drawn');
    await first.put(a);
    time = slot + 2 * holdfast.rotationMs + 5_000;
    const later = await relay.peer();
    const next = slot + 2 * holdfast.rotationMs;
    const event = one(next + 1_000, [genesisOf(holdfast, next).id], 1, 'new');
    expect(await later.put(event)).toEqual({ type: 'has', inserted: true });
    expect(await later.ask({ ask: 'tips', slot })).toMatchObject({ tips: [] });
  });
});
