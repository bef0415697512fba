import { describe, expect, test } from 'vitest';
import { sameBytes } from '../../src/core/ids';
import { decodeEvent, encodeEvent, makeEvent } from '../../src/core/wire/event';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle, type ScriptedRelay } from '../fixtures/fake-ports';
import { taken } from '../fixtures/home';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const jumps = [
  ['5 h on', 5 * hour],
  ['5 h back', -5 * hour],
  ['a day on', day],
  ['a day back', -day],
  ['20 years on', 20 * 365 * day],
] as const;

/** Our clock is moved; the relays keep theirs. Timers go on as they would: they count what passes. */
function jump(world: EngineWorld, ms: number): void {
  world.clock.turn(ms);
  for (const relay of world.relays) relay.clockOffset -= ms;
}

/** Time that really passed when the event was made, by the relays' clocks. */
function timesOf(relay: ScriptedRelay): readonly number[] {
  return [...new Set(relay.arrived.map((put) => Number(decodeEvent(put.event).header.timestamp)))];
}

function rightTimes(world: EngineWorld): void {
  for (const time of timesOf(world.relay(0))) {
    expect(time).toBeGreaterThanOrEqual(t0);
    expect(time).toBeLessThan(t0 + hour);
  }
}

describe('our clock is moved while the engine works, and one relay alone says so', () => {
  test.each(jumps)(
    '[OB-35] %s, with the head queued: nothing is made until the clock is right, then all leaves',
    async (_what, ms) => {
      const world = await EngineWorld.with(0, ['one']);
      await world.start();
      await world.clock.pass(5_000);
      jump(world, ms);
      await world.send(1);
      await world.send(2);
      await world.clock.pass(3 * minute);
      expect(world.status).toMatchObject({ clock: { trusted: false }, parked: 'clock' });
      expect([world.heard(0), world.home.rows('events'), world.home.waiting()]).toEqual([[], [], [1, 2]]);
      jump(world, -ms);
      await world.clock.pass(3 * minute);
      expect(world.heard(0)).toEqual([1, 2]);
      expect(world.home.waiting()).toEqual([]);
      rightTimes(world);
    },
  );

  test.each(jumps)(
    '[OB-35] %s, with the head materialised: the same copy goes on, nothing new is made, and it ends when it can',
    async (_what, ms) => {
      const world = await EngineWorld.with(2, ['one']);
      world.relay(0).verdict = () => undefined;
      await world.start();
      await world.clock.pass(5_000);
      const [first] = world.relay(0).arrived;
      jump(world, ms);
      await world.clock.pass(20 * minute);
      expect(world.home.operation(1).generations).toHaveLength(1);
      expect(world.home.message(2).operation).toBeUndefined();
      const { arrived } = world.relay(0);
      expect(arrived.length).toBeGreaterThan(1);
      expect(arrived.every((put) => first !== undefined && sameBytes(first.event, put.event))).toBe(true);
      jump(world, -ms);
      world.relay(0).verdict = () => taken;
      await world.clock.pass(21 * minute);
      expect([...new Set(world.heard(0))]).toEqual([1, 2]);
      expect(world.home.waiting()).toEqual([]);
      expect(world.home.rows('generations')).toHaveLength(2);
      rightTimes(world);
    },
  );

  test.each(jumps)(
    '[OB-35] %s, with the head in flight: its acknowledgement counts, and the next is not made before its time',
    async (_what, ms) => {
      const world = await EngineWorld.with(2, ['one']);
      world.relay(0).verdict = () => undefined;
      await world.start();
      await world.clock.pass(1_000);
      const { link } = world.relay(0);
      jump(world, ms);
      world.relay(0).say(world.home.active(1), taken, link);
      await idle();
      expect(world.home.waiting()).toEqual([2]);
      await world.clock.pass(2 * minute);
      expect(world.home.message(2).operation?.generations ?? []).toEqual([]);
      expect(world.home.rows('events')).toHaveLength(1);
      world.relay(0).verdict = () => taken;
      jump(world, -ms);
      await world.clock.pass(3 * minute);
      expect(world.heard(0)).toEqual([1, 2]);
      rightTimes(world);
    },
  );
});

