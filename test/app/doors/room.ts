import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { ensureBuilt, root, run } from '../../../src/setup.mjs';
import type { Tab } from '../kit/tab';

/** A folder with a build of the app and the probe beside it, so that no other test's build changes it meanwhile. */
export interface Room {
  readonly folder: string;
  remove(): void;
}

/** Copies the built app. */
export async function roomOfApp(): Promise<Room> {
  if (!(await ensureBuilt())) throw new Error('the app could not be built');
  const room = emptyRoom();
  cpSync(join(root, 'dist/app'), room.folder, { recursive: true });
  await addProbe(room.folder);
  return room;
}

/** Builds the app with these headers beside its own. */
export async function roomWithHeaders(headers: Readonly<Record<string, string>>): Promise<Room> {
  const out = mkdtempSync(join(tmpdir(), 'holdfast-build-'));
  const env = { ...process.env, HOLDFAST_OUT: out, HOLDFAST_HEADERS: JSON.stringify(headers) };
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  if ((await run(process.execPath, [vite, 'build'], { env, quietly: true })) !== 0)
    throw new Error('no build');
  await addProbe(join(out, 'app'));
  return { folder: join(out, 'app'), remove: () => rmSync(out, { recursive: true, force: true }) };
}

function emptyRoom(): Room {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-room-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

async function addProbe(folder: string): Promise<void> {
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    build: {
      outDir: join(folder, 'probe'),
      emptyOutDir: false,
      copyPublicDir: false,
      minify: false,
      target: 'es2022',
      rolldownOptions: {
        input: { page: join(root, 'test/app/doors/page.ts') },
        preserveEntrySignatures: 'strict',
        output: { format: 'es', entryFileNames: '[name].js' },
      },
    },
  });
}

/** Brings the probe into a page, once the page is under the worker's control, as `globalThis.probe`. */
export async function probeIn(tab: Tab): Promise<void> {
  await tab.waitFor('control by the service worker', () => navigator.serviceWorker.controller !== null);
  // Not a function of the test: a test runner rewrites its imports.
  const expression = "import('/probe/page.js').then((probe) => { globalThis.probe = probe; return true; })";
  const answer = await tab.command('Runtime.evaluate', { expression, awaitPromise: true });
  if (answer['exceptionDetails'] !== undefined) throw new Error(JSON.stringify(answer['exceptionDetails']));
}
