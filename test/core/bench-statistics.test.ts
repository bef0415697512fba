import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  inTurn,
  lameness,
  median,
  medianInterval,
  pairsMin,
  quantile,
  type Run,
  ratios,
} from '../bench/statistics';

const runs = (figures: readonly number[]): Run[] => figures.map((figure) => ({ figure, samples: [] }));
const upTo = (n: number) => Array.from({ length: n }, (_, at) => at + 1);

describe('quantiles', () => {
  test('a quantile is a value that at least so many do not exceed', () => {
    expect(quantile(upTo(100), 0.99)).toBe(99);
    expect(quantile(upTo(100), 0.5)).toBe(50);
    expect(quantile([3, 1, 2], 1)).toBe(3);
    expect(quantile([3, 1, 2], 0)).toBe(1);
    expect(quantile([], 0.5)).toBeNaN();
  });

  test('the median lies in the middle, and takes no order', () => {
    expect(median([5, 1, 3])).toBe(3);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([7])).toBe(7);
    expect(median([])).toBeNaN();
  });
});

describe('the interval of a median', () => {
  test('leaves out as many at each end as the binomial law allows', () => {
    // P(at most 3 of 15 below the median) = 0.0176, at most 4: 0.0592.
    expect(medianInterval(upTo(15))).toEqual([5, 11]);
    // P(at most 5 of 20) = 0.0207, at most 6: 0.0577.
    expect(medianInterval(upTo(20))).toEqual([7, 14]);
    expect(medianInterval(upTo(25))).toEqual([9, 17]);
    expect(medianInterval(upTo(15), 0.99)).toEqual([4, 12]);
  });

  test('is all there is when there is little, and a point when all are equal', () => {
    expect(medianInterval([2, 1])).toEqual([1, 2]);
    expect(medianInterval([1])).toEqual([1, 1]);
    expect(medianInterval(Array<number>(30).fill(4))).toEqual([4, 4]);
    expect(medianInterval([])).toEqual([Number.NaN, Number.NaN]);
  });

  test('always holds the median of the values', () => {
    const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(values, (some) => {
        const [low, high] = medianInterval(some);
        expect(low).toBeLessThanOrEqual(median(some));
        expect(high).toBeGreaterThanOrEqual(median(some));
      }),
    );
  });

  test('covers the true median about as often as it says', () => {
    let seed = 12_345;
    const draw = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed / 2 ** 31;
    };
    const held = Array.from({ length: 2_000 }, () => {
      const [low, high] = medianInterval(Array.from({ length: 25 }, draw));
      return low <= 0.5 && high >= 0.5;
    }).filter(Boolean).length;
    expect(held / 2_000).toBeGreaterThan(0.88);
    expect(held / 2_000).toBeLessThan(0.99);
  });
});

describe('pairs', () => {
  test('each run is compared with the one beside it', () => {
    expect(ratios({ ours: runs([2, 9]), baseline: runs([1, 3]) })).toEqual([2, 3]);
    expect(ratios({ ours: runs([2, 9]), baseline: runs([0, 3]) })).toEqual([3]);
    expect(ratios({ ours: runs([2, 9]), baseline: runs([1]) })).toEqual([2]);
  });

  test('are run in turn, each first in every second pair', async () => {
    const order: string[] = [];
    const run = (name: string, figure: number) => async () => {
      order.push(name);
      return { figure, samples: [] };
    };
    const pairs = await inTurn(3, run('a', 2), run('b', 1));
    expect(order.join('')).toBe('baabba');
    expect(ratios(pairs)).toEqual([2, 2, 2]);
  });
});

describe('a lame baseline', () => {
  const steady = runs(Array.from({ length: pairsMin }, (_, at) => 1 + at / 100));

  test('is not one that stands still', () => {
    expect(lameness(steady)).toBeUndefined();
    expect(lameness(steady, 0.6)).toBeUndefined();
  });

  test('has too few runs, or one that measured nothing', () => {
    expect(lameness(steady.slice(1))).toBe('too few');
    expect(lameness([...steady, ...runs([0])])).toBe('too few');
    expect(lameness([...steady, ...runs([Number.NaN])])).toBe('too few');
  });

  test('spreads, so that a ratio to it says little', () => {
    expect(lameness(runs(upTo(20)))).toBe('unsteady');
    expect(lameness([...steady, ...runs([50, 60])])).toBeUndefined();
  });

  test('takes much longer than its parts together', () => {
    expect(lameness(steady, 0.5)).toBe('held up');
  });
});
