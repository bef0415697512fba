import { beforeAll, describe, expect, test } from 'vitest';
import { reads, writes } from '../../src/core/transactions/registry';
import { commands } from '../../src/core/wire/commands';
import { crashPoints } from './crash';
import { run } from './run';
import { type Sweep, stories, sweep, unvisited } from './sweep';

describe('crash points', () => {
  test('are every registered write and every frame, each with its kinds', () => {
    expect(crashPoints).toHaveLength(2 * Object.keys(writes).length + 3 * Object.keys(commands).length);
    expect(crashPoints).toContain('materialise/commit:after');
    expect(crashPoints).toContain('EventPutStatus/receive:before');
    for (const name of Object.keys(reads)) expect(crashPoints).not.toContain(`${name}/commit:before`);
  });
});

describe('stories', () => {
  test.each(stories.map((story) => [story.seed, story] as const))(
    '[OB-04] %s: what was accepted offline or before the first sync is everywhere in the end',
    async (_name, story) => {
      const result = await run(story);
      expect(result.breaches).toEqual([]);
      expect(result.accepted).toBeGreaterThan(0);
    },
  );
});

describe('a crash at every point, once in every story', () => {
  let swept: Sweep | undefined;

  beforeAll(async () => {
    swept = await sweep(1);
  });

  test('[OB-01] [OB-05] [OB-09] [OB-13] [RD-01] [RD-06] nothing is lost, doubled, reordered or shown too early', () => {
    const failed = swept?.failed.map(({ plan, breaches }) => [plan.seed, plan.steps[0], breaches[0]]);
    expect(failed).toEqual([]);
    expect(swept?.runs).toBeGreaterThan(crashPoints.length);
  });

  test('no point is left out: what is new must be visited too', () => {
    expect(unvisited(swept?.fired ?? new Set())).toEqual([]);
    expect(unvisited(new Set())).toEqual(crashPoints);
  });
});
