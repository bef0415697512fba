import type { AccountId, Bytes, EventId, LogicalId, Slot } from '../../src/core/ids';
import type { CountersRow, EventRow, MessageRow, RelayRow, SlotRow } from '../../src/core/tables';
import type { Change } from '../../src/core/transaction';
import type { MemoryTables } from '../../src/store/memory/memory-tables';
import type { Life, World } from './world';

/** Committed rows of one site, read from outside. */
export interface Rows {
  readonly tables: MemoryTables;
  readonly account: AccountId;
  readonly isRelay: boolean;
}

/** A transaction that has just become durable. */
export interface Commit {
  readonly site: string;
  readonly names: readonly string[];
  readonly changes: readonly Change[];
}

/** A call that an engine or a page makes, at the moment it decides. */
export interface Called {
  readonly site: string;
  readonly life: Life;
  readonly name: string;
  readonly args: unknown;
}

/** A frame that leaves or arrives. */
export interface Passing {
  readonly from: string;
  readonly to: string;
  readonly kind: string;
  readonly bytes: Bytes;
  readonly link: object;
}

/** A person was told that a message is kept. */
export interface Promised {
  readonly site: string;
  readonly command: LogicalId;
}

/** Stands outside the code, watches every step, and knows the property, not the code. */
export interface Checker {
  /** A realm begins to open a link. */
  dialled?(life: Life, to: string, link: object): void;
  called?(call: Called): void;
  promised?(promise: Promised): void;
  committed?(commit: Commit): void;
  sent?(frame: Passing): void;
  delivered?(frame: Passing): void;
}

const rowsMax = 10_000;

/** Tells all checkers what happens, and lets them read what is durable. */
export class Watch {
  readonly #checkers: Checker[] = [];
  readonly sites = new Map<string, Rows>();

  /** True while a site has an open link. */
  isConnected: (site: string) => boolean = () => false;

  /** False for a site whose part it is to break the rules. */
  isHonest: (site: string) => boolean = () => true;

  constructor(readonly world: World) {}

  add(...checkers: readonly Checker[]): void {
    this.#checkers.push(...checkers);
  }

  dialled(life: Life, to: string, link: object): void {
    for (const one of this.#checkers) one.dialled?.(life, to, link);
  }

  called(site: string, life: Life, name: string, args: unknown): void {
    for (const one of this.#checkers) one.called?.({ site, life, name, args });
  }

  promised(site: string, command: LogicalId): void {
    for (const one of this.#checkers) one.promised?.({ site, command });
  }

  committed(site: string, names: readonly string[], changes: readonly Change[]): void {
    for (const one of this.#checkers) one.committed?.({ site, names, changes });
  }

  sent(from: string, to: string, kind: string, bytes: Bytes, link: object): void {
    for (const one of this.#checkers) one.sent?.({ from, to, kind, bytes, link });
  }

  delivered(from: string, to: string, kind: string, bytes: Bytes, link: object): void {
    for (const one of this.#checkers) one.delivered?.({ from, to, kind, bytes, link });
  }

  rowsOf(site: string): Rows {
    const rows = this.sites.get(site);
    if (rows === undefined) throw new TypeError(`no site ${site}`);
    return rows;
  }

  event(site: string, id: EventId): EventRow | undefined {
    const { tables, account } = this.rowsOf(site);
    const [found] = tables.answer([{ ask: 'get', table: 'events', key: [account, id] }]);
    return found?.[0] as EventRow | undefined;
  }

  counters(site: string): CountersRow | undefined {
    const { tables, account } = this.rowsOf(site);
    const [found] = tables.answer([{ ask: 'get', table: 'counters', key: [account] }]);
    return found?.[0] as CountersRow | undefined;
  }

  relays(site: string): readonly RelayRow[] {
    return this.#all(site, 'relays') as readonly RelayRow[];
  }

  events(site: string): readonly EventRow[] {
    return this.#all(site, 'events') as readonly EventRow[];
  }

  slots(site: string): readonly SlotRow[] {
    return this.#all(site, 'slots') as readonly SlotRow[];
  }

  slot(site: string, slot: Slot): SlotRow | undefined {
    const { tables, account } = this.rowsOf(site);
    const [found] = tables.answer([{ ask: 'get', table: 'slots', key: [account, slot] }]);
    return found?.[0] as SlotRow | undefined;
  }

  messages(site: string): readonly MessageRow[] {
    return this.#all(site, 'messages') as readonly MessageRow[];
  }

  #all(site: string, table: 'relays' | 'events' | 'messages' | 'slots'): readonly unknown[] {
    const { tables, account } = this.rowsOf(site);
    const range = { prefix: [account] };
    return tables.answer([{ ask: 'rows', table, range, limit: rowsMax }])[0] ?? [];
  }
}
