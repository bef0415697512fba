import { describe, expect, test } from 'vitest';
import { dayWord, makeFormat } from '../../../src/ui/format';

const absurd: readonly (readonly [string, number])[] = [
  ['beyond any date', 8.64e15 + 1],
  ['before any date', -8.64e15 - 1],
  ['1 before the beginning', -1],
  ['half a millisecond', 1.5],
  ['no number', Number.NaN],
  ['more than any number', Number.POSITIVE_INFINITY],
  ['less than any number', Number.NEGATIVE_INFINITY],
  ['2^64', 2 ** 64],
  ['the last of 53 bits', Number.MAX_SAFE_INTEGER],
  ['20 years from now', Date.UTC(2046, 0, 1)],
];
const now = Date.UTC(2026, 11, 1, 3, 10);

describe.each(['en', 'de'])('in %s', (language) => {
  const format = makeFormat(language, 'UTC');

  test.each(absurd)('(HX-10) a time %s is formatted, whichever way, and reads as a time', (_what, at) => {
    const words = { today: 'T', yesterday: 'Y' };
    const texts = [
      format.time(at),
      format.exact(at),
      format.full(at),
      format.dayKey(at),
      format.day(at),
      format.short(at, now),
      format.short(now, at),
      format.iso(at),
      dayWord(format, at, now, words),
      dayWord(format, now, at, words),
    ];
    for (const text of texts) {
      expect(text).not.toMatch(/invalid|NaN|undefined|^$/i);
    }
    expect(format.time(at)).toMatch(/^\d\d:\d\d$/);
    expect(Date.parse(format.iso(at))).not.toBeNaN();
  });

  test('an ordinary time is what it was', () => {
    expect([format.time(now), format.iso(now), format.dayKey(now)]).toEqual([
      '03:10',
      '2026-12-01T03:10:00.000Z',
      '2026-12-01',
    ]);
    expect(format.short(now, now)).toBe('03:10');
  });
});
