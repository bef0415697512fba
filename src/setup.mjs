import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Top level of the repository, also for a program that was built from this file and lies deeper. */
export const root = topLevel(dirname(fileURLToPath(import.meta.url)));

/**
 * @param {string} folder
 * @returns {string}
 */
function topLevel(folder) {
  const above = dirname(folder);
  return existsSync(join(folder, 'package.json')) || above === folder ? folder : topLevel(above);
}

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/** @param {import('node:child_process').ChildProcess} child */
function endGroup(child) {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is empty: everything in it has ended by itself.
  }
}

/**
 * Ends every process started by `run` that still lives, with all it started in its turn.
 */
export function endAll() {
  for (const child of running) endGroup(child);
}

/**
 * Runs a program at the top level and waits for it. It gets a process group of its own, which is ended with it, so
 * that nothing it started outlives it. What it prints goes to our standard error when `quietly` is set: our own
 * standard output then stays the program's that follows.
 * @param {string} program
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, quietly?: boolean }} [options]
 * @returns {Promise<number>} its exit code; 1 when it was killed or could not be started
 */
export function run(program, args, { env, quietly } = {}) {
  return new Promise((settle) => {
    const output = quietly ? 2 : 1;
    const child = spawn(program, args, {
      cwd: root,
      detached: true,
      env: env ?? process.env,
      stdio: ['ignore', output, 2],
    });
    running.add(child);
    child.on('error', (error) => {
      console.error(`${program}: ${error.message}`);
      running.delete(child);
      settle(1);
    });
    child.on('exit', (code) => {
      endGroup(child);
      running.delete(child);
      settle(code ?? 1);
    });
  });
}

/**
 * Runs a program of node_modules under this Node.
 * @param {string} path its script, from node_modules
 * @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, quietly?: boolean }} [options]
 */
export function runInstalled(path, args, options) {
  return run(process.execPath, [join(root, 'node_modules', path), ...args], options);
}

/** @param {string} path from the top level */
function changedAt(path) {
  const full = join(root, path);
  return existsSync(full) ? statSync(full).mtimeMs : 0;
}

/**
 * Installs the locked packages when they are missing or older than the lock.
 * @returns {Promise<boolean>} false when the installation failed; npm has said why
 */
export async function ensureInstalled() {
  if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) return true;
  console.error('Installing the packages: some minutes at most, once.');
  return (await run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], { quietly: true })) === 0;
}

/** What the build reads: the product, and the tests' programs for Node (simulator, bench, kills, fuzzer, soak) with what they share. */
const inputs = [
  ...['index.html', 'package-lock.json', 'public', 'src', 'sw', 'vite.config.ts'],
  ...[
    'test/app/kit',
    'test/app/person.ts',
    'test/bench',
    'test/fixtures',
    'test/fuzz',
    'test/kill',
    'test/scenario',
    'test/sim',
    'test/soak',
  ],
];
const stamp = join(root, 'dist/.built-from');

/**
 * What a build depends on, as text: path, size and time of change of every input.
 * @param {string[]} paths
 * @returns {string}
 */
function listing(paths) {
  return paths
    .filter((path) => existsSync(join(root, path)))
    .map((path) => {
      const found = statSync(join(root, path));
      if (!found.isDirectory()) return `${path} ${found.size} ${found.mtimeMs}`;
      return listing(readdirSync(join(root, path)).map((name) => `${path}/${name}`));
    })
    .join('\n');
}

/**
 * Builds app and Node programs (dist/app, dist/node) when an input changed since the last build by this function.
 * @returns {Promise<boolean>} false when the build failed; the builder has said why
 */
export async function ensureBuilt() {
  const wanted = listing(inputs);
  const built = ['dist/app/index.html', 'dist/node/relay.js'].every((path) => existsSync(join(root, path)));
  if (built && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return true;
  // A test runner sets this to `test`, which would build the page with its library's development parts.
  const env = { ...process.env, NODE_ENV: 'production' };
  if ((await runInstalled('vite/bin/vite.js', ['build'], { env, quietly: true })) !== 0) return false;
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
  return true;
}
