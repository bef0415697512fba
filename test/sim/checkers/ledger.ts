import type { EventId, LogicalId } from '../../../src/core/ids';
import type { MessageRow } from '../../../src/core/tables';
import type { Checker, Commit, Promised, Watch } from '../watch';

/** One accepted message, as the rows of its device have shown it. */
export interface Entry {
  readonly device: string;
  /** Changes with an edit. */
  logical: LogicalId;
  /** Place among the messages this device accepted, from 0. */
  readonly order: number;
  row: MessageRow;
  /** How often it has left the lane by evidence. */
  left: number;
  /** A person took it out of the lane. */
  dropped: boolean;
}

/** True while an entry stands in the lane. */
export function waits(entry: Entry): boolean {
  return entry.left === 0 && !entry.dropped;
}

function isDropped(row: MessageRow): boolean {
  return row.lane === undefined && row.operation?.droppedAt !== undefined;
}

/** The obvious version of an outbox: a list of what was accepted, in the order of acceptance. */
export class Ledger implements Checker {
  readonly #lanes = new Map<string, Entry[]>();
  readonly #byLogical = new Map<string, Entry>();
  /** Every command that was ever accepted: an edit takes another one. */
  readonly #commands = new Set<string>();
  /** Events of the whole world, by what they are a generation of. */
  readonly births = new Map<EventId, Entry>();

  constructor(private readonly watch: Watch) {}

  lane(device: string): readonly Entry[] {
    return this.#lanes.get(device) ?? [];
  }

  all(): readonly Entry[] {
    return [...this.#lanes.values()].flat();
  }

  /** The entry at a place of a device: an edit changes everything of it but that. */
  entry(device: string, seq: number): Entry | undefined {
    return this.lane(device).find((entry) => entry.row.seq === seq);
  }

  /** Only what is on disk may be called kept (OB-04). */
  promised({ site, command }: Promised): void {
    if (!this.#commands.has(`${site} ${command}`)) {
      this.watch.world.breach('lost', `${site} says that ${command} is kept, which no commit holds`);
    }
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
      const entry = this.entry(commit.site, change.row.seq);
      if (entry === undefined) this.watch.world.breach('generations', `${change.row.id} is of no entry`);
      else this.births.set(change.row.id, entry);
    }
  }

  #take(device: string, row: MessageRow): void {
    this.#commands.add(`${device} ${row.logical}`);
    const twin = this.#byLogical.get(`${device} ${row.logical}`);
    if (twin !== undefined && twin.row.seq !== row.seq) {
      this.watch.world.breach(
        'duplicated',
        `${device} keeps ${row.logical} at ${twin.row.seq} and ${row.seq}`,
      );
    }
    const known = this.entry(device, row.seq);
    if (known !== undefined) return this.#change(device, known, row);
    const lane = this.#lanes.get(device) ?? [];
    this.#lanes.set(device, lane);
    const last = lane.at(-1);
    if (last !== undefined && last.row.seq >= row.seq) {
      this.watch.world.breach('reordered', `${device} accepted ${row.seq} after ${last.row.seq}`);
    }
    const dropped = isDropped(row);
    const left = row.lane === undefined && !dropped ? 1 : 0;
    const entry: Entry = { device, logical: row.logical, order: lane.length, row, left, dropped };
    lane.push(entry);
    this.#byLogical.set(`${device} ${row.logical}`, entry);
  }

  #change(device: string, known: Entry, row: MessageRow): void {
    const dropped = isDropped(row);
    if (known.row.lane !== undefined && row.lane === undefined && !dropped) known.left += 1;
    known.dropped = dropped;
    known.row = row;
    if (known.logical === row.logical) return;
    this.#byLogical.delete(`${device} ${known.logical}`);
    known.logical = row.logical;
    this.#byLogical.set(`${device} ${row.logical}`, known);
  }
}
