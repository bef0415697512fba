import { describe, expect, test } from 'vitest';
import { type Job, runBatch, weightOf } from '../../../src/core/batch';
import {
  type Answers,
  type Ask,
  all,
  decide,
  get,
  part,
  put,
  type Question,
  rows,
  type Script,
} from '../../../src/core/transaction';
import { anyRow } from '../../fixtures/scripts/contract-scripts';

const range = { prefix: ['a'] };

function job(script: () => Script<unknown>): Job {
  return { name: 'drawn', start: script };
}

function message(seq: number) {
  return anyRow('a', 'c', seq);
}

/** Runs a batch over fixed rows; what it asked, round by round, and what became of it. */
function drive(jobs: readonly Job[], kept: readonly unknown[] = []) {
  const asked: (readonly Question[])[] = [];
  const batch = runBatch(jobs);
  let step = batch.next([]);
  while (!step.done) {
    asked.push(step.value.questions);
    const answers: Answers = step.value.questions.map((question) =>
      question.ask !== 'rows' ? [] : kept.slice(0, question.limit),
    );
    step = batch.next(answers);
  }
  return { asked, ...step.value };
}

describe('a batch', () => {
  test('asks the first questions of all its scripts at once, each only once, with the widest limit', () => {
    function* ask(limit: number): Script<number> {
      return decide((yield* rows('messages', range, limit)).length);
    }
    function* other(): Script<unknown> {
      return decide(yield* get('meta', ['engine']));
    }
    const { asked, results } = drive(
      [job(() => ask(2)), job(() => ask(3)), job(other), job(() => ask(1))],
      [message(1), message(2), message(3), message(4)],
    );
    expect(asked).toEqual([
      [
        { ask: 'rows', table: 'messages', range, limit: 3 },
        { ask: 'get', table: 'meta', key: ['engine'] },
      ],
    ]);
    expect(results.map((one) => one.ok && one.outcome)).toEqual([2, 3, undefined, 1]);
  });

  test('asks nothing a second time that it knows, and writes each key once', () => {
    function* count(): Script<number> {
      const row = yield* get('relays', ['a', 'u']);
      yield* get('relays', ['a', 'u']);
      const addedAt = (row?.addedAt ?? 0) + 1;
      return decide(addedAt, [put('relays', { account: 'a', url: 'u', addedAt })]);
    }
    const { asked, changes, results } = drive([job(count), job(count), job(count)]);
    expect(asked).toHaveLength(1);
    expect(results.map((one) => one.ok && one.outcome)).toEqual([1, 2, 3]);
    expect(changes).toEqual([put('relays', { account: 'a', url: 'u', addedAt: 3 })]);
  });

  test('knows that a short answer was the whole of it, and asks no more for a longer one', () => {
    function* ask(limit: number): Script<number> {
      yield* get('meta', ['engine']);
      return decide((yield* rows('messages', range, limit)).length);
    }
    const { asked } = drive([job(() => ask(5)), job(() => ask(50))], [message(1)]);
    expect(asked.map((round) => round.length)).toEqual([1, 1]);
  });
});

describe('pieces side by side', () => {
  test('are asked together, round by round, and answer in their places', () => {
    function* twice(url: string): Ask<string> {
      yield* get('relays', ['a', url]);
      yield* get('relays', ['b', url]);
      return url;
    }
    // biome-ignore lint/correctness/useYield: a piece that asks nothing is a piece all the same
    function* none(): Ask<string> {
      return 'at once';
    }
    const { asked, results } = drive([
      job(function* () {
        return decide(yield* all([twice('one'), none(), twice('two')]));
      }),
    ]);
    expect(
      asked.map((round) => round.map((question) => question.ask === 'get' && question.key.join())),
    ).toEqual([
      ['a,one', 'a,two'],
      ['b,one', 'b,two'],
    ]);
    expect(results).toMatchObject([{ ok: true, outcome: ['one', 'at once', 'two'] }]);
  });

  test('hold no parts, for changes have an order', () => {
    function* change(): Script<undefined> {
      yield* get('meta', ['engine']);
      return decide(undefined, [put('messages', message(1))]);
    }
    const { results, changes } = drive([
      job(function* () {
        return decide(yield* all([part(change())]));
      }),
    ]);
    expect(results).toMatchObject([{ ok: false, error: { name: 'TypeError' } }]);
    expect(changes).toEqual([]);
  });
});

test('a call weighs about the bytes it brings', () => {
  expect(
    weightOf({ a: new Uint8Array(300_000), b: ['xyz', { c: 'abcd' }], d: 1, e: null, f: undefined }),
  ).toBe(300_031);
});
