import { afterEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../src/core/errors';
import { limits } from '../../src/core/limits';
import { type Answers, type Change, put, type Question, remove } from '../../src/core/transaction';
import type { Scripts } from '../../src/core/transactions/registry';
import type { Committed, Store } from '../../src/engine/ports';
import {
  anyRow,
  contractScripts,
  type Journal,
  type Program,
  type SpoiltRow,
} from '../fixtures/scripts/contract-scripts';
import { overlayFuzz } from './overlay-fuzz';

/** One store under test. */
export interface Opened {
  readonly store: Store;
  /** The same rows after a restart; absent where nothing outlives the realm. */
  readonly reopen?: () => Promise<Store>;
  /** Gives up what was opened, and deletes the rows. */
  readonly close: () => Promise<void>;
}

/** Opens a new empty store that runs these scripts. */
export type OpenStore = (scripts: Scripts) => Promise<Opened>;

/** A store as the suite uses it: programs and reads by name, whatever the registry's types say. */
export class Subject {
  constructor(readonly store: Store) {}

  run(args: Program, name = 'program'): Promise<Committed<readonly Answers[]>> {
    return this.call(name, args) as Promise<Committed<readonly Answers[]>>;
  }

  call(name: string, args: unknown, term?: number): Promise<Committed<unknown>> {
    return this.store.transact(name as never, args as never, term) as Promise<Committed<unknown>>;
  }

  write(...changes: readonly Change[]): Promise<Committed<readonly Answers[]>> {
    return this.run({ changes });
  }

  async look(...questions: readonly Question[]): Promise<Answers> {
    return (await this.store.read('look' as never, { questions } as never)) as unknown as Answers;
  }
}

const account = 'a0'.repeat(16);
const messages = (range: Partial<RowsQuestion['range']> = {}, limit = 100, index?: string): Question => {
  const question: Question = {
    ask: 'rows',
    table: 'messages',
    range: { prefix: [account], ...range },
    limit,
  };
  return index === undefined ? question : { ...question, index };
};
type RowsQuestion = Extract<Question, { readonly ask: 'rows' }>;
const getMessage = (seq: number): Question => ({ ask: 'get', table: 'messages', key: [account, 'c', seq] });
const message = (seq: number, more: Readonly<Record<string, unknown>> = {}): Change =>
  put('messages', anyRow(account, 'c', seq, more));
const gone = (seq: number): Change => remove('messages', [account, 'c', seq]);
const seqs = (rows: readonly unknown[] | undefined): unknown[] =>
  (rows ?? []).map((row) => (row as { readonly seq: unknown }).seq);
const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
const lookEffect = { type: 'look', account, store: 'outbox', revision: 1 } as const;

/** What every implementation of the store port promises, whatever keeps its rows. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`the store contract over ${name}`, () => {
    const opened: Opened[] = [];
    afterEach(async () => {
      for (const one of opened.splice(0)) await one.close();
    });
    async function begin(
      scripts: Scripts = contractScripts(),
    ): Promise<Subject & { readonly opened: Opened }> {
      const one = await open(scripts);
      opened.push(one);
      return Object.assign(new Subject(one.store), { opened: one });
    }
    orderOfKeys(begin);
    overlay(begin);
    groupCommit(begin);
    failures(begin);
    isolation(begin);
    errors(begin);
    kept(begin, opened);
    overlayFuzz(name, async () => (await begin()) as Subject);
  });
}

type Begin = (scripts?: Scripts) => Promise<Subject & { readonly opened: Opened }>;

function orderOfKeys(begin: Begin): void {
  test('numbers come before texts and texts before bytes, each in its own order', async () => {
    const store = await begin();
    const parts = [
      Number.NEGATIVE_INFINITY,
      -1e300,
      -2,
      -1.5,
      -1,
      -Number.MIN_VALUE,
      0,
      Number.MIN_VALUE,
      0.5,
      1,
      255,
      256,
      2 ** 53,
      Number.POSITIVE_INFINITY,
      '',
      '\u0000',
      '\u0000a',
      'A',
      'a',
      'a\u0000',
      'aa',
      'b',
      'é',
      'Ā',
      '\u{1f600}',
      '\uffee',
      Uint8Array.of(),
      Uint8Array.of(0),
      Uint8Array.of(0, 0),
      Uint8Array.of(0, 255),
      Uint8Array.of(1),
      Uint8Array.of(254),
      Uint8Array.of(255),
      Uint8Array.of(255, 0),
    ];
    const rows = parts.map((part, at) => put('messages', anyRow(account, part, 0, { at })));
    await store.write(...rows.toReversed());
    const order = (answer: readonly unknown[] | undefined): unknown[] =>
      (answer ?? []).map((row) => (row as { readonly at: number }).at);
    const [up, down] = await store.look(messages(), messages({ reverse: true }));
    expect(order(up)).toEqual(parts.map((_, at) => at));
    expect(order(down)).toEqual(parts.map((_, at) => at).reverse());
    const found = await store.look(
      ...parts.map((part): Question => ({ ask: 'get', table: 'messages', key: [account, part, 0] })),
    );
    expect(found.map(order)).toEqual(parts.map((_, at) => [at]));
  });

  test('whether a row is there is told before and after it is, and of its own key only', async () => {
    const store = await begin();
    const has = (conversation: string): Question => ({
      ask: 'has',
      table: 'conversations',
      key: [account, conversation],
    });
    const ask = async () => (await store.look(has('one'), has('two'))).map((found) => found.length);
    expect(await ask()).toEqual([0, 0]);
    await store.write(put('conversations', { account, conversation: 'one' } as never));
    expect(await ask()).toEqual([1, 0]);
    await store.write(put('conversations', { account, conversation: 'two' } as never));
    expect(await ask()).toEqual([1, 1]);
    expect(await ask()).toEqual([1, 1]);
  });

  test('minus zero is zero', async () => {
    const store = await begin();
    await store.write(message(-0, { at: 1 }), message(0, { at: 2 }));
    const [rows] = await store.look(messages());
    expect(rows).toHaveLength(1);
  });

  test('a prefix holds its own keys only, not those of a longer or next text', async () => {
    const store = await begin();
    await store.write(
      ...['b', 'ba', 'b\u0000', 'a', 'c'].map((conversation, at) =>
        put('messages', anyRow(account, conversation, at)),
      ),
      put('messages', anyRow(`${account}0`, 'b', 9)),
    );
    const within = (conversation: string): Question => messages({ prefix: [account, conversation] });
    const found = await store.look(within('b'), within('ba'), within('b\u0000'), within('bb'), within(''));
    expect(found.map(seqs)).toEqual([[0], [1], [2], [], []]);
    const [everything] = await store.look(messages({ prefix: [] }));
    expect(everything).toHaveLength(6);
  });

  test('bounds are inclusive, hold for the next part alone, and turn around with the order', async () => {
    const store = await begin();
    await store.write(...[1, 2, 3, 4, 5].map((seq) => message(seq)));
    const prefix = [account, 'c'];
    const found = await store.look(
      messages({ prefix, from: 2 }),
      messages({ prefix, to: 4 }),
      messages({ prefix, from: 2, to: 4 }),
      messages({ prefix, from: 2, to: 4, reverse: true }),
      messages({ prefix, from: 2, to: 4, reverse: true }, 2),
      messages({ prefix, from: 2, to: 4 }, 2),
      messages({ prefix, from: 4, to: 2 }),
      messages({ from: 'c', to: 'c' }),
      messages({ from: 'd' }),
    );
    expect(found.map(seqs)).toEqual([
      [2, 3, 4, 5],
      [1, 2, 3, 4],
      [2, 3, 4],
      [4, 3, 2],
      [4, 3],
      [2, 3],
      [],
      [1, 2, 3, 4, 5],
      [],
    ]);
  });

  test('an index holds the rows that have all its parts, in its order and then by primary key', async () => {
    const store = await begin();
    await store.write(
      message(1, { lane: 30 }),
      message(2),
      message(3, { lane: 10 }),
      message(5, { lane: 20 }),
      message(4, { lane: 20 }),
    );
    const lane = (range: Partial<RowsQuestion['range']> = {}, limit = 100) => messages(range, limit, 'lane');
    const before = await store.look(lane(), lane({ reverse: true }), lane({ from: 20 }), lane({}, 2));
    expect(before.map(seqs)).toEqual([
      [3, 4, 5, 1],
      [1, 5, 4, 3],
      [4, 5, 1],
      [3, 4],
    ]);
    await store.write(message(3), message(2, { lane: 5 }), gone(1), message(4, { lane: 40 }));
    const after = await store.look(lane(), lane({ reverse: true }, 1));
    expect(after.map(seqs)).toEqual([[2, 5, 4], [4]]);
  });

  test('a row put again replaces all of the old one, and removing what is not there is no error', async () => {
    const store = await begin();
    await store.write(message(1, { lane: 1, own: true }));
    await store.write(message(1, { at: 7 }), gone(2));
    const [row] = await store.look(getMessage(1));
    expect(row).toEqual([{ account, conversation: 'c', seq: 1, at: 7 }]);
  });

  test('rows come back as they were put: bytes, nested lists, absent properties', async () => {
    const store = await begin();
    const row = anyRow(account, 'c', 1, {
      body: Uint8Array.of(0, 255, 7),
      operation: {
        generations: [{ id: 'ab', slot: 2 ** 41, at: 0.5, event: new Uint8Array(3_000).fill(9) }],
        intents: [],
        round: 0,
      },
      own: false,
    });
    await store.write(put('messages', row));
    const [found] = await store.look(getMessage(1));
    expect(found).toEqual([row]);
  });
}

function overlay(begin: Begin): void {
  test('a script sees what the earlier ones of its batch put and removed', async () => {
    const store = await begin();
    await store.write(...[1, 2, 3].map((seq) => message(seq)));
    const ask = { steps: [{ ask: [messages(), getMessage(2), getMessage(4)] }] };
    const [, , third] = await Promise.all([
      store.write(gone(2), message(4)),
      store.write(message(3, { at: 9 }), gone(4)),
      store.run({ ...ask, changes: [message(5)] }),
    ]);
    expect(third.outcome[0]?.map(seqs)).toEqual([[1, 3], [], []]);
    expect(third.outcome[0]?.[0]?.[1]).toMatchObject({ seq: 3, at: 9 });
    const [after] = await store.look(messages());
    expect(seqs(after)).toEqual([1, 3, 5]);
  });

  test('a script sees its own parts, though nothing of them is written before it returns', async () => {
    const store = await begin();
    await store.write(message(1), message(2));
    const { outcome } = await store.run({
      steps: [
        { ask: [messages()] },
        { part: [gone(1), message(3)] },
        { ask: [messages(), getMessage(1)] },
        { part: [message(1, { at: 5 }), gone(2)] },
        { ask: [messages({ reverse: true }), getMessage(1)] },
      ],
    });
    expect(outcome.map((answers) => answers.map(seqs))).toEqual([[[1, 2]], [[2, 3], []], [[3, 1], [1]]]);
    const [after] = await store.look(messages());
    expect(seqs(after)).toEqual([1, 3]);
  });

  test('a cut answer whose rows are hidden is asked again, and rows put are merged where they belong', async () => {
    const store = await begin();
    await store.write(...numbers(20).map((seq) => message(seq, { lane: 100 - seq })));
    const questions = [
      messages({}, 1),
      messages({}, 3),
      messages({ reverse: true }, 3),
      messages({}, 3, 'lane'),
      messages({ reverse: true }, 1, 'lane'),
    ];
    const [, second] = await Promise.all([
      store.write(
        ...[0, 1, 2, 18, 19].map(gone),
        message(-5, { lane: 50 }),
        message(3, { lane: 999 }),
        message(4.5, { lane: 1 }),
      ),
      store.run({ steps: [{ ask: questions }] }),
    ]);
    expect(second.outcome[0]?.map(seqs)).toEqual([[-5], [-5, 3, 4], [17, 16, 15], [4.5, -5, 17], [3]]);
  });

  test('the head changed by several scripts of one batch is found by each, with a long lane behind it', async () => {
    const store = await begin();
    await store.write(...numbers(10).map((seq) => message(seq, { lane: seq })));
    const head = { steps: [{ ask: [messages({}, 1, 'lane')] }] };
    const done = await Promise.all([
      store.run({ ...head, changes: [message(0, { lane: 0, at: 1 })] }),
      store.run({ ...head, changes: [message(0, { lane: 0, at: 2 })] }),
      store.run({ ...head, changes: [message(0)] }),
      store.run({ ...head, changes: [message(1)] }),
      store.run(head),
    ]);
    expect(done.map((one) => seqs(one.outcome[0]?.[0]))).toEqual([[0], [0], [0], [1], [2]]);
  });

  test('a small question after a large one of the same range sees the changes too', async () => {
    const store = await begin();
    await store.write(...numbers(10).map((seq) => message(seq)));
    const [, , third] = await Promise.all([
      store.run({ steps: [{ ask: [messages({}, 10)] }] }),
      store.write(gone(0)),
      store.run({ steps: [{ ask: [messages({}, 2)] }] }),
    ]);
    expect(seqs(third.outcome[0]?.[0])).toEqual([1, 2]);
  });
}

function groupCommit(begin: Begin): void {
  test('what waits runs in one transaction, each with its own outcome', async () => {
    const journal: Journal = [];
    const store = await begin(contractScripts(journal));
    const tags = ['a', 'b', 'c'];
    await Promise.all(tags.map((tag, seq) => store.run({ tag, changes: [message(seq)] })));
    expect(journal).toEqual(['a(', 'b(', 'c(', ')a', ')b', ')c']);
  });

  test('what comes while a transaction runs waits for the next', async () => {
    const journal: Journal = [];
    const store = await begin(contractScripts(journal));
    const first = store.run({ tag: 'a', changes: [message(1)] });
    await first;
    await Promise.all(['b', 'c'].map((tag) => store.run({ tag })));
    expect(journal).toEqual(['a(', ')a', 'b(', 'c(', ')b', ')c']);
  });

  test('a transaction holds at most 64 scripts, and the order of the calls', async () => {
    const journal: Journal = [];
    const store = await begin(contractScripts(journal));
    expect(limits.batchScriptsMax).toBe(64);
    const calls = numbers(65).map((at) => store.run({ tag: `${at}`, changes: [message(at)] }));
    await Promise.all(calls);
    const first = numbers(64).map((at) => `${at}`);
    const beginning = first.map((tag) => `${tag}(`);
    const ending = first.map((tag) => `)${tag}`);
    expect(journal).toEqual([...beginning, ...ending, '64(', ')64']);
  });

  test('a transaction holds at most 512 kB of arguments, and one script alone may have more', async () => {
    const journal: Journal = [];
    const store = await begin(contractScripts(journal));
    const sized = (tag: string, bytes: number): Promise<unknown> =>
      store.run({ tag, changes: [message(tag.charCodeAt(0), { body: new Uint8Array(bytes) })] });
    await Promise.all([sized('a', 300_000), sized('b', 300_000), sized('c', 1_000_000), sized('d', 10)]);
    expect(journal).toEqual(['a(', ')a', 'b(', ')b', 'c(', ')c', 'd(', ')d']);
  });

  test('a refusal is an outcome: it changes nothing and rejects nobody', async () => {
    const store = await begin();
    const [refused, written] = await Promise.all([store.call('refuse', {}), store.write(message(1))]);
    expect(refused).toEqual({ outcome: { kind: 'refused' }, effects: [] });
    expect(written.outcome).toEqual([]);
  });
}

function failures(begin: Begin): void {
  test('a throw contributes nothing, not even its parts, and rejects its caller alone', async () => {
    const store = await begin();
    const failing = store.run({
      steps: [{ ask: [messages()] }, { part: [message(2)], effects: [lookEffect] }, { fail: 'our mistake' }],
    });
    const at = [store.write(message(1)), failing, store.run({ steps: [{ ask: [messages()] }] })] as const;
    const [first, second, third] = await Promise.allSettled(at);
    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({ status: 'rejected', reason: { message: 'our mistake' } });
    expect(third.status === 'fulfilled' && third.value.outcome[0]?.map(seqs)).toEqual([[1]]);
    const [rows] = await store.look(messages());
    expect(seqs(rows)).toEqual([1]);
  });

  test('a throw before the first question rejects its caller alone', async () => {
    const store = await begin();
    const failing = store.run({ steps: [{ fail: 'at once' }] });
    const [first, second] = await Promise.allSettled([failing, store.write(message(1))]);
    expect(first).toMatchObject({ status: 'rejected', reason: { message: 'at once' } });
    expect(second.status).toBe('fulfilled');
  });

  test('an aborted batch runs one by one: nobody else pays for the one that cannot be written', async () => {
    const journal: Journal = [];
    const store = await begin(contractScripts(journal));
    const spoilt: SpoiltRow = { account, seq: 3, left: Number.POSITIVE_INFINITY };
    const all = await Promise.allSettled([
      store.run({ tag: 'a', changes: [message(1)] }),
      store.run({
        tag: 'bad',
        changes: [message(2), message(4)],
        spoilt,
        effects: [lookEffect],
      }),
      store.run({ tag: 'c', changes: [message(5)] }),
    ]);
    expect(all.map((one) => one.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(all[1]).toMatchObject({ reason: { name: 'StoreError', kind: 'storage' } });
    expect(journal.slice(-6)).toEqual(['a(', ')a', 'bad(', ')bad', 'c(', ')c']);
    const [rows] = await store.look(messages({ prefix: [account, 'c'] }));
    expect(seqs(rows)).toEqual([1, 5]);
  });

  test('an abort leaves nothing behind, and everything of the batch is written when it runs again', async () => {
    const store = await begin();
    const spoilt: SpoiltRow = { account, seq: 3, left: 1 };
    const all = await Promise.all([
      store.run({ changes: [message(1)], effects: [lookEffect] }),
      store.run({ changes: [message(2)], spoilt }),
      store.call('add', { name: 'once' }),
    ]);
    expect(all[0].effects).toEqual([lookEffect]);
    expect(all[2].outcome).toBe(1);
    const [rows] = await store.look(messages());
    expect(seqs(rows)).toEqual([1, 2, 3]);
  });

  test('a script that aborted two batches runs alone from then on', async () => {
    const journal: Journal = [];
    const store = await begin(contractScripts(journal));
    const spoilt: SpoiltRow = { account, seq: 3, left: Number.POSITIVE_INFINITY };
    const bad = (): Promise<unknown> => store.run({ tag: 'bad', spoilt } as Program, 'spoiling');
    const round = (): Promise<unknown> =>
      Promise.allSettled([store.run({ tag: 'a' }), bad(), store.run({ tag: 'c' })]);
    await round();
    await round();
    journal.length = 0;
    spoilt.left = 0;
    await round();
    expect(journal).toEqual(['a(', ')a', 'bad(', ')bad', 'c(', ')c']);
  });

  test('effects come with the commit: of an aborted script nothing comes out', async () => {
    const store = await begin();
    const { effects } = await store.run({
      steps: [{ part: [message(1)], effects: [lookEffect] }, { ask: [messages()] }],
      changes: [message(2)],
      effects: [{ ...lookEffect, revision: 2 }],
    });
    const [rows] = await store.look(messages());
    expect(seqs(rows)).toEqual([1, 2]);
    expect(effects).toEqual([lookEffect, { ...lookEffect, revision: 2 }]);
    const spoilt: SpoiltRow = { account, seq: 3, left: Number.POSITIVE_INFINITY };
    await expect(store.run({ spoilt, effects: [lookEffect] })).rejects.toBeInstanceOf(StoreError);
  });

  test('a script that reads more rows than a script may is stopped alone', async () => {
    const store = await begin();
    const count = limits.scriptRowsMax + 1;
    await store.write(...numbers(count).map((seq) => message(seq)));
    const [greedy, other] = await Promise.allSettled([
      store.run({ steps: [{ ask: [messages({}, count)] }] }),
      store.write(message(count)),
    ]);
    expect([greedy.status, other.status]).toEqual(['rejected', 'fulfilled']);
  });
}

function isolation(begin: Begin): void {
  test('concurrent calls act as if one followed the other', async () => {
    const store = await begin();
    const calls = numbers(200).map(() => store.call('add', { name: 'sum' }));
    const outcomes = (await Promise.all(calls)).map((one) => one.outcome);
    expect(outcomes).toEqual(numbers(200).map((at) => at + 1));
    const [rows] = await store.look({ ask: 'get', table: 'relays', key: ['counter', 'sum'] });
    expect(rows).toMatchObject([{ addedAt: 200 }]);
  });

  test('a read sees all of a transaction or nothing of it, and what is answered is committed', async () => {
    const store = await begin();
    const writes = numbers(10).map((at) => store.write(message(2 * at), message(2 * at + 1)));
    const reads = numbers(10).map(() => store.look(messages()));
    for (const [rows] of await Promise.all(reads)) expect((rows?.length ?? 1) % 2).toBe(0);
    await Promise.all(writes);
    const [rows] = await store.look(messages());
    expect(rows).toHaveLength(20);
  });

  test('a read never sees what a throw or an abort took back', async () => {
    const store = await begin();
    const spoilt: SpoiltRow = { account, seq: 3, left: Number.POSITIVE_INFINITY };
    const failing = [
      store.run({ steps: [{ part: [message(1)] }, { fail: 'no' }] }),
      store.run({ changes: [message(2)], spoilt }),
    ];
    const reads = numbers(5).map(() => store.look(messages()));
    const settled = await Promise.allSettled(failing);
    expect(settled.map((one) => one.status)).toEqual(['rejected', 'rejected']);
    for (const [rows] of [...(await Promise.all(reads)), await store.look(messages())])
      expect(rows).toEqual([]);
  });
}

function errors(begin: Begin): void {
  test('a name that no registry has is unknown', async () => {
    const store = await begin();
    for (const name of ['nothing', 'toString', '__proto__']) {
      await expect(store.call(name, {})).rejects.toMatchObject({ name: 'StoreError', kind: 'unknown' });
    }
    const read = store.store.read('nothing' as never, {} as never);
    await expect(read).rejects.toMatchObject({ name: 'StoreError', kind: 'unknown' });
  });

  test('a script that needs the data key is locked without one, and its neighbours are not', async () => {
    const store = await begin(contractScripts([], true));
    const [locked, other] = await Promise.allSettled([store.call('needKey', {}), store.write(message(1))]);
    expect(locked).toMatchObject({ status: 'rejected', reason: { name: 'StoreError', kind: 'locked' } });
    expect(other.status).toBe('fulfilled');
    await expect(store.store.read('overview', {})).rejects.toMatchObject({ kind: 'locked' });
    const withKey = await begin();
    expect((await withKey.call('needKey', {})).outcome).toBeTypeOf('number');
  });

  test('an older term is fenced off in the transaction itself, also when both wait together', async () => {
    const { store } = await begin();
    const one = await store.transact('beginEngine', { engine: 'one' });
    const relay = (url: string): { account: string; url: string; now: number } => ({ account, url, now: 1 });
    await store.transact('addRelay', relay('wss://a'), one.outcome.term);
    const [two, late, fresh, unfenced] = await Promise.allSettled([
      store.transact('beginEngine', { engine: 'two' }),
      store.transact('addRelay', relay('wss://b'), one.outcome.term),
      store.transact('addRelay', relay('wss://c'), one.outcome.term + 1),
      store.transact('addRelay', relay('wss://d')),
    ]);
    expect(two).toMatchObject({ status: 'fulfilled', value: { outcome: { term: one.outcome.term + 1 } } });
    expect(late).toMatchObject({ status: 'rejected', reason: { name: 'StoreError', kind: 'fenced' } });
    expect([fresh.status, unfenced.status]).toEqual(['fulfilled', 'fulfilled']);
    const again = await store.transact('beginEngine', { engine: 'two' });
    expect(again.outcome.term).toBe(one.outcome.term + 1);
    const question: Question = { ask: 'rows', table: 'relays', range: { prefix: [account] }, limit: 9 };
    const [rows] = await new Subject(store).look(question);
    expect(rows).toMatchObject([{ url: 'wss://a' }, { url: 'wss://c' }, { url: 'wss://d' }]);
  });

  test('a script that asks nothing first is fenced as well', async () => {
    const { store } = await begin();
    await store.transact('beginEngine', { engine: 'one' });
    const { outcome } = await store.transact('beginEngine', { engine: 'two' });
    const draft = { account, conversation: 'c', text: 'x'.repeat(limits.draftBytesMax + 1), now: 1 };
    const args = { ...draft, nonce: new Uint8Array(12) };
    const late = store.transact('putDraft', args, outcome.term - 1);
    await expect(late).rejects.toMatchObject({ kind: 'fenced' });
    const fresh = await store.transact('putDraft', args, outcome.term);
    expect(fresh.outcome).toEqual({ kind: 'too-long', over: 1 });
  });
}

function kept(begin: Begin, opened: Opened[]): void {
  test('what is committed is there for whoever opens the same rows again, where they outlive the store', async () => {
    const store = await begin();
    await Promise.all(numbers(5).map((at) => store.write(message(at, { lane: 9 - at }))));
    const again = await opened.at(-1)?.reopen?.();
    const subject = again === undefined ? store : new Subject(again);
    const found = await subject.look(messages(), messages({}, 1, 'lane'));
    expect(found.map(seqs)).toEqual([[0, 1, 2, 3, 4], [4]]);
    expect((await subject.call('add', { name: 'after' })).outcome).toBe(1);
  });
}
