import { describe, expect, test } from 'vitest';
import type { Bytes, EventId } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { closeCodes } from '../../src/core/link/session';
import { put } from '../../src/core/transaction';
import { commands } from '../../src/core/wire/commands';
import { encodeEvent, eventId, makeEvent } from '../../src/core/wire/event';
import { decodeFrame } from '../../src/core/wire/frame';
import { encodePrivmsg } from '../../src/core/wire/privmsg';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { featuresOf } from '../../src/core/wire/version';
import { RelayPeer } from '../../src/engine/relay-peer';
import { account, command, open, openName, slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle, ManualClock, portsOf, ScriptedLinks, ScriptedRelay } from '../fixtures/fake-ports';

const minute = 60_000;

/** Somebody's lines in our channel, each on the one before; `logical` gives what they are known by. */
function lines(
  count: number,
  logical: (at: number) => string = (at) => command(100 + at),
  from = 0,
): readonly Bytes[] {
  let parent: EventId = genesisOf(holdfast, slot).id;
  return Array.from({ length: count }, (_, at) => {
    const text = `line ${logical(at)}`;
    const content = encodePrivmsg({ type: 0, channel: openName, nick: 'Cy', text, logical: logical(at) });
    const made = makeEvent(BigInt(t0 + from + at), [parent], BigInt(at + 1), content);
    parent = eventId(made.header);
    return encodeEvent(made);
  });
}

async function shown(world: EngineWorld): Promise<readonly string[]> {
  const page = await world.home.store.read('timeline', { account, conversation: open, limit: 200 });
  return page.messages.map((one) => one.logical);
}

const logicals = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => command(100 + at));

describe('one bad relay beside a good one', () => {
  test('(BL-26) an answer with an event nobody asked for is none: the sync ends with the other, nothing of it is kept', async () => {
    const world = await EngineWorld.with(0);
    const [bad, good] = [world.relay(0), world.relay(1)];
    const stray = encodeEvent(makeEvent(BigInt(t0), [genesisOf(holdfast, slot).id], 1n, new Uint8Array([9])));
    for (const relay of world.relays) relay.holds = lines(5);
    bad.given = (events) => [...events, { event: stray, blob: new Uint8Array(0) }];
    await world.start();
    await world.clock.pass(minute);
    expect(await shown(world)).toEqual(logicals(5));
    expect(world.home.rows('events')).toHaveLength(5);
    expect(world.status?.relays.find((relay) => relay.url === good.url)?.state).toBe('answering');
    // And it is not asked again and again: its pauses grow, the good one's link stands.
    const { link } = good;
    const before = bad.tipsAsked.filter((asked) => asked === slot).length;
    await world.clock.pass(20 * minute);
    expect(bad.tipsAsked.filter((asked) => asked === slot).length - before).toBeLessThan(30);
    expect(good.link).toBe(link);
  });

  test('(BL-26) alone it is asked less and less often, and what we say still goes out', async () => {
    const world = await EngineWorld.with(1, ['one']);
    const bad = world.relay(0);
    const stray = encodeEvent(makeEvent(BigInt(t0), [genesisOf(holdfast, slot).id], 1n, new Uint8Array([9])));
    bad.holds = lines(5);
    bad.given = (events) => [...events, { event: stray, blob: new Uint8Array(0) }];
    await world.start();
    await world.clock.pass(10 * minute);
    const before = bad.link;
    await world.clock.pass(20 * minute);
    expect(bad.link - before).toBeLessThan(45);
    expect(world.home.waiting()).toEqual([]);
    bad.given = (events) => events;
    await world.clock.pass(3 * minute);
    expect((await shown(world)).filter((logical) => logical !== command(1))).toEqual(logicals(5));
  });

  test('(BL-26) bodies that one does not give the other does, whichever answers first', async () => {
    for (const [first, second] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const world = await EngineWorld.with(0);
      for (const relay of world.relays) relay.holds = lines(6);
      world.relay(first).given = () => [];
      world.relay(second).given = (events) => events;
      await world.start();
      await world.clock.pass(minute);
      expect(await shown(world)).toEqual(logicals(6));
    }
  });

  test('a slot that nobody has all of keeps nothing else from coming, and the lane from going', async () => {
    const world = await EngineWorld.with(1);
    for (const relay of world.relays) {
      relay.holds = lines(4);
      relay.given = (events) => events.slice(0, 0);
    }
    await world.start();
    await world.clock.pass(minute);
    expect(world.home.waiting()).toEqual([]);
    const asked = world.relay(0).tipsAsked.length;
    await world.clock.pass(14 * minute);
    expect(world.relay(0).tipsAsked.length - asked).toBeLessThanOrEqual(2 * limits.clientSlotsRetained + 1);
    for (const relay of world.relays) relay.given = (events) => events;
    await world.clock.pass(16 * minute);
    expect((await shown(world)).filter((logical) => logical !== command(1))).toEqual(logicals(4));
  });
});

