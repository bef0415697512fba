import type { EventId, Slot } from '../../../../src/core/ids';
import { slotOf } from '../../../../src/core/wire/profile';
import { profile } from '../../names';
import type { Checker, Commit, Watch } from '../../watch';
import type { DagChecker } from './dag';

/** A site whose rows have bounds. */
export interface Bounded {
  readonly slotsRetained: number;
  /** Bytes its graph may hold now. */
  readonly bytesMax: number;
}

/** Clocks of a run are off by less, ms. */
const skewMaxMs = 60_000;

/** A slot is forgotten when it is due, neither sooner nor, while the site works, much later; and room is not exceeded. */
export class BoundsChecker implements Checker {
  readonly #slots = new Map<EventId, Slot>();
  readonly #bytes = new Map<string, number>();
  /** Events that were forgotten when they were due. */
  forgotten = 0;

  constructor(
    private readonly watch: Watch,
    private readonly dag: DagChecker,
    private readonly boundedOf: (site: string) => Bounded | undefined,
  ) {}

  committed(commit: Commit): void {
    const { site } = commit;
    for (const change of commit.changes) {
      if ('put' in change) {
        if (change.put === 'events') this.#slots.set(change.row.id, change.row.slot);
        if (change.put === 'counters') this.#counted(site, change.row.graphBytes);
      } else if (change.remove === 'events') this.#removed(commit, String(change.key[1]));
    }
  }

  /** What of a site's rows is more than its bounds allow, once everything has come right. */
  excess(site: string): readonly string[] {
    const found: string[] = [];
    const counted = this.watch.counters(site)?.graphBytes ?? 0;
    const held = this.dag.bytesOf(site);
    if (counted !== held) found.push(`${site} counts ${counted} bytes of events of ${held}`);
    if (this.dag.countOf(site) > this.dag.size) found.push(`${site} keeps more events than there are`);
    const oldest = this.#oldest(site, -skewMaxMs);
    const rows = this.watch.slots(site).map((row) => row.slot);
    for (const slot of new Set([...rows, ...this.dag.slotsOf(site)])) {
      if (slot < oldest) found.push(`${site} still keeps slot ${slot}`);
    }
    return found;
  }

  #counted(site: string, bytes: number): void {
    const before = this.#bytes.get(site) ?? 0;
    this.#bytes.set(site, bytes);
    const max = this.boundedOf(site)?.bytesMax;
    if (max !== undefined && bytes > before && bytes > max) {
      this.watch.world.breach('overfull', `${site} holds ${bytes} bytes of events and may ${max}`);
    }
  }

  #removed({ site, names }: Commit, id: EventId): void {
    const slot = this.#slots.get(id);
    if (slot === undefined || slot < this.#oldest(site, skewMaxMs)) {
      this.forgotten += 1;
      return;
    }
    this.watch.world.breach('forgotten', `${site} forgets ${id} of slot ${slot} by ${names.join('+')}`);
  }

  #oldest(site: string, offMs: number): Slot {
    const kept = this.boundedOf(site)?.slotsRetained ?? Number.POSITIVE_INFINITY;
    return slotOf(profile, this.watch.world.now + offMs) - (kept - 1) * profile.rotationMs;
  }
}
