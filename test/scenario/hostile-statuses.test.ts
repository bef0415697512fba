import { describe, expect, test } from 'vitest';
import { sameBytes } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { encodeEvent, eventId, makeEvent } from '../../src/core/wire/event';
import { genesisOf, holdfast, slotOf } from '../../src/core/wire/profile';
import { account, slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle } from '../fixtures/fake-ports';
import { had, taken } from '../fixtures/home';

const minute = 60_000;
const hour = holdfast.rotationMs;
const tooOld = { type: 'nack', reason: 'too-old' } as const;
const refusals = ['too-old', 'not-synced', 'invalid', 'busy'] as const;

/** A world of relays that say nothing of events. */
async function silent(count: number, names?: readonly string[]): Promise<EngineWorld> {
  const world = await EngineWorld.with(count, names);
  for (const relay of world.relays) relay.verdict = () => undefined;
  return world;
}

function generations(world: EngineWorld, nth = 1) {
  return world.home.operation(nth).generations;
}

describe('what relays say of events', () => {
  test('[EG-12] is republished as it was said, with the relay it came from: of own events, of others, twice, from older links', async () => {
    const world = await silent(1);
    await world.start();
    await world.clock.pass(1_000);
    const own = world.home.active(1);
    const foreign = 'ab'.repeat(32);
    const [one, two] = [world.relay(0), world.relay(1)];
    const { link } = one;
    one.say(own, { type: 'nack', reason: 'busy' });
    two.say(own, { type: 'nack', reason: 'busy' });
    one.say(foreign, taken);
    one.say(foreign, taken);
    two.say(foreign, had);
    await idle();
    one.breakLink();
    await world.clock.pass(5_000);
    expect(one.link).toBeGreaterThan(link);
    one.say(foreign, tooOld, link);
    await idle();
    const seen = world.notes?.all.filter((note) => note.what === 'status').map((note) => note.detail);
    expect(seen).toEqual([
      { relay: one.url, id: own, result: 'nack', reason: 'busy' },
      { relay: two.url, id: own, result: 'nack', reason: 'busy' },
      { relay: one.url, id: foreign, result: 'has', inserted: true },
      { relay: one.url, id: foreign, result: 'has', inserted: true },
      { relay: two.url, id: foreign, result: 'has', inserted: false },
      { relay: one.url, id: foreign, result: 'nack', reason: 'too-old' },
    ]);
    expect(world.home.waiting()).toEqual([1]);
  });
});

describe('relays that say TooOld of what is not', () => {
  test('[OB-21] [OB-24] within the open slot no copy is made, and the rounds are those of a silent network', async () => {
    const [lied, quiet] = [await silent(2, ['one']), await silent(2, ['one'])];
    lied.relay(0).verdict = () => tooOld;
    for (const world of [lied, quiet]) {
      await world.start();
      await world.clock.pass(hour - minute - 1);
    }
    expect(generations(lied)).toHaveLength(1);
    expect(lied.home.waiting()).toEqual([1, 2]);
    expect(lied.heard(0)).toEqual(quiet.heard(0));
    // The first rounds have no jitter; those after them are a cap apart, give or take a quarter.
    expect(lied.times(0).slice(0, 6)).toEqual(quiet.times(0).slice(0, 6));
    const late = lied.times(0).slice(5);
    for (const [at, time] of late.slice(1).entries()) expect(time - (late[at] ?? 0)).toBeGreaterThan(700_000);
    const { arrived } = lied.relay(0);
    expect(arrived.every((put) => sameBytes(put.event, arrived[0]?.event ?? put.event))).toBe(true);
  });

  test('[OB-21] for a day: at most one copy a slot, each in a strictly later one, none in the last 5 s of one', async () => {
    const world = await silent(1, ['one']);
    world.relay(0).verdict = () => tooOld;
    await world.start();
    await world.clock.pass(24 * hour);
    const made = generations(world);
    const slots = made.map((one) => one.slot);
    expect(made.length).toBeGreaterThan(15);
    expect(slots).toEqual([...new Set(slots)].toSorted((left, right) => left - right));
    for (const copy of made.slice(1)) {
      expect(copy.slot).toBe(slotOf(holdfast, copy.at));
      expect(copy.at).toBeLessThan(copy.slot + hour - 5_000);
    }
    world.relay(0).say(made[3]?.id ?? '', had);
    await world.clock.pass(1_000);
    expect(world.home.waiting()).toEqual([]);
  });

  test('[OB-23] one that keeps the slot says Has after another said TooOld: it leaves, and no copy is made', async () => {
    const world = await silent(1);
    world.relay(0).verdict = () => tooOld;
    await world.start();
    await world.clock.pass(hour + minute);
    const made = generations(world).length;
    world.relay(1).say(generations(world)[0]?.id ?? '', had);
    await world.clock.pass(3 * hour);
    expect(world.home.waiting()).toEqual([]);
    expect(generations(world)).toHaveLength(made);
  });

  test('[OB-21] [OB-24] refusals of every kind, in turn and without end, make no copy in the slot and end nothing', async () => {
    const world = await silent(2, ['one']);
    await world.start();
    await world.clock.pass(1_000);
    const id = world.home.active(1);
    for (let round = 0; round < 50; round++) {
      for (const reason of refusals) world.relay(0).say(id, { type: 'nack', reason });
      await idle();
    }
    expect(world.home.waiting()).toEqual([1, 2]);
    expect(generations(world)).toHaveLength(1);
    expect(world.home.operation(1).intents).toHaveLength(1);
    expect(world.heard(0)).toEqual([1]);
  });

  test('the same refusal again and again changes nothing that is kept', async () => {
    const world = await silent(1, ['one']);
    await world.start();
    await world.clock.pass(1_000);
    const id = world.home.active(1);
    world.relay(0).say(id, tooOld);
    await idle();
    const before = world.home.everything();
    for (let count = 0; count < 20; count++) world.relay(0).say(id, tooOld);
    await idle();
    expect(world.home.everything()).toEqual(before);
  });
});

