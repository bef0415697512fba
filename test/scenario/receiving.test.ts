import { describe, expect, test } from 'vitest';
import type { Bytes, EventId } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { utf8Bytes } from '../../src/core/wire/codec';
import { encodeEvent, eventId, makeEvent } from '../../src/core/wire/event';
import { encodePrivmsg } from '../../src/core/wire/privmsg';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { account, command, open, openName, slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle } from '../fixtures/fake-ports';

/** Events of others, each on the one before; `content` gives what stands in each. */
function chain(
  length: number,
  content: (at: number) => Bytes = (at) => utf8Bytes(`\x02 ${at}`),
): readonly Bytes[] {
  let parent: EventId = genesisOf(holdfast, slot).id;
  return Array.from({ length }, (_, at) => {
    const made = makeEvent(BigInt(t0 + at), [parent], BigInt(at + 1), content(at));
    parent = eventId(made.header);
    return encodeEvent(made);
  });
}

async function hears(world: EngineWorld, events: readonly Bytes[]): Promise<void> {
  for (const event of events) {
    world.relay(0).put(event);
    await idle();
  }
}

describe('what a relay hands on', () => {
  test('more than one member may say in a minute: the link stands, own messages go out, and the rest is asked for', async () => {
    const world = await EngineWorld.with(0, ['one']);
    await world.start();
    await world.clock.pass(1_000);
    const { link, tipsAsked } = world.relay(0);
    const asked = tipsAsked.length;
    await hears(world, chain(limits.floodEventsMax + 50));
    expect(world.home.rows('events')).toHaveLength(limits.floodEventsMax);
    await world.send(1);
    expect(world.heard(0)).toEqual([1]);
    await world.clock.pass(10_000);
    expect(world.relay(0).link).toBe(link);
    expect(world.status?.relays[0]?.state).toBe('answering');
    expect(tipsAsked.length).toBeGreaterThan(asked);
  });

  test('in answer to a sync stands in the order in which it was said, whatever order the relay gives it in', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const said = (at: number) =>
      encodePrivmsg({
        type: 0,
        channel: openName,
        nick: 'Cy',
        text: `line ${at}`,
        logical: command(100 + at),
      });
    world.relay(0).holds = chain(20, said);
    world.relay(0).given = (events) => events.toReversed();
    await world.start();
    await world.clock.pass(1_000);
    const page = await world.home.store.read('timeline', { account, conversation: open, limit: 50 });
    expect(page.messages.map((one) => one.body?.text)).toEqual(
      Array.from({ length: 20 }, (_, at) => `line ${at}`),
    );
  });

  test('a stream far beyond that ends the link', async () => {
    const world = await EngineWorld.with(0, ['one']);
    await world.start();
    await world.clock.pass(1_000);
    await hears(world, chain(limits.floodEventsMax * 16 + 10));
    expect(world.status?.relays[0]?.state).toBe('not-now');
    expect(world.home.rows('events')).toHaveLength(limits.floodEventsMax);
  });
});
