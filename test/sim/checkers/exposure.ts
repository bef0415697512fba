import type { EventId } from '../../../src/core/ids';
import { type Bytes, sameBytes } from '../../../src/core/ids';
import type { MakingArgs } from '../../../src/core/transactions/materialise';
import { encodeEvent, eventId } from '../../../src/core/wire/event';
import { decodeEventPut } from '../../../src/core/wire/event-put';
import { decodeFrame } from '../../../src/core/wire/frame';
import { minPeersOf, slotOf } from '../../../src/core/wire/profile';
import { decodeEventRep } from '../../../src/core/wire/sync';
import { nameOf, profile, urlOf } from '../names';
import type { Called, Checker, Commit, Passing, Watch } from '../watch';
import type { Life } from '../world';
import type { Ledger } from './ledger';

/** An engine may not have heard yet that relays were added. */
const relaysNewsMs = 15_000;

/** A relay that was there so lately is still waited for: several tries to reach it take longer. */
const waitedForMs = 5_000;

interface Answered {
  readonly relay: string;
  readonly slot: number;
  readonly at: number;
}

/**
 * What leaves a device: only bytes that are durable there, only of the head, only when enough relays answered, and to
 * one relay at most once a claim.
 */
export class ExposureChecker implements Checker {
  /** EventPuts by device, relay and event. */
  readonly #puts = new Map<string, number>();
  /** Tips that relays told each device, by link. */
  readonly #answered = new Map<string, Answered[]>();
  readonly #relaysAt = new Map<string, number>();

  constructor(
    private readonly watch: Watch,
    private readonly ledger: Ledger,
    private readonly clockOf: (device: string) => number,
    private readonly isSteady: (device: string) => boolean,
  ) {}

  committed(commit: Commit): void {
    if (commit.changes.some((one) => ('put' in one ? one.put : one.remove) === 'relays')) {
      this.#relaysAt.set(commit.site, this.watch.world.now);
    }
  }

  called(call: Called): void {
    const args = call.args as Partial<MakingArgs> & { readonly next?: MakingArgs };
    const making = call.name === 'materialise' ? (args as MakingArgs) : args.next;
    if (making !== undefined) this.#enough(call.site, call.life, making);
  }

  delivered(frame: Passing): void {
    if (frame.kind !== 'TipRep' || this.watch.rowsOf(frame.to).isRelay) return;
    const list = this.#answered.get(frame.to) ?? [];
    this.#answered.set(frame.to, list);
    const slot = slotOf(profile, this.clockOf(frame.to));
    list.push({ relay: urlOf(frame.from), slot, at: this.watch.world.now });
  }

  sent(frame: Passing): void {
    if (frame.kind === 'EventRep') {
      for (const event of decodeEventRep(payload(frame)).events) {
        this.#durable(frame.from, eventId(event.header), encodeEvent(event));
      }
    }
    if (frame.kind !== 'EventPut') return;
    const { event } = decodeEventPut(payload(frame));
    const id = eventId(event.header);
    this.#durable(frame.from, id, encodeEvent(event));
    if (!this.watch.rowsOf(frame.from).isRelay) this.#onlyHead(frame, id);
  }

  #durable(site: string, id: EventId, bytes: Bytes): void {
    const row = this.watch.event(site, id);
    if (row === undefined || !sameBytes(row.event, bytes)) {
      this.watch.world.breach('exposed-early', `${site} sends ${id} before it is durable`);
    }
  }

  #onlyHead(frame: Passing, id: EventId): void {
    const entry = this.ledger.births.get(id);
    if (entry === undefined || entry.device !== frame.from) {
      this.watch.world.breach('exposed-early', `${frame.from} puts ${id}, which is no generation of its own`);
      return;
    }
    const ahead = this.ledger.lane(frame.from).find((one) => one.order < entry.order && one.left === 0);
    if (ahead !== undefined) {
      this.watch.world.breach(
        'head-only',
        `${frame.from} puts ${entry.row.seq} while ${ahead.row.seq} waits`,
      );
    }
    // Each put answers to a durable claim of its own: a reconnect never multiplies a live one.
    const relay = urlOf(frame.to);
    const claims = entry.row.operation?.intents.find(
      (one) => one.relay === relay && one.event === id,
    )?.attempt;
    const key = `${frame.from} ${frame.to} ${id}`;
    const puts = (this.#puts.get(key) ?? 0) + 1;
    this.#puts.set(key, puts);
    if (puts > (claims ?? 0)) {
      this.watch.world.breach(
        'claims',
        `${frame.from} puts ${id} to ${frame.to} ${puts} times on ${claims} claims`,
      );
    }
  }

  #enough(device: string, _life: Life, making: MakingArgs): void {
    const { now } = this.watch.world;
    if (now - (this.#relaysAt.get(device) ?? 0) < relaysNewsMs || !this.isSteady(device)) return;
    const known = this.watch.relays(device).map((row) => row.url);
    const missed = this.#answered
      .get(device)
      ?.some(
        (one) =>
          known.includes(one.relay) && !making.relays.includes(one.relay) && now - one.at < waitedForMs,
      );
    if (
      making.relays.length < minPeersOf(profile, known.length) &&
      (making.relays.length === 0 || missed === true)
    ) {
      this.watch.world.breach(
        'too-few',
        `${device} makes an event with ${making.relays.length} of ${known.length} relays`,
      );
    }
    const slot = slotOf(profile, making.now);
    for (const relay of making.relays) {
      const told = this.#answered.get(device)?.some((one) => one.relay === relay && one.slot === slot);
      if (told !== true) {
        this.watch.world.breach('too-few', `${device} makes an event though ${nameOf(relay)} told no tips`);
      }
    }
  }
}

function payload(frame: Passing): Uint8Array {
  return decodeFrame(profile.magic, frame.bytes).payload;
}
