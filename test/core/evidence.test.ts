import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  brokenClaims,
  idsOf,
  parseClaims,
  parseLines,
  parseRequirements,
  reconcile,
  report,
  textOf,
} from '../evidence/reconcile.mjs';
import type { TestLine } from '../evidence/reporter.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const requirements = parseRequirements(
  'id\tsource\twhere\tmust hold\nAA-01\t1\tcore\tone\nAA-02\tcard\tcore,relay\ttwo\nAA-03\t4\tsim\tthree\n',
);
const passed: TestLine = {
  project: 'core',
  place: 'core',
  file: 'test/core/a.test.ts',
  title: '[AA-01] holds',
  state: 'passed',
  fails: false,
  mode: 'run',
  retries: 0,
  ms: 3,
};

/** States of AA-01 core, AA-02 core, AA-02 relay and AA-03 sim after these lines. */
function states(...lines: TestLine[]): string[] {
  return reconcile(requirements, lines).standings.map((one) => one.state);
}

describe('reconciling requirements with what ran', () => {
  test('a test that passed counts in the place it ran, and in no other', () => {
    expect(states(passed)).toEqual(['passed', 'missing', 'missing', 'missing']);
    expect(states({ ...passed, title: '[AA-02] holds' })).toEqual([
      'missing',
      'passed',
      'missing',
      'missing',
    ]);
    expect(states({ ...passed, title: '[AA-03] holds' })).toEqual([
      'missing',
      'missing',
      'missing',
      'missing',
    ]);
  });

  test('[RD-18] a mapped test that is not in the run does not count', () => {
    expect(states()).toEqual(['missing', 'missing', 'missing', 'missing']);
  });

  test.each([
    ['was skipped', { state: 'skipped', mode: 'skip' }],
    ['is to be written', { state: 'skipped', mode: 'todo' }],
    ['never finished', { state: 'pending' }],
    ['was expected to fail', { fails: true }],
    ['passed at the second try', { retries: 1 }],
    ['ran because all others were left out', { mode: 'only' }],
  ] as const)('[RD-18] a mapped test that %s does not count', (_name, change) => {
    expect(states({ ...passed, ...change })[0]).toBe('missing');
    expect(textOf(reconcile(requirements, [{ ...passed, ...change }]))).toContain('not counted  AA-01 core');
  });

  test('one failure outweighs a pass of the same id and place', () => {
    expect(states(passed, { ...passed, title: '[AA-01] other', state: 'failed' })[0]).toBe('failed');
  });

  test('ids are read from brackets only, and a suite lends its id to its tests', () => {
    expect(idsOf('[AA-01] and [AA-02, AA-03] > deep [AA-01]')).toEqual(['AA-01', 'AA-02', 'AA-03']);
    expect(idsOf('AA-01 without brackets')).toEqual([]);
  });

  test('an id nobody asked for is reported', () => {
    expect(reconcile(requirements, [{ ...passed, title: '[AA-99] typo' }]).unknown).toHaveLength(1);
  });

  test('a claim that is not shown is broken, and so is one of a place the id does not have', () => {
    const claims = parseClaims('# done\nAA-01 core\nAA-02 core,relay # both\nAA-01 sim\n');
    const broken = brokenClaims(reconcile(requirements, [passed, { ...passed, title: '[AA-02] x' }]), claims);
    expect(broken.map((line) => line.slice(0, 12))).toEqual(['AA-02 relay:', 'AA-01 sim: c']);
  });

  test('the report counts pairs of id and place and names each', () => {
    const failed: TestLine = { ...passed, place: 'relay', title: '[AA-02] x', state: 'failed' };
    const result = report(reconcile(requirements, [passed, failed]), { commit: 'c', date: 'd' });
    expect(result).toEqual({
      commit: 'c',
      date: 'd',
      total: 4,
      passed: 1,
      failed: [{ id: 'AA-02', test: 'test/core/a.test.ts: [AA-02] x' }],
      missing: [
        { id: 'AA-02', where: 'core' },
        { id: 'AA-03', where: 'sim' },
      ],
      tests: [{ id: 'AA-01', where: 'core', file: 'test/core/a.test.ts', title: '[AA-01] holds', ms: 3 }],
    });
  });

  test('a table with a repeated id or a row without a place is refused', () => {
    expect(() => parseRequirements('h\nAA-01\t1\tcore\tx\nAA-01\t1\tcore\ty')).toThrow('twice');
    expect(() => parseRequirements('h\nAA-01\t1\t\tx')).toThrow('unreadable');
  });

  test('the real table is read whole', () => {
    const real = parseRequirements(readFileSync(join(root, 'test/requirements.tsv'), 'utf8'));
    expect(real).toHaveLength(138);
    expect(real.find((one) => one.id === 'RD-18')?.places).toEqual(['core']);
  });
});

