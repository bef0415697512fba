import { describe, expect, test } from 'vitest';
import { run } from '../run';
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
});
