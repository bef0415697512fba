import { existsSync } from 'node:fs';
import { run } from '../src/setup.mjs';
import { findChromium } from './chromium.mjs';

const how = `No Chromium was found, so nothing can be tested in a real browser. Any of these helps:
  Debian, Ubuntu    sudo apt-get install chromium
  macOS, Windows    npx playwright install chromium
  a browser of yours   CHROMIUM=/path/to/chromium npm test`;

/**
 * A Chromium to test in: the one found, or Debian's, installed where we may.
 * @returns {Promise<string | undefined>} its path; undefined when there is none, after saying how to get one
 */
export async function ensureChromium() {
  const found = findChromium();
  if (found) return found;
  if (!process.env['CHROMIUM'] && existsSync('/etc/debian_version') && process.getuid?.() === 0) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['update', '-q'], { env });
    await run('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'chromium'], { env });
  }
  const installed = findChromium();
  if (!installed) console.error(how);
  return installed;
}
