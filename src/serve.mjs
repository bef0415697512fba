import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, posix, resolve, sep } from 'node:path';
import { appHeaders } from './headers.mjs';

/** @type {Readonly<Record<string, string>>} */
const types = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** Hashed names never change their content; everything else is asked for anew, so that an update is seen at once. */
const immutable = 'public, max-age=31536000, immutable';

/** @param {string} path */
function cacheControl(path) {
  return path.startsWith('/assets/') ? immutable : 'no-cache';
}

/**
 * The path a request names, decoded and without steps upward; undefined when it cannot be one.
 * @param {string} target
 */
function pathOf(target) {
  try {
    const path = decodeURIComponent(target.replace(/[?#].*$/, ''));
    if (!path.startsWith('/') || path.includes('\0') || path.includes('\\')) return undefined;
    return posix.normalize(path);
  } catch {
    return undefined;
  }
}

/** @param {import('node:http').IncomingMessage} request */
function isNavigation({ headers }) {
  const mode = headers['sec-fetch-mode'];
  return mode === undefined ? (headers.accept ?? '').includes('text/html') : mode === 'navigate';
}

/**
 * The file that answers `path`, or the document for a navigation to a path of the app itself.
 * @param {string} folder
 * @param {string} path
 * @param {boolean} navigation
 */
async function find(folder, path, navigation) {
  const candidates = [path.endsWith('/') ? `${path}index.html` : path];
  if (navigation && extname(path) === '') candidates.push('/index.html');
  for (const candidate of candidates) {
    const file = resolve(join(folder, candidate));
    if (!file.startsWith(folder + sep)) return undefined;
    const body = await readFile(file).catch(() => undefined);
    if (body) return { body, path: candidate, type: types[extname(candidate)] ?? 'application/octet-stream' };
  }
  return undefined;
}

/**
 * @param {{ folder: string, headers: Readonly<Record<string, string>>, instead: Readonly<Record<string, string>> }} site
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function answer({ folder, headers, instead }, request, response) {
  /** @type {(status: number, text: string, more?: Record<string, string>) => void} */
  const refuse = (status, text, more) => {
    const plain = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
    response
      .writeHead(status, { ...headers, ...plain, ...more })
      .end(request.method === 'HEAD' ? '' : `${text}\n`);
  };
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return refuse(405, 'Only GET and HEAD are answered here.', { allow: 'GET, HEAD' });
  }
  const path = pathOf(request.url ?? '');
  if (path === undefined) return refuse(400, 'This is not a path.');
  const text = Object.hasOwn(instead, path) ? instead[path] : undefined;
  const found =
    text === undefined
      ? await find(folder, path, isNavigation(request))
      : { body: Buffer.from(text), path, type: types[extname(path)] ?? 'application/octet-stream' };
  if (!found) return refuse(404, 'There is no such file.');
  response.writeHead(200, {
    ...headers,
    'content-type': found.type,
    'content-length': String(found.body.length),
    'cache-control': cacheControl(found.path),
  });
  response.end(request.method === 'HEAD' ? undefined : found.body);
}

/**
 * Serves the files of a folder and nothing above it, with the app's headers on every answer.
 * @param {{ folder: string, host?: string, port: number, headers?: Readonly<Record<string, string>>, instead?: Readonly<Record<string, string>> }} options
 *   port 0 takes a free one; `instead`: texts by path, served in place of the files there
 * @returns {Promise<{ url: string, port: number, close: () => Promise<void> }>} rejects with EADDRINUSE when the port is taken
 */
export function serve({ folder, host = '127.0.0.1', port, headers = appHeaders, instead = {} }) {
  const base = resolve(folder);
  const server = createServer((request, response) => {
    answer({ folder: base, headers, instead }, request, response).catch(() => response.destroy());
  });
  const close = () =>
    new Promise((/** @type {(value: void) => void} */ done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(port, host, () => {
      const address = server.address();
      const taken = typeof address === 'object' && address ? address.port : port;
      done({ url: `http://${host}:${taken}`, port: taken, close });
    });
  });
}
