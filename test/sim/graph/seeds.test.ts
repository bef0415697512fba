import { beforeAll, describe, expect, test } from 'vitest';
import type { Ending } from '../checkers/evidence';
import { calm, shrink } from '../plan';
import { type GraphPlan, graphPlanOf } from './plan';
import { type GraphResult, runGraph } from './run';

const seeds = Array.from({ length: 27 }, (_, nth) => `npm-test.${nth}`);

let results: readonly GraphResult[] = [];

beforeAll(async () => {
  const done: GraphResult[] = [];
  for (const seed of seeds) done.push(await runGraph(graphPlanOf(seed)));
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

const sum = (of: (result: GraphResult) => number): number =>
  results.reduce((total, one) => total + of(one), 0);
const faults = (kind: string): number => sum((one) => one.faults.get(kind) ?? 0);
const endings = (how: Ending): number => sum((one) => one.endings.get(how) ?? 0);
const said = (word: string): number => sum((one) => one.said.get(word) ?? 0);

describe('ten peers, liars among them, with faults at random and then without', () => {
  test('no checker found anything, no code threw, and every run did something of its own', () => {
    expect(breachesOf()).toEqual([]);
    expect(new Set(results.map((one) => one.hash)).size).toBe(seeds.length);
    for (const { options } of results.map((one) => one.plan)) {
      expect(options.devices.length + options.relays.length + options.liars.length).toBe(10);
      expect(options.liars.length).toBeGreaterThan(0);
    }
    expect(sum((one) => one.accepted)).toBeGreaterThan(2 * seeds.length);
    expect(sum((one) => one.events)).toBeGreaterThan(4 * seeds.length);
    for (const { rotations } of results) expect(rotations).toBeGreaterThan(0);
    expect(sum((one) => one.rotations)).toBeGreaterThan(2 * seeds.length);
  });

  test('after the faults have ended all honest peers hold the same graph: ids, bodies and tips', () => {
    expect(breachesOf('diverged', 'graph', 'waiting')).toEqual([]);
    for (const kind of ['relay-crash', 'browser-death', 'late-join', 'split', 'cut', 'night', 'frame-slow']) {
      expect(faults(kind), kind).toBeGreaterThan(0);
    }
  });

  test('nobody honest is sent away or called invalid for what a liar did, and liars are', () => {
    expect(breachesOf('misunderstood', 'blamed')).toEqual([]);
    expect(faults('liar-sent-away')).toBeGreaterThan(0);
    expect(said('invalid')).toBeGreaterThan(0);
    for (const kind of [
      'tips-invented',
      'tips-withheld',
      'headers-invented',
      'headers-looped',
      'bodies-altered',
    ]) {
      expect(faults(`lie-${kind}`), kind).toBeGreaterThan(0);
    }
    for (const kind of [
      'layer-absurd',
      'time-absurd',
      'parent-twice',
      'invented-parents',
      'foreign-genesis',
    ]) {
      expect(faults(`bad-${kind}`), kind).toBeGreaterThan(0);
    }
  });

  test('slots are forgotten when they are due and not before, and nothing grows beyond its bound', () => {
    expect(breachesOf('forgotten', 'bounds', 'overfull')).toEqual([]);
    expect(sum((one) => one.forgotten)).toBeGreaterThan(0);
    expect(faults('fill')).toBeGreaterThan(0);
    expect(faults('store-full')).toBeGreaterThan(0);
  });

  test('[EG-04] [OB-23] what a peer still keeps of an older slot is no Has that is withheld, and never too old', () => {
    expect(breachesOf('too-old')).toEqual([]);
    expect(endings('has-old')).toBeGreaterThan(0);
    expect(said('too-old')).toBeGreaterThan(0);
  });

  test('[OB-12] [OB-24] a message leaves by a Has or by what others build on it: by no own event, no silence, no refusal', () => {
    expect(breachesOf('evidence')).toEqual([]);
    expect(endings('has-new') + endings('has-known') + endings('descendant')).toBeGreaterThan(seeds.length);
    expect(sum((one) => one.returned)).toBeGreaterThan(0);
    for (const word of ['busy', 'not-synced', 'invalid', 'too-old'])
      expect(said(word), word).toBeGreaterThan(0);
    for (const kind of ['lie-silent', 'lie-nack', 'lie-too-old', 'lie-has']) {
      expect(faults(kind), kind).toBeGreaterThan(0);
    }
  });

  test('[OB-21] a message is made again in a later slot only, after a round there', () => {
    expect(breachesOf('generations')).toEqual([]);
    expect(sum((one) => one.recreated)).toBeGreaterThan(0);
  });

  test('[RD-11] [RD-16] no claim is prolonged by what comes in, and none is erased with its link', () => {
    expect(breachesOf('intents')).toEqual([]);
    expect(faults('half-open')).toBeGreaterThan(0);
  });
});

describe('a run of the graph is its seed', () => {
  test('the same seed gives the same trace, and a plan is plain JSON', async () => {
    const plan = graphPlanOf(seeds[0] ?? '');
    const [first] = results;
    expect(graphPlanOf(plan.seed)).toEqual(plan);
    const again = await runGraph(JSON.parse(JSON.stringify(plan)) as GraphPlan);
    expect(again.trace).toEqual(first?.trace);
    expect(again.hash).toBe(first?.hash);
  });

  test('a plan that fails is shrunk to the steps that make it fail', async () => {
    const plan = graphPlanOf('shrink');
    const needed = plan.steps.find((step) => step.do === 'night');
    const smaller = await shrink(plan, async ({ steps }) => steps.some((step) => step === needed));
    expect(smaller.steps).toEqual([needed]);
    expect(smaller.options.rates).toEqual(calm);
  });
});
