import type { HeaderWalk } from '../core/graph/headers';
import { isRetained, type Tip } from '../core/graph/slots';
import type { AccountId, EventId, Slot } from '../core/ids';
import type { Header } from '../core/wire/event';
import type { NetworkProfile } from '../core/wire/profile';
import type { Store } from './ports';

/** The graph that questions of peers are answered from. */
export interface ServedGraph {
  readonly store: Store;
  readonly account: AccountId;
  readonly profile: NetworkProfile;
  readonly slotsRetained: number;
}

/**
 * Tips of a slot, as an answer may hold them. A peer may name whatever number it likes: of what starts no slot of this
 * network, or of a slot that is not kept at `now`, there are none.
 */
export async function servedTips(
  graph: ServedGraph,
  slot: Slot | undefined,
  now: number,
): Promise<readonly Tip[]> {
  const args = argsOf(graph, slot, now);
  return args === undefined ? [] : graph.store.read('graphTips', args);
}

/** Headers of a slot that do not lie below `tips`, by as many reads as it takes; none of a slot that is not kept. */
export async function servedHeaders(
  graph: ServedGraph,
  slot: Slot | undefined,
  now: number,
  tips: readonly EventId[],
): Promise<readonly Header[]> {
  const args = argsOf(graph, slot, now);
  if (args === undefined) return [];
  let walk: HeaderWalk | undefined;
  for (;;) {
    const from = walk === undefined ? { ...args, tips } : { ...args, tips, walk };
    const outcome = await graph.store.read('graphHeaders', from);
    if (outcome.done) return outcome.headers;
    walk = outcome.walk;
  }
}

function argsOf({ account, profile, slotsRetained }: ServedGraph, slot: Slot | undefined, now: number) {
  if (slot === undefined || !isRetained(profile, slot, now, slotsRetained)) return undefined;
  return { account, profile: profile.name, slotsRetained, slot };
}
