import type { Bytes, EventId, Slot } from '../ids';
import { limits } from '../limits';
import { encodeWith } from '../wire/codec';
import { commands } from '../wire/commands';
import type { Header } from '../wire/event';
import { type EventPutStatus, encodeEventPutOf, encodeEventPutStatus, writeBlob } from '../wire/event-put';
import { encodeFrame } from '../wire/frame';
import type { NetworkProfile } from '../wire/profile';
import {
  dagOf,
  encodeEventReq,
  encodeHeaderRep,
  encodeHeaderReq,
  encodeTipRep,
  encodeTipReq,
} from '../wire/sync';

/** An event with its bytes as they travel. */
export interface EventBody {
  readonly event: Bytes;
  readonly blob: Bytes;
}

/** An event nobody references yet. */
export interface NamedTip {
  readonly id: EventId;
  readonly layer: number;
}

/** What a ready session may say besides questions. */
export type Message =
  | { readonly say: 'put'; readonly event: Bytes; readonly blob: Bytes }
  | { readonly say: 'status'; readonly status: EventPutStatus }
  | { readonly say: 'tips'; readonly tips: readonly NamedTip[] }
  | { readonly say: 'headers'; readonly headers: readonly Header[] }
  | { readonly say: 'events'; readonly events: readonly EventBody[] };

/** What a session may ask. The tag comes back with the answer. */
export type Question =
  | { readonly ask: 'tips'; readonly tag: string; readonly slot: Slot }
  | {
      readonly ask: 'headers';
      readonly tag: string;
      readonly slot: Slot;
      readonly tips: readonly NamedTip[];
    }
  | {
      readonly ask: 'events';
      readonly tag: string;
      readonly ids: readonly EventId[];
    };

/** The frame of a message. Throws `EncodeError` when a bound is broken. */
export function frameOf(profile: NetworkProfile, message: Message): Bytes {
  switch (message.say) {
    case 'put':
      return encodeFrame(profile.magic, commands.eventPut, encodeEventPutOf(message.event, message.blob));
    case 'status':
      return encodeFrame(profile.magic, commands.eventPutStatus, encodeEventPutStatus(message.status));
    case 'tips':
      return encodeFrame(profile.magic, commands.tipRep, encodeTipRep(message.tips.map(wireTip)));
    case 'headers':
      return encodeFrame(profile.magic, commands.headerRep, encodeHeaderRep(message.headers));
    case 'events':
      return encodeFrame(profile.magic, commands.eventRep, encodeBodies(message.events));
  }
}

/** The frame of a question. Throws `EncodeError` when a bound is broken. */
export function questionFrame(profile: NetworkProfile, question: Question): Bytes {
  switch (question.ask) {
    case 'tips':
      return encodeFrame(profile.magic, commands.tipReq, encodeTipReq(dagOf(question.slot)));
    case 'headers': {
      const request = {
        dag: dagOf(question.slot),
        tips: question.tips.map(wireTip),
      };
      return encodeFrame(profile.magic, commands.headerReq, encodeHeaderReq(request));
    }
    case 'events':
      return encodeFrame(profile.magic, commands.eventReq, encodeEventReq(question.ids));
  }
}

/** An EventRep of events that are encoded already: the bytes that were stored, not made anew. */
function encodeBodies(events: readonly EventBody[]): Bytes {
  return encodeWith((writer) => {
    writer.vec(events, limits.eventReplyEventsMax, (_, one) => writer.bytes(one.event));
    writer.vec(events, limits.eventReplyEventsMax, (_, one) => writeBlob(writer, one.blob));
  });
}

function wireTip(tip: NamedTip): {
  readonly layer: bigint;
  readonly id: EventId;
} {
  return { layer: BigInt(tip.layer), id: tip.id };
}
