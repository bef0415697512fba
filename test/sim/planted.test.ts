import { describe, expect, test } from 'vitest';
import { planOf } from './plan';
import { type Planted, planted } from './planted';
import { type Result, run } from './run';
import { stories } from './sweep';

const seedsMax = 40;

/** The stories first, then seeds, until the bug shows. */
async function firstFailure({ bug }: Planted): Promise<Result | undefined> {
  for (const plan of stories) {
    const result = await run(plan, bug);
    if (result.breaches.length > 0) return result;
  }
  for (let nth = 0; nth < seedsMax; nth++) {
    const result = await run(planOf(`planted.${nth}`), bug);
    if (result.breaches.length > 0) return result;
  }
  return undefined;
}

describe('a planted bug makes the simulator fail', () => {
  test.each(planted.map((one) => [one.title, one] as const))('%s', async (_title, one) => {
    const failure = await firstFailure(one);
    expect(failure?.breaches.map((breach) => breach.kind)).toSatisfy(
      (kinds: readonly string[] | undefined) => kinds?.some((kind) => one.shows.includes(kind)) ?? false,
    );
  });
});
