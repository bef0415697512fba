import { describe, expect, test } from 'vitest';
import type { Bytes, EventId } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { type EventBody, frameOf } from '../../src/core/link/messages';
import { utf8Bytes } from '../../src/core/wire/codec';
import { encodeEvent, eventId, makeEvent } from '../../src/core/wire/event';
import { encodePrivmsg } from '../../src/core/wire/privmsg';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { account, command, fresh, open, openName, slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle } from '../fixtures/fake-ports';
import { idOf, taken } from '../fixtures/home';

const minute = 60_000;
const genesis = genesisOf(holdfast, slot).id;
const noBlob: Bytes = new Uint8Array(0);

/** One event with this content. */
function event(content: Bytes, parent: EventId = genesis, layer = 1, time = BigInt(t0)): Bytes {
  return encodeEvent(makeEvent(time, [parent], BigInt(layer), content));
}

/** What somebody says in our channel. */
function line(nth: number, more: Partial<Parameters<typeof encodePrivmsg>[0]> = {}): Bytes {
  const said = { type: 0, channel: openName, nick: 'Cy', text: `line ${nth}`, logical: command(100 + nth) };
  return encodePrivmsg({ ...said, ...more });
}

/** Events each on the one before. */
function chained(contents: readonly Bytes[]): readonly Bytes[] {
  let parent = genesis;
  return contents.map((content, at) => {
    const made = event(content, parent, at + 1, BigInt(t0 + at));
    parent = idOf(made);
    return made;
  });
}

async function started(names: readonly string[] = ['one'], count = 0): Promise<EngineWorld> {
  const world = await EngineWorld.with(count, names);
  await world.start();
  await world.clock.pass(minute);
  return world;
}

async function hears(world: EngineWorld, events: readonly Bytes[]): Promise<void> {
  for (const one of events) {
    world.relay(0).put(one);
    await idle();
  }
}

async function shown(world: EngineWorld): Promise<readonly (readonly [string, string] | undefined)[]> {
  const page = await world.home.store.read('timeline', { account, conversation: open, limit: 200 });
  return page.messages.map(({ body }) => body && ([body.nick, body.text] as const));
}

const lone = new Uint8Array([0xc3, 0x28]);

/** A field's length and its bytes. */
function field(bytes: Uint8Array, length = bytes.length): number[] {
  return [length, ...bytes];
}

const channel = utf8Bytes(openName);
const nick = utf8Bytes('Eve');
const text = utf8Bytes('not as it should be');
const whole = [0, 0, ...field(channel), ...field(nick), ...field(text), ...fresh(16)];

/** Contents that are no message of ours, or one that nobody would write; each with what it may show. */
const odd: Readonly<Record<string, { readonly content: readonly number[]; readonly shows?: string }>> = {
  'a text that is no UTF-8': {
    content: [0, 0, ...field(channel), ...field(nick), ...field(lone), ...fresh(16)],
  },
  'a nick that is no UTF-8': {
    content: [0, 0, ...field(channel), ...field(lone), ...field(text), ...fresh(16)],
  },
  'a channel that is no UTF-8': {
    content: [0, 0, ...field(lone), ...field(nick), ...field(text), ...fresh(16)],
  },
  'a text longer than what is there': {
    content: [0, 0, ...field(channel), ...field(nick), ...field(text, 250)],
  },
  'a length that is not the shortest': {
    content: [0, 0, 0xfd, channel.length, 0, ...channel, ...field(nick), 0],
  },
  'a length beyond any': { content: [0, 0, ...field(channel), ...field(nick), 0xff, ...Array(8).fill(0xff)] },
  'no text field': { content: [0, 0, ...field(channel), ...field(nick)] },
  'nothing but its version': { content: [0] },
  'another version': { content: [9, ...whole.slice(1)] },
  'the first byte of an envelope and no envelope': { content: [1, 1, 2, 3] },
  'bytes of anything': { content: [...fresh(300)].map((byte, at) => (at === 0 ? 77 : byte)) },
  'an empty text': { content: [0, 0, ...field(channel), ...field(nick), 0, ...fresh(16)], shows: '' },
  'an empty nick': {
    content: [0, 0, ...field(channel), 0, ...field(text), ...fresh(16)],
    shows: 'not as it should be',
  },
  'another type byte': { content: [0, 200, ...whole.slice(2)], shows: 'not as it should be' },
  'a logical id cut short': { content: whole.slice(0, -9), shows: 'not as it should be' },
  'more behind it': { content: [...whole, ...fresh(40)], shows: 'not as it should be' },
};

