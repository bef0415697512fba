import { type ChannelKey, channelKey, openChannel } from '../core/crypto/box';
import type { Bytes, ConversationId, EventId } from '../core/ids';
import type { OpenedConversation } from '../core/transactions/reads';
import type { Heard } from '../core/transactions/receive';
import { readContent } from '../core/wire/content';
import { type Event, readableEvent } from '../core/wire/event';
import type { Privmsg } from '../core/wire/privmsg';
import type { NetworkProfile } from '../core/wire/profile';

interface Ear {
  readonly conversation: ConversationId;
  readonly name: string;
  readonly key?: ChannelKey;
  /** The version of the list it came with. */
  readonly since: number;
}

const logicalDigits = 32;

/** Listens for the channels we are in: turns an event's content into a message of a conversation, or nothing. */
export class Hearing {
  #ears: readonly Ear[] = [];
  /** Raised whenever channels come: what was heard with an older list may have missed something. */
  version = 0;

  constructor(private readonly profile: NetworkProfile) {}

  /** Takes the channels as they are now; answers those that were not there before. */
  update(conversations: readonly OpenedConversation[]): readonly ConversationId[] {
    const before = new Map(this.#ears.map((ear) => [ear.conversation, ear]));
    const version = this.version + 1;
    this.#ears = conversations.map((one) => before.get(one.conversation) ?? earOf(one, version));
    if (this.#ears.some((ear) => ear.since === version)) this.version = version;
    return this.freshSince(version - 1);
  }

  /** Channels that came after a version of the list. */
  freshSince(version: number): readonly ConversationId[] {
    return this.#ears.filter((ear) => ear.since > version).map((ear) => ear.conversation);
  }

  /** What the event says in one of our channels; nothing where a stored one is damaged. */
  hear(id: EventId, bytes: Bytes, only?: ConversationId): Heard | undefined {
    const event = readableEvent(bytes);
    if (event === undefined) return undefined;
    const content = readContent(this.profile, event.content);
    if (content.kind !== 'privmsg') return undefined;
    const ears = only === undefined ? this.#ears : this.#ears.filter((ear) => ear.conversation === only);
    for (const ear of ears) {
      const spoken = this.#listen(ear, content.privmsg);
      if (spoken !== undefined) return heardOf(id, event, ear, content.privmsg, spoken);
    }
    return undefined;
  }

  #listen(ear: Ear, privmsg: Privmsg): { readonly nick: string; readonly text: string } | undefined {
    if (ear.key !== undefined) return openChannel(ear.key, privmsg);
    return privmsg.channel === ear.name ? { nick: privmsg.nick, text: privmsg.text } : undefined;
  }
}

function earOf(one: OpenedConversation, since: number): Ear {
  const ear = { conversation: one.conversation, name: one.name, since };
  return one.secret === undefined ? ear : { ...ear, key: channelKey(one.secret) };
}

function heardOf(
  id: EventId,
  event: Event,
  ear: Ear,
  privmsg: Privmsg,
  spoken: { readonly nick: string; readonly text: string },
): Heard {
  return {
    event: id,
    conversation: ear.conversation,
    logical: privmsg.logical ?? id.slice(0, logicalDigits),
    time: Number(event.header.timestamp),
    ...spoken,
  };
}
