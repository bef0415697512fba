import { beforeEach, describe, expect, test, vi } from 'vitest';
import { ed25519Limiter, type RateLimiter } from '../../src/core/rate/limiter';
import { holdfastLimited } from '../../src/core/wire/profile';
import { type Plan, planOf, type Step } from './plan';
import { type Result, run } from './run';
import { stories, storyOf, withCrashes } from './sweep';

const { seen, watched } = vi.hoisted(() => ({
  /** Events that came to a relay truly proven, by the ticket they spent. */
  seen: new Map<string, Set<string>>(),
  watched: {} as { limiter?: RateLimiter },
}));

vi.mock('./names', async (original) => ({
  ...(await original<typeof import('./names')>()),
  profile: holdfastLimited,
  relayKeys: {
    get registry() {
      return { limiter: watched.limiter, has: () => true };
    },
  },
}));

const limiter = ed25519Limiter();
watched.limiter = {
  ...limiter,
  holds(claim, to) {
    const holds = limiter.holds(claim, to);
    const ticket = `${claim.identity} ${claim.epoch} ${claim.ticket}`;
    if (holds) seen.set(ticket, (seen.get(ticket) ?? new Set()).add(to.event));
    return holds;
  },
};

/** Events a ticket was spent on, most first: more than one would be a ticket used twice. */
const mostOfOne = (): number => Math.max(...[...seen.values()].map((events) => events.size));

/** The plan with an identity for every device from the beginning. */
function identified(plan: Plan): Plan {
  const steps = Array.from(
    { length: plan.options.devices },
    (_, device): Step => ({ at: 0, do: 'identity', device }),
  );
  return { ...plan, steps: [...steps, ...plan.steps.filter((step) => step.do !== 'identity')] };
}

beforeEach(() => seen.clear());

describe('a network that limits rates', () => {
  test.each(stories.map((story) => [story.seed, story] as const))(
    '[OB-25] %s: everything arrives proven, each ticket spent on one event',
    async (_name, story) => {
      const result = await run(identified(story));
      expect(result.breaches).toEqual([]);
      expect(result.accepted).toBeGreaterThan(0);
      // What a person takes back before anything was made of it spends none.
      const dropped = result.faults.get('hand-dropped') ?? 0;
      expect(seen.size).toBeGreaterThanOrEqual(result.accepted - dropped);
      expect(mostOfOne()).toBe(1);
    },
  );

  test('[OB-25] a crash around the commit of a generation spends no ticket twice', async () => {
    const story = identified(storyOf('rotation'));
    for (const point of ['materialise/commit:before', 'materialise/commit:after']) {
      for (const nth of [1, 2]) {
        seen.clear();
        const result = await run(withCrashes(story, [{ point, nth }]));
        expect(result.breaches, `${point} ${nth}`).toEqual([]);
        expect(result.fired).toEqual(new Set([point]));
        expect(mostOfOne()).toBe(1);
      }
    }
  });

  test('[OB-25] runs with faults at random end as well', async () => {
    const results: Result[] = [];
    for (let nth = 0; nth < 20; nth++) {
      seen.clear();
      const result = await run(identified(planOf(`rated.${nth}`)));
      expect(result.breaches, result.plan.seed).toEqual([]);
      expect(mostOfOne(), result.plan.seed).toBe(1);
      results.push(result);
    }
    expect(results.reduce((sum, one) => sum + one.accepted, 0)).toBeGreaterThan(results.length);
    expect(results.some((one) => (one.faults.get('browser-death') ?? 0) > 0)).toBe(true);
  });

  test('[OB-26] of more messages than tickets the rest leaves in the next epoch, in its order', async () => {
    const talk = storyOf('talk');
    const options = { ...talk.options, devices: 2, beforeRotationMs: 55 * 60_000 };
    const steps: readonly Step[] = [{ at: 500, do: 'send', device: 0, channel: 0, burst: 104 }];
    const result = await run(identified({ ...talk, seed: 'budget', options, steps }));
    expect(result.breaches).toEqual([]);
    expect(result.accepted).toBe(104);
    const epochs = [...seen.keys()].map((ticket) => Number(ticket.split(' ')[1]));
    const first = Math.min(...epochs);
    expect([first, first + 1].map((epoch) => epochs.filter((one) => one === epoch).length)).toEqual([100, 4]);
    expect(mostOfOne()).toBe(1);
  });

  test('[OB-27] what is written before there is an identity waits for it, and then leaves', async () => {
    const talk = storyOf('talk');
    const steps: readonly Step[] = [
      { at: 500, do: 'send', device: 0, channel: 0, burst: 3 },
      { at: 8_000, do: 'identity', device: 0 },
      { at: 8_500, do: 'identity', device: 1 },
    ];
    const result = await run({ ...talk, seed: 'identity', steps });
    expect(result.breaches).toEqual([]);
    expect(result.accepted).toBe(3);
    const at = (text: string): number => result.trace.findIndex((line) => line.includes(text));
    expect(at('has materialise')).toBeGreaterThan(0);
    expect(at('has materialise')).toBeLessThan(at('has setRateIdentity'));
    expect(at('gets EventPut')).toBeGreaterThan(at('has setRateIdentity'));
  });
});
