import { type Job, type JobResult, weightOf } from '../../src/core/batch';
import { StoreError, type StoreErrorKind } from '../../src/core/errors';
import { keyOf } from '../../src/core/key-order';
import type { Change } from '../../src/core/transaction';
import type { Keys } from '../../src/core/transactions/keys';
import type { Args, Outcome, ReadName, Scripts, WriteName } from '../../src/core/transactions/registry';
import type { Committed } from '../../src/engine/ports';
import { GroupQueue } from '../../src/store/group/group-queue';
import { runSynchronously } from '../../src/store/group/run-synchronously';
import { MemoryTables } from '../../src/store/memory/memory-tables';
import type { Site } from './network';
import type { FaultRates } from './plan';
import type { Watch } from './watch';
import { Life, type World } from './world';

/** What a planted bug may change in a store. */
export interface StoreBug {
  /** Changes that really reach the rows. */
  readonly write?: (changes: readonly Change[]) => readonly Change[];
  /** Answers before the commit, and commits (or not) later. */
  readonly answersEarly?: boolean;
}

/** The change that takes a change back. */
function undoOf(rows: MemoryTables, change: Change): Change {
  const [table, key] =
    'put' in change ? [change.put, keyOf(change.put, change.row)] : [change.remove, change.key];
  const [found] = rows.answer([{ ask: 'get', table, key }])[0] ?? [];
  // Whatever the table: it is the commit that never happened, not a removal.
  return (found === undefined ? { remove: table, key } : { put: table, row: found }) as Change;
}

interface Call {
  readonly caller: Life;
  readonly name: string;
  readonly args: unknown;
  readonly term: number | undefined;
  readonly resolve: (committed: Committed<unknown>) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: Life;
  settled: boolean;
}

const deadlineMs = 5_000;

/**
 * Calls that name no version they decided on: only the living worker's memory of call ids keeps a late copy of them
 * from undoing what came after (formats.md 2.3).
 */
const remembered: ReadonlySet<string> = new Set(['addRelay', 'removeRelay', 'drop', 'undoDrop']);

/**
 * The false store of one device: rows survive every death; calls to it are delayed, refused, run twice, answered
 * late or never. Transactions go through the house's own group commit.
 */
export class DeviceStore {
  readonly tables = new MemoryTables();
  readonly #calls = new Set<Call>();
  readonly #settled = new Set<string>();
  /** The changes that are not on disk yet, newest last, each as what undoes it. */
  #unflushed: Change[] = [];
  #fullUntil = 0;
  #worker: Life;
  #queue: GroupQueue;
  readonly #refusals: string[] = [];
  readonly #copies: { readonly name: string; readonly afterMs: number }[] = [];

  constructor(
    private readonly world: World,
    private readonly site: Site & { readonly browser: Life },
    private readonly rates: FaultRates,
    private readonly watch: Watch,
    private readonly keys: Keys,
    private readonly scripts: Scripts,
    private readonly onEffects: (effects: Committed<unknown>['effects']) => void,
    private readonly bug: StoreBug = {},
  ) {
    this.#worker = new Life(`${site.name}.store`, site.browser);
    this.#queue = this.#newQueue();
  }

  /** The next call of this name is refused. */
  refuseNext(name: string): void {
    this.#refusals.push(name);
  }

  /** The next call of this name runs once more, so much later. */
  copyNext(name: string, afterMs: number): void {
    this.#copies.push({ name, afterMs });
  }

  /** A person changes what this command said: no worker takes a late copy of it any more for a new message. */
  settles(command: string): void {
    this.#settled.add(command);
  }

  /** The browser grants no more room for a while. */
  fill(forMs: number): void {
    this.#fullUntil = this.world.now + forMs;
  }

