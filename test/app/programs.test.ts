import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { appHeaders } from '../../src/headers.mjs';
import { ensureBuilt, root } from '../../src/setup.mjs';
import { freePort, Relay } from './kit/relay';
import { Tap } from './kit/tap';
import { until } from './kit/until';

interface Program {
  child: ChildProcess;
  /** Everything it printed so far. */
  said: () => string;
  ended: Promise<number | null>;
}

const programs: Program[] = [];

/** Starts one of our programs as npm does. */
function start(file: string, args: string[]): Program {
  const child = spawn(process.execPath, [join(root, file), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      said += text;
    });
  }
  const ended = new Promise<number | null>((settle) => child.once('exit', settle));
  const program = { child, said: () => said, ended };
  programs.push(program);
  return program;
}

function isOpen(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
}

/** Whether a relay takes a session there: a WebSocket with our subprotocol opens. */
function takesSessions(url: string): Promise<boolean> {
  return new Promise((settle) => {
    const socket = new WebSocket(url, 'holdfast.1');
    socket.once('error', () => settle(false));
    socket.once('open', () => {
      settle(socket.protocol === 'holdfast.1');
      socket.terminate();
    });
  });
}

beforeAll(async () => {
  expect(await ensureBuilt()).toBe(true);
});

afterEach(async () => {
  for (const { child, ended } of programs.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await ended;
  }
});

describe('npm start', () => {
  test('serves the app and a relay, prints the address, and Ctrl-C ends both', async () => {
    const data = mkdtempSync(join(tmpdir(), 'holdfast-start-'));
    const [port, relayPort] = [await freePort(), await freePort()];
    const program = start('src/start.mjs', [
      '--port',
      `${port}`,
      '--relay-port',
      `${relayPort}`,
      '--data',
      data,
    ]);
    const address = `http://127.0.0.1:${port}`;
    await until('the address to be printed', () => {
      expect(program.child.exitCode, program.said()).toBeNull();
      return program.said().includes(address);
    });
    const answer = await fetch(address, { headers: { accept: 'text/html' } });
    expect(Object.fromEntries(answer.headers)).toMatchObject(appHeaders);
    expect(await answer.text()).toContain('<script');
    // New accounts of this app begin with this relay, whichever its port.
    expect(await (await fetch(`${address}/relays.json`)).json()).toEqual([`ws://127.0.0.1:${relayPort}/`]);
    expect(await takesSessions(`ws://127.0.0.1:${relayPort}`)).toBe(true);
    program.child.kill('SIGINT');
    expect(await program.ended).toBe(0);
    expect(await isOpen(address)).toBe(false);
    expect(await takesSessions(`ws://127.0.0.1:${relayPort}`)).toBe(false);
    rmSync(data, { recursive: true });
  });

  test('says which port is taken and starts nothing', async () => {
    const taken = createServer();
    const port = await freePort();
    await new Promise<void>((settle) => taken.listen(port, '127.0.0.1', settle));
    const program = start('src/start.mjs', ['--port', `${port}`, '--relay-port', `${await freePort()}`]);
    expect(await program.ended).toBe(1);
    expect(program.said()).toContain(`Port ${port} on 127.0.0.1 is taken`);
    await new Promise((settle) => taken.close(settle));
  });

  test('answers an option it does not have with the usage', async () => {
    const program = start('src/start.mjs', ['--prot', '4180']);
    expect(await program.ended).toBe(1);
    expect(program.said()).toContain("'--prot'");
    expect(program.said()).toContain('npm start -- [--port');
    expect(program.said()).not.toContain('node:internal');
  });

  test('ends when its relay cannot run', async () => {
    const data = mkdtempSync(join(tmpdir(), 'holdfast-start-'));
    // A folder where the relay wants its file: it can only refuse.
    mkdirSync(join(data, 'relay.sqlite'));
    const ports = ['--port', `${await freePort()}`, '--relay-port', `${await freePort()}`];
    const program = start('src/start.mjs', [...ports, '--data', data]);
    expect(await program.ended).toBe(1);
    expect(program.said()).toContain('The relay ended');
    rmSync(data, { recursive: true });
  });
});

describe('a relay process', () => {
  test('keeps port and store through a crash, and the tap reaches it', async () => {
    const relay = await Relay.start();
    const tap = await Tap.open(relay.url);
    try {
      expect(await takesSessions(tap.url)).toBe(true);
      await relay.kill();
      expect(await takesSessions(tap.url)).toBe(false);
      await relay.restart();
      expect(await takesSessions(tap.url)).toBe(true);
      await relay.stop();
      expect(await takesSessions(relay.url)).toBe(false);
    } finally {
      await tap.close();
      await relay.dispose();
    }
  });
});

describe('npm run', () => {
  test('refuses a program that does not exist', async () => {
    const program = start('src/tool.mjs', ['nothing']);
    expect(await program.ended).toBe(2);
    expect(program.said()).toContain('relay|sim|bench');
  });

  test('hands arguments to the built program', async () => {
    const program = start('src/tool.mjs', [
      'relay',
      '--config',
      join(tmpdir(), 'there-is-no-such-file.toml'),
    ]);
    expect(await program.ended).not.toBe(0);
    expect(program.said()).toContain('there-is-no-such-file.toml');
  });
});
