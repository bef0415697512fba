import { describe, expect, test } from 'vitest';
import { commands } from '../../src/core/wire/commands';
import { eventId } from '../../src/core/wire/event';
import { decodeEventPut } from '../../src/core/wire/event-put';
import { decodeFrame } from '../../src/core/wire/frame';
import { holdfast } from '../../src/core/wire/profile';
import type { Store } from '../../src/engine/ports';
import { enqueueArgs, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle } from '../fixtures/fake-ports';
import { had, taken } from '../fixtures/home';

const minute = 60_000;
const count = 3;
type Side = 'before' | 'after';

/** Where a run stops: at the nth commit, before it or after it. */
interface CrashPoint {
  readonly commit: number;
  readonly side: Side;
}

/** A store whose realm dies at one commit. What was called of a dead realm never answers. */
class DyingStore implements Store {
  dead = false;

  constructor(
    private readonly inner: Store,
    private readonly beginsCommit: (name: string) => Side | undefined,
    private readonly die: (name: string) => void,
  ) {}

  async transact(...args: Parameters<Store['transact']>): Promise<never> {
    if (this.dead) return never();
    const side = this.beginsCommit(args[0]);
    if (side === 'before') return this.end(args[0]);
    const committed = await this.inner.transact(...args);
    if (side === 'after') return this.end(args[0]);
    return this.dead ? never() : (committed as never);
  }

  async read(...args: Parameters<Store['read']>): Promise<never> {
    return this.dead ? never() : ((await this.inner.read(...args)) as never);
  }

  private end(name: string): Promise<never> {
    this.dead = true;
    this.die(name);
    return never();
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** What a run showed. */
interface Run {
  readonly world: EngineWorld;
  readonly commits: readonly string[];
  readonly crashed: string | undefined;
  readonly early: readonly string[];
}

/** A page enqueues and an engine sends; at the crash point everything but the rows is gone, and both begin again. */
async function run(point: CrashPoint | undefined): Promise<Run> {
  const world = await EngineWorld.with(0);
  const known = new Map(world.relays.map((relay) => [relay, new Set<string>()]));
  for (const relay of world.relays) {
    relay.verdict = ({ id }) => {
      const seen = known.get(relay) ?? new Set();
      const result = seen.has(id) ? had : taken;
      seen.add(id);
      return result;
    };
  }
  const commits: string[] = [];
  const early: string[] = [];
  let crashed: string | undefined;
  const live = (): Store => {
    const store: DyingStore = new DyingStore(
      world.home.store,
      (name) => {
        commits.push(name);
        return commits.length === point?.commit ? point.side : undefined;
      },
      (name) => {
        crashed = name;
        world.crash();
      },
    );
    return store;
  };
  for (let life = 0; life < 2; life++) {
    const store = live();
    watchSends(world, early);
    await world.start(store);
    await enqueueAll(store, world);
    await world.clock.pass(10 * minute);
    if (crashed === undefined || life === 1) break;
  }
  return { world, commits, crashed, early };
}

/** The page: it repeats every command it has no answer for, with the same id. */
async function enqueueAll(store: Store, world: EngineWorld): Promise<void> {
  for (let nth = 1; nth <= count; nth++) {
    const answered = store.transact('enqueue', enqueueArgs(nth)).then(() => true);
    await idle();
    if (!(await Promise.race([answered, Promise.resolve(false)]))) return;
    world.engine?.nudge();
    await world.clock.pass(1);
  }
}

/** Notes every event that goes out while no committed row holds it. */
function watchSends(world: EngineWorld, early: string[]): void {
  world.links.onSend = (_relay, bytes) => {
    const { command, payload } = decodeFrame(holdfast.magic, bytes);
    if (command !== commands.eventPut) return;
    const id = eventId(decodeEventPut(payload).event.header);
    if (!world.home.rows('generations').some((row) => row.id === id)) early.push(id);
  };
}

/** The order in which each relay first heard the messages. */
function order(world: EngineWorld, at: number): readonly number[] {
  return [...new Set(world.heard(at))];
}

describe('a crash before and after each commit of the simplest way of a message', () => {
  const reached = new Set<string>();

  test('[OB-01] [OB-09] [OB-13] loses nothing, sends nothing twice as something new, and keeps the order', async () => {
    const whole = await run(undefined);
    expect(whole.commits.length).toBeGreaterThan(7);
    expect(order(whole.world, 0)).toEqual([1, 2, 3]);
    for (let commit = 1; commit <= whole.commits.length; commit++) {
      for (const side of ['before', 'after'] as const) {
        const { world, crashed, early } = await run({ commit, side });
        const where = `${side} ${crashed} at commit ${commit}`;
        reached.add(`${side} ${crashed}`);
        expect([where, order(world, 0), order(world, 1)]).toEqual([where, [1, 2, 3], [1, 2, 3]]);
        expect([where, world.home.waiting(), early]).toEqual([where, [], []]);
        const ids = world.relays.map((relay) => new Set(relay.arrived.map((put) => put.id)).size);
        expect([where, ids, world.home.rows('generations').length]).toEqual([where, [count, count], count]);
        const { live, outboxBytes } = world.home.rows('counters')[0] ?? {};
        expect([where, live, outboxBytes]).toEqual([where, 0, 0]);
        expect([where, world.home.rows('messages').map((row) => row.operation?.acked !== undefined)]).toEqual(
          [where, [true, true, true]],
        );
      }
    }
    const names = ['answer', 'beginEngine', 'claimOpen', 'enqueue', 'materialise', 'pruneGraph'];
    expect([...reached].sort()).toEqual([
      ...names.map((name) => `after ${name}`),
      ...names.map((name) => `before ${name}`),
    ]);
  });

  test('[OB-05] a crash between the commit and the send leaves an event nobody has heard; the next life sends that one', async () => {
    const whole = await run(undefined);
    const commit = whole.commits.indexOf('materialise') + 1;
    const { world } = await run({ commit, side: 'after' });
    const [first] = world.relay(0).arrived;
    const made = world.home.rows('generations').filter((row) => row.seq === 1);
    expect(made.map((row) => row.id)).toEqual([first?.id]);
    expect(world.home.operation(1).generations).toHaveLength(1);
  });

  test('[OB-31] a command whose answer was lost is answered the same when it is repeated', async () => {
    const whole = await run(undefined);
    const commit = whole.commits.indexOf('enqueue') + 1;
    const { world } = await run({ commit, side: 'after' });
    expect(world.home.rows('messages').map((row) => row.seq)).toEqual([1, 2, 3]);
    const again = await world.home.store.transact('enqueue', enqueueArgs(1));
    expect(again.outcome).toEqual({ kind: 'queued', seq: 1, repeated: true });
    expect(world.clock.now()).toBeGreaterThan(t0);
  });
});
