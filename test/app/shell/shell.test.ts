import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probeIn, type Room, roomOfApp } from '../doors/room';
import { Browser } from '../kit/browser';
import { Site } from '../kit/site';

/**
 * Put before every script: tells on a channel which realm opens a database, and answers who listens. Both workers run
 * one script, so each realm says by its own global object which it is.
 */
const watching = `(() => {
  if (globalThis.watched) return;
  globalThis.watched = true;
  const workers = [['ServiceWorkerGlobalScope', 'service worker'], ['SharedWorkerGlobalScope', 'engine']];
  const realm = workers.find(([scope]) => scope in globalThis)?.[1] ?? 'page';
  const opened = new BroadcastChannel('test/opened');
  const open = IDBFactory.prototype.open;
  IDBFactory.prototype.open = function (...all) {
    opened.postMessage(realm);
    return open.apply(this, all);
  };
  new BroadcastChannel('test/who').onmessage = () => opened.postMessage('here: ' + realm);
})();
`;

function watch(folder: string): void {
  const scripts = ['assets', 'workers'].flatMap((part) =>
    readdirSync(join(folder, part)).map((name) => join(folder, part, name)),
  );
  for (const file of [...scripts, join(folder, 'sw.js')].filter((name) => name.endsWith('.js')))
    writeFileSync(file, watching + readFileSync(file, 'utf8'));
}

describe('the app shell', () => {
  let room: Room;
  let site: Site;
  let browser: Browser;

  beforeAll(async () => {
    room = await roomOfApp();
    watch(room.folder);
    site = await Site.open(room.folder);
    browser = await Browser.launch();
  });

  afterAll(async () => {
    await browser.dispose();
    await site.close();
    room.remove();
  });

  test('[CD-02] only the service worker opens the database while the app runs', async () => {
    const tab = await browser.openTab(`${site.url}/probe/none`);
    await tab.navigate(`${site.url}/`);
    await probeIn(tab);
    await tab.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      const channel = new BroadcastChannel('test/opened');
      Object.assign(globalThis, { channel });
      channel.onmessage = ({ data }) => seen.push(data);
    });
    const seen = (realm: string) =>
      tab.waitFor(
        realm,
        (name) => {
          new BroadcastChannel('test/who').postMessage('who');
          return (globalThis as unknown as { seen: string[] }).seen.includes(name);
        },
        realm,
      );
    await seen('here: service worker');
    await seen('here: engine');
    const other = await browser.openTab(`${site.url}/`);
    await seen('here: page');
    await probeIn(other);
    const place = await other.evaluate(() => probe.arrive());
    expect(await browser.workers.stop()).toBe(1);
    await other.evaluate((at) => probe.enqueue('fetch', at), place);
    await seen('service worker');
    await other.reload();
    await probeIn(other);
    await other.evaluate((at) => probe.stored(at), place);
    const openers = await tab.evaluate(() =>
      (globalThis as unknown as { seen: string[] }).seen.filter((text) => !text.startsWith('here: ')),
    );
    expect(new Set(openers)).toEqual(new Set(['service worker']));
    await other.close();
    await tab.close();
  });

  test('[CD-05] is installable in the eyes of the browser', async () => {
    const tab = await browser.openTab(`${site.url}/`);
    await probeIn(tab);
    const { installabilityErrors } = await tab.command('Page.getInstallabilityErrors');
    expect(installabilityErrors).toEqual([]);
    const manifest = await tab.command('Page.getAppManifest');
    expect(manifest['errors']).toEqual([]);
    expect(JSON.parse(String(manifest['data']))).toMatchObject({ id: '/', display: 'standalone' });
    await tab.close();
  });

  test('[CD-05] starts with no network, by its address and by a deep link', async () => {
    const first = await browser.openTab(`${site.url}/`);
    await probeIn(first);
    await first.close();
    await site.goAway();
    for (const path of ['/', '/#/net', '/some/where']) {
      const tab = await browser.openTab(`${site.url}${path}`);
      await tab.waitFor('the app to be drawn', () => document.querySelector('#app')?.children.length);
      expect(await tab.evaluate(() => document.title)).toContain('Holdfast');
      await tab.close();
    }
    await site.comeBack();
  });

  test('runs under its own policy without one complaint', async () => {
    const tab = await browser.openTab(`${site.url}/`);
    await probeIn(tab);
    await tab.waitFor('the app to be drawn', () => document.querySelector('#app')?.children.length);
    const held = await tab.evaluate(async () => {
      const answer = await fetch('/');
      return answer.headers.get('content-security-policy');
    });
    expect(held).toContain("require-trusted-types-for 'script'");
    expect(tab.problems.filter((text) => /policy|trusted/i.test(text))).toEqual([]);
    await tab.close();
  });
});
