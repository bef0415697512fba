import { beforeEach, describe, expect, test } from 'vitest';
import type { Bytes } from '../../../src/core/ids';
import type { Registry } from '../../../src/core/rate/gate';
import { decodeEvent, eventId } from '../../../src/core/wire/event';
import { holdfastLimited } from '../../../src/core/wire/profile';
import type { Asked } from '../../../src/relay/asked';
import { RelayGraph } from '../../../src/relay/relay-graph';
import { syncSlot } from '../../../src/relay/sync';
import { MemoryStore } from '../../../src/store/memory/memory-store';
import { type Made, make, noBlob, slot } from '../../fixtures/graph-world';
import { identityOf, limiter, proofOf } from '../../fixtures/rated';

/*
 * Upstream's scenarios of several nodes whose events carry proofs (event-graph.md 10.1), with the proofs of this
 * network: a signature for a ticket.
 */

const registry: Registry = { limiter, has: (identity) => identity === identityOf(1) };
const now = slot + 20_000;
const made = make('a - b - c - d', slot, holdfastLimited);
const epoch = limiter.epochOf(slot);
const proofs = new Map([...made.values()].map(({ id }, at) => [id, proofOf(1, id, epoch, at + 1)] as const));
const proof = (one: Made): Bytes => proofs.get(one.id) ?? noBlob;
const named = (name: string): Made => made.get(name) as Made;

function graph(): RelayGraph {
  const bounds = { profile: holdfastLimited, slotsRetained: 24, slotsSynced: 2, storeBytesMax: 1e9 };
  return new RelayGraph(new MemoryStore(() => ({ registry })), bounds, () => now, true);
}

/** A peer that answers from a graph; `given` is what becomes of a blob on the way. */
function peerOf(theirs: RelayGraph, given: (one: string, blob: Bytes) => Bytes = (_, blob) => blob): Asked {
  return {
    limits: undefined,
    ask: async (question) => {
      const tag = '1';
      if (question.ask === 'tips') return { type: 'tips', tag, slot, tips: await theirs.tips(question.slot) };
      if (question.ask === 'headers') {
        const tips = question.tips.map((tip) => tip.id);
        return { type: 'headers', tag, slot, headers: await theirs.headers(question.slot, tips) };
      }
      const bodies = await theirs.bodies(question.ids, 128, 1e6);
      const events = bodies.map((body) => {
        const id = eventId(decodeEvent(body.event).header);
        return { id, event: body.event, blob: given(id, body.blob) };
      });
      return { type: 'events', tag, events };
    },
  };
}

let theirs: RelayGraph;
let ours: RelayGraph;

async function kept(of: RelayGraph): Promise<readonly { readonly id: string; readonly blob: Bytes }[]> {
  const bodies = await of.bodies(
    [...made.values()].map((one) => one.id),
    128,
    1e6,
  );
  return bodies.map((body) => ({ id: eventId(decodeEvent(body.event).header), blob: body.blob }));
}

const all = [...made.values()].map((one) => ({ id: one.id, blob: proof(one) }));

beforeEach(async () => {
  [theirs, ours] = [graph(), graph()];
  for (const one of made.values()) {
    expect(await theirs.put(one.bytes, proof(one), false)).toEqual({ verdict: 'inserted' });
  }
});

describe('a graph whose events are proven', () => {
  test('(dag_sync_with_blob) is synced with its proofs, and can be handed on from there', async () => {
    expect(await syncSlot(peerOf(theirs), ours, slot)).toBe('complete');
    expect(await kept(ours)).toEqual(all);
    const third = graph();
    expect(await syncSlot(peerOf(ours), third, slot)).toBe('complete');
    expect(await kept(third)).toEqual(all);
  });

  test.each<[string, (blob: Bytes) => Bytes]>([
    ['altered', (blob) => blob.map((byte, at) => (at === 60 ? byte ^ 1 : byte))],
    ['left out', () => noBlob],
    ["another event's", () => proofOf(1, named('a').id, epoch, 50)],
  ])(
    '(dag_sync_rejects_bad_blob) with the proof of one %s ends the sync; nothing above it enters, and another peer mends it',
    async (_what, alter) => {
      const b = named('b');
      const bad = peerOf(theirs, (id, blob) => (id === b.id ? alter(blob) : blob));
      expect(await syncSlot(bad, ours, slot)).toBe('broken');
      expect((await kept(ours)).map((one) => one.id)).toEqual([named('a').id]);
      expect(await syncSlot(peerOf(theirs), ours, slot)).toBe('complete');
      expect(await kept(ours)).toEqual(all);
    },
  );

  test('(propagation_with_real_blob) what is put goes from node to node with its proof, and each node takes it', async () => {
    const nodes = [graph(), graph(), graph(), graph(), graph()];
    for (const one of made.values()) {
      let blob = proof(one);
      for (const node of nodes) {
        expect(await node.put(one.bytes, blob, false)).toEqual({ verdict: 'inserted' });
        blob = (await node.bodies([one.id], 1, 1e6))[0]?.blob ?? noBlob;
      }
    }
    for (const node of nodes) expect(await kept(node)).toEqual(all);
  });
});
