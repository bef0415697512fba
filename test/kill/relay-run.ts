import type { EventId, Slot } from '../../src/core/ids';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { Relay } from '../app/kit/relay';
import { LoadPeer } from '../fixtures/load-peer';
import { TestPeer } from '../fixtures/peer';
import { Prng } from '../sim/prng';
import { type PutEvent, RelayLoad } from './relay-load';

/** What a kill must never do to a relay. */
export interface RelayBreach {
  readonly kind: 'lost' | 'forgotten' | 'tips' | 'refused' | 'unproven';
  readonly what: string;
  readonly run: number;
}

/** What kills of a relay under load showed. */
export interface RelayKillReport {
  readonly runs: number;
  /** Kills that are proven: the process ended by that signal, with events in flight. */
  readonly killed: number;
  /** Events that were answered `Has` before a kill. */
  readonly answered: number;
  /** Of those, missing after the restart; and not answered `Has{inserted:false}` when they are put again. */
  readonly lost: number;
  readonly forgotten: number;
  /** Restarts after which the tips were not those of the events that are there. */
  readonly tipsWrong: number;
  /** Events that were put and not answered when the kill fell: fewest of a run, and of all that were there afterwards. */
  readonly inFlightMin: number;
  readonly keptUnanswered: number;
  readonly breaches: readonly RelayBreach[];
  readonly seconds: number;
}

/** How much to do. */
export interface RelayKillOptions {
  readonly runs: number;
  readonly seed: string;
  readonly say?: (text: string) => void;
  /** Takes events out of the store before the restart of this run: what that breaks has to be found. */
  readonly spoil?: (store: string, run: number) => void;
}

/** What it takes of a member is not what is looked at here. */
const roomy = '[limits]\nevents_per_minute = 1000000\nbytes_per_minute = 1000000000';

/** Ids in one question. */
const batch = 128;

/** One relay with one store, killed again and again. */
class RelayKilling {
  readonly breaches: RelayBreach[] = [];
  killed = 0;
  answered = 0;
  keptUnanswered = 0;
  inFlightMin = Number.POSITIVE_INFINITY;
  readonly #held = new Map<Slot, Map<EventId, readonly EventId[]>>();
  readonly #promised: PutEvent[] = [];
  #run = 0;

  constructor(
    private readonly relay: Relay,
    private readonly spoil: RelayKillOptions['spoil'],
  ) {}

  async run(nth: number, seed: string): Promise<void> {
    this.#run = nth;
    const events = await this.#loadUntilKilled(new Prng(seed));
    this.spoil?.(this.relay.store, nth);
    await this.relay.restart();
    const peer = await TestPeer.connect(this.relay.url);
    const promised = events.filter((event) => event.answer === 'inserted' || event.answer === 'known');
    for (const event of events.filter((one) => one.answer === 'refused')) this.#note('refused', event.id);
    this.answered += promised.length;
    this.#promised.push(...promised);
    await this.#look(peer, events, promised);
    await this.#putAgain(promised);
    peer.close();
  }

  /** Everything ever promised, after the last restart. */
  async lookAgain(): Promise<void> {
    const peer = await TestPeer.connect(this.relay.url);
    const there = await heldOf(peer, this.#promised);
    for (const { id } of this.#promised) if (!there.has(id)) this.#note('lost', id);
    peer.close();
  }

  async #loadUntilKilled(prng: Prng): Promise<readonly PutEvent[]> {
    const after = prng.between(1, 900);
    let inFlight = 0;
    const load = await new Promise<RelayLoad>((settle, fail) => {
      let kill: Promise<void> | undefined;
      const running = new RelayLoad((answered) => {
        if (answered < after || kill !== undefined) return;
        inFlight = running.inFlight;
        kill = this.relay.kill();
        kill.then(() => settle(running), fail);
      });
      running.begin(this.relay.url).catch(fail);
    });
    await load.over();
    if (this.relay.signal === 'SIGKILL' && inFlight > 0) this.killed += 1;
    else this.#note('unproven', `${this.relay.signal ?? 'no signal'}, ${inFlight} in flight`);
    this.inFlightMin = Math.min(this.inFlightMin, inFlight);
    return load.events;
  }

  async #look(peer: TestPeer, events: readonly PutEvent[], promised: readonly PutEvent[]): Promise<void> {
    const there = await heldOf(peer, events);
    for (const event of events.filter((one) => there.has(one.id))) {
      const slot = this.#held.get(event.slot) ?? new Map<EventId, readonly EventId[]>();
      this.#held.set(event.slot, slot.set(event.id, event.parents));
      if (event.answer === undefined) this.keptUnanswered += 1;
    }
    for (const { id } of promised) if (!there.has(id)) this.#note('lost', id);
    for (const [slot, held] of this.#held) {
      const answer = await peer.ask({ ask: 'tips', slot });
      const tips = answer?.type === 'tips' ? answer.tips.map((tip) => tip.id).toSorted() : [];
      const wanted = tipsOf(slot, held).toSorted();
      if (tips.join() !== wanted.join()) this.#note('tips', `${tips.length} in place of ${wanted.length}`);
    }
  }