  /** The browser starts again: nothing of the old one waits any more, and what was not on disk may be gone. */
  reborn(): void {
    if (this.#unflushed.length > 0 && this.world.random.perMille(600)) {
      this.world.count('relaxed-lost');
      this.tables.write(this.#unflushed.toReversed());
    }
    this.#unflushed = [];
    this.#calls.clear();
    this.#worker = new Life(`${this.site.name}.store`, this.site.browser);
    this.#queue = this.#newQueue();
  }

  /** The service worker is ended between or within calls: its callers repeat theirs, committed or not. */
  endWorker(): void {
    this.#worker.end();
    this.#worker = new Life(`${this.site.name}.store`, this.site.browser);
    this.#queue = this.#newQueue();
    for (const call of this.#calls) {
      if (call.caller.alive) this.#send(call, this.world.delay(100, 2_000));
    }
  }

  transact<N extends WriteName>(
    caller: Life,
    name: N,
    args: Args<N>,
    term?: number,
  ): Promise<Committed<Outcome<N>>> {
    return new Promise((resolve, reject) => {
      if (!caller.alive) return;
      this.watch.called(this.site.name, caller, name, args);
      const call: Call = {
        caller,
        name,
        args,
        term,
        resolve: (committed) => resolve(committed as Committed<Outcome<N>>),
        reject,
        deadline: new Life(caller.name, caller),
        settled: false,
      };
      this.#calls.add(call);
      if (this.#takes(this.#refusals, (one) => one === name) !== undefined)
        return this.#refuse(call, 'storage', 5);
      const copy = this.#takes(this.#copies, (one) => one.name === name);
      if (copy !== undefined) this.#send(call, copy.afterMs);
      if (this.world.fault('call-refused', this.rates.refused)) {
        return this.#refuse(call, this.world.random.pick(['busy', 'storage']), this.world.delay(20, 3_000));
      }
      // However it goes, every call settles.
      this.world.park(call.deadline, `${name} is late`, deadlineMs, () => this.#refuse(call, 'busy', 0), 1);
      this.#send(call, this.world.delay(8, 1_500));
      if (!remembered.has(name) && this.world.fault('call-copied', this.rates.copied)) {
        this.#send(call, this.world.random.between(0, 40_000));
      }
    });
  }

  read<N extends ReadName>(caller: Life, name: N, args: Args<N>): Promise<Outcome<N>> {
    return new Promise((resolve, reject) => {
      if (!caller.alive) return;
      this.world.park(caller, `reads ${name}`, this.world.delay(6, 1_500), () => {
        if (this.world.fault('read-refused', this.rates.refused)) return reject(new StoreError('busy'));
        const [result] = runSynchronously([this.scripts.read(name, args, this.keys)], this.tables);
        if (result?.ok !== true) return reject(new StoreError('internal', String(result?.error)));
        // Now and then the rows are old when they arrive.
        if (!this.world.random.perMille(150)) return resolve(result.outcome as Outcome<N>);
        const later = this.world.delay(20, 600);
        this.world.park(caller, `has ${name}`, later, () => resolve(result.outcome as Outcome<N>));
      });
    });
  }

  #takes<T>(orders: T[], fits: (order: T) => boolean): T | undefined {
    const at = orders.findIndex(fits);
    return at < 0 ? undefined : orders.splice(at, 1)[0];
  }

  #refuse(call: Call, kind: StoreErrorKind, delayMs: number): void {
    if (call.settled) return;
    const refuse = (): void => {
      if (!this.#settle(call)) return;
      call.reject(new StoreError(kind));
    };
    if (delayMs === 0) refuse();
    else this.world.park(call.caller, `${call.name} refused`, delayMs, refuse);
  }

  #settle(call: Call): boolean {
    if (call.settled) return false;
    call.settled = true;
    call.deadline.end();
    this.#calls.delete(call);
    return true;
  }

  #send(call: Call, delayMs: number): void {
    this.world.park(this.#worker, `takes ${call.name}`, delayMs, () => {
      if (call.settled && this.#settled.has((call.args as { readonly command?: string }).command ?? '')) {
        if (call.name === 'enqueue') return;
      }
      if (this.bug.answersEarly === true) return this.#answerEarly(call);
      const job = this.scripts.write(call.name, call.args, this.keys, call.term);
      const relaxed = this.scripts.isRelaxed(call.name);
      void this.#queue.push(job, weightOf(call.args), relaxed).then((result) => this.#answer(call, result));
    });
  }

  #answer(call: Call, result: JobResult): void {
    if (result.ok) this.onEffects(result.effects);
    else if (!(result.error instanceof StoreError)) {
      this.world.breach('throw', `${call.name}: ${String(result.error)}`);
    }
    if (this.world.fault('answer-lost', this.rates.answerLost)) return;
    this.world.park(call.caller, `has ${call.name}`, this.world.delay(6, 2_000), () => {
      if (!this.#settle(call)) return;
      if (result.ok) call.resolve({ outcome: result.outcome, effects: result.effects });
      else call.reject(result.error instanceof StoreError ? result.error : new StoreError('internal'));
    });
  }

  #newQueue(): GroupQueue {
    const worker = this.#worker;
    return new GroupQueue(
      (jobs) =>
        new Promise((resolve, reject) => {
          const names = jobs.map((job) => job.name).join('+');
          this.world.park(worker, `commits ${names}`, this.world.delay(10, 2_500), () => {
            if (this.world.fault('abort', this.rates.abort)) {
              return reject(new Error('the transaction was aborted'));
            }
            if (this.world.faulty && this.world.now < this.#fullUntil) {
              this.world.count('quota');
              return reject(new Error('the quota is used up'));
            }
            this.#commit(jobs, resolve);
          });
        }),
    );
  }

  #commit(jobs: readonly Job[], resolve: (results: readonly JobResult[]) => void): void {
    const { crashes } = this.world;
    const crash = (): void => this.site.crash();
    for (const job of jobs) if (crashes.at(`${job.name}/commit:before`, crash)) return;
    const results = this.#run(jobs);
    for (const job of jobs) if (crashes.at(`${job.name}/commit:after`, crash)) return;
    resolve(results);
  }

  #run(jobs: readonly Job[]): readonly JobResult[] {
    let written: readonly Change[] = [];
    const results = runSynchronously(jobs, {
      answer: (questions) => this.tables.answer(questions),
      write: (changes) => {
        written = this.bug.write?.(changes) ?? changes;
        this.#remember(jobs, written);
        this.tables.write(written);
      },
    });
    this.watch.committed(
      this.site.name,
      jobs.map((job) => job.name),
      written,
    );
    return results;
  }

  /** A strict commit takes all before it to the disk with it; a relaxed one waits for the next strict one. */
  #remember(jobs: readonly Job[], changes: readonly Change[]): void {
    if (!jobs.every((job) => this.scripts.isRelaxed(job.name))) {
      this.#unflushed = [];
      return;
    }
    for (const change of changes) this.#unflushed.push(undoOf(this.tables, change));
  }

  /** A planted bug: the answer and its effects go out, and the commit comes later, if it comes. */
  #answerEarly(call: Call): void {
    const job = this.scripts.write(call.name, call.args, this.keys, call.term);
    const [result] = runSynchronously([job], {
      answer: (q) => this.tables.answer(q),
      write: () => undefined,
    });
    if (result?.ok === true) this.#answer(call, result);
    this.world.park(this.#worker, `commits ${call.name} late`, this.world.delay(200, 2_500), () => {
      this.#run([this.scripts.write(call.name, call.args, this.keys, call.term)]);
    });
  }
}
