import { describe, expect, onTestFinished, test } from 'vitest';
import { StoreError } from '../../src/core/errors';
import type { Bytes, ConversationId, EventId } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { put } from '../../src/core/transaction';
import { encodeEvent, makeEvent } from '../../src/core/wire/event';
import { encodePrivmsg } from '../../src/core/wire/privmsg';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import type { Ports, Store } from '../../src/engine/ports';
import { WorkLine } from '../../src/engine/work-line';
import { account, command, fresh, slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle } from '../fixtures/fake-ports';
import { taken } from '../fixtures/home';

/** Errors that nobody handled from now on, which in a browser are errors of the realm. */
function unhandled(): readonly unknown[] {
  const errors: unknown[] = [];
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (error) => errors.push(error));
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection');
    for (const listener of others) process.on('unhandledRejection', listener);
  });
  return errors;
}

/** Ports whose store stops with a fault of ours at one call of a name. */
function faulty(name: string, fault: { left: number }): (ports: Ports) => Ports {
  return (ports) => {
    const once =
      <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        if (args[0] === name && fault.left > 0) {
          fault.left -= 1;
          throw new TypeError('a fault of ours');
        }
        return call(...args);
      };
    const store = { transact: once(ports.store.transact.bind(ports.store)) } as unknown as Store;
    store.read = once(ports.store.read.bind(ports.store) as never) as never;
    return { ...ports, store };
  };
}

describe('a line of work', () => {
  test('goes on behind a piece that fails, whatever the error; what is nobody else’s comes to light', async () => {
    const errors = unhandled();
    const done: string[] = [];
    const refused: string[] = [];
    const line = new WorkLine((kind) => refused.push(kind));
    const piece = (name: string, error?: Error) => async (): Promise<void> => {
      await idle();
      if (error !== undefined) throw error;
      done.push(name);
    };
    const fault = new TypeError('a fault of ours');
    line.push(piece('a'));
    line.push(piece('b', new StoreError('busy')));
    line.push(piece('c', fault));
    line.push(piece('d', fault));
    line.push(piece('e'));
    for (let turn = 0; turn < 6; turn++) await idle();
    expect([done, refused, errors]).toEqual([['a', 'e'], ['busy'], [fault, fault]]);
    line.push(piece('f'));
    await idle();
    expect([done, line.length]).toEqual([['a', 'e', 'f'], 0]);
  });
});

describe('a fault of ours in the engine', () => {
  test('while the head is looked at comes to light and does not end the lane', async () => {
    const errors = unhandled();
    const world = await EngineWorld.with(2, ['one'], { ports: faulty('head', { left: 1 }) });
    world.relay(0).verdict = () => taken;
    await world.start();
    await world.clock.pass(5_000);
    expect(world.heard(0)).toEqual([1, 2]);
    expect(errors).toEqual([new TypeError('a fault of ours')]);
  });

  test('while an event of a peer is taken in is no silence to it, and the next one comes in', async () => {
    const errors = unhandled();
    const world = await EngineWorld.with(0, ['one'], { ports: faulty('receive', { left: 1 }) });
    await world.start();
    await world.clock.pass(1_000);
    const [first, second] = siblings(2);
    world.relay(0).put(first ?? fresh(1));
    world.relay(0).put(second ?? fresh(1));
    await world.clock.pass(1_000);
    expect(world.relay(0).told).toEqual([{ type: 'nack', reason: 'busy' }, taken]);
    expect(errors).toHaveLength(1);
  });

  test('while kept events are looked through: it is tried again, and ends', async () => {
    const errors = unhandled();
    const world = await EngineWorld.with(0, ['one'], { ports: faulty('graphSlots', { left: 2 }) });
    const others = await joined(world, siblings(3));
    await world.clock.pass(10_000);
    expect(await texts(world, others)).toHaveLength(3);
    expect(errors).toHaveLength(2);
  });
});

describe('kept events that are looked through for a channel joined later', () => {
  test('one that is damaged is passed over, and the others are heard', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const events = siblings(5);
    const others = await joined(world, events, () => {
      const [row] = world.home.rows('events');
      if (row === undefined) throw new Error('no event');
      world.home.tables.write([put('events', { ...row, event: row.event.slice(0, 100) })]);
    });
    await world.clock.pass(10_000);
    expect(await texts(world, others)).toHaveLength(4);
  });

  test.each([199, 200, 201, 450])('%i in one layer are all heard', async (count) => {
    const world = await EngineWorld.with(0, ['one']);
    const others = await joined(world, siblings(count));
    await world.clock.pass(10_000);
    expect(await texts(world, others)).toHaveLength(count);
  });
});

const otherName = '#ropewalk';
const other: ConversationId = '0d'.repeat(16);

/** Events of others in a channel we are not in, side by side. */
function siblings(count: number): readonly Bytes[] {
  const parents: EventId[] = [genesisOf(holdfast, slot).id];
  return Array.from({ length: count }, (_, at) => {
    const logical = command(500 + at);
    const said = { type: 0, channel: otherName, nick: 'Cy', text: `line ${at}`, logical } as const;
    return encodeEvent(makeEvent(BigInt(t0 + at), parents, 1n, encodePrivmsg(said)));
  });
}

/** Events are in the graph, and then their channel is joined. */
async function joined(
  world: EngineWorld,
  events: readonly Bytes[],
  before: () => void = () => undefined,
): Promise<ConversationId> {
  const bodies = events.map((event) => ({ event, blob: fresh(0) }));
  for (let from = 0; from < bodies.length; from += limits.eventReplyEventsMax) {
    const batch = bodies.slice(from, from + limits.eventReplyEventsMax);
    const base = { account, profile: holdfast.name, slot, now: t0 + 5_000, seed: fresh(32), heard: [] };
    await world.home.store.transact('receiveFetched', { ...base, events: batch });
  }
  before();
  const channel = { account, conversation: other, name: otherName, now: t0, nonce: fresh(12) };
  await world.home.store.transact('joinChannel', channel);
  await world.start();
  return other;
}

async function texts(world: EngineWorld, conversation: ConversationId): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const row of world.home.rows('messages')) if (row.conversation === conversation) found.push(row.event);
  return [...new Set(found)];
}
