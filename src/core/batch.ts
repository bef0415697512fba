import { assert } from './assert';
import type { Effect } from './effects';
import { limits } from './limits';
import { Overlay } from './overlay';
import type { Answers, Change, Decision, Early, KeyPart, Question, Script, Step } from './transaction';

/** One waiting script: its name for traces, and how to start it (again) from the beginning. */
export interface Job {
  readonly name: string;
  readonly start: () => Script<unknown>;
}

/** What became of one script of a batch. A throw contributed nothing. */
export type JobResult =
  | {
      readonly ok: true;
      readonly outcome: unknown;
      readonly effects: readonly Effect[];
    }
  | { readonly ok: false; readonly error: unknown };

/** Results in the order of the jobs, and the net changes to write in one transaction. */
export interface BatchResult {
  readonly results: readonly JobResult[];
  readonly changes: readonly Change[];
}

/** Questions for the database, and what there is to do while the answers are on their way. */
export interface Asked {
  readonly questions: readonly Question[];
  readonly early: readonly Early<unknown>[];
}

/** A batch: yields questions for the database, takes its rows, and ends with what to write. */
export type Batch = Generator<Asked, BatchResult, Answers>;

/**
 * Runs waiting scripts in order as one transaction (group commit, formats.md 2.4 and 2.5). The first questions of all
 * are asked at once, since they depend on nothing but arguments; each script sees the changes of those before it; a
 * throw contributes nothing and fails its caller alone. The database must answer every question from one unchanging
 * state, so answers are remembered for the whole batch.
 */
export function* runBatch(jobs: readonly Job[]): Batch {
  const memory = new Memory();
  const shared = new Overlay();
  const begun = jobs.map(begin);
  const first = begun.flatMap((one) =>
    one.step?.done === false && one.step.value.step === 'ask' ? [one.step.value] : [],
  );
  yield* memory.fetch(
    first.flatMap(({ questions }) => questions),
    first.flatMap(({ early }) => early ?? []),
  );
  const results: JobResult[] = [];
  for (const one of begun) {
    results.push(
      one.error !== undefined ? { ok: false, error: one.error.cause } : yield* finish(one, shared, memory),
    );
  }
  return { results, changes: shared.changes() };
}

interface Begun {
  readonly script?: Script<unknown>;
  readonly step?: IteratorResult<Step, Decision<unknown>>;
  readonly error?: { readonly cause: unknown };
}

function begin(job: Job): Begun {
  try {
    const script = job.start();
    return { script, step: script.next([]) };
  } catch (cause) {
    return { error: { cause } };
  }
}

function* finish(one: Begun, shared: Overlay, memory: Memory): Generator<Asked, JobResult, Answers> {
  const own = new Overlay(shared);
  const effects: Effect[] = [];
  let rowsSeen = 0;
  try {
    let step = one.step;
    assert(one.script !== undefined && step !== undefined, 'a script that began has a step');
    while (!step.done) {
      let answers: Answers = [];
      if (step.value.step === 'ask') {
        answers = yield* memory.answer(step.value.questions, own);
        rowsSeen += answers.reduce((sum, rows) => sum + rows.length, 0);
        assert(rowsSeen <= limits.scriptRowsMax, 'a script reads a bounded number of rows');
      } else {
        own.apply(step.value.changes);
        effects.push(...step.value.effects);
      }
      step = one.script.next(answers);
    }
    own.apply(step.value.changes);
    effects.push(...step.value.effects);
    shared.absorb(own);
    return { ok: true, outcome: step.value.outcome, effects };
  } catch (error) {
    return { ok: false, error };
  }
}

/** What the database has answered in this transaction. */
class Memory {
  readonly #answers = new Map<string, { readonly rows: readonly unknown[]; readonly limit: number }>();

  *fetch(
    questions: readonly Question[],
    early: readonly Early<unknown>[] = [],
  ): Generator<Asked, void, Answers> {
    const open = new Map<string, Question>();
    for (const question of questions) {
      const name = nameOf(question);
      if (!this.#knows(name, limitOf(question))) widen(open, name, question);
    }
    if (open.size === 0) return;
    const asked = [...open];
    const found = yield { questions: asked.map(([, question]) => question), early };
    asked.forEach(([name, question], at) => {
      this.#answers.set(name, {
        rows: found[at] ?? [],
        limit: limitOf(question),
      });
    });
  }

  *answer(questions: readonly Question[], overlay: Overlay): Generator<Asked, Answers, Answers> {
    yield* this.fetch(questions);
    const merged = questions.map((question) => this.#merge(question, overlay));
    const short = questions.filter((_, at) => merged[at] === undefined);
    if (short.length === 0) return merged as Answers;
    yield* this.fetch(short.map((question) => wider(question, overlay)));
    return questions.map((question, at) => merged[at] ?? this.#merge(question, overlay) ?? shortAgain());
  }

  #merge(question: Question, overlay: Overlay): readonly unknown[] | undefined {
    const known = this.#answers.get(nameOf(question));
    assert(known !== undefined, 'a question was asked before it is merged');
    return overlay.merge(question, known.rows, known.limit);
  }

  #knows(name: string, limit: number): boolean {
    const known = this.#answers.get(name);
    return known !== undefined && (known.limit >= limit || known.rows.length < known.limit);
  }
}

function shortAgain(): never {
  throw new TypeError('an answer fell short although it was asked with room for every touched row');
}

function widen(open: Map<string, Question>, name: string, question: Question): void {
  const waiting = open.get(name);
  if (waiting === undefined || limitOf(waiting) < limitOf(question)) open.set(name, question);
}

function wider(question: Question, overlay: Overlay): Question {
  return question.ask === 'rows'
    ? { ...question, limit: question.limit + overlay.touched(question.table) + 1 }
    : question;
}

function limitOf(question: Question): number {
  return question.ask === 'rows' ? question.limit : 1;
}

const names = new WeakMap<Question, string>();

/** What tells a question from others that are answered otherwise. It is asked for at every look at the same one. */
function nameOf(question: Question): string {
  const known = names.get(question) ?? newNameOf(question);
  names.set(question, known);
  return known;
}

function newNameOf(question: Question): string {
  const { table } = question;
  if (question.ask !== 'rows') return JSON.stringify([table, question.ask, question.key.map(plainPart)]);
  const { prefix, from, to, reverse } = question.range;
  const ends = [from, to].map((part) => (part === undefined ? [] : plainPart(part)));
  return JSON.stringify([table, question.index, reverse === true, prefix.map(plainPart), ends]);
}

/** JSON has no infinite numbers and would take them for one. */
function plainPart(part: KeyPart): unknown {
  return typeof part === 'number' && !Number.isFinite(part) ? { number: String(part) } : part;
}

/** A rough count of the bytes a value brings into a batch, to keep batches within their bound. */
export function weightOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value === 'string') return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + weightOf(one), 0);
  if (typeof value === 'object' && value !== null) {
    return Object.values(value).reduce((sum: number, one) => sum + weightOf(one), 0);
  }
  return 8;
}
