import { describe, expect, test, vi } from 'vitest';
import type { EventId } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import type { RelayGraph } from '../../src/relay/relay-graph';
import { type Made, make, noBlob, one, slot } from '../fixtures/graph-world';
import { memoryGraph } from '../fixtures/peer';
import { runRelay } from '../fixtures/running-relay';

describe('a peer whose history never ends', () => {
  test('[EG-05] holds up no first sync: what it drips is taken, and others have their turn', async () => {
    let time = slot + 20_000;
    const clock = (): number => time;
    const relay = await runRelay({
      now: clock,
      sections: '[profile]\nretained_slots = 3\nsync_slots = 1',
    });
    const drip = dripping(clock, () => {
      time += limits.syncTurnMs / 6;
    });
    await relay.peer({ graph: drip.graph });
    await vi.waitUntil(() => drip.given() > 10, 10_000);
    const honest = memoryGraph(clock);
    const events = [...make('a - b').values()];
    for (const { bytes } of events) await honest.put(bytes, noBlob, false);
    const peer = await relay.peer({ graph: honest });
    await vi.waitFor(() => expect(relay.log.join('')).toContain('"event":"synced"'), 10_000);
    for (const event of events) expect(await peer.put(event)).toEqual({ type: 'has', inserted: false });
  });
  test('[EG-05] two honest ones that take long go on in turn, until the first of them has given all', async () => {
    let time = slot + 20_000;
    const clock = (): number => time;
    const relay = await runRelay({
      now: clock,
      sections: '[profile]\nretained_slots = 3\nsync_slots = 1',
    });
    let meet = (): void => undefined;
    const both = new Promise<void>((met) => {
      meet = met;
    });
    const slow = (drawing: string): RelayGraph =>
      oneByOne(clock, [...make(drawing).values()], async () => {
        await both;
        time += limits.syncTurnMs;
      });
    await relay.peer({ graph: slow('a - b - c - d') });
    const other = await relay.peer({ graph: slow('v - w - x - y') });
    // Its questions are answered after it is known to be ready.
    await other.settle();
    meet();
    await vi.waitFor(() => expect(relay.log.join('')).toContain('"event":"synced"'), 10_000);
  });
});

/** Has a chain, and gives one header of it at a time. */
function oneByOne(clock: () => number, chain: readonly Made[], onAnswer: () => Promise<void>): RelayGraph {
  const graph = memoryGraph(clock);
  graph.tips = async () => chain.slice(-1).map(({ id, layer }) => ({ id, layer }));
  graph.headers = async (_slot, tips) => {
    await onAnswer();
    const known = Math.max(-1, ...tips.map((id) => chain.findIndex((made) => made.id === id)));
    return chain.slice(known + 1, known + 2).map(({ event }) => event.header);
  };
  graph.bodies = async (ids) =>
    chain.filter(({ id }) => ids.includes(id)).map(({ bytes }) => ({ event: bytes, blob: noBlob }));
  return graph;
}

/** Names a tip nobody has, and gives one event after another below it: each is valid, and each answer takes its time. */
function dripping(
  clock: () => number,
  onAnswer: () => void,
): { readonly graph: RelayGraph; readonly given: () => number } {
  const chain: Made[] = [];
  const graph = memoryGraph(clock);
  graph.tips = async () => [{ id: 'ab'.repeat(32), layer: 1_000_000 }];
  graph.headers = async () => {
    onAnswer();
    const parent: EventId = chain.at(-1)?.id ?? genesisOf(holdfast, slot).id;
    chain.push(one(slot + chain.length, [parent], chain.length + 1, 'drip'));
    return chain.slice(-1).map(({ event }) => event.header);
  };
  graph.bodies = async (ids) =>
    chain.filter(({ id }) => ids.includes(id)).map(({ bytes }) => ({ event: bytes, blob: noBlob }));
  return { graph, given: () => chain.length };
}