describe('a message that is not as it should be', () => {
  test.each(Object.entries(odd))(
    '(HX-02) %s: those before and after are shown, and nobody else is its author',
    async (_what, { content, shows }) => {
      const world = await started();
      const events = chained([line(1), new Uint8Array(content), line(2)]);
      await hears(world, events);
      expect(world.relay(0).told).toEqual([taken, taken, taken]);
      expect(world.home.rows('events')).toHaveLength(3);
      const before = ['Cy', 'line 1'] as const;
      const after = ['Cy', 'line 2'] as const;
      const between = (await shown(world)).slice(1, -1);
      expect([(await shown(world))[0], (await shown(world)).at(-1)]).toEqual([before, after]);
      expect(between.map((one) => one?.[1])).toEqual(shows === undefined ? [] : [shows]);
      for (const one of between) expect(one?.[0]).not.toBe('Cy');
      // The same after a start, and in answer to a sync.
      world.crash();
      await world.start();
      await world.clock.pass(minute);
      expect((await shown(world)).slice(1, -1)).toEqual(between);
    },
  );

  test('(HX-02) a message cut at every byte: all whole ones are shown, in order, and the engine goes on', async () => {
    const world = await started();
    const cuts = Array.from({ length: whole.length - 17 }, (_, at) => new Uint8Array(whole.slice(0, at + 1)));
    await hears(world, chained(cuts.flatMap((cut, nth) => [cut, line(nth)])));
    const said = await shown(world);
    expect(said.filter((one) => one?.[0] === 'Cy').map((one) => one?.[1])).toEqual(
      cuts.map((_, nth) => `line ${nth}`),
    );
    expect(said.every((one) => one !== undefined)).toBe(true);
  });

  test('(HX-02) one that bears the id of another’s message is another message, of its own author', async () => {
    const world = await started();
    await hears(world, chained([line(1), line(1, { nick: 'Eve', text: 'line 1' }), line(1, { text: '' })]));
    expect(await shown(world)).toEqual([
      ['Cy', 'line 1'],
      ['Eve', 'line 1'],
      ['Cy', ''],
    ]);
  });
});

describe('a relay that sends what nobody asked for', () => {
  const batch = (nth: number): readonly EventBody[] =>
    Array.from({ length: 100 }, (_, at) => ({ event: event(utf8Bytes(`\x02${nth} ${at}`)), blob: noBlob }));

  test('(HX-08) 100,000 events in answers to no question, and goes on: none is stored, it is set aside, we live', async () => {
    const world = await started(['one', 'two']);
    const [bad, good] = [world.relay(0), world.relay(1)];
    const frames = Array.from({ length: 10 }, (_, nth) =>
      frameOf(holdfast, { say: 'events', events: batch(nth) }),
    );
    const before = bad.link;
    for (let round = 0; round < 10; round++) {
      for (let nth = 0; nth < 100; nth++) {
        bad.raw(frames[nth % frames.length] ?? noBlob);
        await idle();
      }
      await world.clock.pass(30_000);
    }
    expect(world.home.rows('events')).toEqual([]);
    // Five minutes, and no more than a link a minute.
    expect(bad.link - before).toBeLessThanOrEqual(6);
    expect(world.status?.relays.find((one) => one.url === bad.url)?.state).toBe('not-now');
    good.put(chained([line(1)])[0] ?? noBlob);
    await world.send(1);
    await world.clock.pass(2_000);
    expect((await shown(world)).map((one) => one?.[1]).sort()).toEqual(['line 1', 'message 1']);
    expect(world.home.waiting()).toEqual([]);
  });

  test('(HX-08) 100,000 events put as fast as it can: no more than a minute admits is stored, it is set aside, we live', async () => {
    const world = await started(['one', 'two']);
    const [bad, good] = [world.relay(0), world.relay(1)];
    const before = bad.link;
    const events = Array.from({ length: 70 }, (_, nth) => batch(nth)).flatMap((bodies) =>
      bodies.map((body) => frameOf(holdfast, { say: 'put', ...body })),
    );
    for (let round = 0; round < 25; round++) {
      for (const one of events) bad.raw(one);
      await idle();
      // Set aside with the first stream of them, and whenever it begins anew.
      expect(world.status?.relays.find((one) => one.url === bad.url)?.state).not.toBe('answering');
      await world.clock.pass(5_000);
    }
    const kept = world.home.rows('events').length;
    expect(kept).toBeGreaterThan(0);
    expect(kept).toBeLessThanOrEqual(6 * limits.floodEventsMax);
    expect(bad.link - before).toBeLessThanOrEqual(2 * 6);
    good.put(chained([line(1)])[0] ?? noBlob);
    await world.send(1);
    await world.clock.pass(2_000);
    expect((await shown(world)).map((one) => one?.[1])).toContain('line 1');
    expect(world.home.waiting()).toEqual([]);
  });
});

