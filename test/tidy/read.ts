import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = /\.(ts|tsx|mjs|html|css)$|^package\.json$/;

/** Names at the top level that are kept: everything but what .gitignore leaves out and git's own folder. */
export function keptNames(): string[] {
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8')
    .split('\n')
    .map((line) => line.replace(/\/$/, ''));
  return readdirSync(root).filter((name) => name !== '.git' && !ignored.includes(name));
}

/** Path from the top level and content of every file the rules look at. */
export function* files(): Generator<readonly [string, string]> {
  for (const name of keptNames()) yield* below(name);
}

function* below(path: string): Generator<readonly [string, string]> {
  if (read.test(path)) yield [path, readFileSync(join(root, path), 'utf8')];
  if (/\.[a-z]+$/.test(path) || path === 'LICENSE' || path === '.ci') return;
  for (const entry of readdirSync(join(root, path), { withFileTypes: true })) {
    const inner = `${path}/${entry.name}`;
    if (entry.isDirectory()) yield* below(inner);
    else if (read.test(inner)) yield [inner, readFileSync(join(root, inner), 'utf8')];
  }
}
