import Database from 'better-sqlite3';
import { weightOf } from '../../core/batch';
import { StoreError } from '../../core/errors';
import { schemaVersion } from '../../core/tables';
import { decide, type Script } from '../../core/transaction';
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
import { runSynchronously } from '../group/run-synchronously';
import { SqliteTables, upgrade } from './sqlite-tables';

/** How to open a store. */
export interface SqliteOptions {
  /** File, made when it is not there; `:memory:` for none. */
  readonly file: string;
  readonly keys?: () => Keys;
  readonly scripts?: Scripts;
}

/**
 * The store of Node programs: SQLite with a write-ahead log that is flushed before a transaction counts as done, so a
 * resolved `transact` survives the loss of the process and of power. Same scripts and group commit as every store.
 */
export class SqliteStore implements Store {
  readonly #database: Database.Database;
  readonly #tables: SqliteTables;
  readonly #queue: GroupQueue;
  readonly #scripts: Scripts;
  readonly #keys: () => Keys;
  #turn: Promise<void> | undefined;

  /**
   * Opens the file, bringing it to the present schema. Throws a `StoreError`: `storage` when it cannot, and then the
   * file is as it was; `outdated` when a later build wrote it.
   */
  constructor(options: SqliteOptions) {
    this.#scripts = options.scripts ?? registered;
    this.#keys = options.keys ?? (() => ({}));
    this.#database = open(options.file);
    this.#tables = new SqliteTables(this.#database);
    const together = this.#database.transaction((jobs: Parameters<typeof runSynchronously>[0]) =>
      runSynchronously(jobs, this.#tables),
    );
    this.#queue = new GroupQueue(async (jobs) => together.immediate(jobs));
  }

  /** How many rows are known to be damaged: they are passed over, so that one never stops the rest. */
  get damagedRows(): number {
    return this.#tables.damaged;
  }

  async transact<N extends WriteName>(name: N, args: Args<N>, term?: number): Promise<Committed<Outcome<N>>> {
    const job = this.#scripts.write(name, args, this.#keys(), term);
    await this.#nextTurn();
    const result = await this.#queue.push(job, weightOf(args), this.#scripts.isRelaxed(name));
    if (!result.ok) throw result.error;
    return { outcome: result.outcome as Outcome<N>, effects: result.effects };
  }

  async read<N extends ReadName>(name: N, args: Args<N>): Promise<Outcome<N>> {
    const job = this.#scripts.read(name, args, this.#keys());
    const [result] = this.#answer(job);
    if (result === undefined || !result.ok) throw result?.error;
    return result.outcome as Outcome<N>;
  }

  /** Writes everything into the main file and closes it. Calls under way settle first; later ones fail. */
  async close(): Promise<void> {
    await this.#nextTurn();
    await this.#queue.push({ name: 'close', start: () => nothing() }, 0, false);
    this.#database.pragma('wal_checkpoint(TRUNCATE)');
    this.#database.close();
  }

  #answer(job: Parameters<typeof runSynchronously>[0][number]): ReturnType<typeof runSynchronously> {
    try {
      return runSynchronously([job], this.#tables);
    } catch (error) {
      throw storageError(error);
    }
  }

  /**
   * All calls of one turn of the event loop wait for its end together: one flush of the disk then serves every socket
   * that had something to read.
   */
  #nextTurn(): Promise<void> {
    this.#turn ??= new Promise((done) => {
      setImmediate(() => {
        this.#turn = undefined;
        done();
      });
    });
    return this.#turn;
  }
}

// biome-ignore lint/correctness/useYield: a script that asks nothing
function* nothing(): Script<undefined> {
  return decide(undefined);
}

function open(file: string): Database.Database {
  let database: Database.Database | undefined;
  try {
    database = new Database(file);
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = FULL');
    const stored = database.pragma('user_version', { simple: true }) as number;
    if (stored > schemaVersion) throw new StoreError('outdated', `schema ${stored}`);
    upgrade(database);
    return database;
  } catch (error) {
    database?.close();
    throw storageError(error);
  }
}
