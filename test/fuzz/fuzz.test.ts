import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { Bytes } from '../../src/core/ids';
import { Coverage } from './coverage';
import { decoders } from './formats';
import { type FuzzReport, fuzz } from './run';
import { sessions } from './sessions';
import type { Target } from './target';

const coverage = new Coverage((url) => /\/(src\/core|test\/fuzz)\//.test(url));
afterAll(() => coverage.end());

function run(targets: readonly Target[], inputs: number, seed = 'test'): FuzzReport {
  return fuzz({ targets, inputs, seed, coverage, every: 500 });
}

describe('a bounded run of the fuzzer', () => {
  const report = run([...decoders, ...sessions], 48_000);

  test('finds no crash', () => {
    expect(report.crashes).toEqual([]);
  });

  test('and is no idle one: at least a hundredth of what each decoder gets is of its kind', () => {
    for (const { name, read, inputs } of report.targets) {
      expect(inputs, name).toBeGreaterThanOrEqual(2_000);
      expect(read / inputs, name).toBeGreaterThanOrEqual(0.01);
      expect(read / inputs, name).toBeLessThan(0.9);
    }
  });

  test('keeps inputs that reach something new', () => {
    expect(report.targets.reduce((sum, { kept }) => sum + kept, 0)).toBeGreaterThan(10);
    expect(coverage.characters).toBeGreaterThan(10_000);
  });
});

const lowBits = (byte = 0): number => byte & 0x1f;

/** Fails for inputs that begin with all four of these; each is looked at only when those before it are right. */
function planted(name: string): Target {
  return {
    name,
    valid: fc.constant(new Uint8Array(6)),
    judge: (input: Bytes) => {
      if (lowBits(input[0]) === 0x8) {
        if (lowBits(input[1]) === 0xf) {
          if (lowBits(input[2]) === 0xc) {
            if (lowBits(input[3]) === 0x4) throw new RangeError('planted');
          }
        }
      }
      return 'read';
    },
  };
}

describe('the fuzzer itself', () => {
  test('finds a fault that lies four steps deep, and says by which input', () => {
    const target = planted('planted');
    const { crashes, targets } = run([target], 60_000);
    expect(targets[0]?.kept).toBeGreaterThanOrEqual(3);
    expect(crashes).toMatchObject([{ target: 'planted', error: 'RangeError: planted' }]);
    const [crash] = crashes;
    expect(() => target.judge(new Uint8Array(Buffer.from(crash?.hex ?? '', 'hex')))).toThrow('planted');
  });

  test('says which inputs take long', () => {
    const slow: Target = {
      name: 'slow',
      valid: fc.constant(new Uint8Array([1, 2, 3])),
      judge: (input) => {
        const until = performance.now() + (input[0] === 1 ? 0 : 110);
        while (performance.now() < until);
        return 'read';
      },
    };
    expect(run([slow], 6).crashes.map(({ error }) => error.slice(0, 5))).toContain('slow:');
  });

  test('does the same again for the same seed, and something else for another', () => {
    const counts = (seed: string) =>
      run(decoders.slice(0, 4), 4_000, seed).targets.map(({ name, inputs, read }) => ({
        name,
        inputs,
        read,
      }));
    expect(counts('one')).toEqual(counts('one'));
    expect(counts('two')).not.toEqual(counts('one'));
  });
});
