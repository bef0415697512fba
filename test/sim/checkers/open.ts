import type { EventId } from '../../../src/core/ids';
import type { Intent, MessageRow } from '../../../src/core/tables';
import { eventId } from '../../../src/core/wire/event';
import { decodeEventPut, decodeEventPutStatus } from '../../../src/core/wire/event-put';
import { decodeFrame } from '../../../src/core/wire/frame';
import { nameOf, profile } from '../names';
import type { Checker, Commit, Passing, Watch } from '../watch';
import type { Ledger } from './ledger';

/**
 * What has left the lane keeps its promise to each required relay: it is claimed once for a link, its intents end only
 * in what the relay said or in `unconfirmed`, and an accepted one is claimed no more (RD-04, RD-07, RD-08).
 */
export class OpenChecker implements Checker {
  readonly #before = new Map<string, MessageRow>();
  /** Events that were put over a link while they were open. */
  readonly #puts = new WeakMap<object, Set<EventId>>();
  claims = 0;
  /** Refusals that devices heard and nothing has recorded yet, by device, relay and event. */
  readonly #refused = new Set<string>();
  refusals = 0;
  unrecorded = 0;

  constructor(
    private readonly watch: Watch,
    private readonly ledger: Ledger,
  ) {}

  delivered(frame: Passing): void {
    if (frame.kind !== 'EventPutStatus' || this.watch.rowsOf(frame.to).isRelay) return;
    const { id, result } = decodeEventPutStatus(decodeFrame(profile.magic, frame.bytes).payload);
    if (result.type !== 'nack') return;
    this.refusals += 1;
    this.#refused.add(`${frame.to} ${frame.from} ${id}`);
  }

  sent(frame: Passing): void {
    if (frame.kind !== 'EventPut' || this.watch.rowsOf(frame.from).isRelay) return;
    const id = eventId(decodeEventPut(decodeFrame(profile.magic, frame.bytes).payload).event.header);
    if (this.#refused.delete(`${frame.from} ${frame.to} ${id}`)) this.unrecorded += 1;
    if (this.ledger.births.get(id)?.row.open !== undefined) this.#again(frame, id);
  }

  #again(frame: Passing, id: EventId): void {
    const puts = this.#puts.get(frame.link) ?? new Set();
    this.#puts.set(frame.link, puts);
    if (puts.has(id)) this.watch.world.breach('claims', `${frame.from} puts ${id} twice on one link`);
    puts.add(id);
  }

  committed(commit: Commit): void {
    if (this.watch.rowsOf(commit.site).isRelay) return;
    for (const change of commit.changes) {
      if (!('put' in change) || change.put !== 'messages' || !change.row.own) continue;
      for (const { relay, event, state } of change.row.operation?.intents ?? []) {
        if (state === 'retryable') this.#refused.delete(`${commit.site} ${nameOf(relay)} ${event}`);
      }
      const key = `${commit.site} ${change.row.seq}`;
      const before = this.#before.get(key);
      this.#before.set(key, change.row);
      if (before?.lane === undefined && before !== undefined) this.#open(commit, before, change.row);
    }
  }

  #open(commit: Commit, before: MessageRow, row: MessageRow): void {
    for (const now of row.operation?.intents ?? []) {
      const old = before.operation?.intents.find((one) => one.relay === now.relay && one.event === now.event);
      if (old === undefined) continue;
      const name = `${commit.site} ${row.seq}: the intent of ${now.relay}`;
      if (now.attempt !== old.attempt) this.#claim(commit, name, old);
      if (now.state === 'cancelled' && old.state !== 'cancelled') this.#ends(commit, name, now);
    }
  }

  #claim(commit: Commit, name: string, old: Intent): void {
    this.claims += 1;
    const { world } = this.watch;
    if (!commit.names.includes('claimOpen')) world.breach('claims', `${name} was claimed by ${commit.names}`);
    if (old.state === 'accepted' || old.state === 'cancelled') {
      world.breach('claims', `${name} was claimed when it was ${old.state}`);
    }
  }

  #ends(commit: Commit, name: string, now: Intent): void {
    const kept = this.watch.event(commit.site, now.event);
    if (now.reason !== 'unconfirmed' || kept !== undefined) {
      this.watch.world.breach('open', `${name} ended as ${now.reason} while its event is kept`);
    }
  }
}
