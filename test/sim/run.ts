import { toHex } from '../../src/core/ids';
import type { Scripts } from '../../src/core/transactions/registry';
import { type Ending, Evidence } from './checkers/evidence';
import { ExposureChecker } from './checkers/exposure';
import { Ledger } from './checkers/ledger';
import { OpenChecker } from './checkers/open';
import { OutboxChecker } from './checkers/outbox';
import { RetentionChecker } from './checkers/retention';
import { TimelineChecker } from './checkers/timelines';
import { Device, type DeviceBug } from './device';
import { profile } from './names';
import { Network } from './network';
import type { Plan, Step } from './plan';
import { SimRelay } from './relay';
import { Watch } from './watch';
import { type Breach, timeItself, World } from './world';

/** What a planted bug changes of a whole run. */
export interface Bug {
  readonly device?: DeviceBug;
  readonly relayScripts?: Scripts;
}

/** What a run showed. */
export interface Result {
  readonly plan: Plan;
  readonly steps: number;
  readonly hash: string;
  readonly breaches: readonly Breach[];
  readonly trace: readonly string[];
  readonly accepted: number;
  /** Messages that were made again in a later slot. */
  readonly recreated: number;
  readonly faults: ReadonlyMap<string, number>;
  readonly fired: ReadonlySet<string>;
  /** Crashes at points that really happened. */
  readonly crashes: number;
  /** Visits of crash points while crashes could happen. */
  readonly visits: ReadonlyMap<string, number>;
  readonly endings: ReadonlyMap<Ending, number>;
  /** Required relays of the accepted messages, and how many of them have accepted. */
  readonly required: { readonly of: number; readonly accepted: number };
  /** Claims of messages that had left the lane. */
  readonly openClaims: number;
  /** Events that went out after the graph of their device had forgotten them. */
  readonly prunedSent: number;
  /** Why heads were parked. */
  readonly parked: ReadonlySet<string>;
  /** Refusals that devices heard, and puts after a refusal that no commit had recorded. */
  readonly refusals: { readonly heard: number; readonly unrecorded: number };
  /** Virtual time from the end of the faults until everything had come right, ms. */
  readonly healedMs: number;
}

/** By then everything has come right: it holds the longest pause of the backoff twice. */
const livenessMs = 3_600_000;
const lookEveryMs = 1_000;
/** What is open goes to a relay once after each reconnect: a few of them finish it, each within a longest pause. */
const reconnectsMax = 3;
const reconnectedMs = 120_000;

/** One run: faults at random, then none, and then everything accepted must be everywhere, once, in order. */
export async function run(plan: Plan, bug: Bug = {}): Promise<Result> {
  const rotation = profile.rotationMs;
  // The network is young: a first sync then asks for a few slots and not for all that would be kept.
  const start =
    profile.initialGenesisMs + (plan.options.slotsOld + 1) * rotation - plan.options.beforeRotationMs;
  const world = new World(plan.seed, start);
  const cast = new Cast(world, plan, bug);
  const onThrow = (error: unknown): void => world.breach('throw', String((error as Error).stack ?? error));
  process.on('unhandledRejection', onThrow);
  try {
    for (const step of plan.steps) world.park(timeItself, describe(step), step.at, () => cast.perform(step));
    await world.runUntil(start + plan.healAt);
    const visits = new Map(world.crashes.visits);
    cast.heal();
    const healedAt = world.now;
    await cast.comeRight(healedAt + livenessMs, () => cast.isSettled());
    for (let nth = 0; nth < reconnectsMax && cast.open().length > 0; nth++) {
      cast.reconnect();
      await cast.comeRight(world.now + reconnectedMs, () => cast.open().length === 0);
    }
    // A late copy of a call that was refused may be accepted now, and then it has to arrive like the others.
    await cast.comeRight(world.now + livenessMs, () => cast.isSettled());
    if (world.breaches.length === 0) cast.judge();
    return cast.result(visits, world.now - healedAt);
  } finally {
    process.off('unhandledRejection', onThrow);
  }
}

