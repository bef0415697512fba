import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blake3 } from '@noble/hashes/blake3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/core/limits';
import { schemaVersion, tables } from '../../src/core/tables';
import { Browser } from './kit/browser';
import { Relay } from './kit/relay';
import type { Tab } from './kit/tab';
import { allMarked, appFor, eventsOf, joinChannel, say, start } from './person';

/** Messages between a page and a worker that have Comlink's shape. */
interface Spoken {
  readonly id?: string;
  readonly type: string;
  readonly path?: readonly string[];
}

/** Put before the app's own script: notes what goes over message ports, sockets and service worker messages. */
const watching = `
  globalThis.spoken = [];
  globalThis.dialled = [];
  globalThis.toWorker = [];
  const plain = (data) => typeof data === 'object' && data !== null && typeof data.type === 'string';
  const note = (data) => plain(data) && spoken.push({ id: data.id, type: data.type, path: data.path });
  const post = MessagePort.prototype.postMessage;
  MessagePort.prototype.postMessage = function (data, ...rest) {
    note(data);
    return post.call(this, data, ...rest);
  };
  const Shared = SharedWorker;
  globalThis.SharedWorker = class extends Shared {
    constructor(...all) {
      super(...all);
      this.port.addEventListener('message', ({ data }) => note(data));
    }
  };
  const Socket = WebSocket;
  globalThis.WebSocket = class extends Socket {
    constructor(...all) {
      super(...all);
      dialled.push(all);
    }
  };
  const send = ServiceWorker.prototype.postMessage;
  ServiceWorker.prototype.postMessage = function (data, ...rest) {
    toWorker.push(data.type ?? data.holdfast);
    return send.call(this, data, ...rest);
  };
`;

/** Every workbox file says on request that it ran in the service worker. */
function tellTale(folder: string): void {
  const workbox = readdirSync(folder).find((name) => name.startsWith('workbox-')) ?? '';
  for (const name of readdirSync(join(folder, workbox))) {
    const file = join(folder, workbox, name);
    const tell = `new BroadcastChannel('test/who').onmessage = ({ target }) => {
      new BroadcastChannel('test/here').postMessage(${JSON.stringify(name)} + ' ' + (typeof clients));
    };\n`;
    writeFileSync(file, tell + readFileSync(file, 'utf8'));
  }
}

