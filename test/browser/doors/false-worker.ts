import type { CallRequest } from '../../../src/core/wire/call';
import type { DoorMessage, LaneAnswer } from '../../../src/store/doors/names';
import { instanceLock } from '../../../src/store/doors/names';
import { Server } from '../../../sw/server';

/** Where a false worker can be stopped, in the order of a call. */
export const stopPoints = [
  'before delivery',
  'before the commit',
  'after the commit',
  'after the answer',
] as const;
/** One of them. */
export type StopPoint = (typeof stopPoints)[number];

/** Rows that outlive every instance, as a database does. */
class Rows {
  readonly kept = new Map<string, number>();
  /** How often a script ran, to see that a call does run twice. */
  runs = 0;

  put(key: string, value: number): 'new' | 'known' {
    this.runs += 1;
    if (this.kept.has(key)) return 'known';
    this.kept.set(key, value);
    return 'new';
  }
}

interface Instance {
  readonly server: Server;
  readonly stop: () => void;
  stopped: boolean;
}

/**
 * A service worker made of the real handler and the real lock, in this realm, which stops at the points a test names.
 * A stopped one swallows what was sent to it, as measured; the next message starts another instance over the same rows.
 */
export class FalseWorker {
  readonly rows = new Rows();
  /** Asked at each point of each call; true stops the instance there. */
  stopsAt: (point: StopPoint) => boolean = () => false;
  starts = 0;
  posted = 0;
  #instance: Instance | undefined;

  /** What a page sees of it. */
  readonly container: ServiceWorkerContainer;
  controlled = true;

  constructor() {
    const events = new EventTarget();
    const worker = {
      postMessage: (message: DoorMessage, [port]: [MessagePort]) => {
        this.posted += 1;
        if (message.holdfast === 'lane') this.#openLane(port);
        else
          for (const request of structuredClone(message.requests))
            this.#takeCall(request as CallRequest, port);
      },
    };
    const state = () => (this.controlled ? worker : null);
    this.container = {
      get controller() {
        return state();
      },
      ready: Promise.resolve({ active: worker }),
      addEventListener: events.addEventListener.bind(events),
    } as unknown as ServiceWorkerContainer;
  }

  /** Ends the running instance, as the browser does: what it was doing is never answered. */
  stop(): void {
    const instance = this.#instance;
    this.#instance = undefined;
    if (instance === undefined) return;
    instance.stopped = true;
    instance.stop();
  }

  #takeCall(request: CallRequest, port: MessagePort): void {
    const { call } = request;
    void this.#deliver(request, (answer) => port.postMessage([{ call, answer }] satisfies LaneAnswer[]));
  }

  /** Delivers a call to the running instance, or to one that starts for it. */
  async #deliver(request: unknown, post: (answer: unknown) => void): Promise<void> {
    if (this.stopsAt('before delivery')) {
      this.stop();
      return;
    }
    const instance = this.#running();
    const answer = await instance.server.serve(request).answer;
    if (instance.stopped) return;
    post(answer);
    if (this.stopsAt('after the answer')) this.stop();
  }

  /** Answers a request as the fetch door does: a stop on the way lets it run once more. */
  async answer(request: unknown): Promise<unknown> {
    for (;;) {
      const instance = this.#running();
      const answer = await Promise.race([instance.server.serve(request).answer, this.#death(instance)]);
      if (answer !== undefined) return answer;
    }
  }

  async #death(instance: Instance): Promise<undefined> {
    while (!instance.stopped) await new Promise((later) => setTimeout(later, 5));
    return undefined;
  }

  #openLane(port: MessagePort): void {
    const instance = this.#running();
    port.onmessage = ({ data }) => {
      if (instance.stopped) return;
      if (this.stopsAt('before delivery')) {
        this.stop();
        return;
      }
      void instance.server.serve(data).answer.then((answer) => {
        if (instance.stopped) return;
        port.postMessage([{ call: data.call, answer }] satisfies LaneAnswer[]);
        if (this.stopsAt('after the answer')) this.stop();
      });
    };
  }

  #running(): Instance {
    this.#instance ??= this.#start();
    return this.#instance;
  }

  #start(): Instance {
    this.starts += 1;
    const id = crypto.randomUUID();
    let stop: () => void = () => {};
    const life = new Promise<void>((over) => {
      stop = over;
    });
    const alive = new Promise<void>((granted) => {
      void navigator.locks.request(instanceLock(id), () => {
        granted();
        return life;
      });
    });
    const instance: Instance = {
      stop,
      stopped: false,
      server: new Server({
        instance: { id, alive: () => alive },
        build: 'false',
        announce: () => {},
        claim: async () => {
          this.controlled = true;
        },
        greeted: async () => {},
        now: Date.now,
        store: {
          kindOf: (name) => (name === 'put' ? 'write' : undefined),
          open: async () => {},
          read: () => Promise.reject(new TypeError('nothing to read')),
          write: async (_name, args) => ({ outcome: await this.#commit(instance, args), effects: [] }),
        },
      }),
    };
    return instance;
  }

  async #commit(instance: Instance, args: unknown): Promise<unknown> {
    const never = new Promise<never>(() => {});
    const { key, value } = args as { key: string; value: number };
    await Promise.resolve();
    if (this.stopsAt('before the commit')) this.stop();
    if (instance.stopped) return never;
    const outcome = this.rows.put(key, value);
    if (this.stopsAt('after the commit')) this.stop();
    return instance.stopped ? never : outcome;
  }
}
