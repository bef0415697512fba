import { deserialize, serialize } from 'node:v8';
import type { Database, Statement } from 'better-sqlite3';
import { present } from '../../core/assert';
import { encodeKey, encodeRange, indexKeyOf, keyOf } from '../../core/key-order';
import { schemaVersion, type TableName, type TableSpec, tables } from '../../core/tables';
import type { Answers, Change, Question } from '../../core/transaction';

interface Ranges {
  readonly up: Statement<[Buffer, Buffer, number], { readonly row: Buffer }>;
  readonly down: Statement<[Buffer, Buffer, number], { readonly row: Buffer }>;
}

interface Table {
  readonly indexes: readonly string[];
  readonly get: Statement<[Buffer], { readonly row: Buffer }>;
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
 * indexes without a look at the row it replaces.
 */
export class SqliteTables {
  readonly #tables = new Map<TableName, Table>();

  constructor(database: Database) {
    for (const name of Object.keys(tables) as TableName[]) this.#tables.set(name, prepare(database, name));
  }

  /** Rows for each question, from the present state. */
  answer(questions: readonly Question[]): Answers {
    return questions.map((question) => {
      const table = this.#table(question.table);
      if (question.ask !== 'rows') {
        const found = table.get.get(blob(encodeKey(question.key)));
        return found === undefined ? [] : [rowOf(found)];
      }
      const { lower, upper } = encodeRange(question.range);
      const ranges = present(table.ranges.get(question.index), 'a question names an index of its table');
      const statement = question.range.reverse === true ? ranges.down : ranges.up;
      return statement.all(blob(lower), blob(upper), question.limit).map(rowOf);
    });
  }

  /** Writes changes, all of them. The caller holds the transaction. */
  write(changes: readonly Change[]): void {
    for (const change of changes) {
      if ('put' in change) this.#put(change.put, change.row);
      else this.#table(change.remove).remove.run(blob(encodeKey(change.key)));
    }
  }

  #put(name: TableName, row: unknown): void {
    const table = this.#table(name);
    const indexKeys = table.indexes.map((index) => {
      const key = indexKeyOf(name, index, row);
      return key === undefined ? null : blob(encodeKey(key));
    });
    table.put.run(blob(encodeKey(keyOf(name, row))), serialize(row), ...indexKeys);
  }

  #table(name: TableName): Table {
    return present(this.#tables.get(name), 'every table is prepared');
  }
}

function blob(key: string): Buffer {
  return Buffer.from(key, 'latin1');
}

function rowOf(found: { readonly row: Buffer }): unknown {
  return owned(deserialize(found.row));
}

/**
 * Byte arrays come back from `deserialize` as views into the buffer it read. What scripts hand on must own its bytes,
 * or it would keep that buffer alive and could not be passed to another realm.
 */
function owned(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(owned);
  if (typeof value !== 'object' || value === null) return value;
  const row = value as Record<string, unknown>;
  for (const name of Object.keys(row)) {
    if (typeof row[name] === 'object') row[name] = owned(row[name]);
  }
  return row;
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
  const rows: Statement<[], { readonly key: Buffer; readonly row: Buffer }> = database.prepare(
    `SELECT key, row FROM "${name}"`,
  );
  const set = database.prepare(`UPDATE "${name}" SET "by_${index}" = ? WHERE key = ?`);
  for (const { key, row } of rows.all()) {
    const indexKey = indexKeyOf(name, index, rowOf({ row }));
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
        `SELECT row FROM "${name}" WHERE ${column} >= ? AND ${column} < ? ORDER BY ${order(way)} LIMIT ?`,
      );
    return { up: select('ASC'), down: select('DESC') };
  };
  return {
    indexes,
    get: database.prepare(`SELECT row FROM "${name}" WHERE key = ?`),
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
