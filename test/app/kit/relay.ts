import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, root } from '../../../src/setup.mjs';
import { until } from './until';

/** A port of loopback that nothing listens on now. */
export function freePort(): Promise<number> {
  return new Promise((settle, fail) => {
    const probe = createServer();
    probe.once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => settle(port));
    });
  });
}

/** A real relay process with a store of its own that survives its restarts. */
export class Relay {
  readonly port: number;
  /** Its SQLite file. */
  readonly store: string;
  /** What it printed, newest last. */
  readonly log: string[] = [];
  readonly #folder: string;
  readonly #node: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number, node: readonly string[]) {
    this.#folder = folder;
    this.#node = node;
    this.port = port;
    this.store = join(folder, 'relay.sqlite');
  }

  /**
   * Starts the built relay (dist/node/relay.js) as the first of its network, open to these origins; `more` are lines
   * that end its configuration, below `[peers]`, and `node` options of Node itself.
   */
  static async start(
    options: {
      origins?: readonly string[];
      more?: string;
      log?: string;
      node?: readonly string[];
      /** Where its folder is made; else where temporary files go. */
      place?: string;
    } = {},
  ): Promise<Relay> {
    if (!(await ensureBuilt())) throw new Error('the relay could not be built');
    const relay = new Relay(
      mkdtempSync(join(options.place ?? tmpdir(), 'holdfast-relay-')),
      await freePort(),
      options.node ?? [],
    );
    const lines = [
      '[relay]',
      `listen = "127.0.0.1:${relay.port}"`,
      `store = ${JSON.stringify(relay.store)}`,
      `origins = ${JSON.stringify(options.origins ?? ['*'])}`,
      `log = "${options.log ?? 'info'}"`,
      '[peers]',
      'bootstrap = true',
      options.more ?? '',
    ];
    writeFileSync(relay.#config, `${lines.join('\n')}\n`);
    await relay.restart();
    return relay;
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}`;
  }

  get #config(): string {
    return join(this.#folder, 'relay.toml');
  }

  /** Starts it, after it ended, on the same port and store; resolves when it listens. */
  async restart(): Promise<void> {
    const program = join(root, 'dist/node/relay.js');
    const child = spawn(process.execPath, [...this.#node, program, '--config', this.#config], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => this.log.push(String(text)));
    await until('the relay to listen', () => {
      if (child.exitCode !== null)
        throw new Error(`the relay ended with ${child.exitCode}:\n${this.log.join('')}`);
      return accepts(this.port);
    });
  }

  get pid(): number {
    if (this.#process?.pid === undefined) throw new Error('the relay does not run');
    return this.#process.pid;
  }

  /** The signal that ended it, if one did. */
  get signal(): NodeJS.Signals | undefined {
    return this.#process?.signalCode ?? undefined;
  }

  /** Tells it to read again what may change while it runs. */
  hangUp(): void {
    this.#process?.kill('SIGHUP');
  }

  /** Ends it in order. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** Ends it as a crash does. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Ends it and removes its store. */
  async dispose(): Promise<void> {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Resolves when the process has ended, which is what proves the fault. */
  #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null)
      throw new Error('the relay does not run');
    return new Promise((settle) => {
      child.once('exit', () => settle());
      child.kill(signal);
    });
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => settle(false));
    socket.once('connect', () => {
      socket.destroy();
      settle(true);
    });
  });
}
