import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import preact from '@preact/preset-vite';
import { minify } from 'terser';
import {
  build,
  defineConfig,
  type EnvironmentOptions,
  type Plugin,
  type Rolldown,
  type UserConfig,
} from 'vite';
import { injectManifest } from 'workbox-build';
import packageFile from './package.json' with { type: 'json' };
import { appHeaders } from './src/headers.mjs';

/** Programs for Node: name of the file in dist/node, and where it starts. */
const programs = {
  relay: 'src/relay/main.ts',
  sim: 'test/sim/main.ts',
  bench: 'test/bench/main.ts',
  kill: 'test/kill/main.ts',
  fuzz: 'test/fuzz/main.ts',
  soak: 'test/soak/main.ts',
  nostr: 'test/bench/nostr.ts',
};

/**
 * Native or socket packages that Node loads itself, one whose code is not what the fuzzer looks for, and a relay that
 * the bench measures beside ours as it is.
 */
const nodeOwn = [
  'better-sqlite3',
  'ws',
  'fast-check',
  '@nostr-relay/common',
  '@nostr-relay/core',
  '@nostr-relay/event-repository-sqlite',
];

/** What the service worker loads by importScripts. */
const workboxPackages = [
  'workbox-sw',
  'workbox-core',
  'workbox-precaching',
  'workbox-routing',
  'workbox-strategies',
];
const workboxFolder = `workbox-${packageFile.dependencies['workbox-sw']}`;

const root = import.meta.dirname;
const out = process.env['HOLDFAST_OUT'] ?? join(root, 'dist');
const app = join(out, 'app');
/** The app's headers, and those a deployment adds to them, as one text. */
const headers = JSON.stringify({
  ...appHeaders,
  ...JSON.parse(process.env['HOLDFAST_HEADERS'] ?? '{}'),
});

/** Names this build by what it is made of, so that the same sources give the same name. */
async function buildId(): Promise<string> {
  const hash = createHash('sha256').update(headers);
  for (const part of ['index.html', 'package-lock.json', 'public', 'src', 'sw', 'vite.config.ts']) {
    const path = join(root, part);
    const entries = /\.\w+$/.test(part) ? [''] : (await readdir(path, { recursive: true })).sort();
    for (const entry of entries) {
      if (entry === '' || /\.\w+$/.test(entry))
        hash.update(part + entry).update(await readFile(join(path, entry)));
    }
  }
  return `${packageFile.version}-${hash.digest('hex').slice(0, 10)}`;
}

/**
 * Scripts of the workers: where each starts, and its path. Store and engine share much of their code, so both are in
 * one, which sw.js imports and the shared worker runs. Its folder is its own: a worker's answer carries headers that
 * count. It is named by the build, so that the page and sw.js know its name.
 */
function workerScripts(id: string): { readonly workers: WorkerScript; readonly sw: WorkerScript } {
  return {
    workers: { input: 'sw/workers.ts', file: `workers/holdfast-${id}.js` },
    sw: { input: 'sw/sw.ts', file: 'sw.js' },
  };
}

interface WorkerScript {
  readonly input: string;
  readonly file: string;
}

/** A classic script without imports: shared chunks would make a service worker fail. */
function classicScript({ input, file }: WorkerScript): Rolldown.RolldownOptions {
  return {
    input,
    // What the entry exports is a property of the global of this name.
    preserveEntrySignatures: 'strict',
    output: { format: 'iife', name: 'holdfast', entryFileNames: file, codeSplitting: false },
  };
}

function defines(id: string): Record<string, string> {
  return {
    __BUILD__: JSON.stringify(id),
    __WORKERS__: JSON.stringify(`/${workerScripts(id).workers.file}`),
    __WORKBOX__: JSON.stringify(`/${workboxFolder}/`),
  };
}

/**
 * Puts constants that stand in objects, and functions called once, where they are used: vite's own minifier, which goes
 * over the result, leaves them.
 */
