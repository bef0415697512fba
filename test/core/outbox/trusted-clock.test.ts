import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeClock } from '../../../src/core/trusted-clock';

describe('the trusted clock', () => {
  test.each([
    ['nobody is connected', [], { offsetMs: 0, trusted: true, seenMs: 0 }],
    ['peers agree with it', [100, -200, 300], { offsetMs: 0, trusted: true, seenMs: 100 }],
    ['it is 30 s off, the most that passes', [30_000], { offsetMs: 0, trusted: true, seenMs: 30_000 }],
    ['it is 30 s off the other way', [-30_000, -30_000], { offsetMs: 0, trusted: true, seenMs: -30_000 }],
    ['two peers are even', [10, 30], { offsetMs: 0, trusted: true, seenMs: 20 }],
    ['one of three is far off', [0, 10, 9_000_000], { offsetMs: 0, trusted: true, seenMs: 10 }],
  ])('[OB-35] our own clock holds when %s', (_when, offsets: readonly number[], verdict) => {
    expect(judgeClock(offsets)).toEqual(verdict);
  });

  test.each([
    ['two peers', [90_000, 92_000], 91_000],
    ['two peers 20 s apart, each within 10 s of the middle', [90_000, 110_000], 100_000],
    ['three peers', [-3_600_000, -3_601_000, -3_602_000], -3_601_000],
    ['two peers an odd number of ms apart, in whole ms', [90_000, 90_001], 90_001],
    ['two of three', [90_000, 91_000, 5_000_000], 91_000],
  ])(
    '[OB-35] beyond 30 s the offset that %s agree on is applied',
    (_who, offsets: readonly number[], offsetMs) => {
      expect(judgeClock(offsets)).toEqual({ offsetMs, trusted: true, seenMs: offsetMs });
    },
  );

  test.each([
    ['one peer alone', [30_001], 30_001],
    ['one peer alone, by years', [-1e11], -1e11],
    ['two that do not agree', [90_000, 200_000], 145_000],
    ['three that do not agree', [60_000, 90_000, 200_000], 90_000],
  ])(
    '[OB-35] %s never moves our clock: nothing is trusted, and nothing is applied',
    (_who, offsets: readonly number[], seenMs) => {
      expect(judgeClock(offsets)).toEqual({ offsetMs: 0, trusted: false, seenMs });
    },
  );

  test('[OB-35] the verdict does not depend on the order of the peers, and is right again when they are', () => {
    const offset = fc.integer({ min: -200_000, max: 200_000 });
    fc.assert(
      fc.property(fc.array(offset, { maxLength: 6 }), (offsets) => {
        expect(judgeClock(offsets.toReversed())).toEqual(judgeClock(offsets));
        const verdict = judgeClock(offsets);
        if (verdict.offsetMs !== 0) expect(Math.abs(verdict.offsetMs)).toBeGreaterThan(30_000);
        const healed = judgeClock(offsets.map((one) => one % 1_000));
        expect(healed).toMatchObject({ trusted: true, offsetMs: 0 });
      }),
    );
  });
});
