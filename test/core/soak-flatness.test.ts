import { describe, expect, test } from 'vitest';
import { type Sample, trends } from '../soak/flatness';

const rate = 50;

/** Half an hour, a sample every 15 s, memory by time in s. */
function run(rssMb: (at: number) => number, heapMb: (at: number) => number = () => 9): Sample[] {
  return Array.from({ length: 121 }, (_, nth) => {
    const at = nth * 15;
    return { at, rssMb: rssMb(at), heapMb: heapMb(at), externalMb: 1 };
  });
}

/** What swings about nothing. */
const noise = (at: number): number => 2 * Math.sin(at);

describe('the verdict on memory', () => {
  test('is flat for what fills in the first half and then swings', () => {
    const filling = (at: number): number => 60 + 20 * Math.min(1, at / 600) + noise(at);
    const found = trends(
      run(filling, (at) => 9 + noise(at) / 4),
      rate,
    );
    expect([found.rss.flat, found.heap.flat]).toEqual([true, true]);
    expect(found.rss.lastMb).toBeGreaterThan(75);
  });

  test('is not flat for a heap that keeps a little of every event', () => {
    const leaking = (at: number): number => 9 + (rate * at * 100) / 1e6 + noise(at) / 4;
    const { heap } = trends(
      run(() => 80, leaking),
      rate,
    );
    expect(heap.flat).toBe(false);
    expect(heap.slopeMbPerHour).toBeCloseTo(18, 0);
  });

  test('is not flat for a process that grows outside of its heap', () => {
    const { rss, heap } = trends(
      run((at) => 80 + at / 100),
      rate,
    );
    expect([rss.flat, heap.flat]).toEqual([false, true]);
    expect(rss.growthMb).toBeCloseTo(9, 0);
  });
});