function foldConstants(): Plugin {
  return {
    name: 'holdfast:fold-constants',
    apply: 'build',
    applyToEnvironment: ({ config }) => config.consumer === 'client',
    async renderChunk(code, _chunk, { format }) {
      const module = format === 'es';
      const folded = await minify(code, {
        ecma: 2022,
        module,
        compress: { passes: 2 },
        mangle: false,
        format: { comments: /[@#]__PURE__/ },
        sourceMap: { asObject: true },
      });
      return { code: folded.code ?? code, map: folded.map as Rolldown.SourceMapInput };
    },
  };
}

function workboxFile(name: string): { from: string; to: string } {
  const file = name === 'workbox-sw' ? 'workbox-sw.js' : `${name}.prod.js`;
  return { from: join(root, 'node_modules', name, 'build', file), to: file };
}

/** One file a name, as `setConfig({ modulePathCb })` of the worker asks for them. */
const workboxFiles = workboxPackages.map(workboxFile);

async function copyWorkbox(): Promise<void> {
  await mkdir(join(app, workboxFolder), { recursive: true });
  for (const { from, to } of workboxFiles) await copyFile(from, join(app, workboxFolder, to));
}

/**
 * Puts the list of files into sw.js. The answers of document and workers are kept with their headers, so the header
 * text enters their revision: a changed header then reaches installed clients.
 */
async function injectPrecache(): Promise<void> {
  const { warnings } = await injectManifest({
    swSrc: join(app, 'sw.js'),
    swDest: join(app, 'sw.js'),
    globDirectory: app,
    globPatterns: ['**/*.{js,css,html,svg,png,webmanifest}'],
    // What only an installation asks for, once and online, is not kept.
    globIgnores: ['sw.js', 'workbox-*/**', 'icons/*{512,maskable,apple}*'],
    dontCacheBustURLsMatching: /^assets\//,
    manifestTransforms: [
      (entries) => ({
        manifest: entries.map((entry) => ({
          ...entry,
          revision: entry.revision === null ? null : revisionOf(entry.url, entry.revision),
        })),
        warnings: [],
      }),
    ],
  });
  for (const warning of warnings) console.warn(warning);
}

/** Document and workers change with their headers, which are kept with them. 64 bits tell revisions apart. */
function revisionOf(url: string, content: string): string {
  const isServedWithHeaders = /^(index\.html$|workers\/)/.test(url);
  return sha256(isServedWithHeaders ? `${content}\n${headers}` : content).slice(0, 16);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Answers the workers' scripts and the workbox files in development at the addresses they have in a build. */
function serveWorkers(id: string): Plugin {
  const scripts = Object.values(workerScripts(id));
  const made = new Map<string, Rolldown.OutputChunk>();
  const make = async (script: WorkerScript): Promise<Rolldown.OutputChunk> => {
    const result = await build({
      configFile: false,
      root,
      logLevel: 'warn',
      define: {
        ...defines(id),
        'self.__WB_MANIFEST': '[]',
        'process.env.NODE_ENV': '"development"',
      },
      build: {
        write: false,
        minify: false,
        copyPublicDir: false,
        rolldownOptions: classicScript(script),
      },
    });
    return (result as Rolldown.RolldownOutput).output[0];
  };
  const textOf = async (path: string): Promise<string | undefined> => {
    const part = workboxFiles.find((file) => path === `/${workboxFolder}/${file.to}`);
    if (part) return readFile(part.from, 'utf8');
    const script = scripts.find(({ file }) => path === `/${file}`);
    if (!script) return undefined;
    const chunk = made.get(path) ?? (await make(script));
    made.set(path, chunk);
    return chunk.code;
  };
  return {
    name: 'holdfast:serve-workers',
    apply: 'serve',
    configureServer(server) {
      server.watcher.on('change', (changed) => {
        for (const [path, { moduleIds }] of made) if (moduleIds.includes(changed)) made.delete(path);
      });
      server.middlewares.use(async (request, response, next) => {
        try {
          const text = await textOf(request.url?.split('?')[0] ?? '');
          if (text === undefined) return next();
          response.setHeader('content-type', 'text/javascript');
          response.setHeader('cache-control', 'no-cache');
          response.end(text);
        } catch (error) {
          next(error);
        }
      });
    },
  };
}

function workerEnvironment(script: WorkerScript): EnvironmentOptions {
  return {
    consumer: 'client',
    build: {
      outDir: app,
      emptyOutDir: false,
      copyPublicDir: false,
      sourcemap: true,
      rolldownOptions: classicScript(script),
    },
  };
}

/** Page, workers, list of files, programs for Node: all by one `vite build`. */
function buildEverything(id: string): Plugin {
  const scripts = workerScripts(id);
  const input = Object.fromEntries(
    Object.entries(programs).filter(([, file]) => existsSync(join(root, file))),
  );
  return {
    name: 'holdfast:build-everything',
    apply: 'build',
    config: (): UserConfig => ({
      environments: {
        client: { build: { outDir: app, emptyOutDir: true } },
        workers: workerEnvironment(scripts.workers),
        sw: workerEnvironment(scripts.sw),
        node: {
          consumer: 'server',
          resolve: { noExternal: true, external: nodeOwn },
          build: {
            outDir: join(out, 'node'),
            emptyOutDir: true,
            copyPublicDir: false,
            minify: false,
            sourcemap: true,
            target: 'node20',
            rolldownOptions: {
              input,
              output: { format: 'es', entryFileNames: '[name].js' },
            },
          },
        },
      },
      builder: {
        async buildApp(builder) {
          const { client, workers, sw, node } = builder.environments;
          if (node && Object.keys(input).length > 0) await builder.build(node);
          for (const part of [client, workers, sw]) if (part) await builder.build(part);
          await copyWorkbox();
          await injectPrecache();
        },
      },
    }),
  };
}

export default defineConfig(async () => {
  const id = await buildId();
  return {
    root,
    plugins: [preact(), foldConstants(), buildEverything(id), serveWorkers(id)],
    define: defines(id),
    // The package's own entry is made for browsers of ten years ago.
    resolve: { alias: { 'workbox-window': 'workbox-window/build/workbox-window.prod.mjs' } },
    build: {
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // Folding takes most of the time, as it should.
      rolldownOptions: { checks: { bundlerTimings: false } },
    },
    server: { host: '127.0.0.1', port: 4180, strictPort: true },
  } satisfies UserConfig;
});
