import { type Job, type JobResult, weightOf } from '../../core/batch';
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
import { MemoryTables } from './memory-tables';

/**
 * A store that lives as long as its realm: for a browser that refuses a database (then nothing may be called kept),
 * and for tests. Same scripts, same group commit, no durability.
 */
export class MemoryStore implements Store {
  readonly #tables: MemoryTables;
  readonly #queue: GroupQueue;

  constructor(
    private readonly keys: () => Keys,
    tables: MemoryTables = new MemoryTables(),
    private readonly scripts: Scripts = registered,
  ) {
    this.#tables = tables;
    this.#queue = new GroupQueue(async (jobs) => runSynchronously(jobs, tables));
  }

  async transact<N extends WriteName>(name: N, args: Args<N>, term?: number): Promise<Committed<Outcome<N>>> {
    const job = this.scripts.write(name, args, this.keys(), term);
    const result = await this.#queue.push(job, weightOf(args), this.scripts.isRelaxed(name));
    if (!result.ok) throw result.error;
    return { outcome: result.outcome as Outcome<N>, effects: result.effects };
  }

  async read<N extends ReadName>(name: N, args: Args<N>): Promise<Outcome<N>> {
    const result = this.#answer(this.scripts.read(name, args, this.keys()));
    if (result === undefined || !result.ok) throw result?.error;
    return result.outcome as Outcome<N>;
  }

  #answer(job: Job): JobResult | undefined {
    try {
      return runSynchronously([job], this.#tables)[0];
    } catch (error) {
      throw storageError(error);
    }
  }
}
