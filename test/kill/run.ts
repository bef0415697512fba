import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../../src/core/wire/commands';
import { Browser } from '../app/kit/browser';
import { Relay } from '../app/kit/relay';
import { Tap } from '../app/kit/tap';
import { until } from '../app/kit/until';
import { appFor } from '../app/person';
import { Arrivals } from './arrivals';
import { Control, type ControlCount } from './control';
import { type Breach, Ledger } from './ledger';
import { type KillPlan, planOf, type Trigger } from './plan';
import { Writer } from './writer';

/** What the kills showed (formats.md 10), and beside it what is needed to judge it. */
export interface KillReport {
  readonly runs: number;
  readonly lostWithoutWipe: number;
  /** How often the app's database came back empty. */
  readonly wipes: number;
  readonly lostAfterWipe: number;
  readonly duplicated: number;
  readonly reordered: number;
  readonly stalled: number;
  /** Messages the app said it keeps, and messages in the relay's store. */
  readonly kept: number;
  readonly arrived: number;
  /** Further events of a message that had arrived: a reader collapses them. */
  readonly copies: number;
  /** Kills by what they waited for, and those that fell while something kept had not arrived. */
  readonly kills: Readonly<Record<string, number>>;
  readonly control: ControlCount;
  readonly breaches: readonly (Breach & { readonly run: number; readonly seed: string })[];
  readonly seconds: number;
}

/** How much to do. Run `nth` has the seed `seed.nth`. */
export interface KillOptions {
  readonly runs: number;
  readonly seed: string;
  readonly say?: (text: string) => void;
  /** After the kill of this run the app's database is removed, as the browser itself does it sometimes. */
  readonly wipeIn?: number;
}

/** Longest that is waited for what was kept to arrive: a lease and what comes after it, ms. */
const drainMs = 90_000;
/** Longest any trigger is waited for, ms: a kill that comes late is a kill too. */
const triggerMs = 4_000;

/** Every so many runs the claim of the dead engine is waited out; in the others the network frees it. */
const leaseEvery = 10;

/** One profile, killed again and again, as in life. */
class Killing {
  readonly #ledger = new Ledger();
  readonly #arrivals: Arrivals;
  readonly #writer: Writer;
  readonly #breaches: (Breach & { run: number; seed: string })[] = [];
  readonly #kills: Record<string, number> = { time: 0, kept: 0, put: 0, answer: 0, waiting: 0 };
  #current = { run: 0, seed: '' };
  #browser: Browser;

  constructor(
    private readonly tap: Tap,
    private readonly control: Control,
    private readonly place: { readonly store: string; readonly address: string },
    browser: Browser,
  ) {
    this.#arrivals = new Arrivals(place.store);
    this.#writer = new Writer(place.address, this.#ledger);
    this.#browser = browser;
  }

  /** Begins, in a new profile. */
  async begin(): Promise<void> {
    await this.#open();
  }

  /** Writes, kills and starts again, drains and looks. */
  async run(nth: number, plan: KillPlan, wipe: boolean): Promise<void> {
    this.#current = { run: nth, seed: plan.seed };
    await this.#writeUntilKilled(plan);
    if (wipe) rmSync(databaseOf(this.#browser.profile, this.place.address), { recursive: true });
    this.tap.delay(0);
    await this.tap.restore();
    const frames = this.tap.frames.length;
    this.#browser = await this.#browser.restart();
    await this.#open();
    if (nth % leaseEvery !== 0) await this.#flap(frames);
    await this.#drain();
  }

  report(runs: number, begunAt: number): KillReport {
    const count = (kind: Breach['kind']) => this.#breaches.filter((one) => one.kind === kind).length;
    return {
      runs,
      lostWithoutWipe: count('lostWithoutWipe'),
      wipes: this.#writer.wipes,
      lostAfterWipe: count('lostAfterWipe'),
      duplicated: count('duplicated'),
      reordered: count('reordered'),
      stalled: count('stalled'),
      kept: this.#ledger.keptCount,
      arrived: this.#ledger.arrivedCount,
      copies: this.#ledger.copies,
      kills: this.#kills,
      control: this.control.count(),
      breaches: this.#breaches,
      seconds: Math.round((Date.now() - begunAt) / 100) / 10,
    };
  }

  dispose(): Promise<void> {
    return this.#browser.dispose();
  }

  /** The control first, so that the app is in front and carries. */
  async #open(): Promise<void> {
    await this.control.open(this.#browser);
    await this.#writer.open(this.#browser);
  }

  async #writeUntilKilled(plan: KillPlan): Promise<void> {
    await this.control.begin();
    const happened = this.#watch(plan.trigger);
    await this.#write(plan);
    await soon(happened);
    if (plan.afterMs > 0) await new Promise((over) => setTimeout(over, plan.afterMs));
    await this.#browser.kill();
    this.#killed(plan.trigger.on);
    this.#note(this.#arrived());
    if (this.#ledger.missing().length > 0) this.#killed('waiting');
  }

  /** Begins to write over the drawn network. One that never comes back before the kill is one of its faults too. */
  async #write({ network, trigger, padding }: KillPlan): Promise<void> {
    if (network.kind === 'slow') this.tap.delay(network.delayMs);
    if (network.kind === 'returning') await this.tap.cut();
    const kept = this.#watch({ on: 'kept', count: network.kind === 'returning' ? network.after : 0 });
    await this.#writer.begin(padding);
    if (network.kind !== 'returning' || trigger.on === 'time' || trigger.on === 'kept') return;
    await soon(kept);
    await this.tap.restore();
    await this.#writer.online();
  }

  /** Says whether what a trigger waits for has happened since now. */
  #watch({ on, count }: Trigger): () => boolean {
    const { tap } = this;
    const [at, keptAt, framesAt] = [Date.now(), this.#ledger.keptCount, tap.frames.length];
    const passed = (toward: 'page' | 'relay', command: string) =>
      tap.frames.slice(framesAt).filter((one) => one.toward === toward && one.command === command).length;
    const counts = {
      time: () => Date.now() - at,
      kept: () => this.#ledger.keptCount - keptAt,
      put: () => passed('relay', commands.eventPut),
      answer: () => passed('page', commands.eventPutStatus),
    };
    return () => counts[on]() >= count;
  }

  /**
   * The network ends and comes back once the new engine has its relay. What the dead engine had claimed is free then;
   * without that it stays claimed until its lease ends, which takes half a minute.
   */
  async #flap(frames: number): Promise<void> {
    const isReady = () =>
      this.tap.frames.slice(frames).some((one) => one.toward === 'page' && one.command === commands.tipRep);
    await until('the new engine to catch up', isReady);
    await this.tap.cut();
    await this.tap.restore();
    await this.#writer.online();
  }

