import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Slot } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { eventId } from '../../src/core/wire/event';
import { holdfast } from '../../src/core/wire/profile';
import { GraphSync, type SyncPeer } from '../../src/relay/graph-sync';
import type { RelayGraph } from '../../src/relay/relay-graph';
import { make, noBlob, slot } from '../fixtures/graph-world';
import { memoryGraph } from '../fixtures/peer';

let time = slot + 20_000;
const now = (): number => time;

beforeEach(() => {
  time = slot + 20_000;
});

const before = slot - holdfast.rotationMs;

/** A peer that answers from a graph, and counts what it is asked; `hold` lets its answers wait. */
class GivingPeer implements SyncPeer {
  readonly limits = undefined;
  readonly isReady = true;
  readonly asked: Slot[] = [];
  hold: Promise<void> = Promise.resolve();

  constructor(readonly graph: RelayGraph) {}

  ask: SyncPeer['ask'] = async (question) => {
    if (question.ask === 'tips') this.asked.push(question.slot);
    await this.hold;
    const tag = '';
    if (question.ask === 'tips') {
      return { type: 'tips', tag, slot: question.slot, tips: await this.graph.tips(question.slot) };
    }
    if (question.ask === 'headers') {
      const headers = await this.graph.headers(
        question.slot,
        question.tips.map((tip) => tip.id),
      );
      return { type: 'headers', tag, slot: question.slot, headers };
    }
    const bodies = await this.graph.bodies(question.ids, 128, 1_000_000);
    const events = bodies.map((body, at) => ({ ...body, id: question.ids[at] ?? '' }));
    return { type: 'events', tag, events };
  };
}

/** A relay's sync over a graph of its own, whose ticks the test gives. */
function syncing(synced: boolean) {
  const graph = memoryGraph(now);
  graph.synced = synced;
  const peers: GivingPeer[] = [];
  let tick = (): void => undefined;
  const sync = new GraphSync<GivingPeer>({
    graph,
    log: () => undefined,
    now,
    every: (_ms, act) => {
      tick = act;
      return () => undefined;
    },
    peers: () => peers,
    relay: () => undefined,
    left: () => undefined,
  });
  sync.start();
  const come = (peer: GivingPeer): void => {
    peers.push(peer);
    sync.onReady(peer);
  };
  return { graph, sync, come, tick: () => tick() };
}

async function graphOf(drawing: string, at: Slot): Promise<RelayGraph> {
  const graph = memoryGraph(now);
  for (const { bytes } of make(drawing, at).values()) await graph.take(at, [{ event: bytes, blob: noBlob }]);
  return graph;
}

describe('a relay that has finished its first sync with a member', () => {
  test('[EG-05] still asks the relay of the mesh that came meanwhile for closed slots too, and no other member', async () => {
    const { graph, sync, come } = syncing(false);
    const member = new GivingPeer(memoryGraph(now));
    let give = (): void => undefined;
    member.hold = new Promise((done) => {
      give = done;
    });
    come(member);
    const mesh = new GivingPeer(await graphOf('a - b', before));
    sync.onMeshLink(mesh);
    come(mesh);
    const other = new GivingPeer(await graphOf('x', before));
    come(other);
    give();
    await vi.waitFor(() => expect(mesh.asked).toContain(slot));
    const b = make('a - b', before).get('b');
    await vi.waitFor(async () => expect((await graph.tips(before)).map((tip) => tip.id)).toEqual([b?.id]));
    expect(other.asked).toEqual([]);
  });

  test('[EG-05] asks a relay soon whose event it could not take, once, and for nothing while it has no room', async () => {
    const { graph, sync, tick } = syncing(true);
    const mesh = new GivingPeer(await graphOf('a - b', before));
    sync.onLeftOut(mesh);
    sync.onLeftOut(mesh);
    expect(mesh.asked).toEqual([]);
    const truth = graph.take.bind(graph);
    graph.take = async (...args) => ({ ...(await truth(...args)), full: true });
    tick();
    await vi.waitFor(() => expect(mesh.asked.filter((of) => of === slot)).toHaveLength(1));
    const b = make('a - b', before).get('b');
    expect((await graph.tips(before)).map((tip) => tip.id)).toEqual([b?.id]);
    sync.onLeftOut(mesh);
    tick();
    expect(mesh.asked.filter((of) => of === slot)).toHaveLength(1);
    for (let ticks = 2; ticks < limits.resyncMs / limits.heartbeatMs; ticks++) tick();
    sync.onLeftOut(mesh);
    tick();
    await vi.waitFor(() => expect(mesh.asked.filter((of) => of === slot)).toHaveLength(2));
  });
});

describe('two peers that take long', () => {
  test('[EG-05] go on in turn, until the first of them has given all', async () => {
    const { graph, come } = syncing(false);
    // Each answer takes a whole turn, and brings one event.
    const slow = async (drawing: string): Promise<GivingPeer> => {
      const theirs = await graphOf(drawing, slot);
      const truth = theirs.headers.bind(theirs);
      theirs.headers = async (of, tips) => {
        time += limits.syncTurnMs;
        const [genesis, ...above] = await truth(of, []);
        const names = new Set(tips);
        const known = above.findLastIndex((header) => names.has(eventId(header)));
        return genesis === undefined ? [] : above.slice(known + 1, known + 2);
      };
      return new GivingPeer(theirs);
    };
    const [first, second] = [await slow('a - b - c'), await slow('v - w - x - y - z')];
    come(first);
    come(second);
    await vi.waitFor(() => expect(graph.synced).toBe(true));
    const tips = (await graph.tips(slot)).map((tip) => tip.id);
    expect(tips).toContain(make('a - b - c').get('c')?.id);
    expect(tips).not.toContain(make('v - w - x - y - z').get('z')?.id);
  });
});
