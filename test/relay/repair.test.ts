import { expect, test, vi } from 'vitest';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { putTips } from '../../src/relay/repair';
import { noBlob, one, slot } from '../fixtures/graph-world';
import { memoryGraph } from '../fixtures/peer';

test('a peer that is repaired is put one tip after another, each when the one before has gone', async () => {
  const graph = memoryGraph(() => slot + 20_000);
  const genesis = genesisOf(holdfast, slot).id;
  for (const text of ['a', 'b', 'c']) {
    await graph.put(one(slot + 1_000, [genesis], 1, text).bytes, noBlob, false);
  }
  let handed = 0;
  const gone: (() => void)[] = [];
  const peer = {
    limits: undefined,
    handOn: () => {
      handed += 1;
    },
    drained: () => new Promise<void>((done) => gone.push(done)),
  };
  const done = putTips(peer, graph);
  for (const count of [1, 2, 3]) {
    await vi.waitFor(() => expect(gone).toHaveLength(count));
    expect(handed).toBe(count);
    gone.at(-1)?.();
  }
  await done;
  expect(handed).toBe(3);
});
