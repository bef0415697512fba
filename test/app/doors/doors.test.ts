import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Browser } from '../kit/browser';
import { Site } from '../kit/site';
import type { Tab } from '../kit/tab';
import { until } from '../kit/until';
import { probeIn, type Room, roomOfApp } from './room';

type Place = Awaited<ReturnType<typeof probe.arrive>>;
type TestWindow = Window & { traffic?: InstanceType<typeof probe.Traffic> };

let room: Room;
let site: Site;
let browser: Browser;
let tab: Tab;
let place: Place;

beforeAll(async () => {
  room = await roomOfApp();
  site = await Site.open(room.folder);
  browser = await Browser.launch();
  tab = await browser.openTab(site.url);
  await probeIn(tab);
  place = await tab.evaluate(() => probe.arrive());
});

afterAll(async () => {
  await browser.dispose();
  await site.close();
  room.remove();
});

function storedIn(where: Tab): Promise<Awaited<ReturnType<typeof probe.stored>>> {
  return where.evaluate((at) => probe.stored(at), place);
}

describe('a service worker stopped a hundred times', () => {
  test('between and during calls: all settle, no row twice, none lost', async () => {
    const before = await storedIn(tab);
    const queued: string[] = [];
    for (let stops = 0; stops < 40; stops++) {
      expect(await browser.workers.stop()).toBe(1);
      const way = stops % 2 === 0 ? 'message' : 'fetch';
      queued.push(
        await tab.evaluate((at, door) => probe.enqueue(door, at), place, way as 'message' | 'fetch'),
      );
    }
    await tab.evaluate((at) => {
      (window as TestWindow).traffic = new probe.Traffic(at, 6);
    }, place);
    let hit = 0;
    while (hit < 60) {
      const started = await tab.evaluate(() => (window as TestWindow).traffic?.started ?? 0);
      await until('more calls to be under way', async () => {
        const now = await tab.evaluate(() => (window as TestWindow).traffic?.started ?? 0);
        return now >= started + 8;
      });
      hit += await browser.workers.stop();
    }
    const traffic = await tab.evaluate(async () => {
      const { traffic: running } = window as TestWindow;
      await running?.stop();
      return { queued: running?.queued ?? [], failed: running?.failed ?? [], started: running?.started ?? 0 };
    });
    queued.push(...traffic.queued);
    expect(traffic.failed).toEqual([]);
    expect(traffic.queued).toHaveLength(traffic.started);
    expect(traffic.started).toBeGreaterThan(60 * 8);
    const after = await storedIn(tab);
    const added = after.logicals.slice(before.logicals.length);
    expect(new Set(added)).toEqual(new Set(queued));
    expect(added).toHaveLength(queued.length);
    expect(new Set(after.seqs).size).toBe(after.seqs.length);
    expect(after.waiting).toBe(after.logicals.length);
  });
});

describe('a tab that closes', () => {
  test('[CD-06] in the moment of its enqueue, with the worker stopped before: all is stored', async () => {
    const before = await storedIn(tab);
    const commands: string[] = [];
    for (let nth = 0; nth < 10; nth++) {
      const leaving = await browser.openTab(site.url);
      await probeIn(leaving);
      const command = (0xabc0 + nth).toString(16).padStart(32, '0');
      commands.push(command);
      expect(await browser.workers.stop()).toBe(1);
      // Both commands are on their way before the page has run either: nothing is waited for between them.
      const left = leaving.evaluate((at, id) => void probe.enqueue('message', at, id), place, command);
      await Promise.allSettled([left, leaving.command('Page.close')]);
      await until('the tab to be gone', async () => {
        const targets = await browser.targets();
        return targets.filter(({ type, url }) => type === 'page' && url.startsWith(site.url)).length === 1;
      });
    }
    await until('all messages in the store', async () => {
      const { logicals } = await storedIn(tab);
      return commands.every((command) => logicals.includes(command));
    });
    const after = await storedIn(tab);
    expect(after.logicals.slice(before.logicals.length).sort()).toEqual(commands);
  });
});

