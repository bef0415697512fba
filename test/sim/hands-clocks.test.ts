import { describe, expect, test } from 'vitest';
import { judgeClock } from '../../src/core/trusted-clock';
import type { Ports } from '../../src/engine/ports';
import { calm, clockJumpsMs, type Plan, type Step } from './plan';
import { editing } from './planting';
import { type Result, run } from './run';
import { storyOf } from './sweep';

const apart = (forMs: number): readonly Step[] =>
  [0, 1].map((relay): Step => ({ at: 0, do: 'part', device: 0, relay, forMs }));

/** The story of another with other options and steps. */
function like(name: string, seed: string, change: Partial<Plan>): Plan {
  return { ...storyOf(name), seed, ...change };
}

const lines = (result: Result, text: string): readonly number[] =>
  result.trace.flatMap((line, at) => (line.includes(`${text} `) || line.endsWith(text) ? [at] : []));

describe("a person's hand on what waits", () => {
  test('[OB-07] [OB-30] an edit keeps the place, a drop lets those behind go, an undo puts back: counted to the byte', async () => {
    const result = await run(storyOf('hand'));
    expect(result.breaches).toEqual([]);
    for (const deed of ['hand-edited', 'hand-retried', 'hand-dropped', 'hand-undone']) {
      expect(result.faults.get(deed), deed).toBeGreaterThan(0);
    }
  });

  test('[RD-04] what left the lane goes on until each required relay has accepted it: a fact at the relays', async () => {
    const result = await run(storyOf('open'));
    expect(result.breaches).toEqual([]);
    expect(result.openClaims).toBeGreaterThan(0);
    expect(result.required.of).toBe(4);
    expect(result.required.accepted).toBe(result.required.of);
  });

  test('[RD-08] [RD-09] a refusal is durable before the relay is asked again', async () => {
    const talk = storyOf('talk');
    const options = { ...talk.options, rates: { ...calm, relayBusy: 600 } };
    const result = await run({ ...talk, seed: 'busy', options, healAt: 90_000 });
    expect(result.breaches).toEqual([]);
    expect(result.refusals.heard).toBeGreaterThan(2);
    expect(result.refusals.unrecorded).toBe(0);
  });

  test('[RD-12] [OB-16] an acknowledgement that comes at the deadline wins over the round that is due', async () => {
    const steps: readonly Step[] = [{ at: 500, do: 'send', device: 0, channel: 0, burst: 1 }];
    const { options } = storyOf('late');
    let together = 0;
    for (let statusDelayMs = 29_880; statusDelayMs <= 30_000; statusDelayMs += 2) {
      const delayed = { ...options, deviceSkewsMs: [0, 0], relaySkewsMs: [0], statusDelayMs };
      const result = await run(
        like('late', `deadline ${statusDelayMs}`, { options: delayed, steps, healAt: 40_000 }),
      );
      expect(result.breaches, String(statusDelayMs)).toEqual([]);
      const [acked = -1] = lines(result, 'd0.store commits answer');
      expect(acked).toBeGreaterThan(0);
      // Whatever was decided before: after the acknowledgement no round begins.
      const rounds = lines(result, 'd0.engine1 has sendRound').filter((at) => at > acked).length;
      expect(lines(result, 'r0 gets EventPut').length).toBeLessThanOrEqual(2);
      expect(rounds).toBeLessThanOrEqual(1);
      const due = lines(result, 'd0.engine1 timer head');
      const heard = lines(result, 'd0.engine1 gets EventPutStatus');
      if (due.some((at) => heard.some((one) => Math.abs(timeOf(result, at) - timeOf(result, one)) <= 4))) {
        together += 1;
      }
    }
    expect(together).toBeGreaterThan(0);
  });

  test('a device for which what a timeout has begun outweighs an acknowledgement is found out', async () => {
    const steps: readonly Step[] = [{ at: 500, do: 'send', device: 0, channel: 0, burst: 1 }];
    const options = { ...storyOf('late').options, statusDelayMs: 40_000 };
    const plan = like('late', 'deadline lost', { options, steps, healAt: 60_000 });
    const ports = (given: Ports): Ports => {
      let rounds = 0;
      return editing(given, (name, args) => {
        if (name === 'sendRound') rounds += 1;
        const ignored = { type: 'nack', reason: 'busy' } as const;
        return name === 'answer' && rounds > 0 ? { ...(args as object), result: ignored } : args;
      });
    };
    expect((await run(plan)).breaches).toEqual([]);
    const { breaches } = await run(plan, { device: { ports } });
    expect(breaches.map(({ kind }) => kind)).toContain('undelivered');
  });

  test('[OB-32] a copy that does not fit parks the head, keeps every id, and the old generation goes on', async () => {
    const { steps, options } = storyOf('rotation');
    const shrink: Step = { at: 5_000, do: 'bound', device: 0, bytes: 500 };
    const result = await run(
      like('rotation', 'room', { options, steps: [...steps, shrink], healAt: 100_000 }),
    );
    expect(result.breaches).toEqual([]);
    expect(result.parked.has('room')).toBe(true);
    expect(result.accepted).toBe(2);
  });
});

function timeOf(result: Result, at: number): number {
  return Number((result.trace[at] ?? '').split(' ')[0]);
}

describe('a clock that is far off', () => {
  const moments: readonly (readonly [string, readonly Step[], number])[] = [
    ['before anything', [], 0],
    ['while the head is queued', apart(6_000), 2_000],
    ['while the head is in flight', [], 560],
  ];
  for (const [when, steps, at] of moments) {
    test.each([1, 2])(
      `[OB-35] set ${when}: nothing is made by it, and sending goes on by itself (%i relays)`,
      async (relays) => {
        for (const byMs of clockJumpsMs) {
          const jump: readonly Step[] = [
            { at, do: 'clock', device: 0, byMs },
            { at: 500, do: 'send', device: 0, channel: 0, burst: 2 },
            { at: 9_000, do: 'send', device: 0, channel: 0, burst: 1 },
          ];
          const { options } = storyOf('clocks');
          const result = await run(
            like('clocks', `${when} ${relays} ${byMs}`, {
              options: { ...options, relays },
              steps: [...steps.filter((one) => one.do !== 'part' || one.relay < relays), ...jump],
              healAt: 20_000,
            }),
          );
          expect(result.breaches, String(byMs)).toEqual([]);
          expect(result.accepted).toBe(3);
        }
      },
    );
  }

  test('[OB-35] one relay alone moves no clock: the head is parked until the clock is right again', async () => {
    const { options } = storyOf('clocks');
    const steps: readonly Step[] = [
      { at: 0, do: 'clock', device: 0, byMs: 18_000_000 },
      { at: 500, do: 'send', device: 0, channel: 0, burst: 1 },
      { at: 150_000, do: 'clock', device: 0, byMs: -18_000_000 },
    ];
    const result = await run(
      like('clocks', 'alone', { options: { ...options, relays: 1 }, steps, healAt: 400_000 }),
    );
    expect(result.breaches).toEqual([]);
    const [made = 0] = lines(result, 'd0.engine1 has materialise');
    const [right = 0] = lines(result, '"byMs":-18000000}');
    expect(made).toBeGreaterThan(right);
    expect(right).toBeGreaterThan(0);
    expect(result.healedMs).toBe(0);
  });

  test('the time that two clocks agree on is whole ms', () => {
    const { offsetMs, trusted } = judgeClock([-18_000_000, -18_000_001]);
    expect([Number.isInteger(offsetMs), trusted]).toEqual([true, true]);
  });
});
