import { describe, expect, test } from 'vitest';
import { limits } from '../../src/core/limits';
import { EngineWorld } from '../fixtures/engine-world';

const queued = 450;

/** Most of these that lie within one window of a relay. */
function mostInWindow(times: readonly number[]): number {
  return Math.max(
    ...times.map((from) => times.filter((at) => at >= from && at <= from + limits.floodWindowMs).length),
  );
}

describe('a long queue', () => {
  test('(HX-20) is drained as fast as relays allow, in order, and never makes a flood', async () => {
    const world = await EngineWorld.with(queued);
    await world.start();
    await world.clock.pass(limits.pacedMarginMs);
    const atOnce = world.heard(0).length;
    expect(atOnce).toBeGreaterThan(limits.floodEventsMax / 2);
    await world.clock.pass(3 * limits.floodWindowMs);
    for (const at of [0, 1]) {
      expect(world.heard(at)).toEqual(Array.from({ length: queued }, (_, nth) => nth + 1));
      expect(mostInWindow(world.times(at))).toBeLessThan(limits.floodEventsMax);
    }
    expect(world.home.waiting()).toEqual([]);
  });
});
