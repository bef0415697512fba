import type { Offer, Source, Tree } from './tree';
import { resolve } from './tree';

/** Files that name their programs in texts: what they mention is run, so its exports need no importer. */
const starters = ['index.html', 'package.json', 'vite.config.ts', 'test/vitest.config.ts'];

/** Files something outside the sources starts: named by a starter, a test file, or a declaration file. */
function entries(tree: Tree): Set<string> {
  const found = new Set<string>(starters.filter((path) => tree.texts.has(path)));
  for (const starter of starters) {
    for (const [word] of (tree.texts.get(starter) ?? '').matchAll(/[\w./-]+\.(ts|tsx|mjs)\b/g)) {
      const named = resolve(starter, word, tree) ?? resolve(starter, `/${word}`, tree);
      if (named) found.add(named);
    }
  }
  for (const path of tree.sources.keys()) if (/\.test\.tsx?$|\.d\.ts$/.test(path)) found.add(path);
  return found;
}

/** Files no entry reaches, by import or by name. */
export function deadFiles(tree: Tree): string[] {
  const seen = new Set<string>();
  const open = [...entries(tree)];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    for (const { to } of tree.sources.get(path)?.edges ?? []) if (to !== undefined) open.push(to);
  }
  return [...tree.sources.keys()]
    .filter((path) => housed(path) && !seen.has(path))
    .map((path) => `${path}: nothing reaches this file`);
}

function housed(path: string): boolean {
  return /^(src|sw|test)\//.test(path) && !path.startsWith('test/vectors/');
}

/**
 * Exported names nobody imports. A type may stay when its own file says it again, as the signature of something
 * alive does; entry files are exempt, for they are run.
 */
export function deadExports(tree: Tree): string[] {
  const used = usedOffers(tree);
  const exempt = entries(tree);
  const files = new Set(
    [...tree.sources.values()].flatMap(({ edges }) => edges.filter((one) => one.asFile)).map((one) => one.to),
  );
  return [...tree.sources.values()].flatMap((source) => {
    if (!housed(source.path) || exempt.has(source.path) || files.has(source.path)) return [];
    return source.offers
      .filter((offer) => offer.name !== '*' && !used.has(key(source.path, offer.name)))
      .filter((offer) => !saidAgain(source, offer))
      .map((offer) => `${source.path}: ${offer.name} is exported and never imported`);
  });
}

const key = (path: string, name: string) => `${path} ${name}`;

function usedOffers(tree: Tree): Set<string> {
  const used = new Set<string>();
  const use = (path: string, name: string): void => {
    const source = tree.sources.get(path);
    if (!source || used.has(key(path, name))) return;
    used.add(key(path, name));
    for (const offer of source.offers) {
      if (name === '*' && offer.name !== '*') use(path, offer.name);
      const through = offer.name === name || offer.name === '*';
      if (through && offer.from?.to) use(offer.from.to, offer.from.name === '*' ? name : offer.from.name);
    }
  };
  for (const { edges } of tree.sources.values()) {
    for (const { to, names } of edges) for (const name of names) if (to !== undefined) use(to, name);
  }
  return used;
}

function saidAgain({ text }: Source, { name, type, from }: Offer): boolean {
  return type && !from && (text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0) > 1;
}
