import type { Tree } from './tree';

/** Names at the top level: these and no others. */
export const topLevel = [
  '.biome.json',
  '.ci',
  '.gitignore',
  'LICENSE',
  'README.md',
  'index.html',
  'package-lock.json',
  'package.json',
  'public',
  'src',
  'sw',
  'test',
  'tsconfig.json',
  'vite.config.ts',
];

/** Packages the product is asked to be built from. */
export const named = [
  'idb',
  'workbox-window',
  'workbox-sw',
  'vite',
  'preact',
  'comlink',
  '@noble/hashes',
  'vitest',
];

/** Differences between `present` names of the top level and the fixed ones. */
export function topLevelBreaches(present: readonly string[]): string[] {
  return [
    ...topLevel.filter((name) => !present.includes(name)).map((name) => `${name}: missing at the top level`),
    ...present
      .filter((name) => !topLevel.includes(name))
      .map((name) => `${name}: not a top level name of ours`),
  ];
}

/** `@scope/name` or `name` of an import request; undefined for a file or a Node module. */
function packageOf(request: string): string | undefined {
  if (/^([./]|node:|virtual:)/.test(request)) return undefined;
  const parts = request.split('/');
  return request.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0];
}

function importedBy(tree: Tree, name: string): string[] {
  return [...tree.sources.values()]
    .filter(({ edges }) =>
      edges.some((edge) => !edge.typeOnly && !edge.asFile && packageOf(edge.request) === name),
    )
    .map(({ path }) => path);
}

/** Where each named package has to be imported by value to count as used. */
const places: Record<string, RegExp> = { vite: /^vite\.config\.ts$/, vitest: /^test\// };

/**
 * Named packages nothing really imports. workbox-sw has no importable module: it is used when the build copies it
 * and the service worker loads it by importScripts and calls the `workbox` it defines.
 */
export function unusedNamed(tree: Tree): string[] {
  return named.filter((name) => {
    if (name === 'workbox-sw') return !workboxIsLoaded(tree);
    return !importedBy(tree, name).some((path) => (places[name] ?? /^(src|sw)\//).test(path));
  });
}

function workboxIsLoaded(tree: Tree): boolean {
  const all = (pattern: RegExp) => [...tree.sources.values()].filter(({ path }) => pattern.test(path));
  const copied = all(/^vite\.config\.ts$/).some(({ text }) => text.includes('workbox-sw'));
  const worker = all(/^sw\//).map(({ text }) => text);
  const loaded = worker.some((text) => /\bimportScripts\(/.test(text) && text.includes('workbox-sw'));
  return copied && loaded && worker.some((text) => /\bworkbox\.[a-z]/.test(text));
}

/** rolldown is vite's own parser and must be the one vite brings, so it is not listed beside it. */
const broughtByVite = ['rolldown'];
/** Packages run as programs, or used only through types or another package. */
const programs = [
  'typescript',
  '@biomejs/biome',
  'playwright',
  'playwright-core',
  'workbox-core',
  'workbox-sw',
];

/** Imports of packages that package.json does not list, and listed packages nothing imports or names. */
export function packageBreaches(tree: Tree): string[] {
  const manifest = JSON.parse(tree.texts.get('package.json') ?? '{}');
  const listed = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  const requests = [...tree.sources.values()].flatMap(({ path, edges }) =>
    edges.filter((edge) => !edge.asFile).map((edge) => ({ path, name: packageOf(edge.request) })),
  );
  const allowed = [...listed, ...broughtByVite];
  const unlisted = requests.filter(({ name }) => name !== undefined && !allowed.includes(name));
  const spoken = [...tree.sources.values()].flatMap(({ strings }) =>
    strings.map(({ value }) => packageOf(value)),
  );
  const idle = listed.filter(
    (name) => !programs.includes(name) && !name.startsWith('@types/') && !spoken.includes(name),
  );
  return [
    ...unlisted.map(({ path, name }) => `${path}: imports ${name}, which package.json does not list`),
    ...idle.map((name) => `package.json: ${name} is listed and never used`),
  ];
}

/** Packages the core may use: pure arithmetic on bytes. */
const pure = /^@(noble|scure)\//;

/** Imports of anything but files and pure packages in core. */
export function corePackageBreaches(tree: Tree): string[] {
  return [...tree.sources.values()]
    .filter(({ path }) => path.startsWith('src/core/'))
    .flatMap(({ path, edges }) =>
      edges
        .filter(({ request, asFile }) => !asFile && !/^[./]/.test(request) && !pure.test(request))
        .map(({ request }) => `${path}: imports ${request}`),
    );
}
