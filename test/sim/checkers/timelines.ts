import type { EventId, LogicalId } from '../../../src/core/ids';
import type { Change } from '../../../src/core/transaction';
import { slotOf } from '../../../src/core/wire/profile';
import { conversationOf, profile } from '../names';
import type { Checker, Commit, Watch } from '../watch';
import { type Entry, type Ledger, waits } from './ledger';

/** Messages as relays and other devices got them: each once, those of one sender in the order of sending. */
export class TimelineChecker implements Checker {
  /** Where each message was seen first: nowhere but in its sender before. */
  readonly #anywhere = new Set<Entry>();
  readonly #newest = new Map<string, Entry>();
  readonly #shown = new Map<string, number>();

  constructor(
    private readonly watch: Watch,
    private readonly ledger: Ledger,
  ) {}

  committed(commit: Commit): void {
    const { isRelay } = this.watch.rowsOf(commit.site);
    for (const change of commit.changes) {
      if (!('put' in change)) continue;
      if (isRelay) this.#relayed(commit, change);
      else this.#heard(commit, change);
    }
  }

  #relayed(commit: Commit, change: Change): void {
    if (!('put' in change) || change.put !== 'events') return;
    const entry = this.ledger.births.get(change.row.id);
    if (entry === undefined) {
      this.watch.world.breach(
        'exposed-early',
        `${commit.site} has ${change.row.id}, which nobody made durable`,
      );
      return;
    }
    if (!this.#anywhere.has(entry)) {
      this.#anywhere.add(entry);
      const before = this.ledger.lane(entry.device).slice(0, entry.order);
      const ahead = before.findLast((one) => !one.dropped);
      if (ahead !== undefined && !this.#anywhere.has(ahead)) {
        this.watch.world.breach('reordered', `${commit.site} got ${nameOf(entry)} before ${nameOf(ahead)}`);
      }
    }
    this.#inOrder(`${commit.site} ${change.row.slot}`, change.row.id, entry);
  }

  #heard(commit: Commit, change: Change): void {
    if (!('put' in change) || change.put !== 'messages' || change.row.own) return;
    const { row } = change;
    const key = `${commit.site} ${row.conversation} ${row.logical}`;
    const shown = this.#shown.get(key);
    this.#shown.set(key, row.seq);
    if (shown === row.seq) return;
    if (shown !== undefined) {
      this.watch.world.breach('duplicated', `${commit.site} shows ${row.logical} at ${shown} and ${row.seq}`);
    }
    const entry = row.event === undefined ? undefined : this.ledger.births.get(row.event);
    if (entry === undefined || entry.logical !== row.logical) {
      this.watch.world.breach('duplicated', `${commit.site} shows ${row.logical}, which nobody sent`);
    } else if (entry.device === commit.site) {
      this.watch.world.breach('duplicated', `${commit.site} shows its own ${row.logical} as received`);
    } else if (row.event !== undefined && !commit.names.includes('scanChannel')) {
      // Order binds within a slot: there events stand on one another. A channel joined late is filled up as it goes.
      const slot = slotOf(profile, row.time ?? 0);
      this.#inOrder(`${commit.site} ${row.conversation} ${slot}`, row.event, entry);
    }
  }

  #inOrder(place: string, id: EventId, entry: Entry): void {
    const key = `${place} ${entry.device}`;
    const newest = this.#newest.get(key);
    if (newest !== undefined && newest.order > entry.order) {
      this.watch.world.breach(
        'reordered',
        `${place}: ${nameOf(entry)} (${id}) comes after ${nameOf(newest)}`,
      );
    }
    if (newest === undefined || newest.order < entry.order) this.#newest.set(key, entry);
  }

  /** Accepted messages that a relay or a device of their channel does not have, each with the one that lacks it. */
  missing(): readonly string[] {
    const found: string[] = [];
    const shown = this.#timelines();
    for (const entry of this.ledger.all()) {
      // What a person took back need be nowhere; a copy that was exposed may be anywhere.
      if (entry.dropped) continue;
      const name = nameOf(entry);
      if (waits(entry)) found.push(`${name} still waits`);
      for (const [site, { isRelay }] of this.watch.sites) {
        if (isRelay) {
          const ids = entry.row.operation?.generations ?? [];
          if (!ids.some((one) => this.watch.event(site, one.id) !== undefined))
            found.push(`${name} at ${site}`);
        } else if (site !== entry.device && this.#isMember(site, entry)) {
          if (shown.get(site)?.has(entry.logical) !== true) found.push(`${name} at ${site}`);
        }
      }
    }
    return found;
  }

  #timelines(): ReadonlyMap<string, ReadonlySet<LogicalId>> {
    const shown = new Map<string, Set<LogicalId>>();
    for (const [site, { isRelay }] of this.watch.sites) {
      if (!isRelay) shown.set(site, new Set(this.watch.messages(site).map((row) => row.logical)));
    }
    return shown;
  }

  #isMember(site: string, entry: Entry): boolean {
    const { tables, account } = this.watch.rowsOf(site);
    return [0, 1].some((channel) => {
      if (entry.row.conversation !== conversationOf(entry.device, channel)) return false;
      const key = [account, conversationOf(site, channel)];
      return (tables.answer([{ ask: 'get', table: 'conversations', key }])[0]?.length ?? 0) > 0;
    });
  }
}

function nameOf(entry: Entry): string {
  return `${entry.device} ${entry.row.seq}`;
}
