import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '../../src/serve.mjs';
import { root, runInstalled } from '../../src/setup.mjs';
import { Browser } from '../app/kit/browser';
import type { Tab } from '../app/kit/tab';

/** The built app that is measured. */
export const builtApp = join(root, 'dist/app');

const folder = join(root, 'dist/bench');

/**
 * With these the pages and workers of an origin are isolated, which gives their clock steps of 5 µs in place of
 * 100 µs.
 */
const fineClock = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
};

type Server = Awaited<ReturnType<typeof serve>>;

/** One more origin of the app. */
export interface Origin {
  readonly url: string;
  /** Opens the app there with the bench's page beside it; `early` is script that runs before the app's own. */
  open(early?: string): Promise<Tab>;
  /** Bytes its engine holds after a collection. */
  heap(): Promise<number>;
  /** Whether an engine runs there. */
  hasEngine(): Promise<boolean>;
  /** Serves it no longer. */
  close(): Promise<void>;
}

/** A browser, and two origins of a copy of the built app with the bench's page and worker beside it. */
export class Room {
  private constructor(
    private readonly browser: Browser,
    private readonly fine: Server,
    private readonly plain: Server,
  ) {}

  /** Builds the bench's own files, serves them and starts a browser. */
  static async open(): Promise<Room> {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, 'bench'), { recursive: true });
    cpSync(builtApp, folder, { recursive: true });
    writeFileSync(join(folder, 'bench/index.html'), '<!doctype html>\n<title>bench</title>\n');
    const config = join(root, 'test/bench', './build.config.ts');
    const env = { ...process.env, NODE_ENV: 'production', HOLDFAST_BENCH_OUT: join(folder, 'bench') };
    const code = await runInstalled('vite/bin/vite.js', ['build', '--config', config], {
      env,
      quietly: true,
    });
    if (code !== 0) throw new Error('the files of the bench could not be built');
    const fine = await serve({ folder, port: 0, headers: fineClock });
    return new Room(await Browser.launch(), fine, await serve({ folder, port: 0 }));
  }

  /** A tab of the bench's own worker. */
  benchTab(): Promise<Tab> {
    return this.#tab(`${this.fine.url}/bench/index.html`);
  }

  /** A tab of the app as it is served to people. */
  appTab(): Promise<Tab> {
    return this.#tab(`${this.plain.url}/`);
  }

  /** Serves the app once more, as an origin with a database and an engine of its own. */
  async origin(): Promise<Origin> {
    const server = await serve({ folder, port: 0 });
    this.#more.add(server);
    return {
      url: server.url,
      open: (early) => this.#tab(`${server.url}/`, early),
      heap: () => this.browser.sharedHeap(server.url),
      hasEngine: async () => (await this.browser.sharedOf(server.url)) !== undefined,
      close: () => {
        this.#more.delete(server);
        return server.close();
      },
    };
  }

  readonly #more = new Set<Server>();

  /** Brings the bench's page into a tab, as `bench` of its global object. */
  async #tab(url: string, early?: string): Promise<Tab> {
    const tab = await this.browser.openTab(early === undefined ? url : 'data:text/html,');
    if (early !== undefined) {
      await tab.command('Page.addScriptToEvaluateOnNewDocument', { source: early });
      await tab.navigate(url);
    }
    // Not a function of this program: its bundler would rewrite the import.
    const expression = "import('/bench/page.js').then((page) => { globalThis.bench = page; return true; })";
    const answer = await tab.command('Runtime.evaluate', { expression, awaitPromise: true });
    if (answer['exceptionDetails'] !== undefined) throw new Error(JSON.stringify(answer['exceptionDetails']));
    return tab;
  }

  /** Ends browser and servers. */
  async close(): Promise<void> {
    await this.browser.dispose();
    await Promise.all([this.fine, this.plain, ...this.#more].map((server) => server.close()));
    rmSync(folder, { recursive: true, force: true });
  }
}
