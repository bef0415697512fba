import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import preact from '@preact/preset-vite';
import { build, defineConfig, type Plugin, type Rolldown, type UserConfig } from 'vite';
import { injectManifest } from 'workbox-build';
import packageFile from './package.json' with { type: 'json' };
import { appHeaders } from './src/headers.mjs';

/** Programs for Node: name of the file in dist/node, and where it starts. */
const programs = {
  relay: 'src/relay/main.ts',
  sim: 'test/sim/main.ts',
  bench: 'test/bench/main.ts',
  kill: 'test/kill/main.ts',
};

/** Native or socket packages that Node loads itself. */
const nodeOwn = ['better-sqlite3', 'ws'];

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

/** The service worker is one classic script without imports: shared chunks would make it fail. */
const swOptions: Rolldown.RolldownOptions = {
  input: { sw: 'sw/sw.ts' },
  output: {
    format: 'iife',
    entryFileNames: 'sw.js',
    codeSplitting: false,
    postBanner: `/* Files are kept with these headers: ${headers.replaceAll('*/', '*\\/')} */`,
  },
};

function swDefines(id: string): Record<string, string> {
  return {
    __BUILD__: JSON.stringify(id),
    __WORKBOX__: JSON.stringify(`/${workboxFolder}/`),
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

/** Answers /sw.js and the workbox files in development at the addresses they have in a build. */
function serveWorker(id: string): Plugin {
  let made: Rolldown.OutputChunk | undefined;
  const make = async (): Promise<Rolldown.OutputChunk> => {
    const result = await build({
      configFile: false,
      root,
      logLevel: 'warn',
      define: {
        ...swDefines(id),
        'self.__WB_MANIFEST': '[]',
        'process.env.NODE_ENV': '"development"',
      },
      build: {
        write: false,
        minify: false,
        copyPublicDir: false,
        rolldownOptions: swOptions,
      },
    });
    return (result as Rolldown.RolldownOutput).output[0];
  };
  return {
    name: 'holdfast:serve-worker',
    apply: 'serve',
    configureServer(server) {
      server.watcher.on('change', (path) => {
        if (made?.moduleIds.includes(path)) made = undefined;
      });
      server.middlewares.use(async (request, response, next) => {
        const path = request.url?.split('?')[0] ?? '';
        const part = workboxFiles.find((file) => path === `/${workboxFolder}/${file.to}`);
        if (path !== '/sw.js' && !part) return next();
        try {
          made ??= await make();
          const text = part ? await readFile(part.from, 'utf8') : made.code;
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

/** Page and shared worker, service worker, list of files, programs for Node: all by one `vite build`. */
function buildEverything(id: string): Plugin {
  const input = Object.fromEntries(
    Object.entries(programs).filter(([, file]) => existsSync(join(root, file))),
  );
  return {
    name: 'holdfast:build-everything',
    apply: 'build',
    config: (): UserConfig => ({
      environments: {
        client: { build: { outDir: app, emptyOutDir: true } },
        sw: {
          consumer: 'client',
          define: swDefines(id),
          build: {
            outDir: app,
            emptyOutDir: false,
            copyPublicDir: false,
            sourcemap: true,
            rolldownOptions: swOptions,
          },
        },
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
          const { client, sw, node } = builder.environments;
          if (node && Object.keys(input).length > 0) await builder.build(node);
          if (client) await builder.build(client);
          if (sw) await builder.build(sw);
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
    plugins: [preact(), buildEverything(id), serveWorker(id)],
    define: { __BUILD__: JSON.stringify(id) },
    // The package's own entry is made for browsers of ten years ago.
    resolve: { alias: { 'workbox-window': 'workbox-window/build/workbox-window.prod.mjs' } },
    build: {
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
    worker: {
      format: 'es',
      // A folder of their own: unlike page scripts, a worker's answer carries headers that count.
      rolldownOptions: {
        output: { entryFileNames: 'workers/[name]-[hash].js' },
      },
    },
    server: { host: '127.0.0.1', port: 4180, strictPort: true },
  } satisfies UserConfig;
});
