import { EncodeError, StoreError } from '../../core/errors';
import type { Bytes } from '../../core/ids';
import { limits } from '../../core/limits';
import { type CallAnswer, type CallRequest, decodeBody, encodeBody, parseAnswer } from '../../core/wire/call';
import { type Caller, type Door, lateError, newRequest, pause } from './door';
import { doorCalls, doorHeader, fetchDoorPath } from './names';

interface Waiting {
  readonly request: CallRequest;
  readonly until: number;
  readonly resolve: (answer: CallAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** What the door needs beside its caller's name. */
export interface FetchDoorParts extends Caller {
  readonly fetch: typeof fetch;
  /** Called when an answer is not the worker's: this realm is not controlled, and a page should ask for a claim. */
  readonly uncontrolled: () => void;
}

/** First wait before a failed fetch is repeated; doubled each time, ms. */
const retryMs = 50;
const retryMaxMs = 800;

/**
 * The door of a realm that cannot post to the service worker: its own fetch, which starts a stopped worker and runs at
 * least once. Calls of one task travel in one fetch.
 */
export class FetchDoor implements Door {
  #waiting: Waiting[] = [];
  #awake: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly parts: FetchDoorParts) {}

  call(request: CallRequest, until: number): Promise<CallAnswer> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(lateError()), Math.max(0, until - Date.now()));
      const settled = () => clearTimeout(late);
      const waiting: Waiting = {
        request,
        until,
        resolve: (answer) => {
          settled();
          resolve(answer);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      };
      this.#waiting.push(waiting);
      if (this.#waiting.length === 1) queueMicrotask(() => this.#flush());
    });
  }

  /** While on, one fetch every 20 s keeps the worker from being stopped. Only for as long as work is queued. */
  keepAwake(on: boolean): void {
    if (on === (this.#awake !== undefined)) return;
    clearInterval(this.#awake);
    this.#awake = on ? setInterval(() => this.#touch(), limits.keepAliveMs) : undefined;
  }

  #touch(): void {
    const request = newRequest(this.parts, doorCalls.hello, null);
    this.call(request, Date.now() + limits.callMs).catch(() => {
      // The worker starts again with the next call; nothing depends on this one.
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < waiting.length; at += limits.callsPerFetchMax) {
      void this.#sendTogether(waiting.slice(at, at + limits.callsPerFetchMax));
    }
  }

  async #sendTogether(group: readonly Waiting[]): Promise<void> {
    const body = bodyOf(group);
    if (body === undefined) {
      for (const one of group) {
        if (group.length > 1) void this.#sendTogether([one]);
        else one.reject(new StoreError('refused', 'the call is too large or not plain data'));
      }
      return;
    }
    try {
      const until = Math.max(...group.map((one) => one.until));
      const answers = await this.#exchange(body, group.length, until);
      answers.forEach((answer, at) => {
        group[at]?.resolve(answer);
      });
    } catch (error) {
      for (const one of group) one.reject(error);
    }
  }

  /** Repeats the fetch until it is answered by the worker or the time is over. */
  async #exchange(body: Bytes, count: number, until: number): Promise<readonly CallAnswer[]> {
    for (let wait = retryMs; ; wait = Math.min(wait * 2, retryMaxMs)) {
      const answers = await this.#tryOnce(body, count, until);
      if (answers !== undefined) return answers;
      if (Date.now() + wait >= until) throw lateError();
      await pause(wait);
    }
  }

  async #tryOnce(body: Bytes, count: number, until: number): Promise<readonly CallAnswer[] | undefined> {
    try {
      const response = await this.parts.fetch(fetchDoorPath, {
        method: 'POST',
        headers: {
          [doorHeader.name]: doorHeader.value,
          'content-type': 'application/octet-stream',
        },
        body,
        signal: AbortSignal.timeout(Math.max(1, until - Date.now())),
      });
      if (!response.ok || response.headers.get(doorHeader.name) !== doorHeader.value) {
        this.parts.uncontrolled();
        return undefined;
      }
      const answers = decodeBody(new Uint8Array(await response.arrayBuffer()));
      return Array.isArray(answers) && answers.length === count ? answers.map(parseAnswer) : undefined;
    } catch {
      // Network errors, a worker stopped twice, an answer cut off: the same call ids go out again.
      return undefined;
    }
  }
}

/** All calls in one body, or nothing when they do not fit or one is not plain data. */
function bodyOf(group: readonly Waiting[]): Bytes | undefined {
  try {
    return encodeBody(group.map((one) => one.request));
  } catch (error) {
    if (error instanceof EncodeError) return undefined;
    throw error;
  }
}
