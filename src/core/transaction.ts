import type { Effect } from './effects';
import type { Bytes } from './ids';
import type { Rows, StandingTable, TableName } from './tables';

/** One part of a key. Numbers sort before texts, texts before bytes, as in IndexedDB. */
export type KeyPart = number | string | Bytes;
/** A primary key or an index key. */
export type Key = readonly KeyPart[];

/** The keys that start with `prefix`, optionally only those whose next part lies in [`from`, `to`]. */
export interface Range {
  readonly prefix: Key;
  readonly from?: KeyPart;
  readonly to?: KeyPart;
  /** Greatest key first. */
  readonly reverse?: boolean;
}

/** What a script may ask of the store. */
export type Question =
  | { readonly ask: 'get'; readonly table: TableName; readonly key: Key }
  /** Whether there is a row: any one answer, or none. */
  | { readonly ask: 'has'; readonly table: StandingTable; readonly key: Key }
  | {
      readonly ask: 'rows';
      readonly table: TableName;
      readonly index?: string;
      readonly range: Range;
      readonly limit: number;
    };

/** One durable change: a row put whole, or a key removed. */
export type Change =
  | {
      readonly [T in TableName]: { readonly put: T; readonly row: Rows[T] };
    }[TableName]
  | { readonly remove: Exclude<TableName, StandingTable>; readonly key: Key };

/** What a script decided. Nothing of it exists before the store has committed it. */
export interface Decision<O> {
  readonly outcome: O;
  readonly changes: readonly Change[];
  readonly effects: readonly Effect[];
}

/** A step of a script: questions to answer together, or the result of a part to take into the overlay. */
export type Step =
  | {
      readonly step: 'ask';
      readonly questions: readonly Question[];
      /** What the script computes without the answers, for a store that has to wait for them. */
      readonly early?: Early<unknown>;
    }
  | {
      readonly step: 'apply';
      readonly changes: readonly Change[];
      readonly effects: readonly Effect[];
    };

/** A value that a script computes from its arguments alone: while it waits for answers, or when it is first asked for. */
export class Early<T> {
  #made: { readonly value: T } | undefined;

  constructor(private readonly make: () => T) {}

  get value(): T {
    this.#made ??= { value: this.make() };
    return this.#made.value;
  }
}

/** Rows found, one list a question; a `get` gives none or one. */
export type Answers = readonly (readonly unknown[])[];

/** A piece of a script that asks questions and returns a value. Compose with `yield*`. */
export type Ask<T> = Generator<Step, T, Answers>;

/**
 * A transaction script: pure and synchronous, so it can await nothing, and can be run again from the start with the
 * same arguments. It writes nothing before it returns. A refusal is an outcome; a throw is a programmer's error, or a
 * `StoreError`, which contributes nothing and rejects its caller alone.
 */
export type Script<O> = Ask<Decision<O>>;

/** Ends a script. */
export function decide<O>(
  outcome: O,
  changes: readonly Change[] = [],
  effects: readonly Effect[] = [],
): Decision<O> {
  return { outcome, changes, effects };
}

/** The change that stores `row` whole. */
export function put<T extends TableName>(table: T, row: Rows[T]): Change {
  return { put: table, row } as Change;
}

/** The change that removes the row of `key`, if there is one. */
export function remove(table: Exclude<TableName, StandingTable>, key: Key): Change {
  return { remove: table, key };
}

/** Asks for the row of a primary key. */
export function* get<T extends TableName>(table: T, key: Key): Ask<Rows[T] | undefined> {
  const [found] = yield {
    step: 'ask',
    questions: [{ ask: 'get', table, key }],
  };
  return found?.[0] as Rows[T] | undefined;
}

/** Asks whether there is a row of a primary key, where the row itself is of no matter. */
export function* has(table: StandingTable, key: Key): Ask<boolean> {
  const [found] = yield { step: 'ask', questions: [{ ask: 'has', table, key }] };
  return (found?.length ?? 0) > 0;
}

/** Asks for at most `limit` rows of a range, in key order. */
export function* rows<T extends TableName>(
  table: T,
  range: Range,
  limit: number,
  index?: IndexName<T>,
): Ask<readonly Rows[T][]> {
  const question: Question =
    index === undefined
      ? { ask: 'rows', table, range, limit }
      : { ask: 'rows', table, range, limit, index: index as string };
  const [found] = yield { step: 'ask', questions: [question] };
  return (found ?? []) as readonly Rows[T][];
}

/** Asks for the first row of a range. */
export function* first<T extends TableName>(
  table: T,
  range: Range,
  index?: IndexName<T>,
): Ask<Rows[T] | undefined> {
  const [row] = yield* rows(table, range, 1, index);
  return row;
}

/**
 * Runs independent pieces side by side: their questions are asked together, round by round; `early` is computed while
 * the first answers are on their way, where the store has to wait for them.
 */
export function* all<const P extends readonly Ask<unknown>[]>(
  pieces: P,
  early?: Early<unknown>,
): Ask<{ readonly [I in keyof P]: P[I] extends Ask<infer T> ? T : never }> {
  const running = pieces.map((piece) => ({ piece, next: piece.next() }));
  for (;;) {
    const open = running.filter((one) => !one.next.done);
    if (open.length === 0) break;
    const questions = open.map((one) => questionsOf(one.next.value as Step));
    const answers = yield { step: 'ask', questions: questions.flat(), ...(early && { early }) };
    let at = 0;
    open.forEach((one, nth) => {
      const count = questions[nth]?.length ?? 0;
      one.next = one.piece.next(answers.slice(at, at + count));
      at += count;
    });
  }
  return running.map((one) => one.next.value) as {
    [I in keyof P]: P[I] extends Ask<infer T> ? T : never;
  };
}

function questionsOf(step: Step): readonly Question[] {
  if (step.step === 'apply')
    throw new TypeError('a part cannot run inside all([…]): its changes have an order');
  return step.questions;
}

/**
 * Runs a script as a part of another: its changes and effects join the outer script's own, and what the outer one
 * asks afterwards sees them.
 */
export function* part<O>(script: Script<O>): Ask<O> {
  const { outcome, changes, effects } = yield* script;
  if (changes.length > 0 || effects.length > 0) yield { step: 'apply', changes, effects };
  return outcome;
}

type IndexName<T extends TableName> = keyof typeof import('./tables').tables[T]['indexes'];
