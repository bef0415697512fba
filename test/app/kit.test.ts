import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type WebSocket as Socket, WebSocket, WebSocketServer } from 'ws';
import { commands } from '../../src/core/wire/commands';
import { makeEvent } from '../../src/core/wire/event';
import { encodeEventPut } from '../../src/core/wire/event-put';
import { encodeFrame } from '../../src/core/wire/frame';
import { encodePrivmsg } from '../../src/core/wire/privmsg';
import { holdfast } from '../../src/core/wire/profile';
import { Browser } from './kit/browser';
import { Site } from './kit/site';
import { Tap } from './kit/tap';
import { until } from './kit/until';

const page = `<!doctype html><meta name="viewport" content="width=device-width"><title>kit</title><input id="in"><button id="go">go</button><p id="out"></p>
<script src="/page.js"></script>`;
const script = `
document.getElementById('go').onclick = () => { document.getElementById('out').textContent = document.getElementById('in').value; };
const policy = trustedTypes.createPolicy('holdfast', { createScriptURL: (url) => url });
navigator.serviceWorker.register(policy.createScriptURL('/sw.js'));`;
const worker = `
const born = Math.random();
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('message', (event) => event.ports[0].postMessage(born));
self.addEventListener('fetch', (event) => {
  if (event.request.mode === 'navigate') event.respondWith(fetch(event.request).catch(() => new Response('kept', { headers: { 'content-type': 'text/html' } })));
});`;

/** The number the running service worker drew at its birth. */
function bornOf(): Promise<number> {
  return new Promise((settle) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (event) => settle(event.data);
    navigator.serviceWorker.controller?.postMessage('born', [port2]);
  });
}

