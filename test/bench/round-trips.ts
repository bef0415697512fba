import { genesisOf, holdfast, slotOf } from '../../src/core/wire/profile';
import { one } from '../fixtures/graph-world';
import { TestPeer } from '../fixtures/peer';

/** A peer that puts one event after another and times each answer: what a relay and the way to it take. */
export interface RoundTrips {
  /** So many, ms each. */
  measure(count: number): Promise<number[]>;
  close(): void;
}

/** Connects to a relay that nobody else uses. */
export async function roundTrips(url: string): Promise<RoundTrips> {
  const peer = await TestPeer.connect(url);
  const slot = slotOf(holdfast, Date.now());
  let last = genesisOf(holdfast, slot).id;
  let layer = 0;
  const put = async (): Promise<number> => {
    layer += 1;
    const event = one(Date.now(), [last], layer, `${layer}`.padEnd(1_000, ' '));
    last = event.id;
    const from = performance.now();
    const answer = await peer.put(event);
    const took = performance.now() - from;
    if (answer.type !== 'has') throw new Error(`the relay answered ${answer.type}`);
    return took;
  };
  return {
    async measure(count) {
      const times: number[] = [];
      for (let nth = 0; nth < count; nth++) times.push(await put());
      return times;
    },
    close: () => peer.close(),
  };
}
