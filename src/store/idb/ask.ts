import { encodeKey } from '../../core/key-order';
import { limits } from '../../core/limits';
import type { TableName } from '../../core/tables';
import type { Key, KeyPart, Question, Range } from '../../core/transaction';

/**
 * Rows for one question, from an open transaction. It never throws at once: the answers to the questions asked beside
 * it would be left without a listener. Plain requests: the wrapper's promises are felt where every message asks.
 */
export async function ask(transaction: IDBTransaction, question: Question): Promise<readonly unknown[]> {
  const store = transaction.objectStore(question.table);
  if (question.ask === 'has') return has(transaction.db, store, question);
  if (question.ask === 'get') return one(store.get(validKey(question.key))).catch(unreadable(question.table));
  const source = question.index === undefined ? store : store.index(question.index);
  const range = rangeOf(question.range);
  if (range === undefined) return [];
  const direction = question.range.reverse === true ? 'prev' : 'next';
  return several(source, range, question.limit, direction).catch((error: unknown) => {
    unreadable(question.table)(error);
    return oneByOne(store, source.openKeyCursor(range, direction), question.limit);
  });
}

function several(
  source: IDBObjectStore | IDBIndex,
  range: IDBKeyRange,
  limit: number,
  direction: 'prev' | 'next',
): Promise<readonly unknown[]> {
  if (direction === 'prev') return newestFirst(source, range, limit);
  // One row in one answer, where more come through a channel of their own.
  return limit === 1 ? one(source.get(range)) : settled(source.getAll(range, limit));
}

/**
 * Large rows lie in files beside the database, and one that is lost fails whatever reads it. An event that cannot be
 * read is as good as none, since peers give it again; any other row has to be told of.
 */
function unreadable(table: TableName): (error: unknown) => readonly unknown[] {
  return (error) => {
    if (table === 'events' && isUnreadable(error)) return [];
    throw error;
  };
}

function isUnreadable(error: unknown): boolean {
  return error instanceof DOMException && unreadableNames.has(error.name);
}

const unreadableNames: ReadonlySet<string> = new Set(['DataError', 'NotReadableError']);

/** Around rows that cannot be read. */
async function oneByOne(
  store: IDBObjectStore,
  keys: IDBRequest<IDBCursor | null>,
  limit: number,
): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (let cursor = await settled(keys); cursor !== null && found.length < limit; ) {
    found.push(...(await one(store.get(cursor.primaryKey)).catch(unreadable('events'))));
    cursor.continue();
    cursor = await settled(keys);
  }
  return found;
}

/** Rows of standing tables that a connection was seen to have. */
const standing = new WeakMap<IDBDatabase, Set<string>>();

/** Asks the database only until it says yes, for such a row stays as long as the connection does. */
async function has(
  connection: IDBDatabase,
  store: IDBObjectStore,
  { table, key }: Question & { readonly ask: 'has' },
): Promise<readonly unknown[]> {
  const seen = standing.get(connection) ?? new Set();
  standing.set(connection, seen);
  const name = table + encodeKey(key);
  if (seen.has(name)) return [key];
  const found = await one(store.getKey(validKey(key)));
  if (found.length > 0 && seen.size < limits.standingKeysMax) seen.add(name);
  return found;
}

/** A key of the scripts, which the browser takes as it is. */
function validKey(key: Key): IDBValidKey {
  return key as readonly unknown[] as IDBValidKey;
}

async function one(request: IDBRequest): Promise<readonly unknown[]> {
  const row: unknown = await settled(request);
  return row === undefined ? [] : [row];
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = (event) => {
      // Whether that ends the transaction is for whoever asked to say.
      if (isUnreadable(request.error)) {
        event.preventDefault();
        event.stopPropagation();
      }
      reject(request.error);
    };
  });
}

/**
 * An array sorts after everything else, so `[…prefix, []]` bounds all keys that begin with the prefix. `undefined` when
 * the range ends before it begins, which the browser calls an error and other stores an empty answer.
 */
function rangeOf(range: Range): IDBKeyRange | undefined {
  const end = (part: KeyPart | undefined): IDBValidKey =>
    (part === undefined ? [...range.prefix, []] : [...range.prefix, part, []]) as IDBValidKey;
  const lower = range.from === undefined ? [...range.prefix] : [...range.prefix, range.from];
  const upper = end(range.to);
  if (indexedDB.cmp(lower, upper) > 0) return undefined;
  return IDBKeyRange.bound(lower as IDBValidKey, upper, false, true);
}

interface RecordsSource {
  getAllRecords(options: {
    query: IDBKeyRange;
    count: number;
    direction: 'prev';
  }): IDBRequest<{ readonly value: unknown }[]>;
}

/** Where the browser reads records backwards in one request, that; otherwise a cursor, row by row. */
async function newestFirst(
  source: IDBObjectStore | IDBIndex,
  range: IDBKeyRange,
  limit: number,
): Promise<unknown[]> {
  if ('getAllRecords' in source) {
    const newest = source as unknown as RecordsSource;
    const records = await settled(newest.getAllRecords({ query: range, count: limit, direction: 'prev' }));
    return records.map((record) => record.value);
  }
  const found: unknown[] = [];
  const request = source.openCursor(range, 'prev');
  for (let cursor = await settled(request); cursor !== null && found.length < limit; ) {
    found.push(cursor.value);
    cursor.continue();
    cursor = await settled(request);
  }
  return found;
}
