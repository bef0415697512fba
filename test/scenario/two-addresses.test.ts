import { describe, expect, test } from 'vitest';
import { limits } from '../../src/core/limits';
import { closeCodes } from '../../src/core/link/session';
import { EngineWorld } from '../fixtures/engine-world';

/** Two addresses; the node behind them is one, and has just closed the older link for the newer one. */
async function twoOfOne(count: number): Promise<EngineWorld> {
  const world = await EngineWorld.with(count);
  for (const relay of world.relays) relay.verdict = () => undefined;
  await world.start();
  world.relay(0).breakLink(false, { code: closeCodes.replaced });
  await world.clock.pass(0);
  return world;
}

const states = (world: EngineWorld) => world.status?.relays.map((relay) => relay.state);

describe('two addresses of one relay', () => {
  test('are one peer: the second link stays, the first is not dialled while it does', async () => {
    const world = await twoOfOne(0);
    const [first, second] = world.relays.map((relay) => relay.link);
    await world.clock.pass(20 * limits.reconnectMaxMs);
    expect(world.relays.map((relay) => relay.link)).toEqual([first, second]);
    expect(states(world)).toEqual(['not-now', 'answering']);
  });

  test('do not hold up the line, which else waits for two relays', async () => {
    const world = await twoOfOne(0);
    await world.send(1);
    await world.clock.pass(1_000);
    expect(world.heard(1)).toEqual([1]);
    expect(world.heard(0)).toEqual([]);
  });

  test('serve each other: when the link that stood has ended, the other address is dialled', async () => {
    const world = await twoOfOne(0);
    await world.clock.pass(2 * limits.reconnectMaxMs);
    world.relay(1).breakLink(true);
    await world.clock.pass(limits.reconnectMaxMs);
    expect(states(world)).toEqual(['answering', 'not-now']);
    await world.send(1);
    await world.clock.pass(3 * limits.reconnectMaxMs);
    expect(world.heard(0)).toContain(1);
  });
});
