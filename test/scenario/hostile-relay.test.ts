import { describe, expect, test } from 'vitest';
import { fromHex } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { closeCodes } from '../../src/core/link/session';
import { commands } from '../../src/core/wire/commands';
import { encodeFrame } from '../../src/core/wire/frame';
import { holdfast } from '../../src/core/wire/profile';
import { account, fresh, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle } from '../fixtures/fake-ports';
import { heldBytes } from '../fixtures/memory';

const minute = 60_000;

describe('a relay that floods (HX-18)', () => {
  test('with statuses of events nobody knows: memory is flat, and the line goes on', async () => {
    const world = await EngineWorld.with(1, ['one'], {
      // What it is told goes nowhere here: a list of it would be what grows.
      ports: (ports) => ({ ...ports, observer: { note: () => undefined } }),
    });
    const relay = world.relay(0);
    relay.verdict = () => undefined;
    await world.start();
    const flood = async (count: number): Promise<void> => {
      for (let nth = 0; nth < count; nth++) {
        relay.say(nth.toString(16).padStart(64, 'a'), { type: 'has', inserted: true });
        if (nth % 1_000 === 0) await idle();
      }
      await idle();
    };
    await flood(5_000);
    const before = heldBytes();
    await flood(50_000);
    expect(heldBytes() - before).toBeLessThan(5_000_000);
    expect(world.home.waiting()).toEqual([1]);
    relay.say(world.home.active(1), { type: 'has', inserted: true });
    await world.clock.pass(1_000);
    expect(world.home.waiting()).toEqual([]);
  });

  test('with handshakes: it is hung up on, and asked again ever more rarely', async () => {
    const world = await EngineWorld.with(1, ['one']);
    const relay = world.relay(0);
    let said = 0;
    world.links.onSend = () => {
      said += 1;
    };
    await world.start();
    const version = encodeFrame(holdfast.magic, commands.verack, fromHex('00') ?? new Uint8Array(0));
    for (let turn = 0; turn < 60; turn++) {
      for (let nth = 0; nth < 100; nth++) relay.raw(version);
      await world.clock.pass(1_000);
    }
    expect(relay.link).toBeLessThan(12);
    expect(said).toBeLessThan((limits.controlFramesMax + 10) * relay.link);
  });
});

describe('a relay that turns everyone away', () => {
  test('holds up the line of who has another one for seconds, not for minutes', async () => {
    const world = await EngineWorld.with(1);
    const hostile = world.relay(1);
    hostile.turnsAwayWith = closeCodes.flood;
    await world.start();
    await world.clock.pass(15_000);
    expect(hostile.link).toBeGreaterThan(1);
    expect(world.home.waiting()).toEqual([]);
  });
});

describe('our own client (HX-07)', () => {
  test('asks a relay no more for 200 conversations than for two, and stays far below what is a flood', async () => {
    const questions = async (channels: number): Promise<number> => {
      const world = await EngineWorld.with(0, ['one']);
      for (let nth = 0; nth < channels; nth++) {
        const conversation = nth.toString(16).padStart(32, 'c');
        const args = { account, conversation, name: `#chat-${nth}`, now: t0, nonce: fresh(12) };
        await world.home.store.transact('joinChannel', args);
      }
      let asked = 0;
      let inWindow: number[] = [];
      world.links.onSend = () => {
        asked += 1;
        inWindow = [...inWindow.filter((at) => at > world.clock.now() - minute), world.clock.now()];
        expect(inWindow.length).toBeLessThan(limits.floodEventsMax);
      };
      await world.start();
      await world.clock.pass(60 * minute);
      return asked;
    };
    const [few, lots] = [await questions(0), await questions(200)];
    expect(few).toBeGreaterThan(100);
    expect(lots).toBe(few);
  });
});
