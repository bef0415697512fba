import { afterEach, describe, expect, test, vi } from 'vitest';
import type { EventId } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import type { RelayGraph } from '../../src/relay/relay-graph';
import { type Made, make, noBlob, one, slot, twoPaths } from '../fixtures/graph-world';
import { memoryGraph, type TestPeer } from '../fixtures/peer';
import { runRelay, type TestRelay } from '../fixtures/running-relay';

const hour = holdfast.rotationMs;
const now = (): number => slot + 20_000;
const before = slot - hour;
const sections = '[profile]\nretained_slots = 24\nsync_slots = 2';

afterEach(() => void vi.useRealTimers());

/** A graph of a twoPaths in this slot and one in the slot before. */
async function graphOf(...made: readonly ReadonlyMap<string, Made>[]): Promise<RelayGraph> {
  const graph = memoryGraph(now);
  for (const one of made) {
    for (const { bytes, event } of one.values()) {
      const start = Number(event.header.timestamp) < slot ? before : slot;
      await graph.take(start, [{ event: bytes, blob: noBlob }]);
    }
  }
  return graph;
}

/** A graph that gives no body of these, as if it had forgotten them. */
function withoutBodies(graph: RelayGraph, ids: readonly EventId[]): RelayGraph {
  const truth = graph.bodies.bind(graph);
  graph.bodies = (asked, eventsMax, bytesMax) =>
    truth(
      asked.filter((id) => !ids.includes(id)),
      eventsMax,
      bytesMax,
    );
  return graph;
}

function idOf(made: ReadonlyMap<string, Made>, name: string): EventId {
  return made.get(name)?.id ?? '';
}

async function tipsOf(peer: TestPeer, of: number): Promise<readonly EventId[]> {
  const answer = await peer.ask({ ask: 'tips', slot: of });
  return answer?.type === 'tips' ? answer.tips.map((tip) => tip.id) : [];
}

/** Waits until the relay's log says so; the test's own timeout ends it. */
async function logged(relay: TestRelay, what: string, times = 1): Promise<void> {
  await vi.waitFor(
    () => expect(relay.log.join('').split(what).length - 1).toBeGreaterThanOrEqual(times),
    20_000,
  );
}

describe('the first sync of a relay', () => {
  test('[EG-05] goes on with the slots after one that a peer has not all of, and is done with the current one', async () => {
    const [old, current] = [make(twoPaths, before), make(twoPaths)];
    const relay = await runRelay({ now, sections });
    const graph = withoutBodies(await graphOf(old, current), [idOf(old, 'b')]);
    const peer = await relay.peer({ graph });
    await logged(relay, '"event":"synced"');
    expect(relay.log.join('')).toContain('"event":"slot not complete","why":"incomplete"');
    expect(await tipsOf(peer, slot)).toEqual([idOf(current, 'f')]);
    // Of the slot before it has what does not stand on the one nobody gave.
    expect(await tipsOf(peer, before)).toEqual([idOf(old, 'e')]);
    expect(await peer.put(made(current, 'f'))).toEqual({ type: 'has', inserted: false });
  });

  test('takes what one peer lacks from another: each of two has half, and together they have all', async () => {
    const current = make(twoPaths);
    const relay = await runRelay({ now, sections });
    const left = withoutBodies(await graphOf(current), [idOf(current, 'b')]);
    await relay.peer({ graph: left });
    await logged(relay, '"why":"incomplete"');
    const right = withoutBodies(await graphOf(current), [idOf(current, 'c')]);
    const peer = await relay.peer({ graph: right });
    await logged(relay, '"event":"synced"');
    expect(await tipsOf(peer, slot)).toEqual([idOf(current, 'f')]);
  });

  test('with two peers that never give what they name it neither ends nor loops, and a third one ends it', async () => {
    const current = make(twoPaths);
    const relay = await runRelay({ now, sections });
    const liars: TestPeer[] = [];
    for (let count = 0; count < 2; count++) {
      const graph = withoutBodies(await graphOf(current), [idOf(current, 'a')]);
      liars.push(await relay.peer({ graph }));
    }
    await logged(relay, '"why":"incomplete"', 2);
    for (const liar of liars) await liar.settle();
    const asked = (): number => liars.reduce((sum, liar) => sum + liar.of('tips-asked').length, 0);
    expect(asked()).toBe(4);
    expect(await (liars[0] as TestPeer).put(made(current, 'a'))).toEqual({
      type: 'nack',
      reason: 'not-synced',
    });
    const honest = await relay.peer({ graph: await graphOf(current) });
    await logged(relay, '"event":"synced"');
    expect(await honest.put(made(current, 'a'))).toEqual({ type: 'has', inserted: false });
    expect(asked()).toBe(4);
  });

  test('that failed is tried again with the same peer within a minute', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const current = make('a - b');
    const relay = await runRelay({ now, sections });
    const graph = await graphOf(current);
    const truth = graph.bodies.bind(graph);
    let ready = false;
    graph.bodies = async (...asked) => (ready ? truth(...asked) : []);
    const peer = await relay.peer({ graph });
    await logged(relay, '"why":"incomplete"');
    ready = true;
    vi.advanceTimersByTime(limits.heartbeatMs);
    await logged(relay, '"event":"synced"');
    expect(await tipsOf(peer, slot)).toEqual([idOf(current, 'b')]);
  });
});

