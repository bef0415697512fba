import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tables } from '../../src/core/tables';
import { type Change, type Key, type KeyPart, put, type Question, remove } from '../../src/core/transaction';
import { anyRow, type Program, type ProgramStep } from '../fixtures/scripts/contract-scripts';

/** What the fuzz needs of a store. */
interface Fuzzed {
  run(args: Program): Promise<{ readonly outcome: readonly unknown[] }>;
}

type Row = Readonly<Record<string, unknown>>;

/** The naive model: a list of rows, sorted anew for every question. */
class Model {
  rows: readonly Row[] = [];

  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      const key = 'put' in change ? keyOf(change.row as unknown as Row) : change.key;
      const others = this.rows.filter((row) => compareKeys(keyOf(row), key) !== 0);
      this.rows = 'put' in change ? [...others, change.row as unknown as Row] : others;
    }
  }

  answer(question: Question): readonly Row[] {
    if (question.ask !== 'rows')
      return this.rows.filter((row) => compareKeys(keyOf(row), question.key) === 0);
    const { prefix, from, to, reverse } = question.range;
    const path = question.index === 'lane' ? tables.messages.indexes.lane : tables.messages.key;
    const found = this.rows.flatMap((row) => {
      const key = path.map((name) => row[name] as KeyPart | undefined);
      if (key.includes(undefined)) return [];
      const parts = key as KeyPart[];
      const next = parts[prefix.length];
      const inside =
        compareKeys(parts.slice(0, prefix.length), prefix) === 0 &&
        (from === undefined || (next !== undefined && compareParts(next, from) >= 0)) &&
        (to === undefined || (next !== undefined && compareParts(next, to) <= 0));
      return inside ? [{ row, at: [...parts, ...keyOf(row)] }] : [];
    });
    found.sort((left, right) => (reverse === true ? -1 : 1) * compareKeys(left.at, right.at));
    return found.slice(0, question.limit).map((one) => one.row);
  }
}

function keyOf(row: Row): Key {
  return tables.messages.key.map((name) => row[name] as KeyPart);
}

function compareKeys(left: Key, right: Key): number {
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const order = compareParts(left[at] as KeyPart, right[at] as KeyPart);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function compareParts(left: KeyPart, right: KeyPart): number {
  const kind = kindOf(left) - kindOf(right);
  if (kind !== 0) return kind;
  if (typeof left !== 'object' || typeof right !== 'object') return left < right ? -1 : left > right ? 1 : 0;
  return compareKeys([...left], [...right]);
}

function kindOf(part: KeyPart): number {
  return typeof part === 'number' ? 0 : typeof part === 'string' ? 1 : 2;
}

const account = 'f0'.repeat(16);
/** Few values, so that keys meet; among them those whose encodings lie close together. */
const part = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 4 }) },
  fc.constantFrom(-1, 0.5, 1e20, '', 'a', 'aa', 'a\u0000', '\u00ff', '\u0100'),
  fc.constantFrom([], [0], [0, 0], [0, 255], [255], [1]).map((bytes): KeyPart => Uint8Array.from(bytes)),
);
const seq = fc.integer({ min: 0, max: 6 });
const lane = fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined });

const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(part, seq, lane, fc.nat(9)).map(([one, two, at, mark]) => putOf(one, two, at, mark)),
  },
  fc.tuple(part, seq).map(([one, two]) => remove('messages', [account, one, two])),
);

function putOf(one: KeyPart, two: number, at: number | undefined, mark: number): Change {
  return put('messages', anyRow(account, one, two, at === undefined ? { mark } : { mark, lane: at }));
}

const question: fc.Arbitrary<Question> = fc.oneof(
  fc
    .tuple(part, seq)
    .map(([one, two]): Question => ({ ask: 'get', table: 'messages', key: [account, one, two] })),
  fc
    .record({
      inner: fc.option(part, { nil: undefined }),
      from: fc.option(part, { nil: undefined }),
      to: fc.option(part, { nil: undefined }),
      reverse: fc.boolean(),
      limit: fc.constantFrom(1, 1, 2, 3, 5, 50),
      byLane: fc.boolean(),
    })
    .map(({ inner, from, to, reverse, limit, byLane }): Question => {
      const prefix = inner === undefined || byLane ? [account] : [account, inner];
      const range = {
        prefix,
        reverse,
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
      };
      const asked: Question = { ask: 'rows', table: 'messages', range, limit };
      return byLane ? { ...asked, index: 'lane' } : asked;
    }),
);

const step: fc.Arbitrary<ProgramStep> = fc.oneof(
  { weight: 3, arbitrary: fc.array(question, { minLength: 1, maxLength: 3 }).map((ask) => ({ ask })) },
  fc.array(change, { maxLength: 4 }).map((changes) => ({ part: changes })),
  { weight: 1, arbitrary: fc.constant({ fail: 'drawn' }) },
);

const script: fc.Arbitrary<Program> = fc.record({
  steps: fc.array(step, { maxLength: 4 }),
  changes: fc.array(change, { maxLength: 4 }),
});

/** Runs a script on the model: what it answers, or the throw that undoes it. */
function expected(model: Model, args: Program): unknown {
  const before = model.rows;
  const seen: unknown[] = [];
  for (const one of args.steps ?? []) {
    if ('fail' in one) {
      model.rows = before;
      return 'thrown';
    }
    if ('ask' in one) seen.push(one.ask.map((asked) => model.answer(asked)));
    else model.apply(one.part);
  }
  model.apply(args.changes ?? []);
  return seen;
}

/** Rows that are there before: more than most questions ask for, so that answers are cut. */
const kept = fc.array(
  fc.tuple(fc.integer({ min: 0, max: 4 }), seq, lane).map(([one, two, at]) => putOf(one, two, at, 0)),
  { minLength: 5, maxLength: 40 },
);

/** Batches of drawn scripts against the naive model: every answer of every script, batch after batch. */
export function overlayFuzz(name: string, open: () => Promise<Fuzzed>, runs = 60): void {
  test(`batches of drawn scripts over ${name} answer as a sorted list would`, async () => {
    const batches = fc.array(fc.array(script, { minLength: 1, maxLength: 6 }), {
      minLength: 1,
      maxLength: 4,
    });
    let checked = 0;
    await fc.assert(
      fc.asyncProperty(kept, batches, async (before, drawn) => {
        const model = new Model();
        const store = await open();
        model.apply(before);
        await store.run({ changes: before });
        for (const batch of drawn) {
          const calls = batch.map((args) => store.run(args).then((done) => done.outcome));
          const found = await Promise.allSettled(calls);
          const wanted = batch.map((args) => expected(model, args));
          const answers = found.map((one) => {
            if (one.status === 'fulfilled') return one.value;
            return (one.reason as Error).message === 'drawn' ? 'thrown' : one.reason;
          });
          expect(answers).toEqual(wanted);
          checked += batch.length;
        }
      }),
      { numRuns: runs },
    );
    expect(checked).toBeGreaterThan(runs);
  });
}
