import { limits } from '../../../src/core/limits';
import type { Keys } from '../../../src/core/transactions/keys';
import type { Args, Outcome, ReadName, Scripts, WriteName } from '../../../src/core/transactions/registry';
import type { Committed } from '../../../src/engine/ports';
import type { RelayConfig } from '../../../src/relay/config';
import type { Ground, RelayStore } from '../../../src/relay/ground';
import type { LogWord } from '../../../src/relay/log';
import { Relay } from '../../../src/relay/relay';
import { Sources } from '../../../src/relay/sources';
import { runSynchronously } from '../../../src/store/group/run-synchronously';
import { MemoryTables } from '../../../src/store/memory/memory-tables';
import { nameOf, profile, urlOf } from '../names';
import type { EndOwner, Link, Listener, Network } from '../network';
import type { Watch } from '../watch';
import { Life, timeItself, type World } from '../world';
import type { RelayOptions } from './plan';
import { FalseSocket } from './socket';

/** What a planted bug may change of a relay. */
export interface RelayBug {
  readonly scripts?: Scripts;
  readonly config?: Partial<RelayConfig>;
  readonly ground?: (ground: Ground) => Ground;
  /** Answers before the commit, and commits later. */
  readonly answersEarly?: boolean;
  /** After a peer that broke a rule no other is asked. */
  readonly stopsAtBadPeer?: boolean;
}

/** Bytes that may wait for a peer before it is sent away as too slow: little, so that it comes to that. */
const outboundBytesMax = 65_536;
const roomy = 1e9;
/** How often a relay looks whether its round is due. */
const tickMs = limits.heartbeatMs;

/** What ends a connection by the fault of the other side. */
const ends: ReadonlySet<LogWord> = new Set([
  'flood',
  'strikes',
  'too slow',
  'bad frame',
  'no answer',
  'no pong',
]);

/** The real relay, over rows that survive it, a false network and false timers. */
export class GraphRelay implements Listener {
  readonly tables = new MemoryTables();
  readonly #keys: Keys = {};
  readonly slotsRetained: number;
  /** Bytes its graph may hold now. */
  bytesMax = roomy;
  #life: Life;
  #relay: Relay | undefined;
  #sources: Sources;
  #stopped = false;
  #ticks: () => void = () => undefined;

  constructor(
    private readonly world: World,
    private readonly network: Network,
    private readonly watch: Watch,
    readonly name: string,
    private readonly options: RelayOptions,
    private readonly scripts: Scripts,
    private readonly bug: RelayBug = {},
  ) {
    this.#life = new Life(name);
    this.slotsRetained = options.slotsRetained;
    this.#sources = this.#newSources();
    network.serve(this);
    this.#begin();
  }

  clock(): number {
    return this.world.now + this.options.skewMs;
  }

  get peers(): number {
    return this.#relay?.health().peers ?? 0;
  }