describe('resuming', () => {
  test('(BL-22) at a relay that lost everything: one sync, no loop, nothing twice, nothing missing', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    relay.holds = lines(10);
    await world.start();
    await world.clock.pass(minute);
    relay.holds = [];
    const asked = relay.tipsAsked.length;
    relay.breakLink();
    await world.clock.pass(10 * minute);
    expect(await shown(world)).toEqual(logicals(10));
    expect(relay.tipsAsked.length - asked).toBe(limits.clientSlotsRetained);
    expect(world.status?.relays[0]?.state).toBe('answering');
  });

  test('(BL-22) from a place nobody knows: one sync brings what there is, and then it is quiet', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    const unknown = { id: 'ab'.repeat(32), layer: 7 };
    world.home.tables.write([put('slots', { account, slot, tips: [unknown], events: 1, bytes: 300 })]);
    relay.holds = lines(10);
    await world.start();
    await world.clock.pass(10 * minute);
    expect(await shown(world)).toEqual(logicals(10));
    expect(world.home.rows('events')).toHaveLength(10);
    expect(relay.tipsAsked).toHaveLength(limits.clientSlotsRetained);
    await world.clock.pass(limits.resyncMs);
    expect(relay.tipsAsked).toHaveLength(2 * limits.clientSlotsRetained);
  });

  test('(BL-23) an event on parents nobody has: one more sync soon, no reconnect, and no end of asking', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    await world.start();
    await world.clock.pass(minute);
    const { link } = relay;
    const asked = relay.tipsAsked.length;
    for (let nth = 0; nth < 10; nth++) {
      const gap = makeEvent(BigInt(t0 + nth), ['ab'.repeat(32)], 7n, new Uint8Array([nth + 1]));
      relay.put(encodeEvent(gap));
    }
    await world.clock.pass(5 * minute);
    expect(relay.tipsAsked.length - asked).toBe(limits.clientSlotsRetained);
    expect(relay.link).toBe(link);
    relay.holds = lines(3);
    relay.put(relay.holds[2] ?? new Uint8Array(0));
    await world.clock.pass(1_000);
    expect(await shown(world)).toEqual(logicals(3));
  });

  test('(BL-25) one logical message a thousand times, in fresh events over five reconnects: one row, counted once', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    await world.start();
    for (let link = 0; link < 5; link++) {
      await world.clock.pass(2 * minute);
      const copies = lines(1_000, () => command(777)).slice(link * 200, (link + 1) * 200 - 1);
      for (const copy of copies) {
        relay.put(copy);
        await idle();
      }
      relay.holds = lines(1_000, () => command(777)).slice(0, (link + 1) * 200);
      relay.breakLink();
    }
    await world.clock.pass(2 * minute);
    expect(world.home.rows('events')).toHaveLength(1_000);
    // Each copy that was put is answered as taken.
    expect(relay.told).toHaveLength(5 * 199);
    expect(relay.told.every((one) => one.type === 'has')).toBe(true);
    expect(await shown(world)).toEqual([command(777)]);
    expect(world.home.rows('conversations').find((row) => row.conversation === open)?.unread).toBe(1);
  });

  test('what was said while the link was down is fetched with the next one, and what was missed beside it within 15 minutes', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    await world.start();
    await world.clock.pass(minute);
    relay.breakLink(true);
    relay.holds = lines(4);
    await world.clock.pass(5 * minute);
    relay.up = true;
    await world.clock.pass(2 * minute);
    expect(await shown(world)).toEqual(logicals(4));
    // The relay says nothing of these by itself: a gap that no event points at.
    relay.holds = lines(7);
    await world.clock.pass(limits.resyncMs);
    expect(await shown(world)).toEqual(logicals(7));
  });
});

