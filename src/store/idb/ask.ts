import { encodeKey } from '../../core/key-order';
import { limits } from '../../core/limits';
import type { KeyPart, Question, Range } from '../../core/transaction';
import type { Open } from './database';

/**
 * Rows for one question, from an open transaction. It never throws at once: the answers to the questions asked beside
 * it would be left without a listener.
 */
export async function ask(transaction: Open, question: Question): Promise<readonly unknown[]> {
  const store = transaction.objectStore(question.table as never) as unknown as IDBObjectStore;
  if (question.ask === 'has') return has(transaction.db, store, question);
  if (question.ask === 'get') return one(store.get(question.key as unknown as IDBValidKey));
  const source = question.index === undefined ? store : store.index(question.index);
  const range = rangeOf(question.range);
  if (range === undefined) return [];
  // One row in one answer, where more come through a channel of their own.
  if (question.limit === 1 && question.range.reverse !== true) return one(source.get(range));
  if (question.range.reverse !== true) return settled<unknown[]>(source.getAll(range, question.limit));
  return newestFirst(source, range, question.limit);
}

/** Rows of standing tables that a connection was seen to have. */
const standing = new WeakMap<object, Set<string>>();

/** Asks the database only until it says yes, for such a row stays as long as the connection does. */
async function has(
  connection: object,
  store: IDBObjectStore,
  { table, key }: Question & { readonly ask: 'has' },
): Promise<readonly unknown[]> {
  const seen = standing.get(connection) ?? new Set();
  standing.set(connection, seen);
  const name = table + encodeKey(key);
  if (seen.has(name)) return [key];
  const found = await one(store.getKey(key as unknown as IDBValidKey));
  if (found.length > 0 && seen.size < limits.standingKeysMax) seen.add(name);
  return found;
}

function one(request: unknown): Promise<readonly unknown[]> {
  return settled<unknown>(request).then((row) => (row === undefined ? [] : [row]));
}

/** `idb` hands out promises in place of requests; this types them so. */
function settled<T>(request: unknown): Promise<T> {
  return request as Promise<T>;
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
  }): Promise<{ readonly value: unknown }[]>;
}

/** Where the browser reads records backwards in one request, that; otherwise a cursor, row by row. */
async function newestFirst(
  source: IDBObjectStore | IDBIndex,
  range: IDBKeyRange,
  limit: number,
): Promise<unknown[]> {
  if ('getAllRecords' in source) {
    const records = await (source as unknown as RecordsSource).getAllRecords({
      query: range,
      count: limit,
      direction: 'prev',
    });
    return records.map((record) => record.value);
  }
  const found: unknown[] = [];
  let cursor = await settled<IterableCursor | null>(source.openCursor(range, 'prev'));
  while (cursor !== null && found.length < limit) {
    found.push(cursor.value);
    cursor = await cursor.continue();
  }
  return found;
}

interface IterableCursor {
  readonly value: unknown;
  continue(): Promise<IterableCursor | null>;
}
