import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, unwrap } from 'idb';
import type { Bytes } from '../../core/ids';
import { minReader, schemaVersion, type TableName, type TableSpec, tables } from '../../core/tables';

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

/** A database on its way to a later schema: plain, since nothing may be awaited in between. */
interface Upgrading {
  readonly database: IDBDatabase;
  readonly transaction: IDBTransaction;
}

/** What leads to one version from the one before it. It only adds; rows are converted when they are read. */
interface SchemaStep {
  readonly to: number;
  run(upgrading: Upgrading): void;
}

/** The steps to every version so far, oldest first. Each may be the first one a database of an older build sees. */
export const schemaSteps: readonly SchemaStep[] = [
  { to: 1, run: createMissing },
  { to: 2, run: createMissing },
];

const names = Object.keys(tables) as TableName[];

/**
 * Opens the database, bringing it to the present schema in one transaction: a step that fails aborts the whole
 * upgrade, and the old data stays as it was. `onClosed` is told when it had to close for others.
 */
export async function openDatabase(
  name: string,
  onClosed: () => void,
  steps: readonly SchemaStep[] = schemaSteps,
): Promise<Database> {
  let failure: { readonly cause: unknown } | undefined;
  try {
    const database: Database = await openDB<Schema>(name, schemaVersion, {
      upgrade(wrapped, from, _to, transaction) {
        failure = upgrade(plain(wrapped, transaction), from, steps);
        // The failure is told by the opening; the transaction's own word of it would have no listener.
        transaction.done.catch(() => undefined);
      },
      blocking: () => {
        database.close();
        onClosed();
      },
      terminated: onClosed,
    });
    return database;
  } catch (error) {
    throw failure === undefined ? error : failure.cause;
  }
}

function plain(database: unknown, transaction: unknown): Upgrading {
  return {
    database: unwrap(database as Database) as unknown as IDBDatabase,
    transaction: unwrap(transaction as Open) as unknown as IDBTransaction,
  };
}

/** Runs the steps that are due. What one throws is handed back, so that it is no error of an event listener's. */
function upgrade(
  upgrading: Upgrading,
  from: number,
  steps: readonly SchemaStep[],
): { readonly cause: unknown } | undefined {
  try {
    for (const step of steps) if (step.to > from) step.run(upgrading);
    upgrading.transaction.objectStore('meta').put({ name: 'schema', schema: schemaVersion, minReader });
    return undefined;
  } catch (cause) {
    upgrading.transaction.abort();
    return { cause };
  }
}

/** Tables and indexes that are not there yet. The browser fills a new index from the rows that are. */
function createMissing({ database, transaction }: Upgrading): void {
  for (const name of names) {
    const spec: TableSpec = tables[name];
    const store = database.objectStoreNames.contains(name)
      ? transaction.objectStore(name)
      : database.createObjectStore(name, { keyPath: [...spec.key] });
    for (const [index, path] of Object.entries(spec.indexes)) {
      if (!store.indexNames.contains(index)) store.createIndex(index, [...path]);
    }
  }
  if (!database.objectStoreNames.contains(keyStore))
    database.createObjectStore(keyStore, { keyPath: 'name' });
}