describe('a browser', () => {
  let room = '';
  let site: Site;
  let browser: Browser;

  beforeAll(async () => {
    room = mkdtempSync(join(tmpdir(), 'holdfast-kit-'));
    mkdirSync(join(room, 'app'));
    for (const [name, text] of Object.entries({
      'index.html': page,
      'page.js': script,
      'sw.js': worker,
      'favicon.ico': '',
    })) {
      writeFileSync(join(room, 'app', name), text);
    }
    site = await Site.open(join(room, 'app'));
    browser = await Browser.launch();
  });

  afterAll(async () => {
    await browser.dispose();
    await site.close();
    rmSync(room, { recursive: true, force: true });
  });

  test('a tab is typed in, clicked and looked at', async () => {
    const tab = await browser.openTab(site.url);
    await tab.type('#in', 'hello');
    await tab.click('#go');
    expect(await tab.waitFor('the text', () => document.getElementById('out')?.textContent)).toBe('hello');
    await tab.look({ width: 360, height: 640, scheme: 'dark' });
    expect(await tab.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)).toBe(true);
    await tab.picture(join(room, 'a.png'));
    expect(readFileSync(join(room, 'a.png')).subarray(1, 4).toString()).toBe('PNG');
    expect(tab.problems).toEqual([]);
    await tab.close();
  });

  test('what is thrown in the page is thrown in the test, and noted when nobody catches it', async () => {
    const tab = await browser.openTab(site.url);
    const thrown = tab.evaluate(() => Promise.reject(new Error('from the page')));
    await expect(thrown).rejects.toThrow('from the page');
    await tab.evaluate(() => void queueMicrotask(() => Promise.reject(new Error('uncaught there'))));
    await until('the problem', () => tab.problems.some((text) => text.includes('uncaught there')));
    await tab.close();
  });

  test('a stopped service worker is seen to stop, and the next call wakes another', async () => {
    const tab = await browser.openTab(site.url);
    await browser.workers.active(`${site.url}/sw.js`);
    await tab.waitFor('a controller', () => navigator.serviceWorker.controller !== null);
    const before = await tab.evaluate(bornOf);
    expect(await tab.evaluate(bornOf)).toBe(before);
    expect(await browser.workers.stop()).toBe(1);
    expect(browser.workers.running()).toEqual([]);
    expect(await browser.workers.stop()).toBe(0);
    expect(await tab.evaluate(bornOf)).not.toBe(before);
    await tab.close();
  });

  test('nothing of ours keeps a service worker: no target of it is attached', async () => {
    const tab = await browser.openTab(site.url);
    await browser.workers.active(`${site.url}/sw.js`);
    const kinds = (await browser.targets())
      .filter(({ url }) => url.startsWith(site.url))
      .map(({ type }) => type);
    expect(kinds.sort()).toEqual(['page', 'service_worker']);
    await tab.close();
  });

  test('an origin that went away is answered by the service worker alone, and comes back', async () => {
    const tab = await browser.openTab(site.url);
    await tab.waitFor('a controller', () => navigator.serviceWorker.controller !== null);
    await site.goAway();
    await tab.navigate(`${site.url}/?offline`);
    expect(await tab.evaluate(() => document.body.textContent)).toBe('kept');
    await site.comeBack();
    await tab.navigate(`${site.url}/?online`);
    expect(await tab.evaluate(() => document.title)).toBe('kit');
    await tab.close();
  });

  test('offline, frozen, hidden and crashed are states the page really gets', async () => {
    const tab = await browser.openTab(site.url);
    await tab.setOffline(true);
    expect(await tab.evaluate(() => navigator.onLine)).toBe(false);
    await tab.setOffline(false);
    expect(await tab.evaluate(() => navigator.onLine)).toBe(true);
    const other = await browser.openTab(site.url);
    await tab.waitFor('hidden', () => document.visibilityState === 'hidden');
    await tab.activate();
    await tab.evaluate(() => void setInterval(() => document.body.append('.'), 1));
    await tab.freeze();
    const length = await tab.evaluate(() => document.body.textContent?.length);
    await other.activate();
    await other.evaluate(() => void setInterval(() => document.body.append('.'), 1));
    await other.waitFor('the timers of a tab that is not frozen', () => document.body.childNodes.length > 50);
    expect(await tab.evaluate(() => document.body.textContent?.length)).toBe(length);
    await other.close();
    await tab.thaw();
    await tab.waitFor('timers to go on', (before) => document.body.textContent?.length !== before, length);
    await tab.crash();
    await expect(browser.openTab(site.url).then((fresh) => fresh.close())).resolves.toBeUndefined();
  });

  test('a killed browser is gone at once and finds its profile again', async () => {
    const tab = await browser.openTab(site.url);
    await tab.evaluate(() => {
      const opened = indexedDB.open('kit', 1);
      return new Promise<void>((settle, fail) => {
        opened.onupgradeneeded = () => opened.result.createObjectStore('rows');
        opened.onerror = () => fail(opened.error);
        opened.onsuccess = () => {
          const write = opened.result.transaction('rows', 'readwrite', { durability: 'strict' });
          write.objectStore('rows').put('kept', 'key');
          write.oncomplete = () => settle();
        };
      });
    });
    await browser.kill();
    await expect(tab.evaluate(() => 1)).rejects.toThrow('the browser is gone');
    browser = await browser.restart();
    const again = await browser.openTab(site.url);
    const read = await again.evaluate(() => {
      const opened = indexedDB.open('kit', 1);
      return new Promise<unknown>((settle) => {
        opened.onsuccess = () => {
          const asked = opened.result.transaction('rows').objectStore('rows').get('key');
          asked.onsuccess = () => settle(asked.result);
        };
      });
    });
    expect(read).toBe('kept');
    await again.close();
  });
});

