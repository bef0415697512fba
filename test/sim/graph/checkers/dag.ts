import { type Bytes, type EventId, type Slot, sameBytes } from '../../../../src/core/ids';
import type { EventRow } from '../../../../src/core/tables';
import { contentHash, decodeEvent, eventId, nullId } from '../../../../src/core/wire/event';
import { genesisOf, slotOf } from '../../../../src/core/wire/profile';
import { profile } from '../../names';
import type { Checker, Commit, Watch } from '../../watch';

/** An event as it is, whoever keeps it. */
interface Known {
  readonly bytes: Bytes;
  readonly blob: Bytes;
  readonly time: number;
  readonly layer: number;
  readonly parents: readonly EventId[];
}

/** A slot as one site keeps it. */
interface Kept {
  readonly events: Map<EventId, EventRow>;
  /** Equal for equal sets of ids, and hardly for others. */
  digest: number;
}

/** An event may lie this far outside its slot, ms (event-graph.md 2.6). */
const driftMs = 60_000;
const digestDigits = 8;

/**
 * The obvious version of a graph: a map of ids to events for each slot of each site. Says of every event that becomes
 * durable anywhere whether it may stand there, and in the end whether all have the same.
 */
export class DagChecker implements Checker {
  readonly #known = new Map<EventId, Known>();
  readonly #sites = new Map<string, Map<Slot, Kept>>();

  constructor(private readonly watch: Watch) {}

  /** Different events of all sites together. */
  get size(): number {
    return this.#known.size;
  }

  committed(commit: Commit): void {
    for (const change of commit.changes) {
      if ('put' in change) {
        if (change.put === 'events') this.#put(commit, change.row);
      } else if (change.remove === 'events') this.#remove(commit.site, String(change.key[1]));
    }
  }

  /** True when these sites keep the same ids in every slot from one on. */
  agree(sites: readonly string[], from: Slot): boolean {
    const [first, ...others] = sites.map((site) => this.#digests(site, from));
    return others.every((one) => one === first);
  }

  /** Where sites differ in a slot from one on, and what of their own rows does not fit together. */
  differences(sites: readonly string[], from: Slot): readonly string[] {
    const slots = new Set(sites.flatMap((site) => [...(this.#sites.get(site)?.keys() ?? [])]));
    const found: string[] = [];
    for (const slot of slots) {
      if (slot < from) continue;
      const all = new Set(sites.flatMap((site) => [...this.#idsOf(site, slot).keys()]));
      for (const site of sites) {
        for (const id of all)
          if (!this.#idsOf(site, slot).has(id)) found.push(`${site} lacks ${id} of ${slot}`);
        const tips = this.#tipsOf(site, slot);
        const told = this.watch.slot(site, slot)?.tips.map((tip) => tip.id);
        if (told === undefined ? this.#idsOf(site, slot).size > 0 : !sameSet(told, tips)) {
          found.push(`${site} names other tips of ${slot} than it has`);
        }
      }
    }
    return found;
  }

  /** Bytes of all events a site keeps, counted by hand. */
  bytesOf(site: string): number {
    let bytes = 0;
    for (const { events } of this.#sites.get(site)?.values() ?? []) {
      for (const row of events.values()) bytes += row.event.length + row.blob.length;
    }
    return bytes;
  }

  /** Slots a site keeps events of. */
  slotsOf(site: string): readonly Slot[] {
    return [...(this.#sites.get(site) ?? [])].flatMap(([slot, kept]) => (kept.events.size > 0 ? [slot] : []));
  }

  /** How many events a site keeps. */
  countOf(site: string): number {
    return [...(this.#sites.get(site)?.values() ?? [])].reduce((sum, kept) => sum + kept.events.size, 0);
  }

  #put({ site, names }: Commit, row: EventRow): void {
    const known = this.#known.get(row.id) ?? this.#know(site, row);
    if (known === undefined) return;
    const breach = (what: string): void =>
      this.watch.world.breach('graph', `${site} takes ${row.id} by ${names.join('+')}: ${what}`);
    if (!sameBytes(known.bytes, row.event) || !sameBytes(known.blob, row.blob)) breach('other bytes');
    const kept = this.#kept(site, row.slot);
    const genesis = genesisOf(profile, row.slot).id;
    const layers = known.parents.map((id) => (id === genesis ? 0 : kept.events.get(id)?.layer));
    if (layers.length === 0) breach('no parent');
    if (new Set(known.parents).size !== known.parents.length) breach('a parent twice');
    if (layers.includes(undefined)) breach('a parent is missing');
    else if (known.layer !== Math.max(...layers.map(Number)) + 1)
      breach('another layer than its parents give');
    if (known.time < row.slot - driftMs || known.time >= row.slot + profile.rotationMs + driftMs) {
      breach('its time is of another slot');
    }
    if (slotOf(profile, row.slot) !== row.slot) breach('no slot');
    if (kept.events.has(row.id)) breach('it was there');
    kept.digest ^= digestOf(row.id);
    kept.events.set(row.id, row);
  }

  #know(site: string, row: EventRow): Known | undefined {
    const { header, content } = decodeEvent(row.event);
    const right =
      eventId(header) === row.id &&
      content.length > 0 &&
      sameBytes(contentHash(content), header.contentHash) &&
      Number(header.layer) === row.layer;
    if (!right) {
      this.watch.world.breach('graph', `${site} takes ${row.id}, whose content or id is another`);
      return undefined;
    }
    const parents = header.parents.filter((id) => id !== nullId);
    const { event: bytes, blob } = row;
    const known = { bytes, blob, time: Number(header.timestamp), layer: row.layer, parents };
    this.#known.set(row.id, known);
    return known;
  }

  #remove(site: string, id: EventId): void {
    for (const kept of this.#sites.get(site)?.values() ?? []) {
      if (kept.events.delete(id)) kept.digest ^= digestOf(id);
    }
  }

  #kept(site: string, slot: Slot): Kept {
    const slots = this.#sites.get(site) ?? new Map<Slot, Kept>();
    this.#sites.set(site, slots);
    const kept = slots.get(slot) ?? { events: new Map(), digest: 0 };
    slots.set(slot, kept);
    return kept;
  }

  #idsOf(site: string, slot: Slot): ReadonlyMap<EventId, EventRow> {
    return this.#sites.get(site)?.get(slot)?.events ?? none;
  }

  #tipsOf(site: string, slot: Slot): readonly EventId[] {
    const ids = this.#idsOf(site, slot);
    const used = new Set([...ids.keys()].flatMap((id) => this.#known.get(id)?.parents ?? []));
    return [...ids.keys()].filter((id) => !used.has(id));
  }

  #digests(site: string, from: Slot): string {
    const slots = [...(this.#sites.get(site) ?? [])].filter(
      ([slot, kept]) => slot >= from && kept.events.size > 0,
    );
    return slots
      .map(([slot, kept]) => `${slot} ${kept.events.size} ${kept.digest}`)
      .toSorted()
      .join('\n');
  }
}

const none: ReadonlyMap<EventId, EventRow> = new Map();

function digestOf(id: EventId): number {
  return Number.parseInt(id.slice(0, digestDigits), 16) | 0;
}

function sameSet(left: readonly string[], right: readonly string[]): boolean {
  const known = new Set(left);
  return known.size === right.length && left.length === right.length && right.every((one) => known.has(one));
}
