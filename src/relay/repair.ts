import type { Bytes } from '../core/ids';
import { frameOf } from '../core/link/messages';
import { ourLimits, type PeerLimits } from '../core/wire/version';
import type { RelayGraph } from './relay-graph';

/** A peer that may lack events. */
export interface BehindPeer {
  readonly limits: PeerLimits | undefined;
  handOn(frame: Bytes): void;
  /** Resolves when what it was handed has gone. */
  drained(): Promise<void>;
}

/**
 * Puts the tips of the open slots to a peer. Whatever it lacks of them is a tip or stands below one, and whoever gets an
 * event whose parents it lacks fetches them (event-graph.md 3.3): so it has all of it in the end, by asking for no more
 * than it lacks. What closed slots held, it asks for itself, at its next sync.
 */
export async function putTips(peer: BehindPeer, graph: RelayGraph): Promise<void> {
  const { batchBytesMax, contentBytesMax } = peer.limits ?? ourLimits;
  for (const slot of graph.openSlots()) {
    for (const tip of await graph.tips(slot)) {
      const [body] = await graph.bodies([tip.id], 1, batchBytesMax, contentBytesMax);
      // The genesis is derived by everyone and never stored.
      if (body === undefined) continue;
      peer.handOn(frameOf(graph.profile, { say: 'put', ...body }));
      await peer.drained();
    }
  }
}
