import { beforeAll, describe, expect, test } from 'vitest';
import type { MaterialiseArgs } from '../../src/core/transactions/materialise';
import { reads, writes } from '../../src/core/transactions/registry';
import { commands } from '../../src/core/wire/commands';
import { crashPoints } from './crash';
import { lastFirst, replaced } from './planting';
import { type Result, run } from './run';
import {
  type PairSweep,
  pairsOf,
  type Sweep,
  stories,
  storyOf,
  sweep,
  sweepPairs,
  unvisited,
  withCrashes,
} from './sweep';

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
    '%s: what was accepted is everywhere in the end, once',
    async (_name, story) => {
      const result = await run(story);
      expect(result.breaches).toEqual([]);
      expect(result.accepted).toBeGreaterThan(0);
    },
  );
});

describe('what a story is about', () => {
  test('[OB-01] [OB-04] messages accepted offline, before any sync, survive the browser and arrive in order', async () => {
    const result = await run(storyOf('offline'));
    expect(result.breaches).toEqual([]);
    expect(result.accepted).toBe(5);
    expect(result.faults.get('browser-death')).toBe(1);
    const firstPut = result.trace.findIndex((line) => line.includes('gets EventPut'));
    const lastAccepted = result.trace.findLastIndex((line) => line.includes('has enqueue'));
    expect(lastAccepted).toBeGreaterThan(0);
    expect(firstPut).toBeGreaterThan(lastAccepted);
  });

  test('[OB-23] [EG-04] an expired head that a relay still keeps is acknowledged by its Has, and not made again', async () => {
    const result = await run(storyOf('retained'));
    expect(result.breaches).toEqual([]);
    expect(result.endings.get('has-old')).toBeGreaterThan(0);
    expect(result.recreated).toBe(0);
  });

  test('[OB-07] [OB-21] a head nobody answers is made again in the next slot, after a round there, and leaves once', async () => {
    const result = await run(storyOf('rotation'));
    expect(result.breaches).toEqual([]);
    expect(result.recreated).toBeGreaterThan(0);
  });

  test('[OB-11] with every status lost, what another device builds on the head acknowledges it', async () => {
    const result = await run(storyOf('foreign'));
    expect(result.breaches).toEqual([]);
    expect(result.endings.get('descendant')).toBeGreaterThan(0);
  });

  test('[OB-14] a Has that comes after its link has ended is taken all the same, without any connection', async () => {
    const late = storyOf('late');
    let unconnected = 0;
    for (let at = 1_040; at < 1_340; at += 5) {
      const steps = late.steps.map((step) => (step.do === 'cut' ? { ...step, at } : step));
      const result = await run({ ...late, seed: `late.${at}`, steps });
      expect(result.breaches).toEqual([]);
      unconnected += result.endings.get('unconnected') ?? 0;
    }
    expect(unconnected).toBeGreaterThan(0);
  });

  test('[OB-08] [OB-09] a crash around the commit of any generation exposes nothing early and makes none twice', async () => {
    const story = storyOf('rotation');
    const { visits } = await run(story);
    const count = visits.get('materialise/commit:before') ?? 0;
    expect(count).toBeGreaterThanOrEqual(2);
    for (const point of ['materialise/commit:before', 'materialise/commit:after']) {
      for (let nth = 1; nth <= count; nth++) {
        const result = await run(withCrashes(story, [{ point, nth }]));
        expect(result.fired).toEqual(new Set([point]));
        expect(result.breaches, `${point} ${nth}`).toEqual([]);
        expect(result.accepted).toBe(2);
      }
    }
  });
});

describe('a crash at every point, first and last visit, in the stories that come past them all', () => {
  let swept: Sweep | undefined;

  beforeAll(async () => {
    swept = await sweep(
      1,
      {},
      undefined,
      ['talk', 'hand', 'silence', 'apart', 'rotation'].map(storyOf),
      true,
    );
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

describe('two crashes in one run, until every point has been one of them', () => {
  let swept: PairSweep | undefined;

  beforeAll(async () => {
    swept = await sweepPairs(undefined, true);
  });

  test('[OB-01] [OB-08] [OB-09] [RD-06] nothing is lost, doubled, reordered or shown too early', () => {
    const failed = swept?.failed.map(({ plan, breaches }) => [
      plan.seed,
      plan.steps.slice(0, 2),
      breaches[0],
    ]);
    expect(failed).toEqual([]);
    expect(unvisited(swept?.fired ?? new Set())).toEqual([]);
    expect(swept?.both).toBeGreaterThan((swept?.runs ?? 0) / 2);
  });

  test('the whole sweep holds every two points, in a story that comes past both', async () => {
    const pairs = await pairsOf();
    const named = new Set(pairs.map(({ points }) => points.toSorted().join(' ')));
    expect(named.size).toBe((crashPoints.length * (crashPoints.length + 1)) / 2);
  });

  test('a bug that no single crash shows is found', async () => {
    const scripts = replaced('materialise', (job, args, keys) => {
      const making = args as MaterialiseArgs;
      return making.term < 3 ? job : { ...job, start: () => lastFirst(making, keys) };
    });
    const bug = { device: { scripts } };
    const [failed] = (await sweepPairs({ of: 40, at: 0 }, false, bug)).failed as [Result];
    expect(failed.breaches.map(({ kind }) => kind)).toContain('head-only');
    for (const left of [0, 1]) {
      const steps = failed.plan.steps.filter((_, at) => at !== left);
      expect((await run({ ...failed.plan, steps }, bug)).breaches).toEqual([]);
    }
  });
});
