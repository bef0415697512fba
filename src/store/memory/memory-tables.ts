import { encodeKey, encodeRange, indexKeyOf, keyOf } from '../../core/key-order';
import { type TableName, type TableSpec, tables } from '../../core/tables';
import type { Answers, Change, Question } from '../../core/transaction';

/** Rows kept in the order of an encoded key. */
class SortedRows {
  readonly #keys: string[] = [];
  readonly #rows = new Map<string, unknown>();

  get(key: string): unknown {
    return this.#rows.get(key);
  }

  set(key: string, row: unknown): void {
    if (!this.#rows.has(key)) this.#keys.splice(this.#place(key), 0, key);
    this.#rows.set(key, row);
  }

  delete(key: string): void {
    if (this.#rows.delete(key)) this.#keys.splice(this.#place(key), 1);
  }

  slice(lower: string, upper: string, limit: number, reverse: boolean): readonly unknown[] {
    const from = this.#place(lower);
    const to = this.#place(upper);
    const keys = reverse
      ? this.#keys.slice(Math.max(from, to - limit), to).reverse()
      : this.#keys.slice(from, Math.min(to, from + limit));
    return keys.map((key) => this.#rows.get(key));
  }

  #place(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

interface Table {
  readonly primary: SortedRows;
  readonly indexes: ReadonlyMap<string, SortedRows>;
}

/** All tables in memory, with the order and the indexes every store has. Answers and writes at once. */
export class MemoryTables {
  readonly #tables = new Map<TableName, Table>();

  /** Rows for each question, from the present state. */
  answer(questions: readonly Question[]): Answers {
    return questions.map((question) => {
      const table = this.#table(question.table);
      if (question.ask !== 'rows') {
        const row = table.primary.get(encodeKey(question.key));
        return row === undefined ? [] : [row];
      }
      const sorted = question.index === undefined ? table.primary : table.indexes.get(question.index);
      if (sorted === undefined) throw new TypeError(`no index ${question.index} on ${question.table}`);
      const { lower, upper } = encodeRange(question.range);
      return sorted.slice(lower, upper, question.limit, question.range.reverse === true);
    });
  }

  /** Writes changes, all of them or, when one cannot be written, none: what can fail comes before what is changed. */
  write(changes: readonly Change[]): void {
    for (const place of changes.map((change) => this.#placed(change))) place();
  }

  #placed(change: Change): () => void {
    if (!('put' in change)) {
      const primary = encodeKey(change.key);
      return () => this.#remove(change.remove, primary);
    }
    const { put: name, row } = change;
    const primary = encodeKey(keyOf(name, row));
    const places = [...this.#table(name).indexes].map(([index, sorted]) => {
      const key = indexKeyOf(name, index, row);
      return { sorted, key: key === undefined ? undefined : encodeKey(key) + primary };
    });
    return () => {
      this.#remove(name, primary);
      this.#table(name).primary.set(primary, row);
      for (const { sorted, key } of places) if (key !== undefined) sorted.set(key, row);
    };
  }

  #remove(name: TableName, primary: string): void {
    const table = this.#table(name);
    this.#unindex(name, table, primary);
    table.primary.delete(primary);
  }

  #unindex(name: TableName, table: Table, primary: string): void {
    const old = table.primary.get(primary);
    if (old === undefined) return;
    for (const [index, sorted] of table.indexes) {
      const key = indexKeyOf(name, index, old);
      if (key !== undefined) sorted.delete(encodeKey(key) + primary);
    }
  }

  #table(name: TableName): Table {
    let table = this.#tables.get(name);
    if (table === undefined) {
      const spec: TableSpec = tables[name];
      const indexes = new Map(Object.keys(spec.indexes).map((index) => [index, new SortedRows()]));
      table = { primary: new SortedRows(), indexes };
      this.#tables.set(name, table);
    }
    return table;
  }
}