describe('what a synced relay missed', () => {
  const bootstrap = `[peers]\nbootstrap = true\n${sections}`;

  test('it asks of the first peer that comes, within half a minute and in every slot it syncs, and of no other', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const [old, current] = [make(twoPaths, before), make(twoPaths)];
    const relay = await runRelay({ now, sections: bootstrap });
    const peer = await relay.peer({ graph: await graphOf(old, current) });
    await peer.settle();
    expect(peer.of('tips-asked')).toEqual([]);
    vi.advanceTimersByTime(limits.heartbeatMs);
    await vi.waitFor(async () => expect(await tipsOf(peer, slot)).toEqual([idOf(current, 'f')]), 20_000);
    expect(await tipsOf(peer, before)).toEqual([idOf(old, 'f')]);
    const second = await relay.peer({ graph: await graphOf(current) });
    vi.advanceTimersByTime(limits.heartbeatMs);
    await second.settle();
    expect(second.of('tips-asked')).toEqual([]);
  });

  test('it asks again every 15 minutes, though all newest tips are known, and hands on what that brings', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const relay = await runRelay({ now, sections: bootstrap });
    const graph = memoryGraph(now);
    const source = await relay.peer({ graph });
    const listening = await relay.peer({ graph: memoryGraph(now) });
    // The round that follows the first peer, so that only the next one can bring what was missed.
    vi.advanceTimersByTime(limits.heartbeatMs);
    await source.next('tips-asked', (asked) => asked.slot === slot);
    const current = make('a - b');
    for (const { bytes, id } of current.values())
      expect(await source.put({ id, bytes })).toMatchObject({ type: 'has' });
    // Said elsewhere while the link between was down: a branch beside what is known, in the middle of the slot.
    const missed = one(slot + 1_500, [idOf(current, 'a')], 2, 'missed');
    for (const made of [...current.values(), missed]) await graph.put(made.bytes, noBlob, false);
    vi.advanceTimersByTime(limits.resyncMs - 1 - limits.heartbeatMs);
    await source.settle();
    expect(await tipsOf(source, slot)).toEqual([idOf(current, 'b')]);
    vi.advanceTimersByTime(1);
    expect((await listening.next('put', (put) => put.id === missed.id)).event).toEqual(missed.bytes);
    expect((await tipsOf(source, slot)).toSorted()).toEqual([missed.id, idOf(current, 'b')].toSorted());
  });

  test('a peer that gives nonsense ends only its own turn', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const relay = await runRelay({ now, sections: bootstrap });
    const lying = memoryGraph(now);
    lying.tips = async () => [{ id: 'ab'.repeat(32), layer: 9 }];
    lying.headers = async () => [one(slot + 1_000, [], 1, 'no parent').event.header];
    const current = make('a - b');
    await relay.peer({ graph: lying });
    vi.advanceTimersByTime(limits.heartbeatMs);
    await logged(relay, '"why":"broken"');
    const honest = await relay.peer({ graph: await graphOf(current) });
    expect(await tipsOf(honest, slot)).toEqual([genesisOf(holdfast, slot).id]);
    vi.advanceTimersByTime(limits.resyncMs);
    await vi.waitFor(async () => expect(await tipsOf(honest, slot)).toEqual([idOf(current, 'b')]), 20_000);
  });
});

function made(from: ReadonlyMap<string, Made>, name: string): Made {
  const found = from.get(name);
  if (found === undefined) throw new Error(`${name} is not drawn`);
  return found;
}