describe('the app at run time', () => {
  let relay: Relay;
  let app: Awaited<ReturnType<typeof appFor>>;
  let browser: Browser;
  let tab: Tab;
  let sources: string[];

  beforeAll(async () => {
    relay = await Relay.start();
    app = await appFor([relay.url], (folder) => {
      tellTale(folder);
      const map = readdirSync(join(folder, 'workers')).find((name) => name.endsWith('.js.map')) ?? '';
      sources = JSON.parse(readFileSync(join(folder, 'workers', map), 'utf8')).sources;
    });
    browser = await Browser.launch();
    tab = await browser.openTab('data:text/html,');
    await tab.command('Page.addScriptToEvaluateOnNewDocument', { source: watching });
    await tab.navigate(app.site.url);
    await start(tab, 'Ana');
    await joinChannel(tab, 'harbour');
    await say(tab, 'hello');
    await allMarked(tab, 1, 'accepted');
  });

  afterAll(async () => {
    await browser.dispose();
    await app.dispose();
    await relay.dispose();
  });

  test('[CD-01] workbox-sw and its modules run in the service worker, from our own origin', async () => {
    const here = await tab.waitFor('the workbox files to answer', async () => {
      const heard = new Set<string>();
      const answers = new BroadcastChannel('test/here');
      answers.onmessage = ({ data }) => heard.add(data);
      new BroadcastChannel('test/who').postMessage('who');
      await new Promise((over) => setTimeout(over, 100));
      answers.close();
      return heard.size >= 4 && [...heard].sort();
    });
    const files = ['workbox-core.prod.js', 'workbox-precaching.prod.js', 'workbox-routing.prod.js'];
    expect(here).toEqual(expect.arrayContaining([...files, 'workbox-sw.js'].map((name) => `${name} object`)));
  });

  test('[CD-01] workbox keeps every built file, under its revision, in a cache of this build', async () => {
    const kept = await tab.evaluate(async () => {
      const names = (await caches.keys()).filter((name) => name.startsWith('holdfast-shell-'));
      const cache = await caches.open(names[0] ?? '');
      return {
        names,
        urls: (await cache.keys()).map(({ url }) => new URL(url).pathname + new URL(url).search),
      };
    });
    expect(kept.names).toHaveLength(1);
    expect(kept.urls.filter((url) => url.startsWith('/index.html?__WB_REVISION__='))).toHaveLength(1);
    for (const part of [/^\/assets\/index-.*\.js/, /^\/assets\/.*\.css/, /^\/workers\/holdfast-.*\.js/]) {
      expect(
        kept.urls.filter((url) => part.test(url)),
        String(part),
      ).toHaveLength(1);
    }
  });

  test('[CD-01] workbox-window registers the one worker, and it is in charge', async () => {
    const registered = await tab.evaluate(async () => {
      const all = await navigator.serviceWorker.getRegistrations();
      return all.map(({ active, scope }) => [active?.scriptURL, active?.state, scope]);
    });
    expect(registered).toEqual([[`${app.site.url}/sw.js`, 'activated', `${app.site.url}/`]]);
    const sent = await tab.evaluate(() => (globalThis as unknown as { toWorker: string[] }).toWorker);
    expect(sent).toContain('calls');
  });

  test('[CD-01] [CD-03] the page speaks Comlink with the engine in a SharedWorker', async () => {
    const engines = (await browser.targets()).filter(({ type }) => type === 'shared_worker');
    expect(engines.map(({ url }) => new URL(url).pathname)).toEqual([
      expect.stringMatching(/^\/workers\/holdfast-[\w.-]+\.js$/),
    ]);
    const spoken = await tab.evaluate(() => (globalThis as unknown as { spoken: Spoken[] }).spoken);
    const attach = spoken.find(({ type, path }) => type === 'APPLY' && path?.join('.') === 'attach');
    expect(attach?.id).toMatch(/./);
    // Comlink's answer to that very call.
    expect(spoken.filter(({ id, type }) => id === attach?.id && type === 'RAW')).toHaveLength(1);
  });

  test('[CD-01] [CD-02] idb in the service worker made the one database, with every table', async () => {
    expect(sources.filter((source) => /node_modules\/idb\//.test(source)).length).toBeGreaterThan(0);
    const databases = await tab.evaluate(() => indexedDB.databases());
    expect(databases).toEqual([{ name: 'holdfast', version: schemaVersion }]);
    const storage = await tab.command('IndexedDB.requestDatabase', {
      securityOrigin: app.site.url,
      databaseName: 'holdfast',
    });
    const { objectStores } = storage['databaseWithObjectStores'] as { objectStores: { name: string }[] };
    expect(objectStores.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(tables)));
  });

  test('[CD-01] [CD-08] Preact draws, and the page that is drawn carries the socket', async () => {
    const drawn = await tab.evaluate(() => {
      // Preact leaves its tree at the element it draws into.
      const root = document.querySelector('#app') as unknown as Record<string, unknown> | null;
      return Object.keys(root ?? {}).some((name) => name.startsWith('__k'));
    });
    expect(drawn).toBe(true);
    const dialled = await tab.evaluate(() => (globalThis as unknown as { dialled: unknown[] }).dialled);
    expect(dialled).toEqual([[`${relay.url}`, 'holdfast.1']]);
  });

  test('[CD-01] the hash of @noble/hashes is what the relay knows the event by', () => {
    expect(sources.filter((source) => /@noble\/hashes\/blake3/.test(source))).toHaveLength(1);
    const [row] = eventsOf(relay.store);
    const header = row?.event.subarray(0, limits.eventHeaderBytes) ?? new Uint8Array(0);
    expect(row?.id).toBe(Buffer.from(blake3(header)).toString('hex'));
  });
});
