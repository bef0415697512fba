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

const hour = holdfast.rotationMs;

/** The content of somebody's nth line in our channel. */
function line(nth: number): Bytes {
  const logical = command(100 + nth);
  return encodePrivmsg({ type: 0, channel: openName, nick: 'Cy', text: `line ${nth}`, logical });
}

/** The first event of a slot. */
function firstOf(start: number, content: Bytes): Bytes {
  const parents = [genesisOf(holdfast, start).id];
  return encodeEvent(makeEvent(BigInt(start + 60_000), parents, 1n, content));
}

async function lines(world: EngineWorld): Promise<readonly (string | undefined)[]> {
  const page = await world.home.store.read('timeline', { account, conversation: open, limit: 50 });
  return page.messages.map((one) => one.body?.text);
}

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

/** Our clock is set; the relays keep theirs. */
function turn(world: EngineWorld, ms: number): void {
  world.clock.turn(ms);
  for (const relay of world.relays) relay.clockOffset -= ms;
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
    world.relay(0).holds = chain(20, line);
    world.relay(0).given = (events) => events.toReversed();
    await world.start();
    await world.clock.pass(1_000);
    expect(await lines(world)).toEqual(Array.from({ length: 20 }, (_, at) => `line ${at}`));
  });

  test('while the hours before are fetched waits for them, and then stands behind them', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    relay.holds = [firstOf(slot - hour, line(0))];
    // Somebody speaks just when the first of the older slots is asked for.
    let spoken = false;
    relay.onTipsAsked = (asked) => {
      if (!spoken && asked !== slot) relay.put(firstOf(slot, line(1)));
      spoken ||= asked !== slot;
    };
    await world.start();
    await world.clock.pass(1_000);
    expect(spoken).toBe(true);
    expect(await lines(world)).toEqual(['line 0', 'line 1']);
  });

  test('comes in though the sync before it never ends in order', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    relay.answersTips = false;
    await world.start();
    relay.put(firstOf(slot, line(1)));
    await world.clock.pass(14_000);
    expect(await lines(world)).toEqual([]);
    relay.breakLink();
    relay.answersTips = true;
    relay.holds = [firstOf(slot, line(1))];
    await world.clock.pass(30_000);
    expect(await lines(world)).toEqual(['line 1']);
  });

  test('a stream far beyond that ends the link', async () => {
    const world = await EngineWorld.with(0, ['one']);
    await world.start();
    await world.clock.pass(1_000);
    await hears(world, chain(limits.relayFloodEventsMax + 10));
    expect(world.status?.relays[0]?.state).toBe('not-now');
    expect(world.home.rows('events')).toHaveLength(limits.floodEventsMax);
  });

  test('by a clock that nobody confirms is not held against its relay, and is there once the clock is right', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    await world.start();
    await world.clock.pass(1_000);
    turn(world, -5 * hour);
    await world.clock.pass(70_000);
    const { link } = relay;
    const said = chain(2 * limits.strikesMax, line);
    await hears(world, said);
    expect(world.status?.clock).toMatchObject({ trusted: false });
    expect(relay.link).toBe(link);
    expect(relay.told).toEqual(said.map(() => ({ type: 'nack', reason: 'busy' })));
    expect(await lines(world)).toEqual([]);
    relay.holds = said;
    turn(world, 5 * hour);
    await world.clock.pass(70_000);
    expect(await lines(world)).toEqual(said.map((_, at) => `line ${at}`));
  });

  test('is against the rules: five times on one link end it, and the next link begins anew', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    const broken = chain(1, () => new Uint8Array(0))[0] as Bytes;
    const breaks = (times: number): Promise<void> =>
      hears(
        world,
        Array.from({ length: times }, () => broken),
      );
    await world.start();
    await world.clock.pass(1_000);
    await breaks(limits.strikesMax - 1);
    relay.breakLink();
    await world.clock.pass(10_000);
    const { link } = relay;
    await breaks(limits.strikesMax - 1);
    await world.clock.pass(1_000);
    expect([world.status?.relays[0]?.state, relay.link]).toEqual(['answering', link]);
    await breaks(1);
    expect(world.status?.relays[0]?.state).toBe('not-now');
    expect(relay.told.every((one) => one.type === 'nack' && one.reason === 'invalid')).toBe(true);
  });
});
