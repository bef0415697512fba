import { describe, expect, test } from 'vitest';
import { graphPlanOf } from './plan';
import { type PlantedGraph, plantedGraph } from './planted';
import { type GraphResult, runGraph } from './run';

const seedsMax = 30;

/** Seeds until the bug shows. */
async function firstFailure({ bug, from = 0 }: PlantedGraph): Promise<GraphResult | undefined> {
  for (let nth = from; nth < from + seedsMax; nth++) {
    const result = await runGraph(graphPlanOf(`planted.${nth}`), bug);
    if (result.breaches.length > 0) return result;
  }
  return undefined;
}

describe('a bug planted in the graph makes the simulator fail', () => {
  test.each(plantedGraph.map((one) => [one.title, one] as const))('%s', async (_title, one) => {
    const failure = await firstFailure(one);
    expect(failure?.breaches.map((breach) => breach.kind)).toSatisfy(
      (kinds: readonly string[] | undefined) => kinds?.some((kind) => one.shows.includes(kind)) ?? false,
    );
  });
});
