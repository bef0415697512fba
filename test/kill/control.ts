import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../src/setup.mjs';
import type { Browser } from '../app/kit/browser';
import { Site } from '../app/kit/site';
import type { Tab } from '../app/kit/tab';

/** What the control lost: the browser's own share in what the app may lose. */
export interface ControlCount {
  readonly kept: number;
  readonly wipes: number;
  readonly lostWithoutWipe: number;
  readonly lostAfterWipe: number;
}

type Idb = typeof import('idb');

/** Opens the database of this page and says whether it was made just now; leaves it where `putOn` finds it. */
async function openRows(): Promise<{ fresh: boolean; keys: number[] }> {
  const { openDB } = (globalThis as unknown as { idb: Idb }).idb;
  let fresh = false;
  const rows = await openDB('control', 1, {
    upgrade(database, before) {
      fresh = before === 0;
      database.createObjectStore('rows');
    },
  });
  Object.assign(globalThis, { rows });
  return { fresh, keys: (await rows.getAllKeys('rows')) as number[] };
}

/** One strict put after another until the browser ends; each is told outside when it is complete, not before. */
function putOn(from: number): void {
  const { rows, controlKept } = globalThis as unknown as {
    rows: Awaited<ReturnType<Idb['openDB']>>;
    controlKept: (key: string) => void;
  };
  const body = new Uint8Array(400).fill(7);
  const put = async () => {
    for (let key = from; ; key++) {
      const transaction = rows.transaction('rows', 'readwrite', { durability: 'strict' });
      void transaction.store.put(body, key);
      await transaction.done;
      controlKept(String(key));
    }
  };
  void put();
}

/** Raw strict puts in an origin of its own, in the browser that is killed. */
export class Control {
  readonly #folder: string;
  readonly #site: Site;
  readonly #kept = new Set<number>();
  #next = 1;
  #wipes = 0;
  #lostWithoutWipe = 0;
  #lostAfterWipe = 0;
  #opened = false;
  #tab: Tab | undefined;

  private constructor(folder: string, site: Site) {
    this.#folder = folder;
    this.#site = site;
  }

  static async create(): Promise<Control> {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-control-'));
    writeFileSync(join(folder, 'index.html'), '<!doctype html>\n<title>control</title>\n');
    copyFileSync(join(root, 'node_modules/idb/build/index.js'), join(folder, 'idb.js'));
    return new Control(folder, await Site.open(folder));
  }

  /** Opens it in a browser, and looks at what the last kill left. */
  async open(browser: Browser): Promise<void> {
    const tab = await browser.openTab(this.#site.url);
    this.#tab = tab;
    // Not a function of this program: its bundler would rewrite the import.
    const expression = "import('/idb.js').then((idb) => { globalThis.idb = idb; })";
    await tab.command('Runtime.evaluate', { expression, awaitPromise: true });
    const { fresh, keys } = await tab.evaluate(openRows);
    this.#count(fresh, new Set(keys));
  }

  /** Begins to put, behind what is known to be there. */
  async begin(): Promise<void> {
    if (this.#tab === undefined) throw new Error('the control is not open');
    await this.#tab.expose('controlKept', (key) => {
      this.#kept.add(Number(key));
      this.#next = Math.max(this.#next, Number(key) + 1);
    });
    await this.#tab.evaluate(putOn, this.#next);
  }

  count(): ControlCount {
    return {
      kept: this.#kept.size + this.#lostWithoutWipe + this.#lostAfterWipe,
      wipes: this.#wipes,
      lostWithoutWipe: this.#lostWithoutWipe,
      lostAfterWipe: this.#lostAfterWipe,
    };
  }

  async close(): Promise<void> {
    await this.#site.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #count(fresh: boolean, there: ReadonlySet<number>): void {
    const lost = [...this.#kept].filter((key) => !there.has(key));
    const wiped = fresh && this.#opened;
    if (wiped) this.#wipes += 1;
    if (wiped) this.#lostAfterWipe += lost.length;
    else this.#lostWithoutWipe += lost.length;
    // Told once: what is gone stays gone.
    for (const key of lost) this.#kept.delete(key);
    this.#opened = true;
  }
}