  /** The process ends, with everything it had not committed, and starts again by itself after a while. */
  crash(downMs: number = this.world.random.between(500, 8_000)): void {
    if (!this.#life.alive) return;
    this.world.count('relay-crash');
    this.#life.end();
    this.#relay = undefined;
    this.network.gone((life) => !life.alive);
    this.world.park(timeItself, `${this.name} starts again`, downMs, () => this.#begin());
  }

  accept(link: Link): { readonly life: Life; readonly owner: EndOwner } | undefined {
    if (!this.#life.alive) return undefined;
    const { name } = link.dialling.site;
    if (this.#isBanned(name)) return undefined;
    const socket = new FalseSocket(this.world, this.#life, 'answering').over(link);
    const { source, closed } = this.#sources.open(name, false);
    socket.once('close', closed);
    const opened = (): void => {
      socket.owner.opened();
      this.#relay?.accept(socket, source);
    };
    return { life: this.#life, owner: { ...socket.owner, opened } };
  }

  /** Every site has an address of its own. */
  #isBanned(site: string): boolean {
    if (this.#sources.bannedForMs(site) === 0) return false;
    this.world.count('banned');
    if (this.watch.isHonest(site)) this.world.breach('misunderstood', `${this.name} bans ${site}`);
    return true;
  }

  #newSources(): Sources {
    return new Sources(this.#config(), () => this.clock());
  }

  /** The next 15 minutes of ticks come at once, and with them the round of asking. */
  askAgain(): void {
    const ticks = limits.resyncMs / tickMs;
    for (let nth = 0; nth < ticks && this.#life.alive; nth++) this.#ticks();
  }

  /** Bytes the graph holds, as the relay counts them. */
  get graphBytes(): number {
    return this.watch.counters(this.name)?.graphBytes ?? 0;
  }

  #begin(): void {
    const life = new Life(this.name);
    this.#life = life;
    this.#stopped = false;
    this.#sources = this.#newSources();
    const ground = this.#ground(life);
    this.#relay = new Relay(
      this.#config(),
      (_level, event, detail) => this.#log(event, detail?.['why']),
      () => this.clock(),
      this.bug.ground?.(ground) ?? ground,
    );
    void this.#relay.start();
  }

  #log(event: string, why: unknown): void {
    this.world.note(`${this.name} logs ${event} ${String(why ?? '')}`);
    if (event === 'peer gone' && ends.has(why as LogWord)) this.world.count(`sent-away-${String(why)}`);
    if (event === 'slot not complete') this.world.count(`sync-${String(why)}`);
    if (why === 'broken' && this.bug.stopsAtBadPeer === true) this.#stopped = true;
  }

  #config(): RelayConfig {
    const relay = this;
    return {
      listen: { host: '127.0.0.1', port: 1 },
      publicUrl: urlOf(this.name),
      store: this.name,
      get storeBytesMax() {
        return relay.bytesMax;
      },
      origins: [],
      trustedProxies: [],
      log: 'info',
      profile,
      slotsRetained: this.slotsRetained,
      slotsSynced: Math.min(24, this.slotsRetained),
      outbound: this.options.dials.map(urlOf),
      banMs: limits.banMs,
      bootstrap: this.options.bootstrap,
      connectionsMax: 64,
      connectionsPerSourceMax: 64,
      eventsPerMinuteMax: 200,
      bytesPerMinuteMax: 8_388_608,
      outboundBytesMax,
      handshakeMs: 10_000,
      ...this.bug.config,
    };
  }

  #ground(life: Life): Ground {
    const { world } = this;
    const random = world.random.fork(`ground of ${this.name} ${world.now}`);
    const after = (ms: number, act: () => void): (() => void) => {
      const timer = new Life(this.name, life);
      world.park(timer, 'timer', ms, act, 1);
      return () => timer.end();
    };
    const timing = { jitter: () => random.below(1_000) / 1_000, after };
    return {
      timing,
      pauses: timing,
      every: (ms, act) => {
        this.#ticks = () => {
          if (!this.#stopped) act();
        };
        let cancel: () => void = () => undefined;
        const again = (): void => {
          cancel = after(ms, () => {
            this.#ticks();
            again();
          });
        };
        again();
        return () => cancel();
      },
      openStore: () => this.#store(life),
      random: (count) => random.bytes(count),
      dial: (address) => {
        const socket = new FalseSocket(world, life, 'dialling');
        return socket.over(this.network.dial(this, life, socket.owner, nameOf(address)));
      },
    };
  }

  #store(life: Life): RelayStore {
    return {
      transact: (name, args) => this.#transact(life, name, args),
      read: (name, args) => this.#read(life, name, args),
      close: () => Promise.resolve(),
    };
  }

  #transact<N extends WriteName>(life: Life, name: N, args: Args<N>): Promise<Committed<Outcome<N>>> {
    return new Promise((resolve) => {
      const answer = (result: ReturnType<GraphRelay['run']>): void => {
        this.#countFull(result?.ok === true ? result.outcome : undefined);
        if (result?.ok === true) resolve({ outcome: result.outcome as Outcome<N>, effects: result.effects });
        else this.world.breach('throw', `${name}: ${String(result?.error)}`);
      };
      if (this.bug.answersEarly === true) answer(this.run(name, args, false));
      this.world.park(life, `commits ${name}`, this.world.delay(8, 1_500), () => {
        const { crashes } = this.world;
        const crash = (): void => this.crash();
        if (crashes.at(`${name}/commit:before`, crash)) return;
        const result = this.run(name, args, true);
        if (crashes.at(`${name}/commit:after`, crash)) return;
        answer(result);
      });
    });
  }

  /** A relay without room was asked to take something. */
  #countFull(outcome: unknown): void {
    if (this.bytesMax === roomy) return;
    const { verdict, reason } = (outcome ?? {}) as { readonly verdict?: string; readonly reason?: string };
    if (verdict === 'refused' && reason === 'busy') this.world.count('store-full');
  }

  private run<N extends WriteName>(name: N, args: Args<N>, writes: boolean) {
    const [result] = runSynchronously([this.scripts.write(name, args, this.#keys, undefined)], {
      answer: (questions) => this.tables.answer(questions),
      write: (changes) => {
        if (!writes) return;
        this.tables.write(changes);
        this.watch.committed(this.name, [name], changes);
      },
    });
    return result;
  }

  #read<N extends ReadName>(life: Life, name: N, args: Args<N>): Promise<Outcome<N>> {
    return new Promise((resolve) => {
      this.world.park(life, `reads ${name}`, this.world.delay(3, 400), () => {
        const [result] = runSynchronously([this.scripts.read(name, args, {})], this.tables);
        if (result?.ok === true) resolve(result.outcome as Outcome<N>);
        else this.world.breach('throw', `${name}: ${String(result?.error)}`);
      });
    });
  }
}