  async #drain(): Promise<void> {
    const arrived = () => {
      this.#note(this.#arrived());
      return this.#ledger.missing().length === 0;
    };
    // What is missing then is told by the ledger.
    const complete = await until('everything kept to arrive', arrived, drainMs).catch(() => false);
    if (complete && this.#ledger.keepsSome) {
      const shown = await this.#writer.drained().catch((error) => String(error));
      this.#note(typeof shown === 'string' ? [{ kind: 'stalled', what: shown }] : this.#ledger.shows(shown));
    }
    this.#note([...this.#arrived(), ...this.#ledger.settle()]);
  }

  #arrived(): Breach[] {
    return this.#arrivals.fresh().flatMap((one) => this.#ledger.arrives(one));
  }

  #killed(what: string): void {
    this.#kills[what] = (this.#kills[what] ?? 0) + 1;
  }

  #note(breaches: readonly Breach[]): void {
    this.#breaches.push(...breaches.map((one) => ({ ...one, ...this.#current })));
  }
}

/** Kills a real browser so many times while it enqueues and drains against a real relay process. */
export async function killRuns({ runs, seed, say, wipeIn }: KillOptions): Promise<KillReport> {
  const begunAt = Date.now();
  const ends: (() => Promise<void>)[] = [];
  try {
    const relay = await Relay.start();
    ends.unshift(() => relay.dispose());
    const tap = await Tap.open(relay.url);
    ends.unshift(() => tap.close());
    const app = await appFor([tap.url]);
    ends.unshift(() => app.dispose());
    const control = await Control.create();
    ends.unshift(() => control.close());
    const place = { store: relay.store, address: app.site.url };
    const killing = new Killing(tap, control, place, await Browser.launch());
    ends.unshift(() => killing.dispose());
    await killing.begin();
    for (let nth = 1; nth <= runs; nth++) {
      const plan = planOf(`${seed}.${nth}`);
      await killing.run(nth, plan, nth === wipeIn);
      const { kept, arrived, wipes, seconds } = killing.report(nth, begunAt);
      say?.(
        `${nth}/${runs} ${JSON.stringify(plan)}: kept ${kept}, arrived ${arrived}, wipes ${wipes}, ${seconds} s`,
      );
    }
    return killing.report(runs, begunAt);
  } finally {
    for (const end of ends) await end();
  }
}

/** Whether something happened that must not, whatever the browser did. */
export function isBroken(report: KillReport): boolean {
  return report.lostWithoutWipe + report.duplicated + report.reordered + report.stalled > 0;
}

/** Where Chromium keeps the databases of an origin. */
function databaseOf(profile: string, origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  return join(profile, 'Default/IndexedDB', `${protocol.slice(0, -1)}_${hostname}_${port}.indexeddb.leveldb`);
}

/** Asks as often as it can, for the moment counts; a trigger that never comes makes a late kill. */
async function soon(probe: () => boolean): Promise<void> {
  const end = Date.now() + triggerMs;
  while (!probe() && Date.now() < end) await new Promise((over) => setTimeout(over, 1));
}
