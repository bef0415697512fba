import { toHex } from '../../../src/core/ids';
import { limits } from '../../../src/core/limits';
import { registered } from '../../../src/core/transactions/registry';
import { slotOf } from '../../../src/core/wire/profile';
import { type Ending, Evidence } from '../checkers/evidence';
import { Ledger, waits } from '../checkers/ledger';
import { OutboxChecker } from '../checkers/outbox';
import { Device, type DeviceBug } from '../device';
import { profile } from '../names';
import { Network } from '../network';
import { Watch } from '../watch';
import { type Breach, timeItself, World } from '../world';
import { BlameChecker } from './checkers/blame';
import { type Bounded, BoundsChecker } from './checkers/bounds';
import { DagChecker } from './checkers/dag';
import { Liar } from './liar';
import { type GraphPlan, type GraphStep, startOf } from './plan';
import { GraphRelay, type RelayBug } from './relay';

/** What a planted bug changes of a whole run. */
export interface GraphBug {
  readonly device?: DeviceBug;
  readonly relay?: RelayBug;
}

/** What a run showed. */
export interface GraphResult {
  readonly plan: GraphPlan;
  readonly steps: number;
  readonly hash: string;
  readonly breaches: readonly Breach[];
  readonly trace: readonly string[];
  readonly accepted: number;
  /** Different events that were anywhere. */
  readonly events: number;
  /** Turns of the slot that somebody lived through. */
  readonly rotations: number;
  readonly recreated: number;
  readonly faults: ReadonlyMap<string, number>;
  readonly fired: ReadonlySet<string>;
  readonly endings: ReadonlyMap<Ending, number>;
  /** Own events of messages that waited, as peers gave them back. */
  readonly returned: number;
  /** Statuses of honest peers, by their words. */
  readonly said: ReadonlyMap<string, number>;
  readonly forgotten: number;
  /** Virtual time from the end of the faults until everything had come right, ms. */
  readonly healedMs: number;
}

/**
 * Everybody is asked again every 15 minutes, three peers at a time: by then the last one has been asked, also when a liar
 * that stays has let go of an event an hour late.
 */
const livenessMs = 14_400_000;
/** The same where 15 minutes come every half one, and the longest pause of a message that waits besides. */
const hurriedMs = 1_500_000;
const lookEveryMs = 1_000;
const outboxBytesMax = 10_000_000;
/** By then all have come back whom the night wakes, and whoever was down before it. */
const wakingMs = 8_000;
const downMaxMs = 45_000;
/** Pause between two rounds of asking, where a run is hurried. */
const hurryMs = 25_000;

/** One run: faults at random, then none, and then all who are honest must have the same graph. */
export async function runGraph(plan: GraphPlan, bug: GraphBug = {}): Promise<GraphResult> {
  const start = startOf(plan);
  const world = new World(plan.seed, start);
  const cast = new Cast(world, plan, bug);
  const onThrow = (error: unknown): void => world.breach('throw', String((error as Error).stack ?? error));
  process.on('unhandledRejection', onThrow);
  try {
    for (const step of plan.steps) {
      world.park(timeItself, JSON.stringify(step), step.at, () => cast.perform(step));
    }
    await world.runUntil(start + plan.healAt);
    cast.heal();
    const healedAt = world.now;
    await cast.comeRight(healedAt + (plan.options.hurried ? hurriedMs : livenessMs));
    if (world.breaches.length === 0) cast.judge();
    return cast.result(start, world.now - healedAt);
  } finally {
    process.off('unhandledRejection', onThrow);
  }
}

/** Everyone of a run. */
class Cast {
  readonly #devices = new Map<string, Device>();
  readonly #relays = new Map<string, GraphRelay>();
  readonly #liars = new Map<string, Liar>();
  /** How far the clocks of devices were set off. */
  readonly #clocksSet = new Map<string, number>();
  readonly #network: Network;
  readonly #watch: Watch;
  readonly #ledger: Ledger;
  readonly #evidence: Evidence;
  readonly #dag: DagChecker;
  readonly #bounds: BoundsChecker;
  readonly #blame: BlameChecker;