describe('a relay that never stops', () => {
  test('with events on parents nobody has, it is asked itself, and makes us no burden to the others', async () => {
    const world = await EngineWorld.with(0);
    const [bad, good] = [world.relay(0), world.relay(1)];
    await world.start();
    await world.clock.pass(minute);
    const asked = world.relays.map((relay) => relay.tipsAsked.length);
    const [byBad, byGood] = [bad.link, good.link];
    for (let nth = 0; nth < 120; nth++) {
      const gap = makeEvent(BigInt(t0 + nth), ['ab'.repeat(32)], 7n, new Uint8Array([nth + 1]));
      bad.put(encodeEvent(gap));
      await world.clock.pass(5_000);
    }
    const more = world.relays.map((relay, at) => relay.tipsAsked.length - (asked[at] ?? 0));
    expect(more[0]).toBeGreaterThan(24);
    expect(more[1]).toBe(0);
    expect([bad.link, good.link]).toEqual([byBad, byGood]);
    // Beyond its allowance it is not even looked at.
    await world.clock.pass(2 * minute);
    let answers = 0;
    world.links.onSend = (to, bytes) => {
      const { command: name } = decodeFrame(holdfast.magic, bytes);
      if (to === bad.url && name === commands.eventPutStatus) answers += 1;
    };
    for (let nth = 0; nth < limits.floodEventsMax + 100; nth++) {
      const gap = makeEvent(BigInt(t0 + nth), ['cd'.repeat(32)], 7n, new Uint8Array([1]));
      bad.put(encodeEvent(gap));
      await idle();
    }
    expect(answers).toBe(limits.floodEventsMax);
    good.holds = lines(3);
    good.put(good.holds[2] ?? new Uint8Array(0));
    await idle();
    await world.clock.pass(1_000);
    expect(await shown(world)).toEqual(logicals(3));
  });
});

describe('no room', () => {
  test('[EG-07] whatever is said, peers are not asked again and again for what cannot be kept; with room it comes', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    await world.start();
    await world.clock.pass(minute);
    const counters = () => {
      const [row] = world.home.rows('counters');
      if (row === undefined) throw new Error('no counters');
      return row;
    };
    world.home.tables.write([put('counters', { ...counters(), graphBytes: limits.clientGraphBytesMax })]);
    const asked = relay.tipsAsked.length;
    const said = lines(60);
    for (const [at, line] of said.entries()) {
      relay.holds = said.slice(0, at + 1);
      relay.put(line);
      await world.clock.pass(10_000);
    }
    expect(await shown(world)).toEqual([]);
    expect(relay.tipsAsked.length - asked).toBeLessThanOrEqual(2 * limits.clientSlotsRetained);
    world.home.tables.write([put('counters', { ...counters(), graphBytes: 0 })]);
    await world.clock.pass(limits.resyncMs);
    expect(await shown(world)).toEqual(logicals(60));
  });
});

