import { beforeAll, describe, expect, test } from 'vitest';
import type { Ending } from './checkers/evidence';
import { calm, type Plan, planOf, type Step, shrink } from './plan';
import { type Result, run } from './run';

const seeds = Array.from({ length: 60 }, (_, nth) => `npm-test.${nth}`);

let results: readonly Result[] = [];

beforeAll(async () => {
  const done: Result[] = [];
  for (const seed of seeds) done.push(await run(planOf(seed)));
  results = done;
});

/** What went wrong, each with its seed, so that a red run can be repeated. */
function breachesOf(...kinds: readonly string[]): readonly string[] {
  return results.flatMap((result) =>
    result.breaches
      .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))
      .map(({ kind, what }) => `${result.plan.seed} ${kind}: ${what}`),
  );
}

const faults = (kind: string): number => results.reduce((sum, one) => sum + (one.faults.get(kind) ?? 0), 0);
const endings = (how: Ending): number => results.reduce((sum, one) => sum + (one.endings.get(how) ?? 0), 0);
const accepted = (): number => results.reduce((sum, one) => sum + one.accepted, 0);

describe('sixty runs with faults at random, then without', () => {
  test('no checker found anything, no code threw, and every run did something of its own', () => {
    expect(breachesOf()).toEqual([]);
    expect(accepted()).toBeGreaterThan(seeds.length);
    expect(new Set(results.map((one) => one.hash)).size).toBe(seeds.length);
    const steps = results.map((one) => one.steps).toSorted((left, right) => left - right);
    expect(steps[steps.length >> 1]).toBeGreaterThanOrEqual(200);
  });

  test('[OB-01] relays and other devices get the messages of one sender in the order in which they were accepted', () => {
    expect(breachesOf('reordered')).toEqual([]);
    expect(faults('browser-death')).toBeGreaterThan(0);
    expect(faults('part-relays')).toBeGreaterThan(0);
  });

  test('[OB-02] [OB-18] nothing behind the head is made or sent, whatever dies or reconnects meanwhile', () => {
    expect(breachesOf('head-only')).toEqual([]);
    expect(faults('cut')).toBeGreaterThan(0);
    expect(faults('engine-death')).toBeGreaterThan(0);
  });

  test('[OB-03] an event is made only while as many relays as wanted have told the tips of its slot', () => {
    expect(breachesOf('too-few')).toEqual([]);
  });

  test('[OB-05] [RD-01] what leaves a device is durable there, byte for byte', () => {
    expect(breachesOf('exposed-early')).toEqual([]);
    expect(faults('answer-lost')).toBeGreaterThan(0);
  });

  test('[OB-07] [OB-09] every generation stays, and exactly one of them is active', () => {
    expect(breachesOf('generations')).toEqual([]);
  });

  test('[OB-10] [RD-02] [OB-15] [OB-24] a message leaves by a Has, new or known, or by what builds on it: by nothing else', () => {
    expect(breachesOf('evidence')).toEqual([]);
    expect(endings('has-new')).toBeGreaterThan(0);
    expect(endings('has-known')).toBeGreaterThan(0);
    for (const kind of ['status-repeated', 'status-lost', 'relay-busy', 'late-frame']) {
      expect(faults(kind), kind).toBeGreaterThan(0);
    }
  });

  test('[OB-13] [OB-16] a message leaves the lane once and is shown once', () => {
    expect(breachesOf('duplicated')).toEqual([]);
    expect(faults('call-copied')).toBeGreaterThan(0);
  });

  test('[OB-17] rounds come one by one, never too soon, with the pauses that were promised', () => {
    expect(breachesOf('rounds')).toEqual([]);
  });

  test('[RD-07] every put answers to a durable claim of its own, however often a link is made anew', () => {
    expect(breachesOf('claims')).toEqual([]);
    expect(faults('silence')).toBeGreaterThan(0);
  });

  test('[RD-03] [RD-08] [RD-11] [RD-16] an accepted intent stays accepted, none is erased, no claim is prolonged', () => {
    expect(breachesOf('intents')).toEqual([]);
    expect(faults('half-open')).toBeGreaterThan(0);
  });

  test('[OB-30] [OB-31] an outbox stays within its bound: full, it refuses, keeps what it has, counts what the rows say', () => {
    expect(breachesOf('counters', 'lost')).toEqual([]);
    expect(faults('outbox-full')).toBeGreaterThan(0);
  });

  test('[RD-04] what left the lane is open exactly while a required relay has not accepted, and is finished in the end', () => {
    expect(breachesOf('open')).toEqual([]);
    const of = results.reduce((sum, one) => sum + one.required.of, 0);
    const accepted = results.reduce((sum, one) => sum + one.required.accepted, 0);
    expect(of).toBeGreaterThan(0);
    expect(accepted).toBeGreaterThan(0);
  });

  test('[OB-35] nothing is made by a clock that peers do not confirm', () => {
    expect(breachesOf('clock')).toEqual([]);
    expect(faults('clock-set')).toBeGreaterThan(0);
  });

  test("a person's hand changes what waits, and nothing else does", () => {
    expect(breachesOf('lost', 'reordered', 'counters')).toEqual([]);
    for (const kind of ['hand-edited', 'hand-dropped', 'hand-undone', 'hand-retried', 'quota']) {
      expect(faults(kind), kind).toBeGreaterThan(0);
    }
  });

  test('[OB-19] [OB-28] [RD-06] after the faults end every accepted message is everywhere, once', () => {
    expect(breachesOf('undelivered', 'lost')).toEqual([]);
    for (const kind of ['call-refused', 'abort', 'read-refused', 'relay-crash', 'second-engine']) {
      expect(faults(kind), kind).toBeGreaterThan(0);
    }
  });
});

describe('a run is its seed', () => {
  test('the same seed gives the same trace, another seed another one', async () => {
    const [first] = seeds;
    const plan = planOf(first ?? '');
    expect(planOf(plan.seed)).toEqual(plan);
    const [one, again, other] = [await run(plan), await run(plan), await run(planOf('another'))];
    expect(again.hash).toBe(one.hash);
    expect(again.trace).toEqual(one.trace);
    expect(other.hash).not.toBe(one.hash);
  });

  test('a plan is plain JSON', async () => {
    const plan = planOf('json');
    const copy = JSON.parse(JSON.stringify(plan)) as Plan;
    expect((await run(copy)).hash).toBe((await run(plan)).hash);
  });

  test('a plan that fails is shrunk to the steps that make it fail', async () => {
    const plan = planOf('shrink');
    const needed = plan.steps.find((step) => step.do === 'send') as Step;
    const smaller = await shrink(plan, async ({ steps }) => steps.includes(needed));
    expect(smaller.steps).toEqual([needed]);
    expect(smaller.options.rates).toEqual(calm);
  });
});
