import { describe, expect, test } from 'vitest';
import { bugs, checks, sound } from './mutants';

type Id = keyof typeof checks;

const ids = Object.keys(checks) as readonly Id[];
const numbered = (prefix: string, numbers: readonly number[]): readonly string[] =>
  numbers.map((number) => `${prefix}-${String(number).padStart(2, '0')}`);

/** What the check found; nothing when it is satisfied. */
async function found(id: Id, mutated: boolean): Promise<unknown> {
  try {
    await checks[id]({ ...sound, ...(mutated ? bugs[id].sut : {}) });
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('a bug is planted for each rule, and the check of the rule finds it', () => {
  test('the table holds every rule of the outbound contract, and those of the graph that it rests on', () => {
    const outbox = [1, 2, 3, 4, 5, ...[7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]];
    const graph = [3, 4, 7, 12, 13];
    const bound = [25, 26, 27, 28, 29, 30, 31, 32, 33, 35];
    const delivery = [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    const outbound = [...numbered('OB', [...outbox, ...bound]), ...numbered('RD', delivery)];
    const wanted = [...outbound, ...numbered('EG', graph)].sort();
    expect([...ids].sort()).toEqual(wanted);
    expect(Object.keys(bugs).sort()).toEqual(wanted);
  });

  test.each(ids)('[%s] holds as it is', async (id) => {
    expect(await found(id, false)).toBeUndefined();
  });

  test.each(ids.map((id) => [id, bugs[id].title] as const))('%s is seen to break when %s', async (id) => {
    expect(await found(id, true)).toMatchObject({ name: 'AssertionError' });
  });
});