function describe(step: Step): string {
  const { at: _at, ...rest } = step;
  return JSON.stringify(rest);
}

/** Everyone of a run. */
class Cast {
  readonly #devices: readonly Device[];
  readonly #relays: readonly SimRelay[];
  readonly #network: Network;
  readonly #watch: Watch;
  readonly #open: OpenChecker;
  readonly #outbox: OutboxChecker;
  readonly #ledger: Ledger;
  readonly #evidence: Evidence;
  readonly #exposure: ExposureChecker;
  readonly #timelines: TimelineChecker;
  readonly #clocksSet = new Set<string>();

  constructor(
    private readonly world: World,
    private readonly plan: Plan,
    bug: Bug,
  ) {
    const { options } = plan;
    const watch = new Watch(world);
    this.#watch = watch;
    this.#ledger = new Ledger(watch);
    this.#evidence = new Evidence(watch, this.#ledger);
    this.#timelines = new TimelineChecker(watch, this.#ledger);
    const isSteady = (device: string): boolean => !this.#clocksSet.has(device);
    const clockOf = (device: string): number => this.#device(device).clock();
    this.#exposure = new ExposureChecker(watch, this.#ledger, clockOf, isSteady);
    this.#outbox = new OutboxChecker(watch, this.#ledger, this.#evidence, isSteady, options.outboxBytesMax);
    this.#open = new OpenChecker(watch, this.#ledger);
    const retention = new RetentionChecker(watch);
    watch.add(
      this.#open,
      this.#ledger,
      this.#evidence,
      this.#outbox,
      this.#exposure,
      this.#timelines,
      retention,
    );
    const network = new Network(world, options.rates, watch);
    this.#network = network;
    const names = Array.from({ length: options.relays }, (_, at) => `r${at}`);
    this.#relays = names.map((name, at) => {
      const others = names.slice(0, at);
      const skewMs = options.relaySkewsMs[at] ?? 0;
      return new SimRelay(world, network, watch, options, name, others, skewMs, bug.relayScripts);
    });
    for (const relay of this.#relays) {
      watch.sites.set(relay.name, { tables: relay.tables, account: '00'.repeat(16), isRelay: true });
    }
    this.#devices = Array.from({ length: options.devices }, (_, at) => {
      const name = `d${at}`;
      const account = toHex(world.random.fork(`account of ${name}`).bytes(16));
      const { outboxBytesMax, rates, secret } = options;
      const skewMs = options.deviceSkewsMs[at] ?? 0;
      const own = { outboxBytesMax, rates, secret, account, relays: names, skewMs };
      const device = new Device(world, network, watch, own, name, bug.device);
      watch.sites.set(name, { tables: device.store.tables, account, isRelay: false });
      return device;
    });
  }

  perform(step: Step): void {
    // Counted when it happens: a world may never come past the point.
    if (step.do === 'crash') return this.world.crashes.arm(step);
    this.world.count(step.do);
    if (step.do === 'end-relay') return this.#relays[step.relay]?.crash(step.downMs);
    if (step.do === 'part-relays') return this.#partRelays(step.forMs);
    if (step.do === 'cut') return this.#network.cut(`d${step.device}`, `r${step.relay}`);
    if (step.do === 'part') return this.#part(`d${step.device}`, `r${step.relay}`, step.forMs);
    this.#onDevice(this.#device(`d${step.device}`), step);
  }

  #onDevice(device: Device, step: Step): void {
    switch (step.do) {
      case 'send':
        return device.page.send(step.channel, step.burst);
      case 'join':
        return device.page.join(step.channel);
      case 'draft':
      case 'read':
      case 'identity':
      case 'more-relays':
      case 'fewer-relays':
        return device.page.want(step.do);
      case 'hand':
        return device.page.hand(step.deed, step.nth);
      case 'bound':
        return device.setBound(step.bytes);
      case 'full':
        return device.store.fill(step.forMs);
      case 'end-engine':
        return device.endEngine(step.downMs);
      case 'end-tab':
        return device.endTab(step.downMs);
      case 'end-browser':
        return device.crash(step.downMs);
      case 'end-store':
        return device.store.endWorker();
      case 'second-engine':
        return device.secondEngine();
      case 'nudge':
        return device.nudge();
      case 'refuse':
        return device.store.refuseNext(step.name);
      case 'copy':
        return device.store.copyNext(step.name, step.afterMs);
      case 'lose-looks':
        device.losesLooks = step.lost;
        return;
      case 'clock':
        this.#clocksSet.add(device.name);
        return device.setClock(step.byMs);
    }
  }

  #part(left: string, right: string, forMs: number): void {
    this.#network.part(left, right);
    this.world.park(timeItself, `${left} and ${right} meet again`, forMs, () =>
      this.#network.join(left, right),
    );
  }

  #partRelays(forMs: number): void {
    const [first, ...others] = this.#relays;
    for (const other of others) if (first !== undefined) this.#part(first.name, other.name, forMs);
  }

  /** The faults end. What is dead comes back by itself. */
  heal(): void {
    this.world.note('the faults end');
    this.world.faulty = false;
    this.world.crashes.disarm();
    this.#network.heal();
    for (const device of this.#devices) {
      device.settle();
      device.setBound(this.plan.options.outboxBytesMax);
      // One relay alone never moves a clock: somebody has to set it right.
      if (this.plan.options.relays === 1) device.setClockRight();
      // A relay that never answers may stand in the way for ever: two of those known must be ready.
      if (this.plan.steps.some((step) => step.do === 'more-relays')) device.page.want('fewer-relays');
    }
  }

  /** Lets time pass until something holds, which is looked at once in a while. */
  async comeRight(untilMs: number, holds: () => boolean): Promise<void> {
    let looked = 0;
    await this.world.runUntil(untilMs, () => {
      if (this.world.now < looked) return false;
      looked = this.world.now + lookEveryMs;
      return holds();
    });
  }

  isSettled(): boolean {
    return this.#devices.every((device) => device.page.idle) && this.#timelines.missing().length === 0;
  }

  /** Every link of a device ends, and is made anew. */
  reconnect(): void {
    for (const device of this.#devices) {
      for (const relay of this.#relays) this.#network.cut(device.name, relay.name);
    }
  }

  /** Messages that have left the lane and still lack the word of a relay they were promised to. */
  open(): readonly string[] {
    return this.#devices.flatMap(({ name }) =>
      this.#watch.messages(name).flatMap(({ open, seq }) => (open === undefined ? [] : [`${name} ${seq}`])),
    );
  }

  judge(): void {
    const missing = this.#timelines.missing();
    if (missing.length > 0) this.world.breach('undelivered', missing.join(', '));
    const open = this.open();
    if (open.length > 0) this.world.breach('open', `${open.join(', ')} still open`);
    for (const lie of this.#evidence.lies()) this.world.breach('evidence', lie);
  }

  result(visits: ReadonlyMap<string, number>, healedMs: number): Result {
    const { world } = this;
    const entries = this.#ledger.all();
    return {
      plan: this.plan,
      steps: world.steps,
      hash: world.traceHash(),
      breaches: world.breaches,
      trace: world.trace,
      accepted: entries.length,
      recreated: entries.filter((entry) => (entry.row.operation?.generations.length ?? 0) > 1).length,
      faults: world.faults,
      fired: world.crashes.fired,
      crashes: world.crashes.count,
      visits,
      endings: this.#evidence.endings,
      required: this.#evidence.required(),
      openClaims: this.#open.claims,
      prunedSent: this.#exposure.pruned,
      parked: this.#outbox.parked,
      refusals: { heard: this.#open.refusals, unrecorded: this.#open.unrecorded },
      healedMs,
    };
  }

  #device(name: string): Device {
    const device = this.#devices.find((one) => one.name === name);
    if (device === undefined) throw new TypeError(`no device ${name}`);
    return device;
  }
}