  constructor(
    private readonly world: World,
    private readonly plan: GraphPlan,
    private readonly bug: GraphBug,
  ) {
    const watch = new Watch(world);
    watch.isHonest = (site) => !site.startsWith('l');
    this.#watch = watch;
    this.#ledger = new Ledger(watch);
    this.#evidence = new Evidence(watch, this.#ledger);
    const isSteady = (device: string): boolean => !this.#clocksSet.has(device);
    const outbox = new OutboxChecker(watch, this.#ledger, this.#evidence, isSteady, outboxBytesMax);
    this.#dag = new DagChecker(watch);
    this.#bounds = new BoundsChecker(watch, this.#dag, (site) => this.#boundedOf(site));
    this.#blame = new BlameChecker(watch);
    watch.add(this.#ledger, this.#evidence, outbox, this.#dag, this.#bounds, this.#blame);
    this.#network = new Network(world, plan.options.rates, watch);
    this.#gather();
  }

  /** Each member comes when it joins; those who are there at once come before anything happens. */
  #gather(): void {
    const { relays, liars, devices } = this.plan.options;
    const joins = (name: string, at: number, join: () => void): void => {
      if (at === 0) return join();
      this.world.park(timeItself, `${name} joins`, at, () => {
        this.world.count('late-join');
        join();
      });
    };
    for (const [at, one] of relays.entries()) {
      joins(`r${at}`, one.joinAt, () => this.#addRelay(`r${at}`, one));
    }
    for (const [at, one] of liars.entries()) {
      const name = `l${at}`;
      joins(name, one.joinAt, () => this.#liars.set(name, new Liar(this.world, this.#network, name, one)));
    }
    for (const [at, one] of devices.entries()) {
      joins(`d${at}`, one.joinAt, () => this.#addDevice(`d${at}`, one));
    }
  }

  #addRelay(name: string, options: GraphPlan['options']['relays'][number]): void {
    const { relay = {} } = this.bug;
    const scripts = relay.scripts ?? registered;
    const { world } = this;
    const one = new GraphRelay(world, this.#network, this.#watch, name, options, scripts, relay);
    this.#relays.set(name, one);
    this.#watch.sites.set(name, { tables: one.tables, account: '00'.repeat(16), isRelay: true });
  }

  #addDevice(name: string, { relays, skewMs }: GraphPlan['options']['devices'][number]): void {
    const account = toHex(this.world.random.fork(`account of ${name}`).bytes(16));
    const { rates } = this.plan.options;
    const options = { outboxBytesMax, rates, secret: false, account, relays, skewMs };
    const device = new Device(this.world, this.#network, this.#watch, options, name, this.bug.device);
    this.#devices.set(name, device);
    this.#watch.sites.set(name, { tables: device.store.tables, account, isRelay: false });
  }

  #boundedOf(site: string): Bounded | undefined {
    const relay = this.#relays.get(site);
    if (relay !== undefined) return relay;
    return { slotsRetained: limits.clientSlotsRetained, bytesMax: limits.clientGraphBytesMax };
  }

  perform(step: GraphStep): void {
    // Counted when it happens: a world may never come past the point.
    if (step.do === 'crash') return this.world.crashes.arm(step);
    this.world.count(step.do);
    switch (step.do) {
      case 'send':
        return this.#devices.get(step.device)?.page.send(0, step.burst);
      case 'end':
        return this.#site(step.site)?.crash(step.downMs);
      case 'night':
        return this.#night(step.forMs);
      case 'split':
        return this.#split(step.sites, step.forMs);
      case 'cut':
        return this.#network.cut(step.left, step.right);
      case 'fill':
        return this.#fill(step.relay, step.forMs);
      case 'full':
        return this.#devices.get(step.device)?.store.fill(step.forMs);
      case 'slow':
        this.#network.slow(step.site, step.frameMs);
        this.world.park(timeItself, `${step.site} is quick again`, step.forMs, () =>
          this.#network.slow(step.site, 0),
        );
        return;
      case 'clock':
        return this.#setClock(step.device, step.byMs);
    }
  }

  #setClock(device: string, byMs: number): void {
    const one = this.#devices.get(device);
    if (one === undefined) return;
    this.#clocksSet.set(device, (this.#clocksSet.get(device) ?? 0) + byMs);
    one.setClock(byMs);
  }

  #night(forMs: number): void {
    const wakeAt = this.world.now + forMs;
    const sleep = (): void => {
      for (const site of this.#all()) site.crash(wakeAt - this.world.now + this.world.random.below(wakingMs));
    };
    sleep();
    // Who was down when it began goes to sleep when it comes back.
    this.world.park(timeItself, 'all are asleep', downMaxMs, sleep);
  }

  /** These can reach nobody but each other. */
  #split(inside: readonly string[], forMs: number): void {
    const outside = this.#names().filter((name) => !inside.includes(name));
    for (const left of inside) for (const right of outside) this.#network.part(left, right);
    this.world.park(timeItself, `${inside.join(' ')} meet the others again`, forMs, () => {
      for (const left of inside) for (const right of outside) this.#network.join(left, right);
    });
  }

  #fill(name: string, forMs: number): void {
    const relay = this.#relays.get(name);
    if (relay === undefined) return;
    const room = relay.bytesMax;
    relay.bytesMax = relay.graphBytes + 300;
    this.world.park(timeItself, `${name} has room again`, forMs, () => {
      relay.bytesMax = Math.max(room, relay.bytesMax);
    });
  }

