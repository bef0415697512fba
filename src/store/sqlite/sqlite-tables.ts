import type { Database, Statement } from 'better-sqlite3';
import { present } from '../../core/assert';
import { encodeKey, encodeRange, indexKeyOf, keyOf } from '../../core/key-order';
import { schemaVersion, type TableName, type TableSpec, tables } from '../../core/tables';
import type { Answers, Change, Question } from '../../core/transaction';
import { readRow, rowBytes } from './row-bytes';

interface Found {
  readonly key: Buffer;
  readonly row: Buffer;
}

interface Ranges {
  readonly up: Statement<[Buffer, Buffer, number], Found>;
  readonly down: Statement<[Buffer, Buffer, number], Found>;
}

interface Table {
  readonly indexes: readonly string[];
  readonly get: Statement<[Buffer], Found>;
  readonly put: Statement<(Buffer | null)[]>;
  readonly remove: Statement<[Buffer]>;
  readonly ranges: ReadonlyMap<string | undefined, Ranges>;
}

/**
 * Brings a file to the present schema in one transaction: what is missing is added, or nothing is. Rows are converted
 * when they are read.
 */
export function upgrade(database: Database): void {
  const step = database.transaction(() => {
    for (const name of Object.keys(tables) as TableName[]) create(database, name);
    database.pragma(`user_version = ${schemaVersion}`);
  });
  step.immediate();
}

/**
 * The tables of the house in SQLite, of a file that has them: one table each, whose key and index keys are order-preserving bytes, so that
 * plain comparison is the order IndexedDB keeps. An index key stands in a column of its row, so a put keeps its
 * indexes without a look at the row it replaces. A damaged row is none: it is passed over and counted until it is put
 * again or removed. It stays where it is, for a later build of Node may yet read what this one cannot.
 */
export class SqliteTables {
  readonly #tables = new Map<TableName, Table>();
  /** Tables and keys of rows that were found damaged. */
  readonly #damaged = new Set<string>();

  constructor(database: Database) {
    for (const name of Object.keys(tables) as TableName[]) this.#tables.set(name, prepare(database, name));
  }

  /** How many rows are known to be damaged. */
  get damaged(): number {
    return this.#damaged.size;
  }

  /** Rows for each question, from the present state. */
  answer(questions: readonly Question[]): Answers {
    return questions.map((question) => {
      const table = this.#table(question.table);
      if (question.ask !== 'rows') {
        const found = table.get.get(blob(encodeKey(question.key)));
        return found === undefined ? [] : this.#whole(question.table, [found]);
      }
      const { lower, upper } = encodeRange(question.range);
      const ranges = present(table.ranges.get(question.index), 'a question names an index of its table');
      const statement = question.range.reverse === true ? ranges.down : ranges.up;
      return this.#range(question.table, question.limit, (limit) =>
        statement.all(blob(lower), blob(upper), limit),
      );
    });
  }

  /** As many whole rows as were asked for, if there are so many. */
  #range(table: TableName, limit: number, find: (limit: number) => readonly Found[]): readonly unknown[] {
    for (let asked = limit; ; ) {
      const found = find(asked);
      const whole = this.#whole(table, found);
      if (whole.length >= limit || found.length < asked) return whole.slice(0, limit);
      asked += 2 * (found.length - whole.length);
    }
  }

  #whole(table: TableName, found: readonly Found[]): readonly unknown[] {
    return found.flatMap(({ key, row }) => {
      const read = readRow(row);
      if (read === undefined) this.#damaged.add(nameOf(table, key));
      return read === undefined ? [] : [read];
    });
  }

  /** Writes changes, all of them. The caller holds the transaction. */
  write(changes: readonly Change[]): void {
    for (const change of changes) {
      if ('put' in change) this.#put(change.put, change.row);
      else this.#remove(change.remove, blob(encodeKey(change.key)));
    }
  }

  #put(name: TableName, row: unknown): void {
    const table = this.#table(name);
    const indexKeys = table.indexes.map((index) => {
      const key = indexKeyOf(name, index, row);
      return key === undefined ? null : blob(encodeKey(key));
    });
    const key = blob(encodeKey(keyOf(name, row)));
    table.put.run(key, rowBytes(row), ...indexKeys);
    this.#mended(name, key);
  }

  #remove(name: TableName, key: Buffer): void {
    this.#table(name).remove.run(key);
    this.#mended(name, key);
  }

  #mended(name: TableName, key: Buffer): void {
    if (this.#damaged.size > 0) this.#damaged.delete(nameOf(name, key));
  }

  #table(name: TableName): Table {
    return present(this.#tables.get(name), 'every table is prepared');
  }
}

function blob(key: string): Buffer {
  return Buffer.from(key, 'latin1');
}

function nameOf(table: TableName, key: Buffer): string {
  return `${table} ${key.toString('latin1')}`;
}

function indexesOf(name: TableName): readonly string[] {
  const spec: TableSpec = tables[name];
  return Object.keys(spec.indexes);
}

/** Additive: an index that a later schema brings becomes a column of its own, filled from the rows that are there. */
function create(database: Database, name: TableName): void {
  database.exec(`CREATE TABLE IF NOT EXISTS "${name}" (key BLOB PRIMARY KEY NOT NULL, row BLOB NOT NULL)`);
  const columns = database.pragma(`table_info("${name}")`) as readonly { readonly name: string }[];
  for (const index of indexesOf(name)) {
    const column = `by_${index}`;
    if (!columns.some((one) => one.name === column)) {
      database.exec(`ALTER TABLE "${name}" ADD COLUMN "${column}" BLOB`);
      fill(database, name, index);
    }
    database.exec(`CREATE INDEX IF NOT EXISTS "${name}_${index}" ON "${name}" ("${column}", key)`);
  }
}

function fill(database: Database, name: TableName, index: string): void {
  const rows: Statement<[], Found> = database.prepare(`SELECT key, row FROM "${name}"`);
  const set = database.prepare(`UPDATE "${name}" SET "by_${index}" = ? WHERE key = ?`);
  for (const { key, row } of rows.all()) {
    const read = readRow(row);
    const indexKey = read === undefined ? undefined : indexKeyOf(name, index, read);
    if (indexKey !== undefined) set.run(blob(encodeKey(indexKey)), key);
  }
}

function prepare(database: Database, name: TableName): Table {
  const indexes = indexesOf(name);
  const columns = ['key', 'row', ...indexes.map((index) => `"by_${index}"`)];
  const updates = columns.slice(1).map((column) => `${column} = excluded.${column}`);
  const ranges = (column: string, order: (way: string) => string): Ranges => {
    const select = (way: string): Ranges['up'] =>
      database.prepare(
        `SELECT key, row FROM "${name}" WHERE ${column} >= ? AND ${column} < ? ORDER BY ${order(way)} LIMIT ?`,
      );
    return { up: select('ASC'), down: select('DESC') };
  };
  return {
    indexes,
    get: database.prepare(`SELECT key, row FROM "${name}" WHERE key = ?`),
    put: database.prepare(
      `INSERT INTO "${name}" (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
       ON CONFLICT (key) DO UPDATE SET ${updates.join(', ')}`,
    ),
    remove: database.prepare(`DELETE FROM "${name}" WHERE key = ?`),
    ranges: new Map([
      [undefined, ranges('key', (way) => `key ${way}`)],
      ...indexes.map((index): [string, Ranges] => {
        const column = `"by_${index}"`;
        return [index, ranges(column, (way) => `${column} ${way}, key ${way}`)];
      }),
    ]),
  };
}
