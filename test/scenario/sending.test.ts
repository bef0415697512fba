import { describe, expect, test } from 'vitest';
import { sameBytes } from '../../src/core/ids';
import { commands } from '../../src/core/wire/commands';
import { decodeEvent, encodeEvent } from '../../src/core/wire/event';
import { decodeEventPut } from '../../src/core/wire/event-put';
import { decodeFrame } from '../../src/core/wire/frame';
import { holdfast } from '../../src/core/wire/profile';
import type { Store } from '../../src/engine/ports';
import { slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle } from '../fixtures/fake-ports';
import { had, taken } from '../fixtures/home';

const minute = 60_000;
const silence = (): undefined => undefined;

/** A world whose relays never answer an event. */
async function silent(count: number, names?: readonly string[]): Promise<EngineWorld> {
  const world = await EngineWorld.with(count, names);
  for (const relay of world.relays) relay.verdict = silence;
  return world;
}

describe('sending through the engine', () => {
  test('[OB-01] [OB-13] messages leave one after the other in their order, each once its predecessor is acknowledged', async () => {
    const world = await EngineWorld.with(5);
    await world.start();
    await world.clock.pass(1_000);
    expect(world.heard(0)).toEqual([1, 2, 3, 4, 5]);
    expect(world.heard(1)).toEqual([1, 2, 3, 4, 5]);
    expect(world.home.waiting()).toEqual([]);
    expect(world.home.rows('generations')).toHaveLength(5);
    await world.send(6);
    expect(world.heard(0)).toEqual([1, 2, 3, 4, 5, 6]);
    await world.clock.pass(2 * 60 * minute);
    expect(world.heard(0)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('[OB-02] while the head is unacknowledged nothing of what waits behind it is made or sent', async () => {
    const world = await silent(3);
    await world.start();
    await world.clock.pass(20 * minute);
    expect(new Set([...world.heard(0), ...world.heard(1)])).toEqual(new Set([1]));
    expect(world.home.rows('events')).toHaveLength(1);
    expect(world.home.rows('generations').map((row) => row.seq)).toEqual([1]);
    world.relay(0).breakLink(true);
    world.relay(1).breakLink(true);
    await world.send(4);
    await world.clock.pass(10 * minute);
    expect(world.home.rows('events')).toHaveLength(1);
    expect(world.home.waiting()).toEqual([1, 2, 3, 4]);
  });

  test('[OB-03] nothing is made or sent with fewer ready relays than wanted, and it goes out when they are there', async () => {
    const world = await EngineWorld.with(2);
    world.relay(1).up = false;
    await world.start();
    await world.clock.pass(2_000);
    expect(world.status).toMatchObject({ ready: 1, minPeers: 2 });
    expect([world.heard(0), world.home.rows('events')]).toEqual([[], []]);
    world.relay(1).up = true;
    await world.clock.pass(2 * minute);
    expect([world.heard(0), world.heard(1)]).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  test('[OB-03] a relay that cannot be reached at all is waited for some tries, and not for ever', async () => {
    const world = await EngineWorld.with(2);
    world.relay(1).up = false;
    await world.start();
    await world.clock.pass(minute);
    expect(world.status).toMatchObject({ ready: 1, minPeers: 1 });
    expect(world.heard(0)).toEqual([1, 2]);
    world.relay(0).up = false;
    world.relay(0).breakLink(true);
    await world.send(3);
    await world.clock.pass(10 * minute);
    expect(world.status).toMatchObject({ ready: 0, minPeers: 1 });
    expect([world.heard(0), world.home.waiting()]).toEqual([[1, 2], [3]]);
  });

  test('[OB-03] nothing is made before the current slot is synced, however long the session is ready', async () => {
    const world = await EngineWorld.with(1, ['one']);
    world.relay(0).answersTips = false;
    await world.start();
    await world.clock.pass(14_000);
    expect(world.relay(0).tipsAsked).toEqual([slot]);
    expect([world.status?.ready, world.home.rows('events')]).toEqual([0, []]);
    world.relay(0).answersTips = true;
    await world.clock.pass(2 * minute);
    expect(world.heard(0)).toEqual([1]);
  });

  test('[OB-05] [RD-01] every EventPut that reaches a link is durable already, byte for byte', async () => {
    const world = await EngineWorld.with(4);
    let checked = 0;
    world.links.onSend = (_relay, bytes) => {
      const { command, payload } = decodeFrame(holdfast.magic, bytes);
      if (command !== commands.eventPut) return;
      const put = decodeEventPut(payload);
      const event = encodeEvent(put.event);
      const kept = world.home.rows('messages').flatMap((row) => row.operation?.generations ?? []);
      const row = kept.find((one) => one.event !== undefined && sameBytes(one.event, event));
      expect(row).toBeDefined();
      expect(row?.blob).toEqual(put.blob);
      expect(world.home.rows('events').map((one) => one.id)).toContain(row?.id);
      checked += 1;
    };
    await world.start();
    await world.clock.pass(1_000);
    expect(checked).toBe(8);
  });

  test('[OB-05] [OB-08] [OB-28] what cannot be committed is not sent; it is tried again at a bounded rate, and then goes out', async () => {
    const world = await EngineWorld.with(2);
    const tries: number[] = [];
    let broken = true;
    const { store } = world.home;
    const failing: Store = {
      transact: (name, args, term) => {
        if (!broken || name !== 'materialise') return store.transact(name, args, term);
        tries.push(world.clock.now() - t0);
        world.home.tables.write = () => {
          throw new Error('the disk is full');
        };
        return store.transact(name, args, term).finally(() => {
          Reflect.deleteProperty(world.home.tables, 'write');
        });
      },
      read: (name, args) => store.read(name, args),
    };
    await world.start(failing);
    await world.clock.pass(5 * minute);
    expect(world.heard(0)).toEqual([]);
    expect(world.home.waiting()).toEqual([1, 2]);
    const pauses = tries.slice(1).map((at, nth) => at - (tries[nth] ?? 0));
    // Something that happens meanwhile may be a reason to look at once; by itself the pause doubles up to 32 s.
    expect(pauses.slice(1, 5)).toEqual([2_000, 4_000, 8_000, 16_000]);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(32_000);
    expect(tries.length).toBeLessThan(20);
    broken = false;
    await world.clock.pass(minute);
    expect(world.heard(0)).toEqual([1, 2]);
    expect(world.home.rows('generations')).toHaveLength(2);
  });

  test('[OB-10] [OB-14] an answer counts whenever it comes: with no relay left, and by way of an older link', async () => {
    const world = await silent(2);
    await world.start();
    await world.clock.pass(1_000);
    const id = world.home.active(1);
    const { link } = world.relay(0);
    world.relay(0).breakLink();
    world.relay(1).breakLink(true);
    await world.clock.pass(2_500);
    expect(world.relay(0).link).toBeGreaterThan(link);
    expect(world.status?.ready).toBeLessThan(2);
    world.relay(0).say(id, had, link);
    await idle();
    expect(world.home.waiting()).toEqual([2]);
    expect(world.home.message(2).operation).toBeUndefined();
  });

  test('[OB-15] what relays say twice, late or of strange events removes nothing', async () => {
    const world = await silent(3);
    await world.start();
    await world.clock.pass(1_000);
    const first = world.home.active(1);
    world.relay(0).say(first, taken);
    await idle();
    expect(world.home.waiting()).toEqual([2, 3]);
    for (const relay of world.relays) {
      relay.say(first, taken);
      relay.say(first, had);
      relay.say('ab'.repeat(32), taken);
    }
    await idle();
    world.crash();
    await world.start();
    await world.clock.pass(1_000);
    world.relay(0).say(first, had);
    await idle();
    expect(world.home.waiting()).toEqual([2, 3]);
  });
});

describe('sending again', () => {
  test('[OB-17] a silent network hears the same bytes again after 30, 60, 120, 240 and 480 s, and then about every 960 s', async () => {
    const world = await silent(1, ['one']);
    await world.start();
    await world.clock.pass(55 * minute);
    const times = world.times(0);
    const pauses = times.slice(1).map((at, nth) => at - (times[nth] ?? 0));
    expect(pauses.slice(0, 5)).toEqual([30_000, 60_000, 120_000, 240_000, 480_000]);
    expect(pauses.length).toBeGreaterThan(6);
    for (const pause of pauses.slice(5)) {
      expect(pause).toBeGreaterThanOrEqual(720_000);
      expect(pause).toBeLessThanOrEqual(1_200_000);
    }
    const [first, ...rest] = world.relay(0).arrived;
    for (const again of rest) {
      expect(first && sameBytes(first.event, again.event) && sameBytes(first.blob, again.blob)).toBe(true);
    }
  });

  test('[OB-20] [OB-24] refusals do not hurry it: the rounds are those of a silent network', async () => {
    const world = await EngineWorld.with(2, ['one']);
    world.relay(0).verdict = () => ({ type: 'nack', reason: 'busy' });
    await world.start();
    await world.clock.pass(5 * minute);
    expect(world.times(0)).toEqual([0, 30_000, 90_000, 210_000]);
    expect(new Set(world.heard(0))).toEqual(new Set([1]));
    expect(world.home.operation(1).generations).toHaveLength(1);
  });

  test('[OB-18] [RD-07] [RD-16] each reconnect brings the head once, unchanged, and nothing behind it', async () => {
    const world = await silent(3, ['one']);
    await world.start();
    for (let nth = 1; nth <= 4; nth++) {
      await world.clock.pass(1_000);
      world.relay(0).breakLink();
      await idle();
      expect(world.home.intent(1, world.relay(0).url)?.state).toBe('pending');
      await world.clock.pass(4_000);
      expect(world.heard(0)).toHaveLength(nth + 1);
    }
    expect(new Set(world.heard(0))).toEqual(new Set([1]));
    const links = world.relay(0).arrived.map((put) => put.link);
    expect(new Set(links).size).toBe(links.length);
    expect(new Set(world.relay(0).arrived.map((put) => put.id)).size).toBe(1);
    expect(world.home.operation(1)).toMatchObject({ round: 1, nextAt: t0 + 30_000 });
  });

  test('[OB-19] days of silence and refusals later the head is the head, still sent, and one Has ends it', async () => {
    const world = await silent(2, ['one']);
    world.relay(0).verdict = (put) => (put.at % 2 === 0 ? { type: 'nack', reason: 'too-old' } : undefined);
    await world.start();
    await world.clock.pass(26 * 60 * minute);
    expect(world.home.waiting()).toEqual([1, 2]);
    expect(new Set(world.heard(0))).toEqual(new Set([1]));
    const { generations } = world.home.operation(1);
    expect(generations.length).toBeGreaterThan(10);
    const before = world.relay(0).arrived.length;
    await world.clock.pass(21 * minute);
    expect(world.relay(0).arrived.length).toBeGreaterThan(before);
    world.relay(0).verdict = () => taken;
    world.relay(0).say(generations[0]?.id ?? '', had);
    await world.clock.pass(minute);
    expect(world.home.waiting()).toEqual([]);
    expect(world.heard(0).at(-1)).toBe(2);
  });

  test('[OB-07] [OB-24] within an open slot silence makes no copy; copies enter strictly later slots, in the same place', async () => {
    const world = await silent(2, ['one']);
    await world.start();
    await world.clock.pass(58 * minute);
    expect(world.home.operation(1).generations).toHaveLength(1);
    await world.clock.pass(3 * 60 * minute);
    const { generations } = world.home.operation(1);
    expect(generations.length).toBeGreaterThan(1);
    const slots = generations.map((one) => one.slot);
    expect(slots).toEqual([...new Set(slots)].sort((left, right) => left - right));
    expect(generations.slice(0, -1).map((one) => one.supersededBy)).toEqual(
      generations.slice(1).map((one) => one.id),
    );
    expect(world.home.waiting()).toEqual([1, 2]);
    for (const { event } of world.relay(0).arrived) {
      const { timestamp } = decodeEvent(event).header;
      expect(slots).toContain(Number(timestamp) - ((Number(timestamp) - slot) % holdfast.rotationMs));
    }
  });
});

describe('engines that end', () => {
  test('[OB-04] [OB-09] [RD-06] a new engine goes on with the same bytes and makes no second generation', async () => {
    const world = await silent(3);
    await world.start();
    await world.clock.pass(1_000);
    const [first] = world.relay(0).arrived;
    world.crash();
    await world.clock.pass(5_000);
    await world.start();
    await world.clock.pass(minute);
    const again = world.relay(0).arrived.at(-1);
    expect(world.relay(0).arrived.length).toBeGreaterThan(1);
    expect(first && again && sameBytes(first.event, again.event)).toBe(true);
    expect(world.home.operation(1).generations).toHaveLength(1);
    for (const relay of world.relays) relay.verdict = () => had;
    await world.clock.pass(10 * minute);
    expect([...new Set(world.heard(0))]).toEqual([1, 2, 3]);
    expect(world.home.rows('generations')).toHaveLength(3);
  });

  test('[OB-04] what was accepted offline waits over restarts, and leaves in order when a relay is there', async () => {
    const world = await EngineWorld.with(0, ['one']);
    world.relay(0).up = false;
    for (let nth = 1; nth <= 5; nth++) {
      await world.start();
      await world.send(nth);
      await world.clock.pass(20_000);
      world.crash();
    }
    expect(world.heard(0)).toEqual([]);
    world.relay(0).up = true;
    await world.start();
    await world.clock.pass(minute);
    expect(world.heard(0)).toEqual([1, 2, 3, 4, 5]);
  });

  test('[RD-06] of two engines the older is fenced off: it stops, and only the newer sends', async () => {
    const world = await silent(1, ['one']);
    const older = await world.start();
    const notes = world.notes;
    await world.clock.pass(1_000);
    await world.home.store.transact('beginEngine', { engine: 'another' });
    await world.clock.pass(2 * minute);
    expect(notes?.all.map((one) => one.what)).toContain('fenced');
    expect(world.heard(0)).toEqual([1]);
    expect(older.status().relays).toEqual([]);
  });
});

describe('what a socket says', () => {
  test('[RD-02] that a frame was written accepts nothing', async () => {
    const world = await silent(2);
    await world.start();
    await world.clock.pass(2 * minute);
    expect(Object.values(world.home.intents(1))).toEqual(['leased', 'leased']);
    expect(world.home.waiting()).toEqual([1, 2]);
  });

  test('[RD-03] an answer that overtakes the write stays, and the late word of the write changes nothing', async () => {
    const world = await EngineWorld.with(2);
    world.links.holdsWritten = true;
    await world.start();
    await world.clock.pass(1_000);
    const before = world.home.everything();
    expect(world.home.waiting()).toEqual([]);
    expect(world.links.unwritten.length).toBeGreaterThan(4);
    for (const written of [...world.links.unwritten, ...world.links.unwritten]) written();
    await world.clock.pass(1_000);
    expect(world.home.everything()).toEqual(before);
  });

  test('[RD-11] [RD-12] events that come in move no deadline, and an answer at the deadline comes before the round', async () => {
    const world = await silent(2, ['one']);
    await world.start();
    await world.clock.pass(1_000);
    const { nextAt } = world.home.operation(1);
    const id = world.home.active(1);
    for (let nth = 0; nth < 10; nth++) {
      world.relay(0).say('ab'.repeat(32), taken);
      await world.clock.pass(1_000);
    }
    expect(world.home.operation(1).nextAt).toBe(nextAt);
    world.clock.jump(nextAt ?? 0);
    world.relay(0).say(id, taken);
    await idle();
    await world.clock.pass(0);
    expect(world.home.operation(1)).toMatchObject({ round: 1, acked: { event: id } });
    expect(world.heard(0)).toEqual([1, 2]);
  });
});

describe('a clock that is wrong', () => {
  test('[OB-35] with one relay that disagrees nothing is made; sending goes on by itself when they agree again', async () => {
    const world = await EngineWorld.with(2, ['one']);
    world.relay(0).clockOffset = 20 * minute;
    await world.start();
    await world.clock.pass(3 * minute);
    expect(world.status).toMatchObject({ parked: 'clock', clock: { trusted: false } });
    expect([world.heard(0), world.home.rows('events')]).toEqual([[], []]);
    world.relay(0).clockOffset = 0;
    world.relay(0).breakLink();
    await world.clock.pass(minute);
    expect(world.status?.parked).toBeUndefined();
    expect(world.heard(0)).toEqual([1, 2]);
  });

  test('[OB-35] a clock put right while the session stands: sending goes on without anybody breaking the link', async () => {
    for (const wrong of [20 * minute, -20 * minute]) {
      const world = await EngineWorld.with(2, ['one']);
      world.relay(0).clockOffset = wrong;
      await world.start();
      await world.clock.pass(3 * minute);
      expect(world.status?.parked).toBe('clock');
      world.clock.turn(wrong);
      world.relay(0).clockOffset = 0;
      await world.clock.pass(3 * minute);
      expect(world.status?.parked).toBeUndefined();
      expect(world.heard(0)).toEqual([1, 2]);
    }
  });

  test('[OB-35] a clock that is turned while the session stands makes no event of its time, in whichever slot', async () => {
    for (const wrong of [3 * 60 * minute, -3 * 60 * minute]) {
      const world = await EngineWorld.with(0, ['one']);
      await world.start();
      await world.clock.pass(minute);
      world.clock.turn(wrong);
      world.relay(0).clockOffset = -wrong;
      await world.clock.pass(minute);
      await world.send(1);
      await world.clock.pass(70 * minute);
      expect(world.status?.parked).toBe('clock');
      expect([world.heard(0), world.home.rows('events')]).toEqual([[], []]);
      world.clock.turn(-wrong);
      world.relay(0).clockOffset = 0;
      await world.clock.pass(3 * minute);
      expect(world.heard(0)).toEqual([1]);
    }
  });

  test('[OB-35] when two relays agree, theirs is the time that is written on the event', async () => {
    const world = await EngineWorld.with(1);
    for (const relay of world.relays) relay.clockOffset = 50 * minute;
    await world.start();
    await world.clock.pass(minute);
    const [put] = world.relay(0).arrived;
    const time = Number(put && decodeEvent(put.event).header.timestamp);
    expect(Math.abs(time - (t0 + 50 * minute))).toBeLessThan(2_000);
    expect(world.home.waiting()).toEqual([]);
  });

  test('[OB-35] a clock set back by hours does not hold the head back for hours', async () => {
    const world = await silent(1, ['one']);
    await world.start();
    await world.clock.pass(1_000);
    world.crash();
    world.clock.jump(t0 - 5 * minute);
    await world.home.store.transact('sendRound', {
      ...{
        account: world.home.message(1).account,
        seq: 1,
        event: world.home.active(1),
        round: 1,
        due: true,
        term: 1,
      },
      ...{ relays: [world.relay(0).url], now: t0 + 300 * minute, jitter: 0.5 },
    });
    const before = world.relay(0).arrived.length;
    await world.start();
    await world.clock.pass(minute);
    expect(world.relay(0).arrived.length).toBeGreaterThan(before);
  });
});
