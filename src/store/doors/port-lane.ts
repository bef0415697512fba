import { limits } from '../../core/limits';
import type { CallAnswer, CallRequest } from '../../core/wire/call';
import { watchDeath } from './death';
import { answersIn, type Caller, type Door, newRequest, pause } from './door';
import { doorCalls } from './names';

type Settle = (answer: CallAnswer | undefined) => void;

interface Lane {
  readonly port: MessagePort;
  readonly waiting: Map<string, Settle>;
  stopWatching: () => void;
}

/** What a lane needs beside its caller's name. */
export interface PortLaneParts extends Caller {
  readonly locks: LockManager;
  /** Asks a page for a port to the service worker (`MessageDoor.lane`); rejects or gives none when no page can. */
  readonly broker: () => Promise<MessagePort | undefined>;
  /** Carries calls while no lane is open, and those of a lane that died. */
  readonly base: Door;
}

/**
 * The fast way of a SharedWorker: a port to the service worker, made by a page. A port neither starts a stopped worker
 * nor tells of its death, so the instance's lock is watched; when it falls, every open call goes on through the base
 * door under its id, and a new lane is asked for.
 */
export class PortLane implements Door {
  #lane: Lane | undefined;
  #opening = false;
  /** After a death: the worker was perhaps stopped for a newer one, and a fetch now would start the old one again. */
  #rest: Promise<void> | undefined;

  constructor(private readonly parts: PortLaneParts) {}

  async call(request: CallRequest, until: number): Promise<CallAnswer> {
    const lane = this.#lane;
    const answer = lane === undefined ? undefined : await send(lane, request, until - Date.now());
    if (answer !== undefined) return answer;
    await this.#rest;
    void this.#open();
    return this.parts.base.call(request, until);
  }

  /** True while calls go over a lane. */
  get isOpen(): boolean {
    return this.#lane !== undefined;
  }

  async #open(): Promise<void> {
    if (this.#opening || this.#lane !== undefined) return;
    this.#opening = true;
    try {
      const port = await this.parts.broker();
      if (port !== undefined) await this.#greet(port);
    } catch {
      // No page at hand: the base carries on, and the next call asks again.
    } finally {
      this.#opening = false;
    }
  }

  async #greet(port: MessagePort): Promise<void> {
    const lane: Lane = { port, waiting: new Map(), stopWatching: () => {} };
    port.onmessage = ({ data }: MessageEvent<unknown>) => {
      for (const { call, answer } of answersIn(data)) lane.waiting.get(call)?.(answer);
    };
    const answer = await send(lane, newRequest(this.parts, doorCalls.hello, null), limits.helloMs);
    if (answer === undefined) {
      port.close();
      return;
    }
    this.#lane = lane;
    lane.stopWatching = watchDeath(this.parts.locks, answer.sw, () => this.#close(lane));
  }

  #close(lane: Lane): void {
    if (this.#lane === lane) this.#lane = undefined;
    this.#rest = pause(limits.takeoverMs).then(() => {
      this.#rest = undefined;
    });
    lane.stopWatching();
    lane.port.close();
    for (const settle of [...lane.waiting.values()]) settle(undefined);
  }
}

/** Posts a call; gives nothing when the lane closed or the time is over. */
function send(lane: Lane, request: CallRequest, ms: number): Promise<CallAnswer | undefined> {
  return new Promise((resolve) => {
    const settle: Settle = (answer) => {
      clearTimeout(late);
      lane.waiting.delete(request.call);
      resolve(answer);
    };
    const late = setTimeout(() => settle(undefined), Math.max(0, ms));
    lane.waiting.set(request.call, settle);
    lane.port.postMessage(request);
  });
}