describe('waking', () => {
  test('after hours of sleep, in which no timer ran: what was said in every slot of them comes without anybody asking', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    await world.start();
    await world.clock.pass(minute);
    relay.holds = lines(5);
    world.clock.jump(t0 + 3 * holdfast.rotationMs);
    await world.clock.pass(2 * minute);
    expect(await shown(world)).toEqual(logicals(5));
    expect(new Set(relay.tipsAsked.slice(-limits.clientSlotsRetained))).toContain(
      slot + 3 * holdfast.rotationMs,
    );
  });
});

describe('links that only look alive', () => {
  test('(BL-55) a link that carries nothing for minutes is replaced once it does, and what was missed comes', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    await world.start();
    await world.clock.pass(minute);
    const { link } = relay;
    relay.swallows = true;
    relay.holds = lines(3);
    await world.clock.pass(5 * minute);
    expect(world.status?.relays[0]?.state).not.toBe('answering');
    relay.swallows = false;
    world.engine?.nudge();
    await world.clock.pass(limits.connectMs + limits.reconnectMaxMs);
    expect(world.status?.relays[0]?.state).toBe('answering');
    expect(relay.link).toBeGreaterThan(link);
    expect(await shown(world)).toEqual(logicals(3));
  });

  test('(BL-55) on coming back into view a silent link is asked for a sign of life at once, a lively one is left alone', async () => {
    const world = await EngineWorld.with(0, ['one']);
    const relay = world.relay(0);
    await world.start();
    await world.clock.pass(minute + 10_000);
    const { link } = relay;
    relay.swallows = true;
    world.engine?.nudge();
    await world.clock.pass(limits.pongMs);
    expect(world.status?.relays[0]?.state).not.toBe('answering');
    relay.swallows = false;
    await world.clock.pass(limits.connectMs + limits.reconnectMaxMs);
    expect(relay.link).toBeGreaterThan(link);
    await world.clock.pass(10_000);
    const standing = relay.link;
    // Pressing often is no flood of pings.
    for (let press = 0; press < 100; press++) {
      world.engine?.nudge();
      await idle();
    }
    await world.clock.pass(minute);
    expect(relay.link).toBe(standing);
  });
});

describe('a relay that goes away for a moment', () => {
  test('(BL-58) its 300 clients come back spread over its pause, not all at once, and further apart while it stays away', async () => {
    const clock = new ManualClock(t0);
    const url = 'wss://one.example/';
    const backAt: number[] = [];
    const dials: number[] = [];
    for (let nth = 0; nth < 300; nth++) {
      const relay = new ScriptedRelay(url, clock);
      const own = new ManualClock(t0);
      const ports = portsOf({} as never, new ScriptedLinks([relay]), own, nth + 1);
      const owner = {
        onReady: () => undefined,
        onMessage: () => undefined,
        onStatus: () => undefined,
        onLinkDied: () => undefined,
        isReached: () => false,
        onChange: () => undefined,
      };
      let links = 0;
      const config = {
        profile: holdfast,
        nodeId: nth.toString(16).padStart(32, '0'),
        features: featuresOf(),
      };
      const peer = new RelayPeer(ports, url, config, owner, () => ++links);
      ports.links.listen((event) => peer.onLink(event));
      peer.connect();
      await idle();
      expect(peer.ready).toBe(true);
      relay.breakLink(true, { code: closeCodes.goingAway });
      await idle();
      backAt.push((peer.nextTryAt ?? 0) - t0);
      for (let failure = 0; failure < 5; failure++) await own.pass((peer.nextTryAt ?? 0) - own.now());
      dials.push((peer.nextTryAt ?? 0) - own.now());
      peer.stop();
    }
    const busiest = (times: readonly number[], windowMs: number): number =>
      Math.max(...times.map((at) => times.filter((other) => other >= at && other < at + windowMs).length));
    expect(Math.min(...backAt)).toBeGreaterThanOrEqual(5_000);
    expect(busiest(backAt, 1_000)).toBeLessThan(120);
    expect(busiest(dials, 1_000)).toBeLessThan(30);
    expect(Math.max(...dials)).toBeLessThanOrEqual(limits.reconnectMaxMs);
  });
});
