import type { Intent, MessageRow } from '../../../src/core/tables';
import { nameOf } from '../names';
import type { Checker, Commit, Watch } from '../watch';

/**
 * What has left the lane keeps its promise to each required relay: it is claimed once for a link, its intents end only
 * in what the relay said or in `unconfirmed`, and an accepted one is claimed no more (RD-04, RD-07, RD-08).
 */
export class OpenChecker implements Checker {
  readonly #before = new Map<string, MessageRow>();
  /** Links begun by a device to a relay, over all its engines. */
  readonly #dials = new Map<string, number>();
  /** The count of links at the last claim of an intent. */
  readonly #claimedAt = new Map<string, number>();
  claims = 0;

  constructor(private readonly watch: Watch) {}

  dialled(from: string, to: string): void {
    const key = `${from} ${to}`;
    this.#dials.set(key, (this.#dials.get(key) ?? 0) + 1);
  }

  committed(commit: Commit): void {
    if (this.watch.rowsOf(commit.site).isRelay) return;
    for (const change of commit.changes) {
      if (!('put' in change) || change.put !== 'messages' || !change.row.own) continue;
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
      if (now.attempt !== old.attempt) this.#claim(commit, name, old, now);
      if (now.state === 'cancelled' && old.state !== 'cancelled') this.#ends(commit, name, now);
    }
  }

  #claim(commit: Commit, name: string, old: Intent, now: Intent): void {
    this.claims += 1;
    const { world } = this.watch;
    if (!commit.names.includes('claimOpen')) world.breach('claims', `${name} was claimed by ${commit.names}`);
    if (old.state === 'accepted' || old.state === 'cancelled') {
      world.breach('claims', `${name} was claimed when it was ${old.state}`);
    }
    const links = this.#dials.get(`${commit.site} ${nameOf(now.relay)}`) ?? 0;
    const claimed = this.#claimedAt.get(`${name} ${now.event}`);
    this.#claimedAt.set(`${name} ${now.event}`, links);
    if (claimed === links) world.breach('claims', `${name} was claimed twice on one link`);
  }

  #ends(commit: Commit, name: string, now: Intent): void {
    const kept = this.watch.event(commit.site, now.event);
    if (now.reason !== 'unconfirmed' || kept !== undefined) {
      this.watch.world.breach('open', `${name} ended as ${now.reason} while its event is kept`);
    }
  }
}