  /** The faults end. Who is dead comes back by itself. */
  heal(): void {
    const { healing, liarsStay } = this.plan.options;
    this.world.note('the faults end');
    this.world.faulty = false;
    this.world.crashes.disarm();
    this.#network.heal();
    for (const relay of this.#relays.values()) relay.bytesMax = 1e9;
    for (const device of this.#devices.values()) device.settle();
    // One relay alone never moves a clock: somebody has to set it right.
    for (const [device, byMs] of this.#clocksSet) this.#setClock(device, -byMs);
    for (const liar of this.#liars.values()) {
      liar.makes = false;
      if (!liarsStay) liar.leave();
    }
    this.world.count(`healed-by-${healing}`);
    const honest = [...this.#relays.values(), ...this.#devices.values()];
    if (healing === 'restart') for (const site of honest) site.crash(this.world.random.below(4_000));
    if (healing === 'reconnect') for (const { name } of honest) this.#network.cutAll(name);
  }

  /** Lets time pass until everyone has the same, which is looked at once in a while. */
  async comeRight(untilMs: number): Promise<void> {
    let looked = 0;
    if (this.plan.options.hurried) this.#hurryLater(hurryMs);
    await this.world.runUntil(untilMs, () => {
      if (this.world.now < looked) return false;
      looked = this.world.now + lookEveryMs;
      return this.#isRight();
    });
  }

  /** What comes every 15 minutes comes at once, again and again, or most of a run would be the waiting for it. */
  #hurryLater(pauseMs: number): void {
    this.world.park(timeItself, 'all ask again at once', pauseMs, () => {
      for (const relay of this.#relays.values()) relay.askAgain();
      for (const device of this.#devices.values()) device.fire('resync');
      this.#hurryLater(hurryMs);
    });
  }

  #isRight(): boolean {
    for (const device of this.#devices.values()) {
      if (!device.page.idle || this.#ledger.lane(device.name).some(waits)) return false;
    }
    return this.#dag.agree(this.#honest(), this.#compared());
  }

  judge(): void {
    const { world } = this;
    for (const device of this.#devices.values()) {
      for (const entry of this.#ledger.lane(device.name).filter(waits)) {
        world.breach('waiting', `${device.name} ${entry.row.seq} still waits`);
      }
    }
    for (const what of this.#dag.differences(this.#honest(), this.#compared()))
      world.breach('diverged', what);
    for (const relay of this.#relays.values()) {
      const most = 2 * this.#names().length;
      if (relay.peers > most) world.breach('bounds', `${relay.name} holds ${relay.peers} connections`);
    }
    for (const site of this.#honest()) {
      for (const what of this.#bounds.excess(site)) world.breach('bounds', what);
    }
  }

  result(start: number, healedMs: number): GraphResult {
    const { world } = this;
    const entries = this.#ledger.all();
    return {
      plan: this.plan,
      steps: world.steps,
      hash: world.traceHash(),
      breaches: world.breaches,
      trace: world.trace,
      accepted: entries.length,
      events: this.#dag.size,
      rotations: (slotOf(profile, world.now) - slotOf(profile, start)) / profile.rotationMs,
      recreated: entries.filter((entry) => (entry.row.operation?.generations.length ?? 0) > 1).length,
      faults: world.faults,
      fired: world.crashes.fired,
      endings: this.#evidence.endings,
      returned: this.#evidence.returned,
      said: this.#blame.said,
      forgotten: this.#bounds.forgotten,
      healedMs,
    };
  }

  /** The oldest slot everyone keeps, by whichever clock. */
  #compared(): number {
    const kept = [...this.#relays.values()].map((relay) => relay.slotsRetained);
    const least = Math.min(limits.clientSlotsRetained, ...kept);
    return slotOf(profile, this.world.now + 60_000) - (least - 1) * profile.rotationMs;
  }

  #honest(): readonly string[] {
    return [...this.#relays.keys(), ...this.#devices.keys()];
  }

  #names(): readonly string[] {
    return [...this.#honest(), ...this.#liars.keys()];
  }

  #all(): readonly { crash(downMs: number): void }[] {
    return [...this.#relays.values(), ...this.#devices.values(), ...this.#liars.values()];
  }

  #site(name: string): { crash(downMs: number): void } | undefined {
    return this.#relays.get(name) ?? this.#devices.get(name) ?? this.#liars.get(name);
  }
}
