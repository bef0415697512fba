import { describe, expect, test } from 'vitest';
import { holdfast } from '../../src/core/wire/profile';
import { account, slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { identify, identityOf, leave, limiter, limitRates, proven } from '../fixtures/rated';

const minute = 60_000;
const hour = holdfast.rotationMs;
const rollover = 10 * minute;

/** A world whose network limits rates, with an identity. */
async function limited(count: number): Promise<EngineWorld> {
  const world = await EngineWorld.with(count);
  await limitRates(world.home);
  return world;
}

/** What a relay got, each seen to be proven; as tickets. */
function tickets(world: EngineWorld, at = 0): readonly (readonly [number, number])[] {
  return world.relay(at).arrived.map((put) => {
    const { epoch, ticket } = proven(put);
    return [epoch - limiter.epochOf(slot), ticket];
  });
}

describe('sending where rates are limited', () => {
  test('[OB-25] every event that leaves is proven, each with a ticket of its own', async () => {
    const world = await limited(4);
    await world.start();
    await world.clock.pass(1_000);
    expect(world.heard(0)).toEqual([1, 2, 3, 4]);
    const each = [0, 1, 2, 3].map((ticket) => [0, ticket]);
    expect([tickets(world, 0), tickets(world, 1)]).toEqual([each, each]);
    expect(
      proven(world.relay(0).arrived[0] ?? { event: new Uint8Array(0), blob: new Uint8Array(0) }).identity,
    ).toBe(identityOf(1));
  });

  test('[OB-26] a spent budget parks the lane in its order, and it goes on by itself when the epoch is over', async () => {
    const world = await limited(5);
    leave(world.home, 2, t0);
    await world.start();
    await world.clock.pass(5 * minute);
    expect(world.heard(0)).toEqual([1, 2]);
    expect(world.home.waiting()).toEqual([3, 4, 5]);
    expect(world.home.rows('events')).toHaveLength(2);
    expect(world.status).toMatchObject({ parked: 'budget', wakeAt: slot + rollover, busy: true });
    await world.clock.pass(slot + rollover - 1 - world.clock.now());
    expect(world.heard(0)).toEqual([1, 2]);
    await world.clock.pass(1_000);
    expect(world.heard(0)).toEqual([1, 2, 3, 4, 5]);
    expect(tickets(world).slice(2)).toEqual([
      [1, 0],
      [1, 1],
      [1, 2],
    ]);
    expect(world.times(0)[2]).toBe(slot + rollover - t0);
    expect(world.home.waiting()).toEqual([]);
  });

  test('[OB-26] the wait outlives its engine', async () => {
    const world = await limited(1);
    leave(world.home, 0, t0);
    await world.start();
    await world.clock.pass(minute);
    world.crash();
    await world.start();
    await world.clock.pass(minute);
    expect([world.heard(0), world.status?.parked]).toEqual([[], 'budget']);
    await world.clock.pass(slot + rollover + 1_000 - world.clock.now());
    expect(tickets(world)).toEqual([[1, 0]]);
  });

  test('[OB-25] [OB-26] while the budget is spent the exposed copy is sent again as it is; a proven one follows it', async () => {
    const world = await limited(1);
    for (const relay of world.relays) relay.verdict = () => undefined;
    await world.start();
    await world.clock.pass(50 * minute);
    leave(world.home, 0, slot + hour + minute);
    await world.clock.pass(slot + hour + rollover - 1_000 - world.clock.now());
    const before = world.relay(0).arrived;
    expect(before.filter(({ at }) => at >= slot + hour).length).toBeGreaterThanOrEqual(1);
    const [first] = before;
    for (const put of before)
      expect(put).toMatchObject({ id: first?.id, event: first?.event, blob: first?.blob });
    expect(world.home.rows('events')).toHaveLength(1);
    const sent = before.length;
    await world.clock.pass(25 * minute);
    const later = world.relay(0).arrived.slice(sent);
    const copy = later.find(({ id }) => id !== first?.id);
    expect(copy && proven(copy)).toMatchObject({ identity: identityOf(1), ticket: 0 });
    expect(world.home.operation(1).generations).toHaveLength(2);
  });

  test('[OB-27] without an identity the head waits and nothing leaves; with one it goes, in its order', async () => {
    const world = await EngineWorld.with(3);
    await world.home.store.transact('limitRate', { account, on: true });
    await world.start();
    await world.clock.pass(30 * minute);
    expect([world.heard(0), world.home.rows('events')]).toEqual([[], []]);
    expect(world.status).toMatchObject({ parked: 'identity', busy: true });
    expect(world.home.waiting()).toEqual([1, 2, 3]);
    await identify(world.home, 5);
    world.engine?.nudge();
    await world.clock.pass(0);
    await world.clock.pass(0);
    expect(world.heard(0)).toEqual([1, 2, 3]);
    for (const put of world.relay(0).arrived) expect(proven(put).identity).toBe(identityOf(5));
  });

  test('[OB-27] an identity that nobody told the engine of is found within minutes', async () => {
    const world = await EngineWorld.with(1);
    await world.home.store.transact('limitRate', { account, on: true });
    await world.start();
    await world.clock.pass(5 * minute);
    await identify(world.home, 5);
    await world.clock.pass(2 * minute);
    expect(world.heard(0)).toEqual([1]);
  });

  test('turned on and off under a running engine, counts for what is made from then on', async () => {
    const world = await EngineWorld.with(1);
    await world.start();
    await world.clock.pass(1_000);
    expect(world.relay(0).arrived.map(({ blob }) => blob.length)).toEqual([0]);
    await limitRates(world.home);
    await world.engine?.reload();
    await world.clock.pass(5_000);
    await world.send(2);
    await world.clock.pass(5_000);
    await world.home.store.transact('limitRate', { account, on: false });
    await world.engine?.reload();
    await world.clock.pass(5_000);
    await world.send(3);
    await world.clock.pass(5_000);
    expect(world.heard(0)).toEqual([1, 2, 3]);
    expect(world.relay(0).arrived.map(({ blob }) => blob.length)).toEqual([0, 107, 0]);
    expect(world.status).toMatchObject({ ready: 2, busy: false });
  });
});
