import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from './serve.mjs';
import { endAll, ensureBuilt, ensureInstalled, root } from './setup.mjs';

const usage = `npm start -- [--port 4180] [--relay-port 4181] [--data .data]
Sets up, builds, starts a relay of its own and serves the app. Ctrl-C stops everything.`;
const host = '127.0.0.1';

/**
 * @param {number} port
 * @returns {Promise<boolean>} whether the port can be listened on
 */
function isFree(port) {
  return new Promise((settle) => {
    const probe = createServer();
    probe.once('error', () => settle(false));
    probe.listen(port, host, () => probe.close(() => settle(true)));
  });
}

/**
 * Writes the configuration of the relay that belongs to this copy of the app (formats.md 8).
 * @param {{ data: string, port: number, relayPort: number }} options
 * @returns {string} its path
 */
function writeRelayConfig({ data, port, relayPort }) {
  mkdirSync(data, { recursive: true });
  const file = join(data, 'relay.toml');
  const origins = [`http://${host}:${port}`, `http://localhost:${port}`];
  writeFileSync(
    file,
    `# Written by npm start at every start.
[relay]
listen = "${host}:${relayPort}"
store = ${JSON.stringify(join(data, 'relay.sqlite'))}
origins = ${JSON.stringify(origins)}

[peers]
bootstrap = true
`,
  );
  return file;
}

/**
 * Waits until something listens on the port, or the relay has ended.
 * @param {number} port
 * @param {import('node:child_process').ChildProcess} relay
 * @returns {Promise<boolean>} false when it ended first
 */
async function listens(port, relay) {
  while (relay.exitCode === null && relay.signalCode === null) {
    const open = await new Promise((settle) => {
      const socket = connect(port, host);
      socket.once('connect', () => settle(true)).once('error', () => settle(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return true;
    await new Promise((settle) => setTimeout(settle, 50));
  }
  return false;
}

/**
 * Asks the relay to end and waits; ends it when it does not within 5 s.
 * @param {import('node:child_process').ChildProcess} relay
 */
function end(relay) {
  return new Promise((settle) => {
    if (relay.exitCode !== null || relay.signalCode !== null) return settle(undefined);
    const late = setTimeout(() => relay.kill('SIGKILL'), 5_000);
    relay.once('exit', () => {
      clearTimeout(late);
      settle(undefined);
    });
    relay.kill('SIGTERM');
  });
}

/** @param {string} text @returns {never} */
function give(text) {
  console.error(text);
  process.exit(1);
}

/** What was asked for on the command line; an option that does not exist ends us with the usage, not with a stack. */
function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean' },
        port: { type: 'string', default: '4180' },
        'relay-port': { type: 'string', default: '4181' },
        data: { type: 'string', default: '.data' },
      },
    });
    return values;
  } catch (error) {
    return give(`${error instanceof Error ? error.message : error}\n${usage}`);
  }
}

async function main() {
  const values = readOptions();
  if (values.help) return console.log(usage);
  const [port, relayPort] = [Number(values.port), Number(values['relay-port'])];
  const interrupted = () => {
    endAll();
    process.exit(130);
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  for (const wanted of [port, relayPort]) {
    if (!Number.isInteger(wanted) || wanted < 1 || wanted > 65_535)
      give(`${wanted} is not a port.\n${usage}`);
    if (!(await isFree(wanted))) {
      give(
        `Port ${wanted} on ${host} is taken. Is Holdfast running already? Stop it, or choose others:\n${usage}`,
      );
    }
  }
  if (!(await ensureInstalled())) give('The packages could not be installed; npm says why above.');
  if (!(await ensureBuilt())) give('The app could not be built; the messages above say why.');
  process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
  await runAll({ port, relayPort, data: resolve(root, values.data) });
}

/** @param {{ port: number, relayPort: number, data: string }} options */
async function runAll({ port, relayPort, data }) {
  // The relay started here is the one new accounts begin with, whichever its port.
  const own = { '/relays.json': JSON.stringify([`ws://${host}:${relayPort}/`]) };
  const app = await serve({ folder: join(root, 'dist/app'), host, port, instead: own });
  const config = writeRelayConfig({ data, port, relayPort });
  // In a group of its own, so that Ctrl-C reaches us alone and the relay is asked to end in order.
  const relay = spawn(process.execPath, [join(root, 'dist/node/relay.js'), '--config', config], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
  let stopping = false;
  /** @param {number} code */
  const stop = async (code) => {
    if (stopping) return;
    stopping = true;
    await Promise.all([app.close(), end(relay)]);
    process.exit(code);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(0));
  relay.once('exit', () => {
    if (!stopping) console.error('The relay ended; its last message says why. Stopping the app too.');
    stop(1);
  });
  if (await listens(relayPort, relay)) {
    console.log(
      `\n  Holdfast   ${app.url}\n  Relay      ws://${host}:${relayPort}\n\n  Ctrl-C stops both.\n`,
    );
  }
}

await main();
