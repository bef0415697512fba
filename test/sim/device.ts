import type { DataKey } from '../../src/core/crypto/seal';
import { StoreError } from '../../src/core/errors';
import { type AccountId, toHex } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { registered, type Scripts } from '../../src/core/transactions/registry';
import { Engine } from '../../src/engine/engine';
import type { Clock, LinkEvent, Links, Ports } from '../../src/engine/ports';
import { nameOf } from './names';
import type { Link, Network, Site } from './network';
import { Page } from './page';
import type { Options } from './plan';
import { DeviceStore, type StoreBug } from './store';
import type { Watch } from './watch';
import { Life, timeItself, type World } from './world';

/** What a planted bug may change of a device. */
export interface DeviceBug {
  readonly scripts?: Scripts;
  readonly store?: StoreBug;
  readonly ports?: (ports: Ports) => Ports;
}

/** What sets a device apart from others. */
export interface DeviceOptions extends Pick<Options, 'outboxBytesMax' | 'rates' | 'secret'> {
  readonly account: AccountId;
  /** Names of the relays its account begins with. */
  readonly relays: readonly string[];
  readonly skewMs: number;
}

type Look = Parameters<Parameters<Ports['looks']['listen']>[0]>[0];

const startAgainMs = 1_000;

/**
 * A browser with its store, its page and its engine. The store's rows survive; everything else may die between any two
 * steps and is born again.
 */
export class Device implements Site {
  browser: Life;
  /** Look signals reach nobody. */
  losesLooks = false;
  readonly account: AccountId;
  readonly store: DeviceStore;
  readonly page: Page;
  #engines: { readonly life: Life; readonly engine: Engine }[] = [];
  #listeners: { readonly life: Life; readonly listen: (look: Look) => void }[] = [];
  #births = 0;
  #tab: Life | undefined;
  #skewMs: number;
  readonly #timers = new Map<string, () => void>();
  readonly #keys: { readonly data: DataKey; outboxBytesMax: number };

  constructor(
    private readonly world: World,
    private readonly network: Network,
    watch: Watch,
    private readonly options: DeviceOptions,
    readonly name: string,
    private readonly bug: DeviceBug = {},
  ) {
    this.browser = new Life(name);
    this.account = options.account;
    this.#skewMs = options.skewMs;
    const data = { id: 1, bytes: world.random.fork(`key of ${name}`).bytes(32) };
    this.#keys = { data, outboxBytesMax: options.outboxBytesMax };
    this.store = new DeviceStore(
      world,
      this,
      options.rates,
      watch,
      this.#keys,
      bug.scripts ?? registered,
      (effects) => {
        for (const effect of effects) if (effect.type === 'look') this.#tell(effect);
      },
      bug.store,
    );
    this.page = new Page(world, watch, this, options.relays, options.secret);
    this.#open();
  }

  clock(): number {
    return this.world.now + this.#skewMs;
  }

  /** The outbox may hold so many bytes from now on. */
  setBound(bytes: number): void {
    this.#keys.outboxBytesMax = bytes;
  }

