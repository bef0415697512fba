import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromiumFlags, findChromium } from '../../chromium.mjs';
import { Cdp } from './cdp';
import { Tab } from './tab';
import { until } from './until';
import { Workers } from './workers';

/** A real Chromium with a profile of its own, driven over its own protocol. */
export class Browser {
  readonly profile: string;
  readonly workers: Workers;
  readonly #flags: readonly string[];
  readonly #process: ChildProcess;
  readonly #cdp: Cdp;

  private constructor(
    profile: string,
    flags: readonly string[],
    process: ChildProcess,
    cdp: Cdp,
    workers: Workers,
  ) {
    this.profile = profile;
    this.#flags = flags;
    this.#process = process;
    this.#cdp = cdp;
    this.workers = workers;
  }

  /** Starts a browser; a given profile is the one of a browser that ended, so that what it stored is there again. */
  static async launch(options: { profile?: string; flags?: readonly string[] } = {}): Promise<Browser> {
    const executable = findChromium();
    if (!executable) throw new Error('no Chromium: npm test says how to get one');
    const profile = options.profile ?? mkdtempSync(join(tmpdir(), 'holdfast-profile-'));
    const flags = [...chromiumFlags(), '--disable-breakpad', ...(options.flags ?? [])];
    const child = spawn(
      executable,
      [...flags, `--user-data-dir=${profile}`, '--remote-debugging-port=0', 'about:blank'],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const cdp = await Cdp.connect(await addressOf(child));
    const workers = await Workers.watch(cdp, await Tab.open(cdp, 'about:blank'));
    return new Browser(profile, options.flags ?? [], child, cdp, workers);
  }

  /** Opens a tab in front and waits until its document is loaded. */
  async openTab(url: string): Promise<Tab> {
    const tab = await Tab.open(this.#cdp, url);
    await tab.loaded();
    return tab;
  }

  /** Kinds and addresses of everything that runs: pages, workers. */
  async targets(): Promise<{ type: string; url: string }[]> {
    const { targetInfos } = await this.#cdp.send('Target.getTargets');
    return targetInfos as { type: string; url: string }[];
  }

  /** Target of the SharedWorker of an origin, while one runs. */
  async sharedOf(origin: string): Promise<string | undefined> {
    const { targetInfos } = await this.#cdp.send('Target.getTargets');
    const found = (targetInfos as { type: string; url: string; targetId: string }[]).find(
      ({ type, url }) => type === 'shared_worker' && url.startsWith(`${origin}/`),
    );
    return found?.targetId;
  }

  /** Bytes in use in the heap of an origin's SharedWorker after a collection. It must run, and go on to. */
  async sharedHeap(origin: string): Promise<number> {
    const targetId = await this.sharedOf(origin);
    if (targetId === undefined) throw new Error(`no shared worker of ${origin} runs`);
    const attached = await this.#cdp.send('Target.attachToTarget', {
      targetId,
      flatten: true,
    });
    const session = String(attached['sessionId']);
    await this.#cdp.send('HeapProfiler.enable', {}, session);
    await this.#cdp.send('HeapProfiler.collectGarbage', {}, session);
    const { usedSize } = await this.#cdp.send('Runtime.getHeapUsage', {}, session);
    await this.#cdp.send('Target.detachFromTarget', { sessionId: session });
    return Number(usedSize);
  }

  /**
   * Ends the browser as a crash of the machine's user session would: at once, without a word to any page. Resolves
   * when the process is seen to have died by the signal and nothing of it runs any more.
   */
  async kill(): Promise<void> {
    const ended = exitOf(this.#process);
    this.#process.kill('SIGKILL');
    const signal = await ended;
    this.#cdp.close();
    if (signal !== 'SIGKILL') throw new Error(`the browser had ended before it was killed (${signal})`);
    await until('no process of the killed browser', () => {
      const left = processesOf(this.profile);
      for (const pid of left) endProcess(pid);
      return left.length === 0;
    });
  }

  /** Starts it again with the same profile; it must have ended. */
  restart(): Promise<Browser> {
    return Browser.launch({ profile: this.profile, flags: this.#flags });
  }

  /** Ends the browser as a person does and waits for it. */
  async quit(): Promise<void> {
    const ended = exitOf(this.#process);
    await this.#cdp.send('Browser.close').catch(() => this.#process.kill('SIGTERM'));
    await ended;
    this.#cdp.close();
  }

  /** Ends the browser, if it still runs, and removes its profile. */
  async dispose(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) await this.kill();
    // Helpers of the browser that do not name its profile may write on for a moment.
    await until('the profile to be removed', () => removed(this.profile));
  }
}

function removed(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((settle, fail) => {
    const said: string[] = [];
    child.once('error', fail);
    child.once('exit', (code) =>
      fail(new Error(`Chromium ended with ${code} at its start:\n${said.join('\n')}`)),
    );
    if (!child.stderr) return fail(new Error('Chromium has no standard error'));
    createInterface(child.stderr).on('line', (line) => {
      const found = /DevTools listening on (ws:\S+)/.exec(line);
      if (found?.[1]) settle(found[1]);
      else if (said.length < 20) said.push(line);
    });
  });
}

function exitOf(child: ChildProcess): Promise<NodeJS.Signals | number | null> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve(child.signalCode ?? child.exitCode);
  }
  return new Promise((settle) => child.once('exit', (code, signal) => settle(signal ?? code)));
}

/** Processes that were started with this profile, where the system lists them as files (Linux). */
function processesOf(profile: string): number[] {
  const listed = (): string[] => {
    try {
      return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    } catch {
      return [];
    }
  };
  return listed().flatMap((name) => {
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return words.includes(`--user-data-dir=${profile}`) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended between being listed and now.
  }
}
