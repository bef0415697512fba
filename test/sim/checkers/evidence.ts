import type { EventId } from '../../../src/core/ids';
import { limits } from '../../../src/core/limits';
import type { MessageRow } from '../../../src/core/tables';
import { Reader } from '../../../src/core/wire/codec';
import { eventId, parentsOf, readHeader } from '../../../src/core/wire/event';
import { decodeEventPut, decodeEventPutStatus } from '../../../src/core/wire/event-put';
import { decodeFrame } from '../../../src/core/wire/frame';
import { nameOf, profile, urlOf } from '../names';
import type { Checker, Commit, Passing, Watch } from '../watch';
import { type Ledger, waits } from './ledger';

/** How entries came to leave their lanes, also while no link was open, and Has said of an event of an old slot. */
export type Ending = 'has-new' | 'has-known' | 'descendant' | 'has-old' | 'unconnected';

/** A status leaves within this time after the transaction that decided it: the deadline of the call, and a tick. */
const statusMsMax = limits.callMs + 1_000;

/** The clocks of a run differ by less. */
const skewMaxMs = 10_000;

/** What relays really said and what really builds on what: the only reasons to call a message acknowledged. */
export class Evidence implements Checker {
  readonly #said = new Map<string, boolean>();
  /** When each site came to keep an event. */
  readonly #keptAt = new Map<string, number>();
  readonly endings = new Map<Ending, number>();
  /** Own events of messages that waited, as peers gave them back. */
  returned = 0;

  constructor(
    private readonly watch: Watch,
    private readonly ledger: Ledger,
  ) {}

  committed({ site, changes }: Commit): void {
    for (const change of changes) {
      if (!('put' in change) || change.put !== 'events') continue;
      const key = `${site} ${change.row.id}`;
      if (!this.#keptAt.has(key)) this.#keptAt.set(key, this.watch.world.now);
    }
  }

  sent(frame: Passing): void {
    if (frame.kind !== 'EventPutStatus' || !this.watch.isHonest(frame.from)) return;
    const { id, result } = statusOf(frame);
    const kept = this.watch.event(frame.from, id);
    if (result.type === 'has' && kept === undefined) {
      this.watch.world.breach('evidence', `${frame.from} says that it has ${id}, and has not`);
    }
    if (kept === undefined) return;
    const isOld = kept.slot + profile.rotationMs <= this.watch.world.now - skewMaxMs;
    if (isOld && result.type === 'has' && !result.inserted) this.#count('has-old');
    const keptMs = this.watch.world.now - (this.#keptAt.get(`${frame.from} ${id}`) ?? 0);
    // A status speaks of the moment of its transaction; a sync may bring the event while it is on its way.
    if (result.type === 'nack' && result.reason === 'too-old' && keptMs > statusMsMax) {
      this.watch.world.breach('too-old', `${frame.from} calls ${id} too old, and has it`);
    }
  }

  delivered(frame: Passing): void {
    if (frame.kind === 'EventPut') return this.#put(frame);
    if (frame.kind !== 'EventPutStatus') return;
    const { id, result } = statusOf(frame);
    if (result.type === 'has') this.#said.set(`${frame.to} ${urlOf(frame.from)} ${id}`, result.inserted);
  }

  /** An own event that comes back says nothing of its message (OB-12). */
  #put(frame: Passing): void {
    if (this.watch.sites.get(frame.to)?.isRelay !== false) return;
    const { event } = decodeEventPut(decodeFrame(profile.magic, frame.bytes).payload);
    const entry = this.ledger.births.get(eventId(event.header));
    if (entry?.device === frame.to && waits(entry)) this.returned += 1;
  }

  accepted(device: string, relay: string, id: EventId): boolean {
    return this.#said.has(`${device} ${relay} ${id}`);
  }

  /** True when the row left its lane for a reason that holds. */
  ends(device: string, row: MessageRow): boolean {
    const acked = row.operation?.acked;
    const ids = new Set((row.operation?.generations ?? []).map((one) => one.id));
    if (acked === undefined || ids.size === 0) return false;
    if (!this.watch.isConnected(device)) this.#count('unconnected');
    if (acked.by !== 'network') {
      const inserted = this.#said.get(`${device} ${acked.by} ${acked.event}`);
      if (inserted === undefined || !ids.has(acked.event)) return false;
      this.#count(inserted ? 'has-new' : 'has-known');
      return true;
    }
    this.#count('descendant');
    return this.ledger.births.get(acked.event)?.device !== device && this.#buildsOn(device, acked.event, ids);
  }

  /** Required intents of what was accepted, by the rows at the end. */
  required(): { readonly of: number; readonly accepted: number } {
    const intents = this.ledger
      .all()
      .flatMap(({ row, dropped }) => (dropped ? [] : (row.operation?.intents ?? [])))
      .filter((one) => one.required);
    return { of: intents.length, accepted: intents.filter((one) => one.state === 'accepted').length };
  }

  /** Intents that say accepted while the relay has nothing of it: "by n of m" must be a fact at the relays. */
  lies(): readonly string[] {
    return this.ledger
      .all()
      .flatMap(({ device, row }) =>
        (row.operation?.intents ?? []).flatMap(({ state, relay, event }) =>
          state === 'accepted' && this.watch.event(nameOf(relay), event) === undefined
            ? [`${device} ${row.seq} counts ${relay}, which does not have it`]
            : [],
        ),
      );
  }

  #count(ending: Ending): void {
    this.endings.set(ending, (this.endings.get(ending) ?? 0) + 1);
  }

  #buildsOn(device: string, from: EventId, ids: ReadonlySet<EventId>): boolean {
    const open = [from];
    const seen = new Set<EventId>();
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (ids.has(id)) return true;
      if (seen.has(id)) continue;
      seen.add(id);
      const row = this.watch.event(device, id);
      if (row !== undefined) open.push(...parentsOf(readHeader(new Reader(row.event))));
    }
    return false;
  }
}

function statusOf(frame: Passing): ReturnType<typeof decodeEventPutStatus> {
  return decodeEventPutStatus(decodeFrame(profile.magic, frame.bytes).payload);
}
