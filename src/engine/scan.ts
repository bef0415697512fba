import { StoreError } from '../core/errors';
import type { AccountId, ConversationId, Slot } from '../core/ids';
import type { Heard } from '../core/transactions/receive';
import type { NetworkProfile } from '../core/wire/profile';
import type { Hearing } from './hearing';
import type { Ports } from './ports';

const pageEvents = 200;

/** Whose kept events are looked through. */
export interface Scanned {
  readonly account: AccountId;
  readonly profile: NetworkProfile;
  readonly hearing: Hearing;
}

/**
 * Brings what the graph already holds of newly joined channels into their conversations, oldest slot first. A store
 * that fails in between leaves the rest for the next start: messages that are there already are passed over.
 */
export async function scanChannels(
  ports: Ports,
  scanned: Scanned,
  slots: { readonly oldest: Slot; readonly current: Slot },
  channels: readonly ConversationId[],
  now: () => number,
  term: number,
): Promise<void> {
  try {
    for (let slot = slots.oldest; slot <= slots.current; slot += scanned.profile.rotationMs) {
      await scanSlot(ports, scanned, slot, channels, now, term);
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    ports.observer.note('scan-stopped', { kind: error.kind });
  }
}

async function scanSlot(
  ports: Ports,
  scanned: Scanned,
  slot: Slot,
  channels: readonly ConversationId[],
  now: () => number,
  term: number,
): Promise<void> {
  let fromLayer = 0;
  for (;;) {
    const args = { account: scanned.account, slot, fromLayer, limit: pageEvents };
    const page = await ports.store.read('graphPage', args);
    const heard: Heard[] = [];
    for (const one of page) {
      if (one.own) continue;
      for (const channel of channels) {
        const message = scanned.hearing.hear(one.id, one.event, channel);
        if (message !== undefined) heard.push(message);
      }
    }
    if (heard.length > 0) {
      const scan = { account: scanned.account, heard, now: now(), seed: ports.random.bytes(32) };
      await ports.store.transact('scanChannel', scan, term);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageEvents) return;
    fromLayer = last.layer === fromLayer ? fromLayer + 1 : last.layer;
  }
}
