import type { Job, JobResult } from '../../core/batch';
import { StoreError } from '../../core/errors';
import { limits } from '../../core/limits';

/** Runs jobs as one database transaction; rejects when that transaction aborted, and then nothing was written. */
export type RunTogether = (
  jobs: readonly Job[],
  durability: 'strict' | 'relaxed',
) => Promise<readonly JobResult[]>;

interface Waiting {
  readonly job: Job;
  readonly weight: number;
  readonly relaxed: boolean;
  readonly settle: (result: JobResult) => void;
}

/** Batches a name may have spoiled before its scripts run alone. */
const abortsAllowed = 2;

/**
 * Group commit: whatever waits runs together in one transaction, at most 64 scripts and 512 kB. When that transaction
 * aborts, each script runs alone in order, so that one bad one never fails the rest (formats.md 2.5).
 */
export class GroupQueue {
  readonly #waiting: Waiting[] = [];
  readonly #aborts = new Map<string, number>();
  #running = false;

  constructor(private readonly run: RunTogether) {}

  /** Resolves when the job's transaction has completed or failed; never rejects. */
  push(job: Job, weight: number, relaxed: boolean): Promise<JobResult> {
    return new Promise((settle) => {
      this.#waiting.push({ job, weight, relaxed, settle });
      if (this.#running) return;
      this.#running = true;
      void Promise.resolve().then(() => this.#drain());
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) await this.#runBatch(this.#take());
    this.#running = false;
  }

  #take(): readonly Waiting[] {
    const taken: Waiting[] = [];
    let weight = 0;
    for (const next of this.#waiting) {
      const alone = this.#runsAlone(next.job.name);
      const full =
        taken.length === limits.batchScriptsMax || weight + next.weight > limits.batchChangeBytesMax;
      if (taken.length > 0 && (alone || full)) break;
      taken.push(next);
      weight += next.weight;
      if (alone) break;
    }
    this.#waiting.splice(0, taken.length);
    return taken;
  }

  #runsAlone(name: string): boolean {
    return (this.#aborts.get(name) ?? 0) >= abortsAllowed;
  }

  async #runBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const durability = batch.every((one) => one.relaxed) ? 'relaxed' : 'strict';
      const jobs = batch.map((one) => one.job);
      const results = await this.run(jobs, durability);
      batch.forEach((one, at) => {
        one.settle(results[at] ?? { ok: false, error: new StoreError('internal') });
      });
    } catch (error) {
      await this.#afterAbort(batch, error);
    }
  }

  async #afterAbort(batch: readonly Waiting[], error: unknown): Promise<void> {
    const [only, ...others] = batch;
    if (only !== undefined && others.length === 0) {
      this.#aborts.set(only.job.name, (this.#aborts.get(only.job.name) ?? 0) + 1);
      only.settle({ ok: false, error: storageError(error) });
      return;
    }
    for (const one of batch) await this.#runBatch([one]);
  }
}

/** A `StoreError` as it is; anything else the database threw as one of kind `storage`. */
export function storageError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new StoreError('storage', reason);
}
