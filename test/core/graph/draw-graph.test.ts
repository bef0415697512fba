import { describe, expect, test } from 'vitest';
import { drawn } from '../../fixtures/draw-graph';

describe('a graph drawn as text', () => {
  test('a line is a chain, and what stands on nothing comes first', () => {
    expect([...drawn('a - b - c')]).toEqual([
      ['a', []],
      ['b', ['a']],
      ['c', ['b']],
    ]);
  });

  test('slashes branch and merge', () => {
    const drawing = drawn(String.raw`
          c - d
         /     \
        a - b - e
         \     /
          f - g`);
    expect(Object.fromEntries(drawing)).toEqual({
      a: [],
      b: ['a'],
      c: ['a'],
      d: ['c'],
      f: ['a'],
      g: ['f'],
      e: ['b', 'd', 'g'],
    });
  });

  test('names side by side without an edge stay apart', () => {
    expect(Object.fromEntries(drawn('a b'))).toEqual({ a: [], b: [] });
  });

  test('a name drawn twice is refused', () => {
    expect(() => drawn('a - a')).toThrow('drawn twice');
  });
});
