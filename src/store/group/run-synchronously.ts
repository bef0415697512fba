import { type Job, type JobResult, runBatch } from '../../core/batch';
import type { Answers, Change, Question } from '../../core/transaction';

/** A database that answers and writes at once: memory, SQLite. */
export interface SynchronousTables {
  answer(questions: readonly Question[]): Answers;
  write(changes: readonly Change[]): void;
}

/** Runs a batch to its end and writes what it decided. The caller holds the transaction around it. */
export function runSynchronously(jobs: readonly Job[], database: SynchronousTables): readonly JobResult[] {
  const batch = runBatch(jobs);
  let step = batch.next([]);
  while (!step.done) step = batch.next(database.answer(step.value.questions));
  if (step.value.changes.length > 0) database.write(step.value.changes);
  return step.value.results;
}