  /** Somebody sets the clock right that was far off. */
  setClockRight(): void {
    if (Math.abs(this.#skewMs) > limits.clockSkewAppliedMs) this.#skewMs = 0;
  }

  /** Somebody sets the clock of the machine. */
  setClock(byMs: number): void {
    this.world.count('clock-set');
    this.#skewMs += byMs;
  }

  /** The whole browser dies and is started again after a while. */
  crash(downMs: number = this.world.random.between(200, 6_000)): void {
    if (!this.browser.alive) return;
    this.world.count('browser-death');
    this.browser.end();
    this.#engines = [];
    this.#listeners = [];
    this.network.gone((life) => !life.alive);
    this.world.park(timeItself, `${this.name} is opened again`, downMs, () => {
      this.browser = new Life(this.name);
      this.store.reborn();
      this.#open();
    });
  }

  /** The engine's realm dies alone; its calls under way may still commit. */
  endEngine(downMs: number): void {
    const last = this.#engines.pop();
    if (last === undefined) return;
    this.world.count('engine-death');
    last.life.end();
    this.network.gone((life) => !life.alive);
    this.world.park(this.browser, 'starts an engine', downMs, () => this.#startEngine());
  }

  /** The tab dies that carried the links, with what a person did in it; the engine lives on by another. */
  endTab(downMs: number): void {
    if (this.#tab?.alive !== true) return;
    this.world.count('tab-death');
    this.#tab.end();
    this.network.cutAll(this.name);
    this.world.park(this.browser, 'opens a tab', downMs, () => this.#openTab());
  }

  /** A newer engine begins while the older one does not know that it is replaced. */
  secondEngine(): void {
    this.world.count('second-engine');
    this.#startEngine();
  }

  /** The time of a named timer has come. */
  fire(name: string): void {
    this.#timers.get(name)?.();
  }

  nudge(): void {
    for (const { engine } of this.#engines) engine.nudge();
  }

  /** Only the newest engine goes on: the older ones are gone in the end. */
  settle(): void {
    for (const { life } of this.#engines.slice(0, -1)) life.end();
    this.#engines = this.#engines.slice(-1);
    this.network.gone((life) => !life.alive);
  }

  #open(): void {
    this.#openTab();
    this.#startEngine();
  }

  #openTab(): void {
    this.#tab = new Life(`${this.name}.page`, this.browser);
    this.page.open(this.#tab);
  }

  #startEngine(): void {
    this.#births += 1;
    const life = new Life(`${this.name}.engine${this.#births}`, this.browser);
    const ports = this.#portsOf(life);
    const random = this.world.random.fork(`birth of ${life.name}`);
    const engine = new Engine(this.bug.ports?.(ports) ?? ports, { id: toHex(random.bytes(16)) });
    this.#engines.push({ life, engine });
    void this.#begin(life, engine);
  }

  /** As the worker's host does it: the store may not answer at first. */
  async #begin(life: Life, engine: Engine): Promise<void> {
    try {
      await engine.start(
        () => undefined,
        () => this.#replaced(life),
      );
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.world.park(life, 'begins again', startAgainMs, () => void this.#begin(life, engine));
    }
  }

  /** The newest engine still reigns here, whatever a late call of an older one has done to the store. */
  #replaced(life: Life): void {
    if (this.#engines.at(-1)?.life !== life) return;
    this.#engines.pop();
    this.world.count('begun-again');
    this.world.park(this.browser, 'starts an engine', 0, () => this.#startEngine());
  }

  #portsOf(life: Life): Ports {
    const random = this.world.random.fork(`bytes of ${life.name}`);
    return {
      store: {
        transact: (name, args, term) => this.store.transact(life, name, args, term),
        read: (name, args) => this.store.read(life, name, args),
      },
      links: this.#linksOf(life),
      clock: this.#clockOf(life),
      random: { bytes: (length) => random.bytes(length) },
      observer: {
        note: (what, detail) => this.world.note(`${life.name} notes ${what} ${JSON.stringify(detail ?? {})}`),
      },
      looks: {
        listen: (listen) => {
          this.#listeners = this.#listeners.filter((one) => one.life !== life);
          this.#listeners.push({ life, listen });
        },
      },
    };
  }

  #clockOf(life: Life): Clock {
    const timers = new Map<string, Life>();
    const clear = (name: string): void => {
      timers.get(name)?.end();
      timers.delete(name);
    };
    return {
      now: () => this.clock(),
      elapsed: () => this.world.now,
      set: (name, at, fire) => {
        clear(name);
        if (!Number.isFinite(at)) return;
        const timer = new Life(life.name, life);
        timers.set(name, timer);
        // Real timers run by duration: setting the clock moves none of them.
        this.world.park(timer, `timer ${name}`, at - this.clock(), fire, 1);
        this.#timers.set(name, () => {
          if (!timer.alive) return;
          timer.end();
          fire();
        });
      },
      clear,
    };
  }

  #linksOf(life: Life): Links {
    let listener: (event: LinkEvent) => void = () => undefined;
    const links = new Map<number, Link>();
    const tell = (event: LinkEvent): void => {
      if (life.alive) listener(event);
    };
    return {
      open: (url, number) => {
        const relay = nameOf(url);
        const owner = {
          opened: () => tell({ type: 'opened', relay: url, link: number }),
          frame: (bytes: Uint8Array<ArrayBuffer>) => tell({ type: 'frame', relay: url, link: number, bytes }),
          written: (sequence: number) => tell({ type: 'written', relay: url, link: number, sequence }),
          closed: (code: number) => tell({ type: 'closed', relay: url, link: number, code }),
        };
        links.set(number, this.network.dial(this, life, owner, relay));
      },
      send: (_url, number, sequence, bytes) => links.get(number)?.send('dialling', bytes, sequence),
      close: (_url, number, code) => links.get(number)?.close('dialling', code),
      listen: (heard) => {
        listener = heard;
      },
    };
  }

  /** A look signal reaches every engine, or is lost, or comes twice. */
  #tell(look: Look): void {
    const { lookLost, lookRepeated } = this.options.rates;
    for (const one of this.#listeners) {
      if (!one.life.alive || this.losesLooks || this.world.fault('look-lost', lookLost)) continue;
      const times = this.world.fault('look-repeated', lookRepeated) ? 2 : 1;
      for (let time = 0; time < times; time++) {
        this.world.park(one.life, `look at ${look.store}`, this.world.delay(5, 300), () => one.listen(look));
      }
    }
  }
}
