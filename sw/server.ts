import type { Effect } from '../src/core/effects';
import { DecodeError, StoreError, type StoreErrorKind } from '../src/core/errors';
import { limits } from '../src/core/limits';
import {
  type CallAnswer,
  type CallRequest,
  callVersion,
  parseRequest,
  versionOf,
} from '../src/core/wire/call';
import type { Look } from '../src/store/doors/looks';
import { doorCalls } from '../src/store/doors/names';
import type { Instance } from './instance';

/** The store by names that came over a door: whoever implements it checks nothing of the arguments' meaning. */
export interface NamedStore {
  /** Whether there is such a script, and whether it writes. */
  kindOf(name: string): 'write' | 'read' | undefined;
  open(): Promise<void>;
  write(
    name: string,
    args: unknown,
    term: number | undefined,
  ): Promise<{
    readonly outcome: unknown;
    readonly effects: readonly Effect[];
  }>;
  read(name: string, args: unknown): Promise<unknown>;
}

/** What the server stands on. */
export interface ServerParts {
  readonly instance: Instance;
  readonly build: string;
  readonly store: NamedStore;
  /** Tells all realms that rows changed. */
  announce(look: Look): void;
  /** A page asked for control. */
  claim(): Promise<void>;
  /** A page or engine began to speak with this instance; what it starts must not delay the answer. */
  greeted(): Promise<void>;
  now(): number;
}

/** A call under way. */
export interface Served {
  /** Settles within the deadline of formats.md 2.3; never rejects. */
  readonly answer: Promise<CallAnswer>;
  /** Settles when the store is through with it, whatever was answered: what keeps the worker alive waits for this. */
  readonly settled: Promise<unknown>;
}

type Result =
  | { readonly outcome: unknown; readonly effects: readonly Effect[] }
  | { readonly err: StoreErrorKind };

interface Remembered {
  readonly result: Promise<Result>;
  readonly at: number;
}

/** The one handler behind all doors. It keeps nothing that matters: a new instance answers as well. */
export class Server {
  readonly #parts: ServerParts;
  /** Writes under way and lately done, by call id: a repeated call gets the same answer without running again. */
  readonly #remembered = new Map<string, Remembered>();

  constructor(parts: ServerParts) {
    this.#parts = parts;
  }

  /** Carries out whatever came through a door. */
  serve(value: unknown): Served {
    const request = parsed(value);
    if (typeof request === 'string') {
      const answer = this.#answer({ err: request });
      return { answer, settled: answer };
    }
    const opened = this.#parts.store.open().then(
      () => true,
      () => true,
    );
    const result = this.#resultOf(request);
    const rest = request.name === doorCalls.hello ? this.#parts.greeted() : undefined;
    return {
      answer: this.#inTime(result, opened).then((one) => this.#answer(one)),
      settled: Promise.allSettled([result, rest]),
    };
  }

  #resultOf(request: CallRequest): Promise<Result> {
    if (request.name === doorCalls.hello) return Promise.resolve({ outcome: null, effects: [] });
    if (request.name === doorCalls.claim) return this.#guarded(async () => this.#claim());
    const kind = this.#parts.store.kindOf(request.name);
    if (kind === undefined) return Promise.resolve({ err: 'unknown' });
    if (kind === 'write') return this.#once(request);
    return this.#guarded(async () => ({
      outcome: await this.#parts.store.read(request.name, request.args),
      effects: [],
    }));
  }

  async #claim(): Promise<Result> {
    await this.#parts.claim();
    return { outcome: null, effects: [] };
  }

  #once(request: CallRequest): Promise<Result> {
    const now = this.#parts.now();
    const key = `${request.call} ${request.name}`;
    const earlier = this.#remembered.get(key);
    if (earlier !== undefined && now - earlier.at < limits.callRepeatMs) return earlier.result;
    const result = this.#guarded(() => this.#write(request));
    // Newest last, also when an old entry is replaced: `#forget` stops at the first it keeps.
    this.#remembered.delete(key);
    this.#remembered.set(key, { result, at: now });
    void result.then((one) => {
      // A failed call may be tried again under its id; only what was done is not to be done twice.
      if ('err' in one && this.#remembered.get(key)?.result === result) this.#remembered.delete(key);
    });
    this.#forget(now);
    return result;
  }

  #forget(now: number): void {
    for (const [key, { at }] of this.#remembered) {
      const fresh = now - at < limits.callRepeatMs;
      if (fresh && this.#remembered.size <= limits.callsRememberedMax) return;
      this.#remembered.delete(key);
    }
  }

  async #write(request: CallRequest): Promise<Result> {
    const done = await this.#parts.store.write(request.name, request.args, request.term);
    for (const effect of done.effects) if (effect.type === 'look') this.#parts.announce(effect);
    return done;
  }

  async #guarded(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreError) return { err: error.kind };
      console.error('a script failed', error instanceof Error ? error.name : typeof error);
      return { err: 'internal' };
    }
  }

  /** The result, or at the deadline what the call waits for. */
  #inTime(result: Promise<Result>, opened: Promise<boolean>): Promise<Result> {
    return new Promise((settle) => {
      const late = setTimeout(async () => {
        const open = await Promise.race([opened, Promise.resolve(false)]);
        settle({ err: open ? 'busy' : 'upgrading' });
      }, limits.callMs);
      void result.then((one) => {
        clearTimeout(late);
        settle(one);
      });
    });
  }

  async #answer(result: Result): Promise<CallAnswer> {
    const { instance, build } = this.#parts;
    await instance.alive();
    const head = { v: callVersion, sw: instance.id, build };
    if ('err' in result) return { ...head, err: result.err };
    const revisions = result.effects.map((effect) => (effect.type === 'look' ? effect.revision : 0));
    return {
      ...head,
      rev: Math.max(0, ...revisions),
      outcome: result.outcome,
      effects: result.effects,
    };
  }
}

function parsed(value: unknown): CallRequest | StoreErrorKind {
  const version = versionOf(value);
  if (version !== undefined && version !== callVersion) return 'outdated';
  try {
    return parseRequest(value);
  } catch (error) {
    if (error instanceof DecodeError) return 'refused';
    throw error;
  }
}
