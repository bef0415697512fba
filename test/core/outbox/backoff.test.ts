import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMaxMs, backoffMs, reconnectMs } from '../../../src/core/backoff';
import { beginRound } from '../../../src/core/outbox/operation';
import { dueAt, untouched } from '../../../src/core/outbox/policy';

const almostOne = 1 - Number.EPSILON;

describe('pauses between rounds', () => {
  test('[OB-17] the pause doubles from 30 s over five rounds and then stays near 960 s for ever', () => {
    const pauses = [1, 2, 3, 4, 5].map((round) => backoffMs(round, 0.99));
    expect(pauses).toEqual([30_000, 60_000, 120_000, 240_000, 480_000]);
    for (const round of [6, 7, 100, 1e6]) {
      expect(backoffMs(round, 0.5)).toBe(960_000);
      expect(backoffMs(round, 0)).toBe(720_000);
      expect(backoffMs(round, almostOne)).toBe(1_200_000);
    }
  });

  test('[OB-17] no pause is longer than the longest a stored deadline may lie ahead, none shorter than 30 s', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e9 }),
        fc.double({ min: 0, max: almostOne, noNaN: true }),
        (round, jitter) => {
          expect(backoffMs(round, jitter)).toBeGreaterThanOrEqual(30_000);
          expect(backoffMs(round, jitter)).toBeLessThanOrEqual(backoffMaxMs);
        },
      ),
    );
  });

  test('[OB-17] each round of an operation sets the next by its own number', () => {
    const round = { event: 'e', relays: ['a'], term: 1, jitter: 0.5 };
    const pauses: number[] = [];
    let operation = untouched;
    let now = 1_000;
    for (let nth = 0; nth < 8; nth++) {
      operation = beginRound(operation, { ...round, now });
      pauses.push(dueAt(operation, now) - now);
      now = dueAt(operation, now);
    }
    expect(pauses).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 960_000, 960_000, 960_000]);
    expect(operation.round).toBe(8);
  });

  test('[OB-35] a stored deadline that no pause can have set counts as due', () => {
    expect(dueAt({ ...untouched, nextAt: 5_000 + backoffMaxMs }, 5_000)).toBe(5_000 + backoffMaxMs);
    expect(dueAt({ ...untouched, nextAt: 5_001 + backoffMaxMs }, 5_000)).toBe(5_000);
  });

  test('relays are tried again after a second that doubles up to a minute', () => {
    expect([0, 1, 2, 3].map((failures) => reconnectMs(failures, almostOne))).toEqual([
      1_000, 2_000, 4_000, 8_000,
    ]);
    expect([0, 1, 2, 3].map((failures) => reconnectMs(failures, 0))).toEqual([500, 1_000, 2_000, 4_000]);
    expect([6, 60, 6_000].map((failures) => reconnectMs(failures, almostOne))).toEqual([
      60_000, 60_000, 60_000,
    ]);
  });
});
