import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appHeaders } from '../../src/headers.mjs';
import { serve } from '../../src/serve.mjs';

let room = '';
let server: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  room = mkdtempSync(join(tmpdir(), 'holdfast-serve-'));
  const app = join(room, 'app');
  mkdirSync(join(app, 'assets'), { recursive: true });
  writeFileSync(join(room, 'secret.txt'), 'above the folder');
  mkdirSync(join(room, 'app-beside'));
  writeFileSync(join(room, 'app-beside/secret.txt'), 'beside the folder');
  writeFileSync(join(app, 'index.html'), '<p>document</p>');
  writeFileSync(join(app, 'sw.js'), 'worker');
  writeFileSync(join(app, 'manifest.webmanifest'), '{}');
  writeFileSync(join(app, 'assets/main-1.js'), 'script');
  writeFileSync(join(app, 'relays.json'), '["of the build"]');
  server = await serve({ folder: app, port: 0, instead: { '/relays.json': '["of the start"]' } });
});

afterAll(async () => {
  await server.close();
  rmSync(room, { recursive: true, force: true });
});

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** A request whose path goes out as it is written: fetch would tidy it first. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((settle, fail) => {
    const outgoing = request({ host: '127.0.0.1', port: server.port, path, headers, method }, (answer) => {
      let body = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        body += part;
      });
      answer.on('end', () => settle({ status: answer.statusCode ?? 0, headers: answer.headers, body }));
    });
    outgoing.on('error', fail).end();
  });
}

const navigation = { 'sec-fetch-mode': 'navigate', accept: 'text/html' };

describe('the static server of npm start', () => {
  test.each([
    ['/', 'text/html; charset=utf-8', 'no-cache', '<p>document</p>'],
    ['/sw.js', 'text/javascript; charset=utf-8', 'no-cache', 'worker'],
    ['/manifest.webmanifest', 'application/manifest+json', 'no-cache', '{}'],
    ['/relays.json', 'application/json', 'no-cache', '["of the start"]'],
    [
      '/assets/main-1.js?x=1',
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
      'script',
    ],
  ])(
    '%s is answered with its type, its lifetime and the headers of the app',
    async (path, type, cache, body) => {
      const answer = await ask(path);
      expect(answer).toMatchObject({ status: 200, body });
      expect(answer.headers).toMatchObject({ ...appHeaders, 'content-type': type, 'cache-control': cache });
    },
  );

  test('a navigation to a path of the app gets the document, a file that is missing does not', async () => {
    expect(await ask('/c/some-channel', navigation)).toMatchObject({ status: 200, body: '<p>document</p>' });
    expect(await ask('/c/some-channel', { 'sec-fetch-mode': 'cors' })).toMatchObject({ status: 404 });
    expect(await ask('/assets/gone.js', navigation)).toMatchObject({ status: 404 });
    expect((await ask('/assets/gone.js')).headers).toMatchObject(appHeaders);
  });

  test.each([
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/..%5csecret.txt',
    '/../app-beside/secret.txt',
    '//../secret.txt',
    '/%00',
    '/%zz',
  ])('%s leaves the folder for nothing', async (path) => {
    const answer = await ask(path);
    expect([400, 404]).toContain(answer.status);
    expect(answer.body).not.toContain('the folder');
  });

  test('only reading is answered, and HEAD without a body', async () => {
    expect(await ask('/~store', {}, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
    expect(await ask('/', {}, 'HEAD')).toMatchObject({
      status: 200,
      body: '',
      headers: { 'content-length': '15' },
    });
  });

  test('a taken port is refused as such', async () => {
    await expect(serve({ folder: room, port: server.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
