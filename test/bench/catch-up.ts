import type { Bytes, EventId } from '../../src/core/ids';
import { encodeEvent, eventId, makeEvent } from '../../src/core/wire/event';
import { encodePrivmsg } from '../../src/core/wire/privmsg';
import { genesisOf, holdfast, slotOf } from '../../src/core/wire/profile';

/** An event of the bench as it travels. */
export interface ChainEvent {
  readonly id: EventId;
  readonly event: Bytes;
}

/** So many messages to the bench's channel, each built on the one before, all of the slot of `now`. */
export function chain(count: number, now: number): ChainEvent[] {
  const slot = slotOf(holdfast, now);
  const made: ChainEvent[] = [];
  let last = genesisOf(holdfast, slot).id;
  for (let layer = 1; layer <= count; layer++) {
    const logical = layer.toString(16).padStart(32, '0');
    const text = `message ${layer} of those that were said while you were away`;
    const content = encodePrivmsg({ channel: '#bench', nick: 'ben', text, type: 0, logical });
    const event = makeEvent(BigInt(now), [last], BigInt(layer), content);
    last = eventId(event.header);
    made.push({ id: last, event: encodeEvent(event) });
  }
  return made;
}
