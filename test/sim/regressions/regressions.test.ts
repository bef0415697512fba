import { describe, expect, test } from 'vitest';
import { runGraph } from '../graph/run';
import { run } from '../run';
import { graphRegressions } from './graph-plans';
import { regressions } from './plans';

describe('bugs the simulator has found stay mended', () => {
  test.each(regressions.map((one) => [one.title, one] as const))(
    '%s',
    async (_title, { plan, healedMsMax }) => {
      const result = await run(plan);
      expect(result.breaches).toEqual([]);
      expect(result.accepted).toBeGreaterThan(0);
      expect(result.healedMs).toBeLessThanOrEqual(healedMsMax);
    },
  );

  test.each(graphRegressions.map((one) => [one.title, one] as const))(
    '%s',
    async (_title, { plans, healedMsMax }) => {
      for (const plan of plans) {
        const result = await runGraph(plan);
        expect(result.breaches, plan.seed).toEqual([]);
        expect(result.events, plan.seed).toBeGreaterThan(0);
        expect(result.healedMs, plan.seed).toBeLessThanOrEqual(healedMsMax);
      }
    },
  );
});