describe('our clock is moved while tips are asked for', () => {
  test.each(jumps)('%s: no history is forgotten by a time that nobody confirms', async (_what, ms) => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    const made = makeEvent(BigInt(t0), [genesisOf(holdfast, slot).id], 1n, new Uint8Array([2]));
    relay.holds = [encodeEvent(made)];
    await world.start();
    await world.clock.pass(minute);
    expect(world.home.rows('events')).toHaveLength(1);
    let moved = false;
    relay.onTipsAsked = () => {
      if (!moved) jump(world, ms);
      moved = true;
    };
    await world.clock.pass(16 * minute);
    expect(moved).toBe(true);
    expect(world.home.rows('events')).toHaveLength(1);
  });
});

describe('our clock is moved, and two relays agree on the right time', () => {
  test.each(jumps)(
    '[OB-35] %s: their time is written on what is made, and nothing waits for the clock',
    async (_what, ms) => {
      const world = await EngineWorld.with(1);
      await world.start();
      await world.clock.pass(5_000);
      jump(world, ms);
      await world.send(2);
      await world.clock.pass(2 * minute);
      expect(world.status?.clock).toMatchObject({ trusted: true });
      expect(world.heard(0)).toEqual([1, 2]);
      expect(world.home.waiting()).toEqual([]);
      rightTimes(world);
    },
  );

  test('[OB-35] the slot ends by their clock: what is written after it leaves in the new one without delay', async () => {
    const world = await EngineWorld.with(0);
    for (const relay of world.relays) relay.clockOffset = 20 * minute;
    await world.start();
    await world.clock.pass(39 * minute);
    await world.send(1);
    expect(world.heard(0)).toEqual([1]);
    await world.clock.pass(2 * minute);
    await world.send(2);
    await world.clock.pass(5_000);
    expect(world.heard(0)).toEqual([1, 2]);
  });

  test('[OB-35] an engine that ends in between goes on from what is stored', async () => {
    const world = await EngineWorld.with(2);
    for (const relay of world.relays) relay.verdict = () => undefined;
    await world.start();
    await world.clock.pass(5_000);
    for (const [, ms] of jumps) {
      world.crash();
      jump(world, ms);
      await world.start();
      await world.clock.pass(2 * minute);
      expect(world.home.waiting()).toEqual([1, 2]);
      expect(world.home.operation(1).generations).toHaveLength(1);
      world.crash();
      jump(world, -ms);
    }
    for (const relay of world.relays) relay.verdict = () => taken;
    await world.start();
    await world.clock.pass(25 * minute);
    expect([...new Set(world.heard(0))]).toEqual([1, 2]);
    expect(world.home.waiting()).toEqual([]);
  });

  test.each(['one', 'one two'])(
    '[OB-35] what is kept is not forgotten by a clock that no peer has confirmed since it was moved (%s)',
    async (names) => {
      const world = await EngineWorld.with(1, names.split(' '));
      await world.start();
      await world.clock.pass(5_000);
      world.relay(0).breakLink();
      // Just before the answer that makes the relay ready again.
      world.relay(0).onTipsAsked = () => {
        world.relay(0).onTipsAsked = () => undefined;
        jump(world, 20 * 365 * day);
      };
      await world.clock.pass(2 * minute);
      expect(world.relay(0).tipsAsked.length).toBeGreaterThan(1);
      expect(world.home.rows('events')).toHaveLength(1);
    },
  );

  test.each([36_000, -36_000, 140_000])(
    '[OB-35] a correction of %i ms is seen as well, though timers may come later than that: what waited leaves',
    async (ms) => {
      const world = await EngineWorld.with(1, ['one']);
      world.relay(0).clockOffset = ms;
      await world.start();
      await world.clock.pass(10 * minute);
      expect(world.status).toMatchObject({ clock: { trusted: false }, parked: 'clock' });
      jump(world, ms);
      await world.clock.pass(2 * minute);
      expect(world.heard(0)).toEqual([1]);
      expect(world.status).toMatchObject({ clock: { trusted: true, offsetMs: 0 } });
    },
  );

  test('[OB-35] timers that come late are no step of the clock: links stay', async () => {
    const world = await EngineWorld.with(0, ['one']);
    await world.start();
    await world.clock.pass(5_000);
    const { link } = world.relay(0);
    world.clock.jump(world.clock.now() + 10_000);
    await world.clock.pass(1_000);
    world.clock.jump(world.clock.now() + 14_000);
    await world.clock.pass(1_000);
    expect([world.status?.relays[0]?.state, world.relay(0).link]).toEqual(['answering', link]);
  });
});