describe('absurd times', () => {
  const years = 20n * 365n * 86_400_000n;
  const late = BigInt(t0) + years;

  test.each<[string, bigint, string]>([
    ['20 years ahead', late, 'invalid'],
    ['beyond what a date can be', 8_640_000_000_000_001n, 'invalid'],
    ['beyond what a number holds', 2n ** 53n, 'invalid'],
    ['the last of 64 bits, -1 to some', 2n ** 64n - 1n, 'invalid'],
    ['half of 64 bits', 2n ** 63n, 'invalid'],
    ['the beginning of time', 0n, 'too-old'],
    ['a day ago', BigInt(t0) - 86_400_000n, 'too-old'],
  ])(
    '(HX-10) %s: put or given to a sync it is not stored, not on top, and what is said beside it is',
    async (_what, time, reason) => {
      const world = await started();
      const relay = world.relay(0);
      const [good] = chained([line(1)]);
      const absurd = event(line(2), idOf(good ?? noBlob), 2, time);
      await hears(world, [good ?? noBlob, absurd]);
      expect(relay.told).toEqual([taken, { type: 'nack', reason }]);
      relay.holds = [good ?? noBlob, absurd];
      relay.breakLink();
      await world.clock.pass(2 * minute);
      expect(world.home.rows('events').map((row) => row.id)).toEqual([idOf(good ?? noBlob)]);
      expect(await shown(world)).toEqual([['Cy', 'line 1']]);
      expect(world.status?.clock.trusted).toBe(true);
    },
  );
});

describe('a time within its slot', () => {
  test('(HX-10) half an hour ahead is refused when it is put; had by way of others it stands where it came, not above what comes later', async () => {
    const world = await started();
    const relay = world.relay(0);
    const ahead = event(line(1), genesis, 1, BigInt(t0 + 30 * minute));
    await hears(world, [ahead]);
    expect(relay.told).toEqual([{ type: 'nack', reason: 'invalid' }]);
    relay.holds = [ahead];
    relay.breakLink();
    await world.clock.pass(2 * minute);
    await hears(world, [event(line(2), idOf(ahead), 2, BigInt(t0 + 3 * minute))]);
    expect((await shown(world)).map((one) => one?.[1])).toEqual(['line 1', 'line 2']);
    expect(world.home.rows('messages').every((row) => row.at <= world.clock.now())).toBe(true);
  });
});

describe('altered events', () => {
  const altered = (bytes: Bytes): Bytes =>
    bytes.map((byte, at) => (at === bytes.length - 20 ? byte ^ 1 : byte));

  test('(HX-12) content that is not the hashed one: put or given to a sync none is stored, shown or counted', async () => {
    const world = await started();
    const relay = world.relay(0);
    const said = chained([line(1), line(2)]);
    await hears(world, [altered(said[0] ?? noBlob)]);
    expect(relay.told).toEqual([{ type: 'nack', reason: 'invalid' }]);
    relay.holds = said;
    relay.given = (events) => events.map((body) => ({ ...body, event: altered(body.event) }));
    relay.breakLink();
    await world.clock.pass(2 * minute);
    expect([world.home.rows('events'), await shown(world)]).toEqual([[], []]);
    expect(world.home.rows('conversations').every((row) => row.unread === 0)).toBe(true);
    // The right ones, later, are not taken for known.
    relay.given = (events) => events;
    await world.clock.pass(limits.resyncMs);
    expect((await shown(world)).map((one) => one?.[1])).toEqual(['line 1', 'line 2']);
  });

  test('(HX-12) an event given under an id that was asked for and is not its own is no answer', async () => {
    const world = await started();
    const relay = world.relay(0);
    const said = chained([line(1), line(2)]);
    const other = event(line(3), genesis, 1, BigInt(t0 + 9));
    relay.holds = said;
    relay.given = (events) => events.map(() => ({ event: other, blob: noBlob }));
    relay.breakLink();
    await world.clock.pass(2 * minute);
    expect([world.home.rows('events'), await shown(world)]).toEqual([[], []]);
  });

  test('(HX-12) neither an altered event, nor one on an id of our head that is not there, nor a status of a wrong id ends the head', async () => {
    const world = await EngineWorld.with(2, ['one']);
    world.relay(0).verdict = () => undefined;
    await world.start();
    await world.clock.pass(2_000);
    const head = world.home.active(1);
    const wrong = `${head.slice(0, -1)}${head.endsWith('0') ? '1' : '0'}`;
    const above = event(line(1), head, 2, BigInt(t0 + 2_000));
    await hears(world, [altered(above), event(line(2), wrong, 2, BigInt(t0 + 2_000))]);
    world.relay(0).say(wrong, taken);
    world.relay(0).say(head.split('').reverse().join(''), taken);
    await world.clock.pass(2_000);
    expect(world.home.waiting()).toEqual([1, 2]);
    expect((await shown(world)).map((one) => one?.[1])).toEqual(['message 1', 'message 2']);
    // The same event as it was made is evidence.
    await hears(world, [above]);
    expect(world.home.waiting()).toEqual([2]);
    expect(eventId(makeEvent(1n, [genesis], 1n, fresh(1)).header)).not.toBe(wrong);
  });
});
