import type { Job } from '../batch';
import { StoreError } from '../errors';
import type { Answers, Ask, Decision, Script, Step } from '../transaction';
import { decide, get } from '../transaction';
import { addRelay, beginEngine, createAccount, joinChannel, removeRelay } from './account';
import { answer } from './answer';
import { markRead, putDraft } from './draft';
import { enqueue } from './enqueue';
import { pruneGraph } from './graph-prune';
import { graphBodies, graphHeaders, graphLacking, graphPage, graphSlots, graphTips } from './graph-reads';
import { drop, editQueued, forgetDropped, retryNow, undoDrop } from './hand';
import type { Keys } from './keys';
import { materialise } from './materialise';
import { claimOpen } from './open';
import { limitRate, setRateIdentity } from './rate';
import { head, message, overview, timeline } from './reads';
import { receive, receiveFetched, scanChannel } from './receive';
import { relayPut, relayTake } from './relay';
import { release, sendRound } from './round';

/** Every durable change of the system, by name. A crash point, a test and a trace name them. */
export const writes = {
  answer,
  addRelay,
  beginEngine,
  claimOpen,
  createAccount,
  drop,
  editQueued,
  enqueue,
  forgetDropped,
  joinChannel,
  limitRate,
  markRead,
  materialise,

  pruneGraph,
  putDraft,
  receive,
  receiveFetched,
  relayPut,
  relayTake,
  release,
  removeRelay,
  retryNow,
  scanChannel,
  sendRound,
  setRateIdentity,
  undoDrop,
} as const;

/** Everything that may be read, by name. */
export const reads = {
  graphBodies,
  graphHeaders,
  graphLacking,
  graphPage,
  graphSlots,
  graphTips,
  head,
  message,
  overview,
  timeline,
} as const;

/** Name of a transaction that may change something. */
export type WriteName = keyof typeof writes;
/** Name of a read. */
export type ReadName = keyof typeof reads;
type Name = WriteName | ReadName;
type Named<N extends Name> = N extends WriteName
  ? (typeof writes)[N]
  : N extends ReadName
    ? (typeof reads)[N]
    : never;

/** Arguments of a transaction or read. */
export type Args<N extends Name> = Parameters<Named<N>>[0];
/** Outcome of a transaction or read. */
export type Outcome<N extends Name> =
  ReturnType<Named<N>> extends Script<infer O> ? O : ReturnType<Named<N>> extends Ask<infer T> ? T : never;

/** Committed without waiting for the disk: losing one costs no promise. A test pins this list (formats.md 2.6). */
export const relaxedWrites: ReadonlySet<string> = new Set(['putDraft', 'markRead']);

/** How a store finds the script of a name. Production uses `registered`; a contract suite brings its own. */
export interface Scripts {
  write(name: string, args: unknown, keys: Keys, term: number | undefined): Job;
  read(name: string, args: unknown, keys: Keys): Job;
  isRelaxed(name: string): boolean;
}

type AnyScript = (args: unknown, keys: Keys) => Script<unknown>;
type AnyRead = (args: unknown, keys: Keys) => Ask<unknown>;

/** The transactions and reads of this file. Names it does not know are a `StoreError` of kind `unknown`. */
export const registered: Scripts = {
  write(name, args, keys, term) {
    const script = lookUp<AnyScript>(writes, name);
    const start = () => script(args, keys);
    return {
      name,
      start: term === undefined ? start : () => fenced(term, start()),
    };
  },
  read(name, args, keys) {
    const ask = lookUp<AnyRead>(reads, name);
    return { name, start: () => asScript(ask(args, keys)) };
  },
  isRelaxed: (name) => relaxedWrites.has(name),
};

function lookUp<F>(from: object, name: string): F {
  if (!Object.hasOwn(from, name)) throw new StoreError('unknown', `no transaction ${name}`);
  return (from as Readonly<Record<string, F>>)[name] as F;
}

function* asScript<T>(ask: Ask<T>): Script<T> {
  return decide(yield* ask);
}

/**
 * Refuses a script whose engine is no longer the newest, in the transaction itself: a lock can be stolen from a
 * context that does not notice. The question rides with the script's first ones.
 */
function* fenced<O>(term: number, script: Script<O>): Script<O> {
  let step: IteratorResult<Step, Decision<O>> = script.next([]);
  if (step.done || step.value.step !== 'ask') {
    checkTerm(term, yield* get('meta', ['engine']));
  } else {
    const { questions } = step.value;
    const answers: Answers = yield {
      step: 'ask',
      questions: [...questions, { ask: 'get', table: 'meta', key: ['engine'] }],
    };
    checkTerm(term, answers[questions.length]?.[0]);
    step = script.next(answers.slice(0, questions.length));
  }
  while (!step.done) step = script.next(yield step.value);
  return step.value;
}

function checkTerm(term: number, row: unknown): void {
  const newest = (row as { readonly term?: number } | undefined)?.term ?? 0;
  if (term < newest) throw new StoreError('fenced');
}
