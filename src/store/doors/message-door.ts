import { limits } from '../../core/limits';
import type { CallAnswer, CallRequest } from '../../core/wire/call';
import { watchDeath } from './death';
import { answersIn, type Caller, type Door, lateError, newRequest } from './door';
import { type DoorMessage, doorCalls } from './names';

/** A message with calls that has left, and those of them that wait for their answer. */
interface Letter {
  readonly port: MessagePort;
  readonly open: Set<Pending>;
}

interface Pending {
  readonly request: CallRequest;
  readonly settle: (answer: CallAnswer) => void;
  /** One a copy sent; whichever is answered first counts. */
  readonly letters: Letter[];
  /** Instance known to live when the newest copy was sent: that copy reached it, or its death is told. */
  sentTo?: string | undefined;
}

/**
 * The door of a page: messages with calls, each with a port for the answers. The only door through which a page that
 * closes in the same moment reaches a service worker that is stopped (measured: platform.md 7), so the first copy
 * leaves before the task of its caller ends. A worker that dies takes the message with it silently; the lock of its
 * instance tells of it, and every open call goes out again under its id.
 */
export class MessageDoor implements Door {
  readonly #pending = new Set<Pending>();
  /** Further calls of this task, which leave at its end. */
  #leaving: Pending[] | undefined;
  #registration: ServiceWorkerRegistration | undefined;
  /** Instance that is known to live, while its lock is watched. */
  #alive: string | undefined;
  #stopWatching: () => void = () => {};
  #greeting = false;
  #helloWait: number = limits.helloFirstMs;
  #giveUpHello: () => void = () => {};
  #claiming = false;

  constructor(
    private readonly container: ServiceWorkerContainer,
    private readonly locks: LockManager,
    private readonly caller: Caller,
  ) {
    void container.ready.then((registration) => {
      this.#registration = registration;
      this.#sendAll();
    });
    container.addEventListener('controllerchange', () => {
      // Another worker is in charge: nothing is known of its instance yet, and what the old one had may be lost.
      this.#lost();
    });
  }

  call(request: CallRequest, until: number): Promise<CallAnswer> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(late);
        this.#pending.delete(pending);
        for (const letter of pending.letters) {
          letter.open.delete(pending);
          if (letter.open.size === 0) letter.port.close();
        }
      };
      const pending: Pending = {
        request,
        letters: [],
        settle: (answer) => {
          end();
          resolve(answer);
        },
      };
      const late = setTimeout(
        () => {
          end();
          reject(lateError());
        },
        Math.max(0, until - Date.now()),
      );
      this.#pending.add(pending);
      this.#leave(pending);
    });
  }

  /** The first call of a task leaves at once; what the task calls besides leaves together at its end. */
  #leave(pending: Pending): void {
    if (this.#leaving !== undefined) {
      this.#leaving.push(pending);
      return;
    }
    const leaving: Pending[] = [];
    this.#leaving = leaving;
    this.#send([pending]);
    queueMicrotask(() => {
      this.#leaving = undefined;
      this.#send(leaving);
      void this.#greet();
    });
  }

  /** A lane of many calls to the worker of this moment, to be handed to a realm that cannot post to it. */
  async lane(): Promise<MessagePort> {
    const worker = this.#worker() ?? (await this.container.ready).active;
    const { port1, port2 } = new MessageChannel();
    worker?.postMessage({ holdfast: 'lane' } satisfies DoorMessage, [port1]);
    return port2;
  }

  #worker(): ServiceWorker | undefined {
    return this.container.controller ?? this.#registration?.active ?? undefined;
  }

  #send(all: Iterable<Pending>): void {
    const worker = this.#worker();
    const open = [...all];
    if (worker === undefined || open.length === 0) return;
    for (let at = 0; at < open.length; at += limits.callsPerMessageMax) {
      this.#post(worker, open.slice(at, at + limits.callsPerMessageMax));
    }
    if (this.container.controller === null) void this.#claim();
  }

  #post(worker: ServiceWorker, calls: readonly Pending[]): void {
    const { port1, port2 } = new MessageChannel();
    const letter: Letter = { port: port1, open: new Set(calls) };
    const byCall = new Map(calls.map((pending) => [pending.request.call, pending]));
    for (const pending of calls) {
      pending.sentTo = this.#alive;
      pending.letters.push(letter);
    }
    port1.onmessage = ({ data }: MessageEvent<unknown>) => {
      for (const { call, answer } of answersIn(data)) {
        byCall.get(call)?.settle(answer);
        this.#watch(answer.sw);
      }
    };
    const requests = calls.map(({ request }) => request);
    worker.postMessage({ holdfast: 'calls', requests } satisfies DoorMessage, [port2]);
  }

  #sendAll(): void {
    this.#send(this.#pending);
  }

  #watch(instance: string): void {
    if (this.#alive === instance) return;
    this.#forget();
    this.#alive = instance;
    this.#stopWatching = watchDeath(this.locks, instance, () => this.#died());
    // What was sent while nothing was known may have gone to an instance before this one, dead without a word.
    this.#send([...this.#pending].filter(({ sentTo }) => sentTo !== instance));
  }

  /**
   * The instance is gone. If a newer version waits it was perhaps stopped to make room: a message in this moment would
   * start the old one again, and the browser would let it live on for 30 s (observed).
   */
  #died(): void {
    this.#forget();
    if (!this.#registration?.waiting) this.#lost();
    else setTimeout(() => this.#alive === undefined && this.#lost(), limits.takeoverMs);
  }

  /** Whatever was sent is lost, a greeting among it. */
  #lost(): void {
    this.#forget();
    this.#sendAll();
    this.#helloWait = limits.helloFirstMs;
    this.#giveUpHello();
    void this.#greet();
  }

  #forget(): void {
    this.#stopWatching();
    this.#alive = undefined;
  }

  /** While calls are open and no instance is known to live, asks for one; silence means that all copies are lost. */
  async #greet(): Promise<void> {
    if (this.#greeting || this.#alive !== undefined) return;
    this.#greeting = true;
    try {
      this.#helloWait = limits.helloFirstMs;
      while (this.#pending.size > 0 && this.#alive === undefined) {
        const wait = this.#helloWait;
        this.#helloWait = Math.min(wait * 2, limits.helloMs);
        if (!(await this.#hello(wait))) this.#sendAll();
      }
    } finally {
      this.#greeting = false;
    }
  }

  #hello(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      const end = (heard: boolean) => {
        clearTimeout(silent);
        port1.close();
        resolve(heard);
      };
      const silent = setTimeout(() => end(false), ms);
      this.#giveUpHello = () => end(false);
      port1.onmessage = ({ data }: MessageEvent<unknown>) => {
        for (const { answer } of answersIn(data)) {
          this.#watch(answer.sw);
          end(true);
        }
      };
      const request = newRequest(this.caller, doorCalls.hello, null);
      this.#worker()?.postMessage({ holdfast: 'calls', requests: [request] } satisfies DoorMessage, [port2]);
    });
  }

  /** A page loaded past the worker (a hard reload) can still post to it, and have itself taken under control. */
  async #claim(): Promise<void> {
    if (this.#claiming) return;
    this.#claiming = true;
    try {
      await this.call(newRequest(this.caller, doorCalls.claim, null), Date.now() + limits.callMs);
    } catch {
      // Not controlled yet: the next call asks again.
    } finally {
      this.#claiming = false;
    }
  }
}
