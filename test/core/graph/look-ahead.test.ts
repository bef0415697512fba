import { describe, expect, test } from 'vitest';
import { insertFetched } from '../../../src/core/graph/fetched';
import { tipsOf } from '../../../src/core/graph/serve';
import { genesisOf, holdfast } from '../../../src/core/wire/profile';
import { GraphWorld, noBlob, one, slot } from '../../fixtures/graph-world';

describe('what was fetched and is there already', () => {
  // Around as many as are looked at in one question.
  test.each([31, 32, 33, 34])('enters no second time, with %i events in its layer', (count) => {
    const world = new GraphWorld();
    const genesis = genesisOf(holdfast, slot).id;
    const events = Array.from({ length: count }, (_, at) => {
      const { bytes } = one(slot + at, [genesis], 1, `${at}`);
      return { event: bytes, blob: noBlob };
    });
    const fetched = { slot, events, now: slot + 9_000, room: 1e9 };
    expect(world.run(() => insertFetched(world.place, fetched)).inserted).toHaveLength(count);
    expect(world.run(() => insertFetched(world.place, fetched)).inserted).toEqual([]);
    expect(world.ask(() => tipsOf(world.place, slot))).toHaveLength(count);
  });
});
