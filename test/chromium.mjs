import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';

/**
 * Flags every Chromium of the tests starts with: nothing of its own goes to the network, and the sandbox is off only
 * where it cannot work (root). QUIC is off so that every request passes where a test can see and cut it.
 * @returns {string[]}
 */
export function chromiumFlags() {
  const flags = [
    '--headless',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  return process.getuid?.() === 0 ? [...flags, '--no-sandbox'] : flags;
}

/** @param {string | undefined} path */
function runnable(path) {
  if (!path) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @returns {string | undefined} */
function playwrightsOwn() {
  try {
    return createRequire(import.meta.url)('playwright-core').chromium.executablePath();
  } catch {
    return undefined;
  }
}

/**
 * Path of a Chromium that can be started: what CHROMIUM names, else the system's, else Playwright's own download.
 * @returns {string | undefined} undefined when there is none
 */
export function findChromium() {
  const named = process.env['CHROMIUM'];
  if (named) return runnable(named) ? named : undefined;
  const system = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'].flatMap((name) =>
    (process.env['PATH'] ?? '/usr/bin').split(':').map((folder) => `${folder}/${name}`),
  );
  return system.find(runnable) ?? [playwrightsOwn()].find(runnable);
}
