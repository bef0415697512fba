import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appHeaders } from '../../../src/headers.mjs';
import { serve } from '../../../src/serve.mjs';
import { probeIn, type Room, roomWithHeaders } from '../doors/room';
import { Browser } from '../kit/browser';
import { freePort } from '../kit/relay';
import type { Tab } from '../kit/tab';

const mark = 'x-deployment';

type Dropping = Window & { dropped: number; dropDrafts: boolean };

/** Loses every draft on its way to the store, as long as the switch is on. */
function loseDrafts(): void {
  const page = window as unknown as Dropping;
  Object.assign(page, { dropped: 0, dropDrafts: true });
  const { postMessage } = ServiceWorker.prototype;
  ServiceWorker.prototype.postMessage = function (this: ServiceWorker, message: unknown, ...rest: unknown[]) {
    const { requests } = message as { requests?: { name?: string }[] };
    if (page.dropDrafts && requests?.some(({ name }) => name === 'putDraft')) page.dropped += 1;
    else Reflect.apply(postMessage, this, [message, ...rest]);
  } as typeof postMessage;
}

describe('a new version', () => {
  let builds: readonly [Room, Room];
  let folder = '';
  let port = 0;
  let server: Awaited<ReturnType<typeof serve>> | undefined;
  let browser: Browser;
  let url = '';

  /** Serves one of the two builds, which differ in one header, under the same origin. */
  async function deploy(nth: 0 | 1): Promise<void> {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
    cpSync(builds[nth].folder, folder, { recursive: true });
    server = await serve({ folder, port, headers: { ...appHeaders, [mark]: `${nth}` } });
  }

  beforeAll(async () => {
    builds = [await roomWithHeaders({ [mark]: '0' }), await roomWithHeaders({ [mark]: '1' })];
    folder = mkdtempSync(join(tmpdir(), 'holdfast-deployed-'));
    port = await freePort();
    url = `http://127.0.0.1:${port}`;
    browser = await Browser.launch();
    await deploy(0);
  });

  afterAll(async () => {
    await browser.dispose();
    await server?.close();
    for (const build of builds) build.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Headers of the kept document and of the engine's script, as the installed app gets them. */
  function keptHeaders(tab: Tab): Promise<(string | null)[]> {
    return tab.evaluate(async (name) => {
      const cache = await caches.open((await caches.keys()).at(-1) ?? '');
      const worker = (await cache.keys())
        .map((request) => request.url)
        .find((kept) => kept.includes('/workers/'));
      const answers = await Promise.all(['/', new URL(worker ?? '').pathname].map((path) => fetch(path)));
      // Bodies are read to the end: a worker whose answer is half read is at work, and its successor waits for it.
      await Promise.all(answers.map((answer) => answer.arrayBuffer()));
      return answers.map((answer) => answer.headers.get(name));
    }, mark);
  }

  test('is taken by every tab, never over text that is not stored, and brings its headers', async () => {
    const quiet = await browser.openTab(url);
    await probeIn(quiet);
    const place = await quiet.evaluate(() => probe.arrive());
    expect(await keptHeaders(quiet)).toEqual(['0', '0']);
    const writing = await browser.openTab(`${url}/#/c/${place.conversation}`);
    await probeIn(writing);
    await writing.evaluate(loseDrafts);
    await writing.type('#composer', 'not stored yet');
    await writing.waitFor('a draft to be on its way', () => (window as unknown as Dropping).dropped > 0);
    for (const tab of [quiet, writing])
      await tab.evaluate(() => void Object.assign(window, { sameDocument: true }));
    const before = await writing.evaluate(() => probe.hello('message'));

    await deploy(1);
    await quiet.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
    await quiet.waitFor(
      'the new version to wait',
      async () => (await navigator.serviceWorker.ready).waiting !== null,
    );
    // As often as the page itself says it: the other tab's call, which never settles, starts the old worker again.
    await quiet.waitFor('the other tab to reload', async () => {
      (await navigator.serviceWorker.ready).waiting?.postMessage({ type: 'SKIP_WAITING' });
      return !('sameDocument' in window);
    });
    await writing.waitFor(
      'the tab to try to store its text before a reload',
      () => document.querySelector('#composer-refusal')?.textContent,
    );
    expect(await writing.evaluate(() => (window as unknown as Dropping).dropped)).toBeGreaterThan(1);
    expect(await writing.evaluate(() => probe.hello('message'))).not.toBe(before);
    expect(await writing.evaluate(() => 'sameDocument' in window)).toBe(true);
    expect(
      await writing.evaluate(() => document.querySelector<HTMLTextAreaElement>('#composer')?.value),
    ).toBe('not stored yet');

    // Its own build's files are still there for it, though the server has them no more.
    const kept = await writing.evaluate(() =>
      Promise.all(
        performance
          .getEntriesByType('resource')
          .map((entry) => new URL(entry.name).pathname)
          .filter((path) => /^\/(assets|workers)\//.test(path))
          .map(async (path) => {
            const answer = await fetch(path);
            await answer.arrayBuffer();
            return answer.status;
          }),
      ),
    );
    expect(kept.length).toBeGreaterThan(0);
    expect(new Set(kept)).toEqual(new Set([200]));

    await writing.evaluate(() => void Object.assign(window, { dropDrafts: false }));
    await writing.evaluate(() => void document.dispatchEvent(new Event('visibilitychange')));
    await writing.waitFor('the tab to reload once its text is stored', () => !('sameDocument' in window));
    await writing.waitFor('the text to be there again', () => {
      const field = document.querySelector<HTMLTextAreaElement>('#composer');
      return field?.value === 'not stored yet';
    });
    expect(await keptHeaders(writing)).toEqual(['1', '1']);
    await probeIn(writing);
    await writing.waitFor('the files of the old build to go', async () => {
      await probe.hello('message');
      return (await caches.keys()).length === 1;
    });
  });
});
