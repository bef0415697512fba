import { StoreError } from '../../core/errors';
import { limits } from '../../core/limits';
import type { Args, Outcome, ReadName, WriteName } from '../../core/transactions/registry';
import {
  type CallAnswer,
  type CallDone,
  type CallRequest,
  callId,
  callVersion,
  parseAnswer,
} from '../../core/wire/call';
import type { Committed, Store } from '../../engine/ports';
import { doorCalls, type LaneAnswer } from './names';

/**
 * One way to the store's worker. It repeats a call as often as it takes, under the same call id, so a call may run
 * twice and a call that failed may have run. Always settles: with an answer, or with a `StoreError` of kind `busy` at
 * `until` (ms since the epoch).
 */
export interface Door {
  call(request: CallRequest, until: number): Promise<CallAnswer>;
}

/** What every client of a door says of itself. */
export interface Caller {
  readonly build: string;
  readonly randomBytes: (length: number) => Uint8Array<ArrayBuffer>;
}

/** A call of this name, with an id of its own. */
export function newRequest(caller: Caller, name: string, args: unknown, term?: number): CallRequest {
  const head = {
    v: callVersion,
    build: caller.build,
    call: callId(caller.randomBytes(16)),
    name,
    args,
  } as const;
  return term === undefined ? head : { ...head, term };
}

/** Time between two tries while the worker upgrades its database, ms. */
const upgradingPauseMs = 250;

/** The store as its worker keeps it, reached through a door. */
export class DoorStore implements Store {
  constructor(
    private readonly door: Door,
    private readonly caller: Caller,
  ) {}

  async transact<N extends WriteName>(name: N, args: Args<N>, term?: number): Promise<Committed<Outcome<N>>> {
    const { outcome, effects } = await this.#call(newRequest(this.caller, name, args, term));
    return { outcome: outcome as Outcome<N>, effects };
  }

  async read<N extends ReadName>(name: N, args: Args<N>): Promise<Outcome<N>> {
    const { outcome } = await this.#call(newRequest(this.caller, name, args));
    return outcome as Outcome<N>;
  }

  /** Resolves with the name of the worker's build once it answers at all. */
  async hello(): Promise<string> {
    const { build } = await this.#call(newRequest(this.caller, doorCalls.hello, null));
    return build;
  }

  /** Asks the worker to take control of pages that loaded without it. */
  async claim(): Promise<void> {
    await this.#call(newRequest(this.caller, doorCalls.claim, null));
  }

  async #call(request: CallRequest): Promise<CallDone> {
    const started = Date.now();
    for (let until = started + limits.callMs; ; ) {
      // The first try must leave in the task of its caller: a page that closes now still gets its message through.
      const answer = await this.door.call(request, until);
      if (!('err' in answer)) return answer;
      const waits =
        answer.err === 'upgrading' && Date.now() + upgradingPauseMs < started + limits.callUpgradingMs;
      if (!waits) throw new StoreError(answer.err);
      await pause(upgradingPauseMs);
      until = started + limits.callUpgradingMs;
    }
  }
}

/** Answers in a message, each with the call it answers: garbage is treated like silence. */
export function answersIn(data: unknown): readonly { readonly call: string; readonly answer: CallAnswer }[] {
  if (!Array.isArray(data)) return [];
  return (data as readonly Partial<LaneAnswer>[]).flatMap((one) => {
    try {
      return [{ call: String(one.call), answer: parseAnswer(one.answer) }];
    } catch {
      return [];
    }
  });
}

/** Resolves after `ms`. */
export function pause(ms: number): Promise<void> {
  return new Promise((over) => setTimeout(over, ms));
}

/** The error of a call that got no answer in time. */
export function lateError(): StoreError {
  return new StoreError('busy', 'the store did not answer in time');
}
