import { describe, expect, test } from 'vitest';
import { calm, type Plan, type Step } from './plan';
import { planted } from './planted';
import { editOperation, withDecision } from './planting';
import { type Bug, type Result, run } from './run';
import { storyOf } from './sweep';

const hourMs = 3_600_000;
/** Longer than a device keeps a slot. */
const awayMs = 26 * hourMs;
const backAt = 3_000 + awayMs;

/** A head that no status reaches; everyone is away until its slot is forgotten, and then its device starts once more. */
const steps: readonly Step[] = [
  { at: 500, do: 'send', device: 0, channel: 0, burst: 2 },
  { at: 3_000, do: 'end-relay', relay: 0, downMs: awayMs },
  { at: 3_100, do: 'end-browser', device: 0, downMs: awayMs + 5_000 },
  { at: 3_100, do: 'end-browser', device: 1, downMs: awayMs + 9_000 },
  { at: backAt + 8_000, do: 'end-browser', device: 0, downMs: 1_000 },
];
const { options } = storyOf('retained');
const plan: Plan = {
  seed: 'a head the graph has forgotten',
  options: { ...options, beforeRotationMs: 1_500_000, rates: { ...calm, statusLost: 1_000 } },
  steps,
  healAt: backAt + 57_000,
};

const kinds = (result: Result): readonly string[] => result.breaches.map((breach) => breach.kind);

/** Other bytes stand in the row and go out, so that both agree. */
const madeAnew: Bug = {
  device: {
    scripts: withDecision('sendRound', (decision) => {
      const other = (bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => {
        const copy = bytes.slice();
        copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 1;
        return copy;
      };
      const edit = editOperation((operation) => ({
        ...operation,
        generations: operation.generations.map((one) =>
          one.event === undefined ? one : { ...one, event: other(one.event) },
        ),
      }));
      return {
        ...decision,
        changes: decision.changes.flatMap((change) => edit(change, undefined)),
        effects: decision.effects.map((effect) =>
          effect.type === 'put-event' ? { ...effect, event: other(effect.event) } : effect,
        ),
      };
    }),
  },
};

describe('a head whose event the graph has forgotten', () => {
  test('[OB-06] goes out again byte for byte after a restart, before it is made again', async () => {
    const result = await run(plan);
    expect(result.breaches).toEqual([]);
    expect(result.accepted).toBe(2);
    expect(result.faults.get('browser-death')).toBe(3);
    expect(result.prunedSent).toBeGreaterThan(0);
    const line = (text: string, from = 0): number =>
      result.trace.findIndex((one, at) => at >= from && one.includes(text));
    const opened = line('d0 is opened again');
    const pruned = line('d0.store commits pruneGraph', opened);
    const again = line('d0 is opened again', pruned);
    const put = line('r0 gets EventPut', again);
    expect([opened, pruned, again, put].toSorted((left, right) => left - right)).toEqual([
      opened,
      pruned,
      again,
      put,
    ]);
    expect(opened).toBeGreaterThan(0);
    expect(line('d0.store commits materialise', again)).toBeGreaterThan(put);
  });

  test('a device that sends anything else in its place is found out', async () => {
    const anew = planted.find(({ title }) => title === 'a retry is made anew and not sent unchanged');
    for (const bug of [anew?.bug, madeAnew]) {
      expect(bug).toBeDefined();
      expect(kinds(await run(plan, bug))).toContain('exposed-early');
    }
  });
});
