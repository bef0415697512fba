import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { endAll, ensureBuilt, ensureInstalled, root, runInstalled } from '../src/setup.mjs';
import {
  brokenClaims,
  parseClaims,
  parseLines,
  parseRequirements,
  reconcile,
  summaryOf,
} from './evidence/reconcile.mjs';
import { ensureChromium } from './setup.mjs';

const budgetSeconds = 600;
const results = join(root, 'test-results/tests.jsonl');
const config = ['run', '--config', 'test/vitest.config.ts'];

/** What failed outside a test case, one text each; every one counts as one failure in the last line. */
const faults = /** @type {string[]} */ ([]);
const times = /** @type {{ part: string, seconds: number }[]} */ ([]);

/**
 * Runs one part, remembers how long it took and, when it returns a text, that it failed.
 * @param {string} part
 * @param {() => Promise<string | undefined>} work
 * @returns {Promise<boolean>} whether it succeeded
 */
async function time(part, work) {
  console.log(`\n== ${part}`);
  const started = performance.now();
  const fault = await work();
  times.push({ part, seconds: (performance.now() - started) / 1_000 });
  if (fault) {
    faults.push(fault);
    console.error(fault);
  }
  return !fault;
}

/** @returns {import('./evidence/reporter.ts').TestLine[]} */
function lines() {
  return existsSync(results) ? parseLines(readFileSync(results, 'utf8')) : [];
}

/** @param {string} folder */
function holdsFiles(folder) {
  const path = join(root, folder);
  return existsSync(path) && readdirSync(path).length > 0;
}

/**
 * One project of the test configuration. Its failing tests stand in the results; what fails beside them (a crash, no
 * test at all) is a fault of the part.
 * @param {string} project
 * @param {string} folder where its tests are; the part is left out only while there is nothing in it
 */
async function tests(project, folder) {
  if (!holdsFiles(folder)) return console.log(`\n== ${project}: ${folder} holds nothing yet`);
  await time(project, async () => {
    const before = lines().length;
    const code = await runInstalled('vitest/vitest.mjs', [...config, '--project', project]);
    const own = lines().slice(before);
    if (own.length === 0) return `${project}: no test ran`;
    return code === 0 || own.some((line) => line.state === 'failed')
      ? undefined
      : `${project}: ended with ${code}`;
  });
}

/** Types and style. */
async function statics() {
  const types = await runInstalled('typescript/bin/tsc', ['-b']);
  const style = await runInstalled('@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']);
  const failed = [...(types === 0 ? [] : ['tsc -b']), ...(style === 0 ? [] : ['biome check'])];
  return failed.length > 0 ? `static: ${failed.join(' and ')} failed` : undefined;
}

/** What was claimed must have been shown by this run. */
async function evidence() {
  const table = readFileSync(join(root, 'test/requirements.tsv'), 'utf8');
  const result = reconcile(parseRequirements(table), lines());
  const claims = parseClaims(readFileSync(join(root, 'test/evidence/claimed.txt'), 'utf8'));
  const unknown = result.unknown.map(({ id, test }) => `unknown id ${id} in the title of ${test}`);
  console.log(`${summaryOf(result)}; npm run evidence shows each`);
  const broken = [...brokenClaims(result, claims), ...unknown];
  return broken.length > 0 ? broken.join('\n') : undefined;
}

function printTimes() {
  const total = times.reduce((sum, one) => sum + one.seconds, 0);
  console.log('\n== time');
  for (const { part, seconds } of times) console.log(`${part.padEnd(14)}${seconds.toFixed(1).padStart(8)} s`);
  console.log(`${'all'.padEnd(14)}${total.toFixed(1).padStart(8)} s of a budget of ${budgetSeconds} s`);
  if (total > budgetSeconds) console.log('warning: over the budget of time (this fails nothing)');
}

async function main() {
  rmSync(results, { force: true });
  const installed = await time('install', async () =>
    (await ensureInstalled()) ? undefined : 'install: npm ci failed, so nothing else was run',
  );
  if (installed) {
    let chromium = /** @type {string | undefined} */ (undefined);
    await time('browser', async () => {
      chromium = await ensureChromium();
      return chromium ? undefined : 'browser: no Chromium, so its tests were not run';
    });
    if (chromium) process.env['CHROMIUM'] = chromium;
    await time('static', statics);
    const built = await time('build', async () =>
      (await ensureBuilt()) ? undefined : 'build: vite build failed, so what needs it was not run',
    );
    await tests('core', 'test/core');
    await tests('sim', 'test/sim');
    if (built) await tests('relay', 'test/relay');
    if (chromium) await tests('chromium', 'test/browser');
    if (chromium && built) await tests('chromium-app', 'test/app');
    await time('evidence', evidence);
  }
  printTimes();
  const passed = lines().filter((line) => line.state === 'passed').length;
  const failed = lines().filter((line) => line.state === 'failed').length + faults.length;
  console.log(faults.length > 0 ? `\nfailed beside test cases:\n${faults.join('\n')}\n` : '');
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.once(signal, () => {
    endAll();
    process.exit(130);
  });
}
await main();
