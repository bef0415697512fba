import {
  beginFetch,
  beginSync,
  type SyncInput,
  type SyncOutput,
  type SyncResult,
  type SyncState,
  stepSync,
} from '../core/graph/sync';
import type { EventId, Slot } from '../core/ids';
import { limits } from '../core/limits';
import type { Asked } from './asked';
import type { RelayGraph } from './relay-graph';

/** Brings what a peer has of one slot. `gone` when the peer left before the end. */
export function syncSlot(peer: Asked, graph: RelayGraph, slot: Slot): Promise<SyncResult['end'] | 'gone'> {
  return drive(peer, graph, beginSync(graph.profile, slot, boundsOf(peer)));
}

/** Fetches parents that a live event of this peer lacked, and all they stand on (event-graph.md 3.3). */
export function fetchMissing(
  peer: Asked,
  graph: RelayGraph,
  slot: Slot,
  parents: readonly EventId[],
): Promise<SyncResult['end'] | 'gone'> {
  return drive(peer, graph, beginFetch(graph.profile, slot, boundsOf(peer), parents));
}

function boundsOf(peer: Asked): { readonly batchEventsMax: number } {
  return { batchEventsMax: peer.limits?.batchEventsMax ?? limits.eventRequestIdsMax };
}

async function drive(peer: Asked, graph: RelayGraph, begun: SyncState): Promise<SyncResult['end'] | 'gone'> {
  let state = begun;
  for (;;) {
    if (state.output.want === 'nothing') return state.output.result.end;
    const input = await answerTo(state.output, peer, graph);
    if (input === undefined) return 'gone';
    state = stepSync(state, input);
  }
}

async function answerTo(
  output: Exclude<SyncOutput, { readonly want: 'nothing' }>,
  peer: Asked,
  graph: RelayGraph,
): Promise<SyncInput | undefined> {
  switch (output.want) {
    case 'peer-tips': {
      const answer = await peer.ask({ ask: 'tips', slot: output.slot });
      return answer?.type === 'tips' ? { got: 'peer-tips', tips: answer.tips } : undefined;
    }
    case 'headers': {
      const answer = await peer.ask({ ask: 'headers', slot: output.slot, tips: output.tips });
      return answer?.type === 'headers' ? { got: 'headers', headers: answer.headers } : undefined;
    }
    case 'events': {
      const answer = await peer.ask({ ask: 'events', ids: output.ids });
      return answer?.type === 'events' ? { got: 'events', events: answer.events } : undefined;
    }
    case 'lacking':
      return { got: 'lacking', ids: await graph.lacking(output.slot, output.ids) };
    case 'own-tips':
      return { got: 'own-tips', tips: await graph.tips(output.slot) };
    case 'insert':
      return { got: 'inserted', outcome: await graph.take(output.slot, output.events) };
  }
}
