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
});

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
