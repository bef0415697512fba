import { describe, expect, test, vi } from 'vitest';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { featuresOf, parseLimits } from '../../src/core/wire/version';
import { syncSlot } from '../../src/relay/sync';
import { type Made, noBlob, one, slot } from '../fixtures/graph-world';
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

  test('[RD-10] with lower bounds of its own is served within those', async () => {
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

  test('[RD-14] is never given what is larger than it takes, and gets the rest', async () => {
    const relay = await runRelay({ now });
    const source = await relay.peer();
    const large = one(slot + 1_000, [genesis], 1, 'x'.repeat(2_000));
    const small = one(slot + 1_000, [genesis], 1, 'small');
    for (const event of [large, small]) await source.put(event);
    const features = featuresOf({ ...parseLimits(featuresOf()), contentBytesMax: 1_000 });
    const late = await relay.peer({ features });
    const answer = await late.ask({ ask: 'events', ids: [large.id, small.id] });
    expect(answer).toMatchObject({ events: [{ id: small.id }] });
    const graph = memoryGraph(now);
    expect(await syncSlot(late, graph, slot)).toBe('incomplete');
    expect(await graph.lacking(slot, [large.id, small.id])).toEqual([large.id]);
  });

  test('[RD-10] is told by the relay how much it may put at once, and that much is never a flood', async () => {
    const few = await runRelay({
      now,
      sections: '[peers]\nbootstrap = true\n[limits]\nevents_per_minute = 50',
    });
    const usual = await runRelay({ now });
    expect((await usual.peer()).limits).toEqual(parseLimits(featuresOf()));
    const peer = await few.peer();
    const most = peer.limits?.batchEventsMax ?? 0;
    expect(most).toBe(32);
    const events = many(most);
    for (const event of events) peer.say({ say: 'put', event: event.bytes, blob: noBlob });
    await peer.next('status', (status) => status.id === events.at(-1)?.id);
    expect(peer.of('status').map((status) => status.result)).toEqual(
      events.map(() => ({ type: 'has', inserted: true })),
    );
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
  const a = one(slot + 1_000, [genesis], 1, 'a');
  const two = holdfast.rotationMs * 2;

  test('begins a new slot, and what is no longer kept is not served', async () => {
    let time = now();
    const relay = await runRelay({ now: () => time, sections: slots });
    await (await relay.peer()).put(a);
    time = slot + two + 5_000;
    const later = await relay.peer();
    const event = one(slot + two + 1_000, [genesisOf(holdfast, slot + two).id], 1, 'new');
    expect(await later.put(event)).toEqual({ type: 'has', inserted: true });
    expect(await later.ask({ ask: 'tips', slot })).toMatchObject({ tips: [] });
  });

  test('forgets by itself what is no longer kept', async () => {
    // A clock that stands still before the turn until the event is in, so that no speed of this machine matters.
    let time = slot + holdfast.rotationMs - 100;
    const sections = '[peers]\nbootstrap = true\n[profile]\nretained_slots = 1\nsync_slots = 1';
    const relay = await runRelay({ now: () => time, sections });
    const peer = await relay.peer();
    expect(await peer.put(a)).toEqual({ type: 'has', inserted: true });
    time += 200;
    await vi.waitFor(
      () => expect(relay.log.join('')).toContain('"event":"slots forgotten","events":1'),
      5_000,
    );
    expect(await peer.put(a)).toEqual({ type: 'nack', reason: 'too-old' });
  });

  test('while the relay was down is made up for at its start, and kept slots stay', async () => {
    const first = await runRelay({ now, sections: slots });
    const b = one(slot + holdfast.rotationMs, [genesisOf(holdfast, slot + holdfast.rotationMs).id], 1, 'b');
    await (await first.peer()).put(a);
    await first.running.stop();
    const { folder } = first;
    const second = await runRelay({ folder, now: () => slot + holdfast.rotationMs + 9_000, sections: slots });
    const peer = await second.peer();
    expect(await peer.put(a)).toEqual({ type: 'has', inserted: false });
    expect(await peer.put(b)).toEqual({ type: 'has', inserted: true });
    await second.running.stop();
    const third = await runRelay({ folder, now: () => slot + two + 9_000, sections: slots });
    const last = await third.peer();
    expect(await last.put(a)).toEqual({ type: 'nack', reason: 'too-old' });
    expect(await last.put(b)).toEqual({ type: 'has', inserted: false });
  });
});

describe('a peer that puts children before their parents', () => {
  test('is asked for them while it goes on, and every event is answered Has', async () => {
    const relay = await runRelay({ now });
    const graph = memoryGraph(now);
    const events = many(150);
    for (const event of events) await graph.put(event.bytes, noBlob, false);
    const peer = await relay.peer({ graph });
    const other = await relay.peer();
    for (const event of events.toReversed()) peer.say({ say: 'put', event: event.bytes, blob: noBlob });
    for (const event of events) {
      const { result } = await peer.next('status', (status) => status.id === event.id);
      expect(result.type).toBe('has');
    }
    await other.settle();
    expect(new Set(other.of('put').map((put) => put.id))).toEqual(new Set(events.map((event) => event.id)));
  });
});