describe('the fetch door', () => {
  let foreign: Server;
  let url = '';
  const pages = new Map<string, string>();

  beforeAll(async () => {
    foreign = createServer((request, response) => {
      const page = pages.get(request.url ?? '') ?? '';
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<!doctype html><title>foreign</title>${page}`);
    });
    await new Promise<void>((listening) => foreign.listen(0, '127.0.0.1', listening));
    url = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    foreign.close();
    foreign.closeAllConnections();
  });

  /** Status of the answer the tab was taken to last, as the browser noted it. */
  async function statusOf(visited: Tab): Promise<string | undefined> {
    const noted = /responded with a status of (\d+)/;
    const found = await until('the answer of the door', () =>
      visited.problems.find((text) => noted.test(text)),
    );
    visited.problems.length = 0;
    return noted.exec(found)?.[1];
  }

  test('is closed to forms, links, frames and blind fetches of another origin', async () => {
    const before = await storedIn(tab);
    const visitor = await browser.openTab(`${url}/`);
    const door = `${site.url}/~store`;

    // The app's server answers 405 to a POST: a 404 tells that the request reached the worker and was turned away.
    await visitor.evaluate((action) => {
      const form = document.createElement('form');
      Object.assign(form, { action, method: 'post', enctype: 'text/plain' });
      const field = document.createElement('input');
      Object.assign(field, { name: '[{"v":1,"name":"createAccount","x":"', value: '"}]' });
      form.append(field);
      document.body.append(form);
      form.submit();
    }, door);
    expect(await statusOf(visitor)).toBe('404');

    pages.set('/link', `<a id="link" href="${door}">go</a>`);
    await visitor.navigate(`${url}/link`);
    await visitor.click('#link');
    expect(await statusOf(visitor)).toBe('404');

    await visitor.navigate(`${url}/`);
    const framed = await visitor.evaluate(async (source) => {
      const frame = document.createElement('iframe');
      frame.src = source;
      const loaded = new Promise((done) => {
        frame.onload = done;
        frame.onerror = done;
      });
      document.body.append(frame);
      await loaded;
      return frame.contentDocument === null;
    }, door);
    expect(framed).toBe(true);
    const blind = await visitor.evaluate(async (target) => {
      const tried = await Promise.allSettled([
        fetch(target, { method: 'POST', mode: 'no-cors', body: 'x' }).then((answer) => answer.type),
        fetch(target, { method: 'POST', headers: { 'x-holdfast': '1' }, body: 'x' }).then(() => 'answered'),
      ]);
      return tried.map((one) => (one.status === 'fulfilled' ? one.value : 'refused'));
    }, door);
    expect(blind).toEqual(['opaque', 'refused']);
    await visitor.close();
    expect(await storedIn(tab)).toEqual(before);
  });

  test('answers its own page only with the header, by POST, and says 400 to garbage', async () => {
    const answers = await tab.evaluate(async () => {
      const marked = { 'x-holdfast': '1' };
      const tries: [string, RequestInit][] = [
        ['/~store', { method: 'POST', body: 'x' }],
        ['/~store', { method: 'POST', headers: { 'x-holdfast': '2' }, body: 'x' }],
        ['/~store', { headers: marked }],
        ['/~store', { method: 'PUT', headers: marked, body: 'x' }],
        ['/~store', { method: 'POST', headers: marked, body: 'x' }],
      ];
      const seen: [number, string | null][] = [];
      for (const [path, init] of tries) {
        const answer = await fetch(path, init);
        seen.push([answer.status, answer.headers.get('x-holdfast')]);
      }
      return seen;
    });
    expect(answers).toEqual([
      [404, null],
      [404, null],
      [404, null],
      [404, null],
      [400, '1'],
    ]);
  });
});
