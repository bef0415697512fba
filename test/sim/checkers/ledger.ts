import type { EventId, LogicalId } from '../../../src/core/ids';
import type { MessageRow } from '../../../src/core/tables';
import type { Checker, Commit, Watch } from '../watch';

/** One accepted message, as the rows of its device have shown it. */
export interface Entry {
  readonly device: string;
  readonly logical: LogicalId;
  /** Place among the messages this device accepted, from 0. */
  readonly order: number;
  row: MessageRow;
  /** How often it has left the lane. */
  left: number;
}

/** The obvious version of an outbox: a list of what was accepted, in the order of acceptance. */
export class Ledger implements Checker {
  readonly #lanes = new Map<string, Entry[]>();
  readonly #byLogical = new Map<string, Entry>();
  /** Events of the whole world, by what they are a generation of. */
  readonly births = new Map<EventId, Entry>();

  constructor(private readonly watch: Watch) {}

  lane(device: string): readonly Entry[] {
    return this.#lanes.get(device) ?? [];
  }

  all(): readonly Entry[] {
    return [...this.#lanes.values()].flat();
  }

  entry(device: string, logical: LogicalId): Entry | undefined {
    return this.#byLogical.get(`${device} ${logical}`);
  }

  /** The first of a device that has not left yet. */
  head(device: string): Entry | undefined {
    return this.lane(device).find((entry) => entry.left === 0);
  }

  committed(commit: Commit): void {
    if (this.watch.rowsOf(commit.site).isRelay) return;
    const own: MessageRow[] = [];
    for (const change of commit.changes) {
      if ('put' in change && change.put === 'messages' && change.row.own) own.push(change.row);
    }
    own.sort((left, right) => left.seq - right.seq);
    for (const row of own) this.#take(commit.site, row);
    for (const change of commit.changes) {
      if (!('put' in change) || change.put !== 'generations') continue;
      const entry = this.lane(commit.site).find((one) => one.row.seq === change.row.seq);
      if (entry === undefined) this.watch.world.breach('generations', `${change.row.id} is of no entry`);
      else this.births.set(change.row.id, entry);
    }
  }

  #take(device: string, row: MessageRow): void {
    const known = this.entry(device, row.logical);
    if (known !== undefined) {
      if (known.row.seq !== row.seq) {
        this.watch.world.breach(
          'duplicated',
          `${device} keeps ${row.logical} at ${known.row.seq} and ${row.seq}`,
        );
      }
      if (known.row.lane !== undefined && row.lane === undefined) known.left += 1;
      known.row = row;
      return;
    }
    const lane = this.#lanes.get(device) ?? [];
    this.#lanes.set(device, lane);
    const last = lane.at(-1);
    if (last !== undefined && last.row.seq >= row.seq) {
      this.watch.world.breach('reordered', `${device} accepted ${row.seq} after ${last.row.seq}`);
    }
    const left = row.lane === undefined ? 1 : 0;
    const entry: Entry = { device, logical: row.logical, order: lane.length, row, left };
    lane.push(entry);
    this.#byLogical.set(`${device} ${row.logical}`, entry);
  }
}