describe('the tap', () => {
  let upstream: WebSocketServer;
  let tap: Tap;
  let client: Socket;
  const arrived: Buffer[] = [];

  /** An EventPut of a channel message with this logical id. */
  function put(logical: string, timestamp: bigint): Uint8Array {
    const content = encodePrivmsg({ channel: '#kit', nick: 'kit', text: 'hello', type: 0, logical });
    const payload = encodeEventPut({ event: makeEvent(timestamp, [], 1n, content), blob: new Uint8Array() });
    return encodeFrame(holdfast.magic, commands.eventPut, payload);
  }

  async function open(): Promise<Socket> {
    const socket = new WebSocket(tap.url, 'holdfast.1', { origin: 'http://kit.example' });
    await new Promise((settle, fail) => socket.once('open', settle).once('error', fail));
    return socket;
  }

  beforeAll(async () => {
    upstream = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await new Promise((settle) => upstream.once('listening', settle));
    upstream.on('connection', (socket, request) => {
      socket.send(Buffer.from(`origin ${request.headers.origin} ${socket.protocol}`));
      socket.on('message', (data: Buffer) => {
        arrived.push(data);
        socket.send(data);
      });
    });
    tap = await Tap.open(`ws://127.0.0.1:${(upstream.address() as { port: number }).port}`);
    client = await open();
  });

  afterAll(async () => {
    await tap.close();
    for (const socket of upstream.clients) socket.terminate();
    upstream.close();
  });

  test('passes both ways with origin and subprotocol, and what the relay says first', async () => {
    const first = await tap.frame('the greeting', ({ toward }) => toward === 'page');
    expect(Buffer.from(first.bytes).toString()).toBe('origin http://kit.example holdfast.1');
    expect(first.command).toBeUndefined();
    expect(client.protocol).toBe('holdfast.1');
  });

  test('counts puts by the logical id they carry, whatever their event', async () => {
    const [one, two] = ['11'.repeat(16), '22'.repeat(16)];
    for (const frame of [put(one, 1n), put(one, 2n), put(two, 3n)]) client.send(frame);
    await until('all to arrive', () => arrived.length >= 3);
    expect([...tap.puts()]).toEqual([
      [one, 2],
      [two, 1],
    ]);
    expect(
      new Set(tap.frames.filter(({ toward }) => toward === 'relay').map(({ eventId }) => eventId)).size,
    ).toBe(3);
  });

  test('holds one direction from a frame on, in order, until released', async () => {
    arrived.length = 0;
    const hold = tap.hold('relay', ({ logicalId }) => logicalId === '33'.repeat(16));
    client.send(put('33'.repeat(16), 4n));
    client.send(put('44'.repeat(16), 5n));
    expect((await hold.caught).logicalId).toBe('33'.repeat(16));
    await tap.frame('the second to reach the tap', ({ logicalId }) => logicalId === '44'.repeat(16));
    expect(arrived).toEqual([]);
    hold.release();
    await until('both to arrive', () => arrived.length === 2);
    expect(arrived[0]?.equals(put('33'.repeat(16), 4n))).toBe(true);
  });

  test('delays every frame by at least what was asked', async () => {
    arrived.length = 0;
    tap.delay(200);
    const sent = Date.now();
    client.send('late');
    await until('the late one', () => arrived.length === 1);
    expect(Date.now() - sent).toBeGreaterThanOrEqual(195);
    tap.delay(0);
  });

  test('a silent network loses frames while the connection seems to stand', async () => {
    arrived.length = 0;
    tap.silence();
    client.send('lost');
    await tap.frame('the lost one at the tap', ({ bytes }) => Buffer.from(bytes).toString() === 'lost');
    expect(client.readyState).toBe(WebSocket.OPEN);
    const closed = new Promise((settle) => client.once('close', settle));
    await tap.restore();
    expect(await closed).toBe(1006);
    expect(arrived).toEqual([]);
    client = await open();
  });

  test('a cut ends every connection and turns new ones away until it is restored', async () => {
    const closed = new Promise((settle) => client.once('close', settle));
    await tap.cut();
    expect(tap.links).toBe(0);
    expect(await closed).toBe(1006);
    await expect(open()).rejects.toThrow();
    expect(tap.refused).toBe(1);
    await tap.restore();
    client = await open();
    expect(tap.links).toBe(1);
  });

  test('passes on why a side closed', async () => {
    const closed = new Promise((settle) =>
      client.once('close', (code, reason) => settle(`${code} ${reason}`)),
    );
    for (const socket of upstream.clients) socket.close(4001, 'replaced');
    expect(await closed).toBe('4001 replaced');
  });
});
