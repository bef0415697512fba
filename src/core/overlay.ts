import { encodeKey, encodeRange, indexKeyOf, keyOf } from './key-order';
import type { TableName } from './tables';
import type { Change, Question } from './transaction';

interface Written {
  readonly change: Change;
  readonly row: unknown;
  /** Encoded places of the row by index, filled in as they are asked for: every question of a batch looks at it. */
  readonly places: Map<string, string | undefined>;
}

/**
 * Changes that are decided but not yet written. Laid over what the database answers, it shows each script of a batch
 * the changes of those before it, and each part of a script those of the parts before it.
 */
export class Overlay {
  readonly #tables = new Map<TableName, Map<string, Written>>();

  constructor(private readonly below?: Overlay) {}

  /** Takes decided changes in; a later change of the same key replaces an earlier one. */
  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      const table = 'put' in change ? change.put : change.remove;
      const key = 'put' in change ? keyOf(table, change.row) : change.key;
      const written = this.#tables.get(table) ?? new Map<string, Written>();
      this.#tables.set(table, written);
      written.set(encodeKey(key), {
        change,
        row: 'put' in change ? change.row : undefined,
        places: new Map(),
      });
    }
  }

  /** Takes over what another overlay alone holds, as if it were decided here. */
  absorb(other: Overlay): void {
    for (const [table, written] of other.#tables) {
      const own = this.#tables.get(table);
      if (own === undefined) this.#tables.set(table, written);
      else for (const [key, one] of written) own.set(key, one);
    }
  }

  /** The net changes of this overlay alone, one a key. */
  changes(): readonly Change[] {
    return [...this.#tables.values()].flatMap((written) => [...written.values()].map((one) => one.change));
  }

  /** How many keys of a table are touched: by so many rows an answer of the database may fall short. */
  touched(table: TableName): number {
    return (this.#tables.get(table)?.size ?? 0) + (this.below?.touched(table) ?? 0);
  }

  /**
   * Merges one answer of the database. `undefined` says that the answer was cut at its limit and so many rows of it
   * are hidden by the overlay that too few are left, so that it must be asked again with a higher one.
   */
  merge(question: Question, found: readonly unknown[], limit: number): readonly unknown[] | undefined {
    const written = this.written(question.table);
    if (question.ask !== 'rows') {
      const own = written.get(encodeKey(question.key));
      if (own === undefined) return found;
      return own.row === undefined ? [] : [own.row];
    }
    if (written.size === 0) return found.slice(0, question.limit);
    const kept = found.filter((row) => !written.has(encodeKey(keyOf(question.table, row))));
    if (kept.length < question.limit && found.length >= limit) return undefined;
    return mergeRows(question, kept, written);
  }

  private written(table: TableName): ReadonlyMap<string, Written> {
    const own = this.#tables.get(table);
    const below = this.below?.written(table);
    if (own === undefined) return below ?? nothing;
    if (below === undefined || below.size === 0) return own;
    return new Map([...below, ...own]);
  }
}

const nothing: ReadonlyMap<string, Written> = new Map();

function mergeRows(
  question: Question & { readonly ask: 'rows' },
  kept: readonly unknown[],
  written: ReadonlyMap<string, Written>,
): readonly unknown[] {
  const { lower, upper } = encodeRange(question.range);
  const added = [...written].flatMap(([key, one]) => {
    const place = writtenPlace(question, key, one);
    return place !== undefined && place >= lower && place < upper ? [one] : [];
  });
  if (added.length === 0) return kept.slice(0, question.limit);
  const placed = [...kept, ...added.map((one) => one.row)].map((row) => ({
    row,
    at: sortKey(question, row),
  }));
  const sign = question.range.reverse === true ? -1 : 1;
  placed.sort((left, right) => (left.at < right.at ? -sign : left.at > right.at ? sign : 0));
  return placed.slice(0, question.limit).map((one) => one.row);
}

/** `key` is the encoded primary key. */
function writtenPlace(
  question: Question & { readonly ask: 'rows' },
  key: string,
  { places, row }: Written,
): string | undefined {
  if (row === undefined) return undefined;
  if (question.index === undefined) return key;
  if (!places.has(question.index)) places.set(question.index, placeOf(question, row));
  return places.get(question.index);
}

function placeOf(question: Question & { readonly ask: 'rows' }, row: unknown): string | undefined {
  const key =
    question.index === undefined
      ? keyOf(question.table, row)
      : indexKeyOf(question.table, question.index, row);
  return key === undefined ? undefined : encodeKey(key);
}

/** Rows of equal index key follow their primary key, as in IndexedDB. */
function sortKey(question: Question & { readonly ask: 'rows' }, row: unknown): string {
  const place = placeOf(question, row) ?? '';
  return question.index === undefined ? place : place + encodeKey(keyOf(question.table, row));
}
