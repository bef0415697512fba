import { describe, expect, test } from 'vitest';
import { comparisonRow, heapRow, measuredRow, sizeRow, tableOf } from '../bench/rows';
import { beforePaint } from '../bench/sizes';
import type { Run } from '../bench/statistics';

const same = (figure: number, n = 20): Run[] => Array.from({ length: n }, () => ({ figure, samples: [] }));
const row = (unit: 'ms' | '/s', ours: number, baseline: number, target: number | null, n = 20) =>
  comparisonRow({
    row: 'some',
    unit,
    pairs: { ours: same(ours, n), baseline: same(baseline, n) },
    target,
    durability: 'strict',
  });

describe('rows of the bench', () => {
  test('have the fields of the report and no other', () => {
    expect(row('ms', 3, 2, 1.5)).toEqual({
      row: 'some',
      unit: 'ms',
      n: 20,
      p50: 3,
      p99: 3,
      baseline: 2,
      ratio: 1.5,
      ci: [1.5, 1.5],
      target: 1.5,
      met: true,
      durability: 'strict',
      valid: true,
    });
  });

  test('a heap may grow by a tenth and half a megabyte', () => {
    const heap = (mb: number, n = 15) => Array.from({ length: n }, () => mb * 1_000_000);
    expect(heapRow('some', heap(2.7), heap(2))).toMatchObject({ unit: 'MB', target: 2.7, met: true });
    expect(heapRow('some', heap(2.71), heap(2)).met).toBe(false);
    expect(heapRow('some', heap(2, 14), heap(2, 14))).toMatchObject({ met: false, valid: false });
  });

  test('a time has to be low and a rate high', () => {
    expect(row('ms', 3.1, 2, 1.5).met).toBe(false);
    expect(row('/s', 80, 20, 4).met).toBe(true);
    expect(row('/s', 79, 20, 4).met).toBe(false);
    expect(row('ms', 9, 1, null).met).toBeNull();
  });

  test('nothing is met against a lame baseline', () => {
    expect(row('ms', 1, 2, 1.5, 14)).toMatchObject({ met: false, valid: false });
    expect(row('ms', 1, 0, 1.5)).toMatchObject({ met: false, valid: false });
  });

  test('the ratio is the median of the pairs, not that of the medians', () => {
    const pairs = { ours: [...same(2, 10), ...same(20, 10)], baseline: [...same(1, 10), ...same(10, 10)] };
    const found = comparisonRow({ row: 'r', unit: 'ms', pairs, target: 2, durability: null });
    expect(found).toMatchObject({ ratio: 2, ci: [2, 2] });
  });

  test('the worst percentile of a rate is a low one', () => {
    const rates = Array.from({ length: 200 }, (_, at) => ({ figure: at + 1, samples: [] }));
    expect(measuredRow('r', '/s', rates, null).p99).toBe(3);
    expect(measuredRow('r', 'ms', rates, null).p99).toBe(198);
    expect(measuredRow('r', 'ms', [], null)).toMatchObject({ valid: false, n: 0 });
  });

  test('a size is held against its bound in kB of 1,000 bytes', () => {
    expect(sizeRow('s', 1, 45_000, 45)).toMatchObject({ unit: 'kB gzip', p50: 45, met: true });
    expect(sizeRow('s', 1, 45_001, 45).met).toBe(false);
    expect(sizeRow('s', 1, 1_234)).toMatchObject({ unit: 'B gzip', p50: 1_234, met: null });
  });

  test('the table says what is missing and keeps its columns', () => {
    const lines = tableOf([row('ms', 3, 2, 1.5), measuredRow('a longer name', '/s', same(7), null)]).split(
      '\n',
    );
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain('yes');
    expect(lines[2]).toMatch(/^a longer name +\/s +20 +7 +7 +- +- +- +- +- +- +yes$/);
  });
});

describe('script before the first paint', () => {
  const scripts = [
    { path: 'assets/main.js', code: 'import{a}from"./part.js";import"./side.js";import("./late.js")' },
    { path: 'assets/part.js', code: "export{b}from'./deep.js'" },
    { path: 'assets/side.js', code: '' },
    { path: 'assets/deep.js', code: 'import "./main.js"' },
    { path: 'assets/late.js', code: '' },
    { path: 'sw.js', code: '' },
  ];

  test('is what the document names and what that imports at once', () => {
    const html = '<script type="module" crossorigin src="/assets/main.js"></script>';
    expect([...beforePaint(html, scripts)].sort()).toEqual(
      ['deep', 'main', 'part', 'side'].map((name) => `assets/${name}.js`),
    );
    expect(beforePaint('<p></p>', scripts).size).toBe(0);
  });
});
