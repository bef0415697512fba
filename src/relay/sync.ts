import type { FetchedEvent } from '../core/graph/fetched';
import {
  beginFetch,
  beginSync,
  type NamedEvent,
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

/** How the sync of a slot ended; `gone` when the peer left before the end. */
export type SlotEnd = SyncResult['end'] | 'gone';

/** Brings what a peer has of one slot. */
export async function syncSlot(
  peer: Asked,
  graph: RelayGraph,
  slot: Slot,
  taking: Omit<Taking, 'except'> = { taken: () => undefined },
): Promise<SlotEnd> {
  const begun = beginSync(graph.profile, slot, boundsOf(peer));
  return (await drive(peer, graph, begun, taking))?.end ?? 'gone';
}

/** Parents of an event that are not here. */
export interface Missing {
  readonly slot: Slot;
  readonly parents: readonly EventId[];
  readonly of: EventId;
}

/**
 * Fetches parents that a live event of this peer lacked, and all they stand on (event-graph.md 3.3). The event itself
 * is left to its own put, so that its status says what became of it; `taken` hears of every other that is new.
 */
export function fetchMissing(
  peer: Asked,
  graph: RelayGraph,
  missing: Missing,
  taking: Omit<Taking, 'except'>,
): Promise<SyncResult | undefined> {
  const begun = beginFetch(graph.profile, missing.slot, boundsOf(peer), missing.parents);
  return drive(peer, graph, begun, { ...taking, except: missing.of });
}

interface Taking {
  readonly except?: EventId;
  /** Hears of every event that is new. */
  readonly taken: (event: FetchedEvent) => void;
  /** No more is to be taken in now. */
  readonly isEnough?: () => boolean;
}

function boundsOf(peer: Asked): { readonly batchEventsMax: number } {
  return { batchEventsMax: peer.limits?.batchEventsMax ?? limits.eventRequestIdsMax };
}

async function drive(
  peer: Asked,
  graph: RelayGraph,
  begun: SyncState,
  taking: Taking,
): Promise<SyncResult | undefined> {
  let state = begun;
  for (;;) {
    const { output } = state;
    if (output.want === 'nothing') return output.result;
    const input =
      output.want === 'insert'
        ? await takeIn(graph, output.slot, output.events, taking)
        : await answerTo(output, peer, graph);
    if (input === undefined) return undefined;
    state = stepSync(state, input);
    if (input.got === 'inserted' && state.output.want !== 'nothing' && taking.isEnough?.() === true) {
      return { end: 'incomplete', inserted: state.inserted };
    }
  }
}

async function takeIn(
  graph: RelayGraph,
  slot: Slot,
  events: readonly NamedEvent[],
  taking: Taking,
): Promise<SyncInput> {
  const offered = events.filter((event) => event.id !== taking.except);
  const outcome = await graph.take(slot, offered);
  const fresh = new Set(outcome.ids);
  for (const event of offered) if (fresh.has(event.id)) taking.taken(event);
  return { got: 'inserted', outcome };
}

async function answerTo(
  output: Exclude<SyncOutput, { readonly want: 'nothing' | 'insert' }>,
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
      return { got: 'lacking', ids: await graph.lacking(output.slot, output.ids, output.layers) };
    case 'own-tips':
      return { got: 'own-tips', tips: await graph.tips(output.slot) };
  }
}
