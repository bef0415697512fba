import { type Bytes, type EventId, type Slot, toHex } from '../../../src/core/ids';
import type { EventBody, NamedTip } from '../../../src/core/link/messages';
import {
  type Event,
  encodeEvent,
  eventId,
  type Header,
  makeEvent,
  nullId,
} from '../../../src/core/wire/event';
import { genesisOf } from '../../../src/core/wire/profile';
import { profile } from '../names';
import type { Prng } from '../prng';

/** What an event that breaks a rule, or leads nowhere, is made to look like. */
export const badEvents = [
  'parent-twice',
  'no-parent',
  'layer-jump',
  'layer-absurd',
  'time-future',
  'time-absurd',
  'foreign-genesis',
  'invented-parents',
  'empty-content',
  'wrong-hash',
  'old-slot',
  'other-slot-parent',
] as const;

/** One way to break a rule. */
export type BadEvent = (typeof badEvents)[number];

const noBlob: Bytes = new Uint8Array(0);

/** What a liar builds its events on. */
export interface Footing {
  readonly slot: Slot;
  readonly now: number;
  /** Tips it knows, at least the genesis. */
  readonly tips: readonly NamedTip[];
  /** An event of an older slot, if it knows one. */
  readonly older: EventId | undefined;
}

/** Makes what honest peers never make. */
export class Lies {
  constructor(private readonly random: Prng) {}

  id(): EventId {
    return toHex(this.random.bytes(32));
  }

  /** An event that honours every rule. */
  good({ now, tips }: Footing): Event {
    const chosen = tips.slice(0, 1 + this.random.below(3));
    const layer = Math.max(...chosen.map((tip) => tip.layer)) + 1;
    return this.#event(
      now,
      chosen.map((tip) => tip.id),
      BigInt(layer),
    );
  }

  /** A child of an event. */
  child(parent: Event, now: number): Event {
    return this.#event(now, [eventId(parent.header)], parent.header.layer + 1n);
  }

  /** An event that breaks one rule. */
  bad(how: BadEvent, footing: Footing): Event {
    const { slot, now, tips, older } = footing;
    const [tip = { id: genesisOf(profile, slot).id, layer: 0 }] = tips;
    const layer = BigInt(tip.layer + 1);
    switch (how) {
      case 'parent-twice':
        return this.#event(now, [tip.id, tip.id], layer);
      case 'no-parent':
        return this.#event(now, [], 0n);
      case 'layer-jump':
        return this.#event(now, [tip.id], layer + 1n + BigInt(this.random.below(5)));
      case 'layer-absurd':
        return this.#event(now, [tip.id], this.random.pick([0n, 2n ** 53n, 2n ** 64n - 1n]));
      case 'time-future':
        return this.#event(now + 120_000 + this.random.below(100_000), [tip.id], layer);
      case 'time-absurd':
        return this.#event(this.random.pick([0n, 2n ** 63n, 2n ** 64n - 1n]), [tip.id], layer);
      case 'foreign-genesis':
        return this.#event(now, [this.id()], 1n);
      case 'invented-parents':
        return this.#event(now, [this.id(), this.id()], BigInt(2 + this.random.below(9)));
      case 'empty-content':
        return makeEvent(BigInt(now), [tip.id], layer, noBlob);
      case 'wrong-hash': {
        const event = this.#event(now, [tip.id], layer);
        return { ...event, content: this.#content() };
      }
      case 'old-slot': {
        const before = Math.max(profile.initialGenesisMs, slot - profile.rotationMs);
        return this.#event(before + 5, [genesisOf(profile, before).id], 1n);
      }
      case 'other-slot-parent':
        return this.#event(now, [tip.id, older ?? this.id()], layer);
    }
  }

  /** The same header over another content: the id stays what was asked for. */
  altered(body: EventBody): EventBody {
    const event = body.event.slice();
    const last = event.length - 1;
    event[last] = (event[last] ?? 0) ^ 1;
    return { ...body, event };
  }

  /** A header that fits nothing anybody has. */
  header(footing: Footing): Header {
    return this.bad(
      this.random.pick(['invented-parents', 'layer-jump', 'layer-absurd', 'parent-twice'] as const),
      footing,
    ).header;
  }

  /** Headers that lead round: each stands on another of them, so far as ids that hash their parents can say so. */
  loop(footing: Footing): readonly Header[] {
    const first = this.#event(footing.now, [this.id()], 3n);
    const second = this.#event(footing.now, [eventId(first.header)], 2n);
    const third = this.#event(footing.now, [eventId(second.header), eventId(first.header)], 2n);
    return [third.header, second.header, first.header];
  }

  /** Tips nobody has. */
  tips(): readonly NamedTip[] {
    const count = 1 + this.random.below(3);
    return Array.from({ length: count }, () => ({
      id: this.random.perMille(100) ? nullId : this.id(),
      layer: this.random.pick([1, 7, Number.MAX_SAFE_INTEGER]),
    }));
  }

  #event(time: number | bigint, parents: readonly EventId[], layer: bigint): Event {
    return makeEvent(BigInt(time), parents, layer, this.#content());
  }

  #content(): Bytes {
    const content = this.random.bytes(20 + this.random.below(60));
    // Nothing that any reader of ours takes for a message.
    content[0] = 0x7f;
    return content;
  }
}

/** An event as it travels. */
export function bodyOf(event: Event): EventBody {
  return { event: encodeEvent(event), blob: noBlob };
}