  async #putAgain(promised: readonly PutEvent[]): Promise<void> {
    const left = new Set(promised.map((event) => event.id));
    let done: () => void = () => undefined;
    const all = new Promise<void>((settle) => {
      done = settle;
    });
    const peer = await LoadPeer.connect(this.relay.url, {
      answered: (bytes, answer) => {
        const id = bytes.toString('hex');
        if (!left.delete(id)) return;
        if (answer !== 'known') this.#note('forgotten', id);
        if (left.size === 0) done();
      },
      ended: () => done(),
    });
    for (const event of promised) peer.send(event.frame);
    if (promised.length > 0) await all;
    for (const id of left) this.#note('forgotten', id);
    peer.close();
  }

  #note(kind: RelayBreach['kind'], what: string): void {
    this.breaches.push({ kind, what, run: this.#run });
  }
}

async function heldOf(peer: TestPeer, events: readonly PutEvent[]): Promise<ReadonlySet<EventId>> {
  const there = new Set<EventId>();
  for (let from = 0; from < events.length; from += batch) {
    const ids = events.slice(from, from + batch).map((event) => event.id);
    const answer = await peer.ask({ ask: 'events', ids });
    if (answer?.type === 'events') for (const { id } of answer.events) there.add(id);
  }
  return there;
}

/** Events nobody stands on. */
function tipsOf(slot: Slot, held: ReadonlyMap<EventId, readonly EventId[]>): readonly EventId[] {
  const stoodOn = new Set([...held.values()].flat());
  const tips = [...held.keys()].filter((id) => !stoodOn.has(id));
  return tips.length === 0 ? [genesisOf(holdfast, slot).id] : tips;
}

/** Kills a real relay so many times while it takes events, and holds what it has against what it had said. */
export async function relayKillRuns(options: RelayKillOptions): Promise<RelayKillReport> {
  const begunAt = Date.now();
  const relay = await Relay.start({ log: 'error', more: roomy });
  try {
    const killing = new RelayKilling(relay, options.spoil);
    for (let nth = 1; nth <= options.runs; nth++) {
      await killing.run(nth, `${options.seed}.${nth}`);
      const { killed, answered, keptUnanswered } = killing;
      options.say?.(
        `${nth}/${options.runs}: killed ${killed}, answered ${answered}, ${keptUnanswered} more kept`,
      );
    }
    await killing.lookAgain();
    return reportOf(options.runs, killing, begunAt);
  } finally {
    await relay.dispose();
  }
}

function reportOf(runs: number, killing: RelayKilling, begunAt: number): RelayKillReport {
  const { killed, answered, keptUnanswered, inFlightMin, breaches } = killing;
  const count = (kind: RelayBreach['kind']): number => breaches.filter((one) => one.kind === kind).length;
  return {
    runs,
    killed,
    answered,
    lost: count('lost'),
    forgotten: count('forgotten'),
    tipsWrong: count('tips'),
    inFlightMin,
    keptUnanswered,
    breaches,
    seconds: Math.round((Date.now() - begunAt) / 100) / 10,
  };
}
