import { unwrap } from 'idb';
import { type Batch, type Job, type JobResult, runBatch, weightOf } from '../../core/batch';
import { type TableName, tables } from '../../core/tables';
import type { Answers, Change } from '../../core/transaction';
import type { Keys } from '../../core/transactions/keys';
import {
  type Args,
  type Outcome,
  type ReadName,
  registered,
  type Scripts,
  type WriteName,
} from '../../core/transactions/registry';
import type { Committed, Store } from '../../engine/ports';
import { GroupQueue, storageError } from '../group/group-queue';
import { ask } from './ask';
import { openDataKey } from './data-key';
import { type Database, type Open, openDatabase } from './database';

const names = Object.keys(tables) as TableName[];

/** Settings of a store. */
export interface IdbStoreOptions {
  /** Database name; one an app, another a test. */
  readonly name: string;
  /** Unpredictable bytes, for the data key made at the first opening. */
  readonly randomBytes: (length: number) => Uint8Array<ArrayBuffer>;
  /** Bytes the outbox may hold on this device. */
  readonly outboxBytesMax?: () => number;
  /** Told when another realm upgrades or deletes the database and ours had to close. */
  readonly onClosed?: () => void;
}

/**
 * The durable store over IndexedDB, for the service worker alone. Scripts that wait run together in one transaction
 * with `durability: 'strict'`; success means that this transaction completed. Nothing but requests of the
 * transaction is awaited while it is open. A dead connection is dropped, opened again and the work tried once more.
 */
export class IdbStore implements Store {
  readonly #queue: GroupQueue;
  #database: Promise<Database> | undefined;
  #keys: Promise<Keys> | undefined;

  constructor(
    private readonly options: IdbStoreOptions,
    private readonly scripts: Scripts = registered,
  ) {
    this.#queue = new GroupQueue((jobs, durability) => this.#run(jobs, durability));
  }

  async transact<N extends WriteName>(name: N, args: Args<N>, term?: number): Promise<Committed<Outcome<N>>> {
    const job = this.scripts.write(name, args, await this.#openKeys(), term);
    const result = await this.#queue.push(job, weightOf(args), this.scripts.isRelaxed(name));
    if (!result.ok) throw result.error;
    return { outcome: result.outcome as Outcome<N>, effects: result.effects };
  }

  async read<N extends ReadName>(name: N, args: Args<N>): Promise<Outcome<N>> {
    const job = this.scripts.read(name, args, await this.#openKeys());
    const [result] = await this.#withDatabase((database) => {
      const transaction = database.transaction(names as never[], 'readonly');
      return drive(runBatch([job]), transaction);
    }).catch((error: unknown) => {
      throw storageError(error);
    });
    if (result === undefined || !result.ok) throw result?.error;
    return result.outcome as Outcome<N>;
  }

  /** Opens the database if it is not open yet; so that `activate` can do it before the first call. */
  async open(): Promise<void> {
    await this.#openKeys();
  }

  /** Closes the connection; the next call opens it again. */
  async close(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    if (database !== undefined) (await database).close();
  }

  #run(jobs: readonly Job[], durability: 'strict' | 'relaxed'): Promise<readonly JobResult[]> {
    return this.#withDatabase((database) => {
      const transaction = database.transaction(names as never[], 'readwrite', { durability });
      return drive(runBatch(jobs), transaction);
    });
  }

  async #withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const database = await this.#open();
    try {
      return await work(database);
    } catch (error) {
      if (!isDeadConnection(error)) throw error;
      this.#database = undefined;
      return work(await this.#open());
    }
  }

  #open(): Promise<Database> {
    this.#database ??= openDatabase(this.options.name, () => {
      this.#database = undefined;
      this.options.onClosed?.();
    }).catch((error: unknown) => {
      this.#database = undefined;
      throw storageError(error);
    });
    return this.#database;
  }

  #openKeys(): Promise<Keys> {
    this.#keys ??= this.#open()
      .then((database) => openDataKey(database, this.options.randomBytes))
      .then((data) => this.#keysOf(data))
      .catch((error: unknown) => {
        this.#keys = undefined;
        throw storageError(error);
      });
    return this.#keys;
  }

  #keysOf(data: NonNullable<Keys['data']>): Keys {
    const outboxBytesMax = this.options.outboxBytesMax?.();
    return outboxBytesMax === undefined ? { data } : { data, outboxBytesMax };
  }
}

/** The connection itself is gone (closed by the browser or an upgrade); the work never began or was aborted whole. */
function isDeadConnection(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'InvalidStateError';
}

async function drive(batch: Batch, transaction: Open): Promise<readonly JobResult[]> {
  // Watched from the start: an abort while a question is open must not become an unhandled rejection.
  const done = transaction.done.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const plain = unwrap(transaction);
  try {
    let step = batch.next([]);
    while (!step.done) {
      const { questions, early } = step.value;
      const asked = Promise.all(questions.map((question) => ask(plain, question)));
      for (const one of early) void one.value;
      const answers: Answers = await asked;
      step = batch.next(answers);
    }
    if (plain.mode === 'readwrite') write(plain, step.value.changes);
    const failed = await done;
    if (failed !== undefined) throw failed.error;
    return step.value.results;
  } catch (error) {
    abort(transaction);
    throw error;
  }
}

/**
 * Failures surface as the abort of the transaction, which `drive` awaits; so the requests themselves need no promise,
 * and in a batch of many that is felt.
 */
function write(transaction: IDBTransaction, changes: readonly Change[]): void {
  for (const change of changes) {
    const store = transaction.objectStore('put' in change ? change.put : change.remove);
    if ('put' in change) store.put(change.row);
    else store.delete(change.key as unknown as IDBValidKey);
  }
  transaction.commit();
}

function abort(transaction: Open): void {
  try {
    transaction.abort();
  } catch {
    // It had ended already: there is nothing left to undo.
  }
}
