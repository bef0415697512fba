import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Row, sizeRow } from './rows';

/** Most script before the first paint, and most of all realms together, kB gzip. */
const targetsKb = { paint: 45, all: 130 };

/** One script of the built app. */
export interface ScriptFile {
  /** Path in the app's folder. */
  readonly path: string;
  readonly code: string;
}

/** The scripts of a built app, by path. */
function scriptsOf(app: string): ScriptFile[] {
  return (readdirSync(app, { recursive: true }) as string[])
    .filter((path) => path.endsWith('.js'))
    .map((path) => ({ path: path.replaceAll('\\', '/'), code: readFileSync(join(app, path), 'utf8') }))
    .sort((left, right) => (left.path < right.path ? -1 : 1));
}

/** Paths of the scripts the document runs before it draws: those it names, and what these import at once. */
export function beforePaint(html: string, scripts: readonly ScriptFile[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...html.matchAll(/<script[^>]*\ssrc="\/?([^"]+)"/g)].map((match) => match[1] ?? '');
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const script = scripts.find((one) => one.path === path);
    if (script === undefined || found.has(path)) continue;
    found.add(path);
    for (const [, request = ''] of script.code.matchAll(/(?:\bfrom|\bimport)\s*["'](\.[^"']+)["']/g)) {
      open.push(posix.join(posix.dirname(path), request));
    }
  }
  return found;
}

/** Rows of the sizes of a built app: both sums against their targets, and each file. */
export function sizeRows(app: string): Row[] {
  const scripts = scriptsOf(app);
  const early = beforePaint(readFileSync(join(app, 'index.html'), 'utf8'), scripts);
  const sized = scripts.map(({ path, code }) => ({
    path,
    bytes: gzipSync(code, { level: 9 }).length,
    when: early.has(path) ? 'before first paint' : whenLoaded(path),
  }));
  const sum = (files: typeof sized) => files.reduce((total, { bytes }) => total + bytes, 0);
  const first = sized.filter(({ path }) => early.has(path));
  return [
    sizeRow('script before first paint', first.length, sum(first), targetsKb.paint),
    sizeRow('script of all realms', sized.length, sum(sized), targetsKb.all),
    ...sized.map(({ path, bytes, when }) => sizeRow(`${path} (${when})`, 1, bytes)),
  ];
}

function whenLoaded(path: string): string {
  if (path === 'sw.js' || path.startsWith('workbox-')) return 'service worker';
  return path.startsWith('workers/') ? 'service worker and shared worker' : 'lazily';
}