describe('relays that say Has of what they have not', () => {
  test('[OB-10] [OB-15] of strange ids, and of what waits behind the head, it ends nothing', async () => {
    const world = await silent(3, ['one']);
    await world.start();
    await world.clock.pass(1_000);
    const foreign = makeEvent(BigInt(t0), [genesisOf(holdfast, slot).id], 1n, new Uint8Array([2]));
    world.relay(0).put(encodeEvent(foreign));
    await idle();
    world.relay(0).say(eventId(foreign.header), had);
    for (let nth = 0; nth < 100; nth++) world.relay(0).say(nth.toString(16).padStart(64, '0'), taken);
    for (const nth of [2, 3]) world.relay(0).say(world.home.message(nth).logical.padEnd(64, '0'), taken);
    await world.clock.pass(1_000);
    expect(world.home.waiting()).toEqual([1, 2, 3]);
  });

  test('[OB-10] [RD-04] of the head it frees the lane, and the event still goes to the relay that said nothing', async () => {
    const world = await silent(2);
    const [liar, honest] = [world.relay(0), world.relay(1)];
    await world.start();
    await world.clock.pass(1_000);
    const [first] = honest.arrived;
    liar.say(world.home.active(1), taken);
    await world.clock.pass(1_000);
    expect(world.home.waiting()).toEqual([2]);
    expect(world.home.intent(1, honest.url)?.state).toBe('leased');
    honest.breakLink();
    await world.clock.pass(5_000);
    const again = honest.arrived.filter((put) => put.id === first?.id);
    expect(again).toHaveLength(2);
    honest.say(first?.id ?? '', taken);
    await world.clock.pass(1_000);
    expect(world.home.intent(1, honest.url)?.state).toBe('accepted');
    expect(world.home.message(1)).not.toHaveProperty('open');
  });

  test('more than anybody asked is not listened to, and an honest relay still is', async () => {
    const asked: string[] = [];
    const world = await EngineWorld.with(1, ['one', 'two'], {
      ports: (ports) => ({
        ...ports,
        store: {
          read: (name, args) => ports.store.read(name, args),
          transact: (name, args, term) => {
            if (name === 'answer') asked.push((args as { readonly relay: string }).relay);
            return ports.store.transact(name, args, term);
          },
        },
      }),
    });
    for (const relay of world.relays) relay.verdict = () => undefined;
    await world.start();
    await world.clock.pass(1_000);
    const [loud, honest] = [world.relay(0), world.relay(1)];
    for (let nth = 0; nth < 5_000; nth++) loud.say(nth.toString(16).padStart(64, '0'), taken);
    honest.say(world.home.active(1), taken);
    await idle();
    expect(world.home.waiting()).toEqual([]);
    expect(asked.filter((relay) => relay === honest.url)).toHaveLength(1);
    expect(asked.filter((relay) => relay === loud.url).length).toBeLessThanOrEqual(limits.statusesWaitingMax);
    loud.say('ff'.repeat(32), taken);
    await idle();
    expect(asked.at(-1)).toBe(loud.url);
    expect(world.home.rows('messages').every((row) => row.account === account)).toBe(true);
  });
});