/** The call of a marked test, spelt so that a search for marked tests finds none here. */
const marked = (mode: 'skip' | 'todo' | 'fails') => `test.${mode}`;

/** Runs a test file of `source` in a process of its own with our reporter, and returns what the reporter wrote. */
function realRun(source: string): TestLine[] {
  const folder = mkdtempSync(join(root, 'node_modules/.evidence-'));
  try {
    const reporter = join(root, 'test/evidence/reporter.ts');
    writeFileSync(
      join(folder, 'tiny.test.ts'),
      `import { beforeAll, expect, test } from 'vitest';\n${source}`,
    );
    writeFileSync(
      join(folder, 'vitest.config.ts'),
      `import { EvidenceReporter } from ${JSON.stringify(reporter)};
       export default { root: ${JSON.stringify(folder)}, test: { name: 'core-tiny', include: ['*.test.ts'],
         expect: { requireAssertions: true },
         reporters: [new EvidenceReporter({ file: 'out.jsonl', root: ${JSON.stringify(folder)} })] } };`,
    );
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const child = spawnSync(process.execPath, [vitest, 'run', '--config', join(folder, 'vitest.config.ts')], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], TMPDIR: tmpdir() },
    });
    expect(child.error).toBeUndefined();
    return parseLines(readFileSync(join(folder, 'out.jsonl'), 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the reporter in a real run', () => {
  test('[RD-18] of real test cases only the one that ran and passed at once counts', () => {
    const lines = realRun(`
      let tries = 0;
      test('[AA-01] passes', () => { expect(1).toBe(1); });
      ${marked('skip')}('[AA-02] skipped', () => { expect(1).toBe(1); });
      ${marked('todo')}('[AA-03] to be written');
      ${marked('fails')}('[AA-04] expected to fail', () => { expect(1).toBe(2); });
      test('[AA-05] second try', { retry: 2 }, () => { tries += 1; expect(tries).toBe(2); });
      test('[AA-06] asserts nothing', () => {});
      test('[AA-07] fails', () => { expect(1).toBe(2); });
    `);
    const ids = ['AA-01', 'AA-02', 'AA-03', 'AA-04', 'AA-05', 'AA-06', 'AA-07', 'AA-08'];
    const table = parseRequirements(`h\n${ids.map((id) => `${id}\t1\tcore\tx`).join('\n')}`);
    expect(lines.map((line) => line.place)).toEqual(Array(7).fill('core'));
    expect(Object.fromEntries(reconcile(table, lines).standings.map((one) => [one.id, one.state]))).toEqual({
      'AA-01': 'passed',
      'AA-02': 'missing',
      'AA-03': 'missing',
      'AA-04': 'missing',
      'AA-05': 'missing',
      'AA-06': 'failed',
      'AA-07': 'failed',
      'AA-08': 'missing',
    });
  });

  test('[RD-18] tests behind a hook that threw, or in a file that does not load, leave a failed line and no pass', () => {
    const hook = realRun(
      `beforeAll(() => { throw new Error('no'); });\ntest('[AA-01] x', () => { expect(1).toBe(1); });`,
    );
    expect(hook.some((line) => line.state === 'failed')).toBe(true);
    expect(states(...hook)[0]).not.toBe('passed');
    const broken = realRun(`throw new Error('no');\ntest('[AA-01] x', () => { expect(1).toBe(1); });`);
    expect(broken.map((line) => line.state)).toEqual(['failed']);
  });
});
