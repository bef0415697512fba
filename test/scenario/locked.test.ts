import { describe, expect, test } from 'vitest';
import type { Bytes } from '../../src/core/ids';
import { encodeEvent, eventId, makeEvent } from '../../src/core/wire/event';
import { encodePrivmsg } from '../../src/core/wire/privmsg';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { account, command, open, openName, slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle } from '../fixtures/fake-ports';

const minute = 60_000;

/** Somebody's lines in our channel, each on the one before. */
function lines(count: number): readonly Bytes[] {
  let parent = genesisOf(holdfast, slot).id;
  return Array.from({ length: count }, (_, at) => {
    const logical = command(100 + at);
    const content = encodePrivmsg({ type: 0, channel: openName, nick: 'Cy', text: `line ${at}`, logical });
    const made = makeEvent(BigInt(t0 + at), [parent], BigInt(at + 1), content);
    parent = eventId(made.header);
    return encodeEvent(made);
  });
}

async function shown(world: EngineWorld): Promise<readonly (string | undefined)[]> {
  const page = await world.home.store.read('timeline', { account, conversation: open, limit: 50 });
  return page.messages.map((one) => one.body?.text);
}

async function hears(world: EngineWorld, events: readonly Bytes[]): Promise<void> {
  for (const event of events) world.relay(0).put(event);
  await idle();
}

describe('a store that is locked while the engine works', () => {
  test('[OB-14] events come in and are answered; once it is open they are heard, in order, without a restart', async () => {
    const world = await EngineWorld.with(0, ['one']);
    await world.start();
    await world.clock.pass(1_000);
    const { keys } = world.home;
    world.home.keys = {};
    await hears(world, lines(4));
    await world.clock.pass(minute);
    expect(world.home.rows('events')).toHaveLength(4);
    expect(world.home.rows('counters')[0]?.unapplied).toMatchObject({ from: slot });
    world.home.keys = keys;
    await world.clock.pass(minute);
    expect(await shown(world)).toEqual(['line 0', 'line 1', 'line 2', 'line 3']);
    expect(world.home.rows('counters')[0]).not.toHaveProperty('unapplied');
  });

  test('what it could not hear before it died is heard by the next engine', async () => {
    const world = await EngineWorld.with(0, ['one']);
    await world.start();
    await world.clock.pass(1_000);
    const { keys } = world.home;
    world.home.keys = {};
    await hears(world, lines(2));
    world.crash();
    world.home.keys = keys;
    await world.start();
    await world.clock.pass(1_000);
    expect(await shown(world)).toEqual(['line 0', 'line 1']);
    expect(world.home.rows('counters')[0]).not.toHaveProperty('unapplied');
  });
});
