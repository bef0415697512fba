import { toHex } from '../core/ids';
import { Engine } from '../engine/engine';
import type { Ports } from '../engine/ports';
import type { EngineStatus } from '../engine/status';
import { SocketLinks } from '../net/browser/socket-links';
import { holdBuild } from '../store/doors/build';
import { type Caller, DoorStore } from '../store/doors/door';
import { FetchDoor } from '../store/doors/fetch-door';
import { listenLooks } from '../store/doors/looks';
import { PortLane } from '../store/doors/port-lane';
import { CarriedLinks } from './carried-links';
import { type EngineApi, engineLock, type FromTab, hostLock, type TabHello, yieldChannel } from './contract';
import { RealClock, realRandom, silentObserver } from './real-ports';
import { type Tab, Tabs } from './tabs';

/** How long an older engine is given to step down before its lock is taken. */
const yieldMs = 3_000;
/** How long a tab is given to bring a port to the service worker. */
const laneMs = 2_000;

/**
 * The realm around the engine: its tabs, its ways to the store, its sockets, and the lock that makes it the only one.
 * The same host runs in a SharedWorker and wherever else an engine has to live.
 */
export class EngineHost implements EngineApi {
  readonly #tabs: Tabs;
  readonly #links: CarriedLinks;
  readonly #fetchDoor: FetchDoor;
  readonly #ports: Ports;
  #engine: Engine;
  readonly #name = toHex(realRandom.bytes(16));
  readonly #held: Promise<void>;
  readonly #lanes: ((port: MessagePort | undefined) => void)[] = [];
  #status: EngineStatus | undefined;

  constructor(
    private readonly locks: LockManager,
    build: string,
  ) {
    holdBuild(locks, build);
    this.#held = new Promise((held) => {
      void locks.request(hostLock(this.#name), () => {
        held();
        return new Promise(() => undefined);
      });
    });
    const caller: Caller = { build, randomBytes: realRandom.bytes };
    this.#tabs = new Tabs(locks, {
      onMessage: (tab, message, ports) => this.#onTab(tab, message, ports),
      onChange: () => this.#links.review(),
    });
    this.#fetchDoor = new FetchDoor({
      ...caller,
      fetch: (input, init) => fetch(input, init),
      uncontrolled: () => this.#tabs.able()[0]?.port.postMessage({ type: 'claim' }),
    });
    const lane = new PortLane({ ...caller, locks, base: this.#fetchDoor, broker: () => this.#askLane() });
    this.#links = new CarriedLinks(
      this.#tabs,
      new SocketLinks(),
      () => this.#engine.term,
      () => this.#moved(),
    );
    const ports: Ports = {
      store: new DoorStore(lane, caller),
      links: this.#links,
      clock: new RealClock(),
      random: realRandom,
      observer: silentObserver,
      looks: { listen: (listener) => void listenLooks(listener) },
    };
    this.#ports = ports;
    this.#engine = this.#newEngine();
    void this.#reign();
  }

  async attach(hello: TabHello, port: MessagePort): Promise<string> {
    await this.#held;
    this.#tabs.add(hello, port);
    this.#tell();
    return this.#name;
  }

  async nudge(): Promise<void> {
    this.#engine.nudge();
  }

  /**
   * Waits for the engine lock, asking an older engine to step down first, and taking the lock from one that cannot:
   * the fencing term keeps out what it might still do.
   */
  async #reign(): Promise<void> {
    const channel = new BroadcastChannel(yieldChannel);
    channel.postMessage('yield');
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), yieldMs);
    const reign = () => {
      clearTimeout(timer);
      channel.onmessage = () => this.#stepDown();
      this.#reigning = true;
      void this.#begin();
      return this.#over;
    };
    try {
      await this.locks.request(engineLock, { signal: patience.signal }, reign);
    } catch {
      // Either it waited in vain, or its own lock was taken: only the first may still begin.
      if (!patience.signal.aborted) return this.#stepDown();
      await this.locks.request(engineLock, { steal: true }, reign).catch(() => this.#stepDown());
    }
  }

  #reigning = false;
  #endReign: () => void = () => undefined;
  readonly #over = new Promise<void>((resolve) => {
    this.#endReign = resolve;
  });

  #newEngine(): Engine {
    return new Engine(this.#ports, { id: toHex(realRandom.bytes(16)) });
  }

  #stepDown(): void {
    this.#reigning = false;
    this.#engine.stop();
    this.#endReign();
  }

  /**
   * The store has seen a newer engine. While the lock is ours that was a late copy of a dead one's call, and another
   * engine begins here; without the lock it is over.
   */
  #replaced(): void {
    if (!this.#reigning) return;
    this.#engine = this.#newEngine();
    void this.#begin();
  }

  /** The store may not answer yet (first visit, upgrade): the engine begins when it does. */
  async #begin(): Promise<void> {
    for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 5_000)) {
      try {
        const engine = this.#engine;
        await engine.start(
          (status) => this.#onStatus(status),
          () => this.#replaced(),
        );
        return;
      } catch {
        await new Promise((over) => setTimeout(over, pauseMs));
      }
    }
  }

  #onStatus(status: EngineStatus): void {
    this.#status = status;
    this.#fetchDoor.keepAwake(status.busy);
    this.#tell();
  }

  #tell(): void {
    const status = this.#status;
    if (status === undefined) return;
    const { carrier } = this.#links;
    this.#tabs.tell((tab) => ({
      type: 'status',
      status,
      carrier: carrier === 'engine' ? 'engine' : carrier === tab ? 'this-tab' : 'other-tab',
    }));
  }

  #moved(): void {
    this.#engine.nudge();
    this.#tell();
  }

  #onTab(tab: Tab, message: FromTab, ports: readonly MessagePort[]): void {
    if (message.type === 'link') this.#links.onTabEvent(tab, message.event);
    if (message.type === 'lane') {
      this.#lanes.shift()?.(ports[0]);
    }
  }

  #askLane(): Promise<MessagePort | undefined> {
    const tab = this.#tabs.able()[0];
    if (tab === undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const late = setTimeout(() => settle(undefined), laneMs);
      const settle = (port: MessagePort | undefined) => {
        clearTimeout(late);
        const at = this.#lanes.indexOf(settle);
        if (at >= 0) this.#lanes.splice(at, 1);
        resolve(port);
      };
      this.#lanes.push(settle);
      tab.port.postMessage({ type: 'lane' });
    });
  }
}
