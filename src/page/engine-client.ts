import { type Remote, releaseProxy, transfer, wrap } from 'comlink';
import { toHex } from '../core/ids';
import type { EngineStatus } from '../engine/status';
import { type EngineApi, hostLock, type TabHello, tabLock } from '../worker/contract';
import { Carrier } from './carrier';
import { caller, type StoreClient } from './store-client';
import { policy } from './trusted';

/** What the page knows of the engine at the moment. */
export interface EngineView {
  readonly host: 'shared-worker' | 'starting' | 'gone';
  readonly carrier: 'this-tab' | 'other-tab' | 'engine' | 'none';
  readonly status?: EngineStatus;
}

/** How long an engine may take to answer a tab that joins. */
const attachMs = 10_000;

/** A name for the worker, so that all tabs of a build meet in one. */
const workerName = 'holdfast engine';

interface Life {
  readonly carrier: Carrier;
  readonly api: Remote<EngineApi>;
  readonly release: () => void;
}

/**
 * This tab's connection to the one engine. A dead SharedWorker says nothing, so the page queues on the engine's own
 * lock; when that is granted, the engine is gone and a new one is made. Before the page is put aside it says bye, and
 * comes back under another name.
 */
export class EngineClient {
  #life: Life | undefined;
  #view: EngineView = { host: 'starting', carrier: 'none' };

  constructor(
    private readonly store: StoreClient,
    private readonly onView: (view: EngineView) => void,
  ) {
    addEventListener('pagehide', () => this.#leave());
    document.addEventListener('freeze', () => this.#leave());
    document.addEventListener('resume', () => this.#join());
    addEventListener('pageshow', (event) => {
      if (event.persisted) this.#join();
    });
    document.addEventListener('visibilitychange', () => {
      this.#life?.carrier.visible(document.visibilityState === 'visible');
      this.nudge();
    });
    addEventListener('online', () => this.nudge());
    this.#join();
  }

  /** False where this browser has no SharedWorker. */
  static get possible(): boolean {
    return 'SharedWorker' in globalThis;
  }

  /** The network may be back. */
  nudge(): void {
    void this.#life?.api.nudge();
  }

  #join(): void {
    if (this.#life !== undefined) return;
    const tab = toHex(caller.randomBytes(16));
    const { port1, port2 } = new MessageChannel();
    const worker = new SharedWorker(policy.createScriptURL(__WORKERS__), {
      type: 'module',
      name: workerName,
    });
    const api = wrap<EngineApi>(worker.port);
    const carrier = new Carrier({
      port: port1,
      lane: () => this.store.lane(),
      claim: () => void this.store.store.claim().catch(() => undefined),
      onStatus: (message) => this.#show({ host: 'shared-worker', ...message }),
    });
    const { held, release } = holdLock(tab);
    this.#life = { carrier, api, release };
    const hello = { tab, build: caller.build, visible: document.visibilityState === 'visible' };
    worker.onerror = () => this.#show({ host: 'gone', carrier: 'none' });
    void this.#attach(this.#life, hello, port2, held);
  }

  /**
   * A worker that never answers is as good as dead: the page tries again, and says so meanwhile. The tab's lock is held
   * before the engine learns of the tab: an engine that finds it free takes the tab for dead.
   */
  async #attach(life: Life, hello: TabHello, port: MessagePort, held: Promise<void>): Promise<void> {
    await held;
    if (this.#life !== life) return;
    const late = setTimeout(() => this.#again(life), attachMs);
    const host = await life.api.attach(hello, transfer(port, [port]));
    clearTimeout(late);
    if (this.#life !== life) return;
    this.#show({ host: 'shared-worker', carrier: this.#view.carrier });
    await navigator.locks.request(hostLock(host), { mode: 'shared' }, () => this.#again(life));
  }

  #again(life: Life): void {
    if (this.#life !== life) return;
    this.#leave();
    this.#show({ host: 'starting', carrier: 'none' });
    this.#join();
  }

  #leave(): void {
    const life = this.#life;
    if (life === undefined) return;
    this.#life = undefined;
    life.carrier.end();
    life.release();
    life.api[releaseProxy]();
  }

  #show(view: EngineView): void {
    this.#view = { ...this.#view, ...view };
    this.onView(this.#view);
  }
}

/** Holds the tab's lock, from `held` on, until `release` is called or the page dies. */
function holdLock(tab: string): { readonly held: Promise<void>; readonly release: () => void } {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held = new Promise<void>((resolve) => {
    void navigator.locks.request(tabLock(tab), () => {
      resolve();
      return released;
    });
  });
  return { held, release };
}
