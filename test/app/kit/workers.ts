import type { Cdp } from './cdp';
import type { Tab } from './tab';
import { until } from './until';

/** One version of a service worker as the browser sees it. */
export interface WorkerVersion {
  versionId: string;
  registrationId: string;
  scriptURL: string;
  /** stopped, starting, running or stopping. */
  runningStatus: string;
  /** new, installing, installed, activating, activated or redundant. */
  status: string;
}

/** The service workers of a browser, watched from an empty tab: nothing is attached to a worker itself. */
export class Workers {
  readonly #versions = new Map<string, WorkerVersion>();
  readonly #cdp: Cdp;
  readonly #tab: Tab;

  private constructor(cdp: Cdp, tab: Tab) {
    this.#cdp = cdp;
    this.#tab = tab;
  }

  static async watch(cdp: Cdp, tab: Tab): Promise<Workers> {
    const workers = new Workers(cdp, tab);
    const take = (params: Record<string, unknown>) => {
      for (const version of params['versions'] as WorkerVersion[])
        workers.#versions.set(version.versionId, version);
    };
    cdp.on('ServiceWorker.workerVersionUpdated', take, tab.session);
    await cdp.send('ServiceWorker.enable', {}, tab.session);
    return workers;
  }

  /** Every version that is not redundant. */
  versions(): WorkerVersion[] {
    return [...this.#versions.values()].filter(({ status }) => status !== 'redundant');
  }

  /** Versions that run now. */
  running(): WorkerVersion[] {
    return this.versions().filter(({ runningStatus }) => runningStatus === 'running');
  }

  /** Resolves with the version of this script that is activated and runs. */
  active(script: string): Promise<WorkerVersion> {
    return until(`a running service worker ${script}`, () =>
      this.running().find(({ scriptURL, status }) => scriptURL === script && status === 'activated'),
    );
  }

  /**
   * Stops every service worker and resolves when none is seen to run. Returns how many ran before: 0 means that the
   * fault had nothing to hit.
   */
  async stop(): Promise<number> {
    const before = this.running().map(({ versionId }) => versionId);
    const stopped = before.map((id) => this.#seenStopped(id));
    await this.#cdp.send('ServiceWorker.stopAllWorkers', {}, this.#tab.session);
    await Promise.all(stopped);
    return before.length;
  }

  /** Fires a background sync event, as the system would; works with no tab of the app and a stopped worker. */
  async sync(origin: string, tag: string, lastChance = false): Promise<void> {
    const version = this.versions().find(({ scriptURL }) => scriptURL.startsWith(`${origin}/`));
    if (!version) throw new Error(`no service worker of ${origin} to sync`);
    const params = { origin, registrationId: version.registrationId, tag, lastChance };
    await this.#cdp.send('ServiceWorker.dispatchSyncEvent', params, this.#tab.session);
  }

  /** A worker may be started again by the next call at once, so it is the event that counts, not the last state. */
  #seenStopped(id: string): Promise<void> {
    return new Promise((settle, fail) => {
      const late = setTimeout(() => fail(new Error(`service worker ${id} was not seen to stop`)), 10_000);
      const end = this.#cdp.on(
        'ServiceWorker.workerVersionUpdated',
        (params) => {
          const mine = (params['versions'] as WorkerVersion[]).find(({ versionId }) => versionId === id);
          if (mine?.runningStatus !== 'stopped') return;
          clearTimeout(late);
          end();
          settle();
        },
        this.#tab.session,
      );
    });
  }
}
