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
import { type Ledger, waits } from './ledger';

/** Links that were begun in vain since the one that had told tips ended: then nobody has to wait for that relay. */
const dialsHopeless = 3;
/** The furthest the time of an event may be off: devices run some seconds wrong, and within 30 s nobody minds. */
const timeOffMaxMs = 45_000;

/** An engine may not have heard yet that relays were added. */
const relaysNewsMs = 15_000;

interface Answered {
  readonly relay: string;
  readonly slot: number;
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
  /** Links an engine began since a relay last told it tips: one that was born later knows nothing of those before. */
  readonly #dials = new Map<string, number>();
  readonly #diallers = new WeakMap<object, Life>();
  readonly #newest = new Map<string, object>();
  /** Own events as they were when they became durable. */
  readonly #made = new Map<EventId, Bytes>();
  /** Own events that were sent after the graph had forgotten them. */
  pruned = 0;

  constructor(
    private readonly watch: Watch,
    private readonly ledger: Ledger,
    private readonly clockOf: (device: string) => number,
    private readonly isSteady: (device: string) => boolean,
  ) {}

  dialled(life: Life, to: string, link: object): void {
    this.#diallers.set(link, life);
    const key = `${life.name} ${to}`;
    this.#newest.set(key, link);
    this.#dials.set(key, (this.#dials.get(key) ?? 0) + 1);
  }

  committed(commit: Commit): void {
    for (const change of commit.changes) {
      if ('put' in change && change.put === 'events' && change.row.own) {
        this.#made.set(change.row.id, change.row.event);
      }
    }
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
    const key = `${this.#diallers.get(frame.link)?.name} ${frame.from}`;
    // What comes late over a link that was given up says nothing of those dialled since.
    if (this.#newest.get(key) === frame.link) this.#dials.delete(key);
    const list = this.#answered.get(frame.to) ?? [];
    this.#answered.set(frame.to, list);
    list.push({ relay: urlOf(frame.from), slot: slotOf(profile, this.clockOf(frame.to)) });
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
    const kept = this.watch.event(site, id)?.event ?? this.#forgotten(site, id);
    if (kept === undefined || !sameBytes(kept, bytes)) {
      this.watch.world.breach('exposed-early', `${site} sends ${id} before it is durable`);
    }
  }

  /** The bytes of an own event that the graph has forgotten: the outbox keeps those of its head (OB-06). */
  #forgotten(site: string, id: EventId): Bytes | undefined {
    const entry = this.ledger.births.get(id);
    if (entry?.device !== site) return undefined;
    const kept = entry.row.operation?.generations.find((one) => one.id === id)?.event;
    const made = this.#made.get(id);
    if (kept === undefined || made === undefined || !sameBytes(kept, made)) return undefined;
    this.pruned += 1;
    return made;
  }

  #onlyHead(frame: Passing, id: EventId): void {
    const entry = this.ledger.births.get(id);
    if (entry === undefined || entry.device !== frame.from) {
      this.watch.world.breach('exposed-early', `${frame.from} puts ${id}, which is no generation of its own`);
      return;
    }
    const ahead = this.ledger.lane(frame.from).find((one) => one.order < entry.order && waits(one));
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

  #enough(device: string, life: Life, making: MakingArgs): void {
    const { now } = this.watch.world;
    const off = making.now - now;
    if (Math.abs(off) > timeOffMaxMs) {
      this.watch.world.breach('clock', `${device} makes an event at a time that is ${off} ms off`);
    }
    if (now - (this.#relaysAt.get(device) ?? 0) < relaysNewsMs || !this.isSteady(device)) return;
    const tries = (url: string): number => this.#dials.get(`${life.name} ${nameOf(url)}`) ?? 0;
    const known = this.watch
      .relays(device)
      .filter(({ url }) => making.relays.includes(url) || tries(url) < dialsHopeless).length;
    if (making.relays.length < minPeersOf(profile, known)) {
      this.watch.world.breach(
        'too-few',
        `${device} makes an event with ${making.relays.length} of ${known} relays`,
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
