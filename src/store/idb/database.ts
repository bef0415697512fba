import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from 'idb';
import type { Bytes } from '../../core/ids';
import { schemaVersion, type TableName, type TableSpec, tables } from '../../core/tables';

/** Name of the object store that holds keys; it is not one of the scripts' tables. */
export const keyStore = 'keys';

/** The data key, wrapped by a key that the browser keeps and does not hand out. */
export interface KeyRow {
  readonly name: 'data';
  readonly id: number;
  readonly wrapping: CryptoKey;
  readonly iv: Bytes;
  readonly wrapped: ArrayBuffer;
}

/** Object stores as `idb` sees them; rows are checked by the scripts' own types. */
export interface Schema extends DBSchema {
  [keyStore]: { key: string; value: KeyRow };
}

/** An open database of ours. */
export type Database = IDBPDatabase<Schema>;
/** A transaction over every table. */
export type Open = IDBPTransaction<Schema, never[], IDBTransactionMode>;

const names = Object.keys(tables) as TableName[];

/** Opens the database, making its tables when it is new. `onClosed` is told when it had to close for others. */
export async function openDatabase(name: string, onClosed: () => void): Promise<Database> {
  const database: Database = await openDB<Schema>(name, schemaVersion, {
    upgrade: (upgrading) => createTables(upgrading),
    blocking: () => {
      database.close();
      onClosed();
    },
    terminated: onClosed,
  });
  return database;
}

function createTables(upgrading: Database): void {
  for (const name of names) {
    const spec: TableSpec = tables[name];
    const store = upgrading.createObjectStore(name as never, { keyPath: [...spec.key] as never });
    for (const [index, path] of Object.entries(spec.indexes)) {
      (store as unknown as IDBObjectStore).createIndex(index, [...path]);
    }
    if (name === 'meta') {
      quietly(
        (store as unknown as IDBObjectStore).put({ name: 'schema', schema: schemaVersion, minReader: 1 }),
      );
    }
  }
  upgrading.createObjectStore(keyStore, { keyPath: 'name' });
}

/** Leaves a failed request to the abort of its transaction, which is where failures are told. */
function quietly(request: unknown): void {
  if (request instanceof Promise) request.catch(() => undefined);
}
