import { describe, expect, test } from 'vitest';
import { StoreError } from '../../src/core/errors';
import { sameBytes } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { featuresOf, parseLimits } from '../../src/core/wire/version';
import type { Store } from '../../src/engine/ports';
import { account, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle } from '../fixtures/fake-ports';
import { had, taken } from '../fixtures/home';

const minute = 60_000;
const small = featuresOf({ ...parseLimits(featuresOf()), contentBytesMax: 40 });

/** Two relays: the first accepts everything, the second nothing yet. */
async function halfAccepting(count: number): Promise<EngineWorld> {
  const world = await EngineWorld.with(count);
  world.relay(1).verdict = () => undefined;
  return world;
}

const openOnes = (world: EngineWorld) =>
  world.home.rows('messages').flatMap((row) => (row.open === undefined ? [] : [row.seq]));

describe('relays that have not answered when the message leaves', () => {
  test('[RD-04] [RD-07] each reconnect brings what is open once, the same bytes, in order, until it is accepted', async () => {
    const world = await halfAccepting(3);
    await world.start();
    await world.clock.pass(1_000);
    expect([world.home.waiting(), openOnes(world)]).toEqual([[], [1, 2, 3]]);
    expect(world.heard(1)).toEqual([1, 2, 3]);
    const first = [...world.relay(1).arrived];
    for (let link = 1; link <= 2; link++) {
      world.relay(1).breakLink();
      await world.clock.pass(5_000);
      expect(world.heard(1)).toHaveLength(3 * (link + 1));
      await world.clock.pass(30 * minute);
      expect(world.heard(1)).toHaveLength(3 * (link + 1));
    }
    for (const [at, put] of world.relay(1).arrived.entries()) {
      expect(sameBytes(put.event, first[at % 3]?.event ?? new Uint8Array(0))).toBe(true);
    }
    world.relay(1).verdict = () => had;
    world.relay(1).breakLink();
    await world.clock.pass(5_000);
    expect(openOnes(world)).toEqual([]);
    world.relay(1).breakLink();
    await world.clock.pass(5_000);
    expect(world.heard(1)).toHaveLength(12);
    expect(world.heard(0)).toEqual([1, 2, 3]);
  });

  test.each(['is refused', 'is done'])(
    '[RD-07] a call of a link that is dead says nothing in the next one, when it %s at last',
    async (how) => {
      const world = await halfAccepting(2);
      let end: (() => void) | undefined;
      const slow: Store = {
        read: (name, args) => world.home.store.read(name, args),
        transact: async (name, args, term) => {
          const { relay } = args as { readonly relay?: string };
          if (name !== 'claimOpen' || relay !== world.relay(1).url || world.heard(1).length === 0 || end)
            return world.home.store.transact(name, args, term);
          await new Promise<void>((resolve) => {
            end = resolve;
          });
          if (how === 'is refused') throw new StoreError('busy');
          return world.home.store.transact(name, args, term);
        },
      };
      await world.start(slow);
      await world.clock.pass(1_000);
      expect(world.heard(1)).toEqual([1, 2]);
      world.relay(1).breakLink();
      await world.clock.pass(5_000);
      expect(world.heard(1)).toEqual([1, 2]);
      world.relay(1).breakLink();
      await world.clock.pass(5_000);
      expect(world.heard(1)).toEqual([1, 2, 1, 2]);
      end?.();
      await world.clock.pass(2 * minute);
      expect(world.heard(1)).toEqual([1, 2, 1, 2]);
    },
  );

  test('[RD-07] the head is not sent twice on one link because another relay ended it at that moment', async () => {
    const world = await EngineWorld.with(2);
    for (const relay of world.relays) relay.verdict = () => undefined;
    await world.start();
    await world.clock.pass(1_000);
    world.relay(0).verdict = () => taken;
    world.relay(1).breakLink();
    await idle();
    const before = world.heard(1).length;
    await world.clock.pass(2_500);
    world.relay(0).say(world.home.active(1), taken);
    await world.clock.pass(10_000);
    expect(world.heard(1).slice(before)).toEqual([1, 2]);
  });

  test('[RD-07] [RD-08] more than one link is given is given to the next ones: what is never accepted starves nothing', async () => {
    const count = 150;
    const world = await halfAccepting(count);
    await world.start();
    await world.clock.pass(5_000);
    expect(openOnes(world)).toHaveLength(count);
    const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
    let sent = count;
    // A link is given four pages of 32; the one before the end of the line is a short one.
    for (const wanted of [
      range(1, 128),
      [...range(129, 150), ...range(1, 96)],
      [...range(97, 150), ...range(1, 64)],
    ]) {
      world.relay(1).breakLink();
      await world.clock.pass(5_000);
      expect(world.heard(1).slice(sent)).toEqual(wanted);
      sent += wanted.length;
    }
  });

  test('[RD-10] a relay that takes little at once is given little at once, and the rest when its minute is over, on the same link', async () => {
    const count = 20;
    const world = await halfAccepting(count);
    world.relay(1).features = featuresOf({ ...parseLimits(featuresOf()), batchEventsMax: 8 });
    await world.start();
    await world.clock.pass(5_000);
    expect(openOnes(world)).toHaveLength(count);
    world.relay(1).breakLink();
    await world.clock.pass(5_000);
    const { link } = world.relay(1);
    const heard = (): readonly number[] => world.heard(1).slice(count);
    expect(heard()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    await world.clock.pass(minute + limits.pacedMarginMs);
    expect(heard()).toHaveLength(16);
    await world.clock.pass(minute + limits.pacedMarginMs);
    expect(heard()).toEqual(Array.from({ length: count }, (_, at) => at + 1));
    await world.clock.pass(30 * minute);
    expect(heard()).toHaveLength(count);
    expect(world.relay(1).link).toBe(link);
  });

  test('[RD-10] bytes bound it as well: an aggregate over them is cut, never the link', async () => {
    const count = 6;
    const world = await EngineWorld.with(0);
    for (let nth = 1; nth <= count; nth++) await world.home.enqueue(nth, `${nth} `.repeat(2_000));
    world.relay(1).verdict = () => undefined;
    world.relay(1).features = featuresOf({ ...parseLimits(featuresOf()), batchBytesMax: 10_000 });
    await world.start();
    await world.clock.pass(5_000);
    world.relay(1).breakLink();
    await world.clock.pass(5_000);
    const { link } = world.relay(1);
    const sizes: number[] = [];
    for (let passed = 0; passed < 5; passed++) {
      const before = world.relay(1).arrived.length;
      await world.clock.pass(minute);
      const batch = world.relay(1).arrived.slice(before);
      sizes.push(batch.reduce((sum, put) => sum + put.event.length, 0));
    }
    expect(world.heard(1).slice(count)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(sizes.every((bytes) => bytes <= 10_000)).toBe(true);
    expect(sizes.filter((bytes) => bytes > 0)).toHaveLength(2);
    expect(world.relay(1).link).toBe(link);
  });

  test('[RD-07] what a slow store claimed for a link that died meanwhile is not handed to the next one as well', async () => {
    const world = await halfAccepting(3);
    await world.start();
    await world.clock.pass(1_000);
    world.crash();
    const { store } = world.home;
    const held: (() => void)[] = [];
    let holds = true;
    const slow: Store = {
      transact: async (name, args, term) => {
        const { relay } = args as { readonly relay?: string };
        const waits = holds && name === 'claimOpen' && relay === world.relay(1).url;
        if (waits) await new Promise<void>((go) => held.push(go));
        return store.transact(name, args, term);
      },
      read: (name, args) => store.read(name, args),
    };
    await world.start(slow);
    await world.clock.pass(1_000);
    expect(held).toHaveLength(1);
    world.relay(1).breakLink();
    await idle();
    const before = world.heard(1).length;
    await world.clock.pass(5_000);
    expect(held).toHaveLength(2);
    holds = false;
    for (const go of held) go();
    await world.clock.pass(1_000);
    expect(world.heard(1).slice(before)).toEqual([1, 2, 3]);
  });

  test('[RD-06] [RD-08] a new engine goes on with what is open, and not with what was accepted', async () => {
    const world = await halfAccepting(2);
    await world.start();
    await world.clock.pass(1_000);
    world.crash();
    await world.start();
    await world.clock.pass(minute);
    expect(world.heard(0)).toEqual([1, 2]);
    expect(world.heard(1)).toEqual([1, 2, 1, 2]);
  });

  test('[RD-09] [OB-28] a store that refuses the claim is asked again on the same link', async () => {
    const world = await halfAccepting(1);
    await world.start();
    await world.clock.pass(1_000);
    world.crash();
    const { store } = world.home;
    let refusals = 0;
    const failing: Store = {
      transact: (name, args, term) => {
        if (name !== 'claimOpen' || refusals >= 4) return store.transact(name, args, term);
        refusals += 1;
        return Promise.reject(new StoreError('storage'));
      },
      read: (name, args) => store.read(name, args),
    };
    await world.start(failing);
    await world.clock.pass(1_000);
    expect(world.heard(1)).toEqual([1]);
    await world.clock.pass(3 * minute);
    expect(world.heard(1)).toEqual([1, 1]);
  });

  test('[RD-04] a relay that was removed keeps nothing open once the event has left the graph', async () => {
    const world = await halfAccepting(1);
    await world.start();
    await world.clock.pass(1_000);
    await world.home.store.transact('removeRelay', { account, url: world.relay(1).url, now: t0 });
    await world.engine?.reload();
    await world.clock.pass(26 * 60 * minute);
    world.relay(0).breakLink();
    await world.clock.pass(minute);
    expect(openOnes(world)).toEqual([]);
    expect(world.home.intent(1, world.relay(1).url)).toMatchObject({
      state: 'cancelled',
      reason: 'unconfirmed',
    });
  });
});

describe('a message larger than a relay takes', () => {
  test('[RD-08] it parks in sight when no relay takes it, and leaves when another relay does', async () => {
    const world = await EngineWorld.with(2);
    for (const relay of world.relays) relay.features = small;
    world.relay(1).up = false;
    await world.start();
    await world.clock.pass(2 * minute);
    expect(world.status).toMatchObject({ parked: 'too-large', busy: true });
    expect([world.heard(0), world.home.waiting()]).toEqual([[], [1, 2]]);
    world.relay(1).features = featuresOf();
    world.relay(1).up = true;
    await world.clock.pass(3 * minute);
    expect(world.heard(1)).toEqual([1, 2]);
    expect([world.heard(0), world.home.waiting()]).toEqual([[], []]);
    expect(world.home.intent(1, world.relay(0).url)).toMatchObject({
      state: 'rejected',
      reason: 'event_too_large',
    });
    expect(openOnes(world)).toEqual([]);
  });

  test('[RD-08] a relay that announces less later refuses nothing that it is not sent, and a retry by hand asks again', async () => {
    const world = await EngineWorld.with(1, ['one']);
    world.relay(0).verdict = () => undefined;
    await world.start();
    await world.clock.pass(1_000);
    world.relay(0).features = small;
    world.relay(0).breakLink();
    await world.clock.pass(2 * minute);
    expect(world.heard(0)).toEqual([1]);
    expect(world.status).toMatchObject({ parked: 'too-large' });
    world.relay(0).features = featuresOf();
    world.relay(0).verdict = () => taken;
    world.relay(0).breakLink();
    await world.clock.pass(minute);
    expect(world.home.waiting()).toEqual([1]);
    await world.home.store.transact('retryNow', world.home.hand(1, world.clock.now()));
    world.engine?.nudge();
    await world.clock.pass(1_000);
    expect([world.heard(0), world.home.waiting()]).toEqual([[1, 1], []]);
  });
});
