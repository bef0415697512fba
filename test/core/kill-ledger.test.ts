import { beforeEach, describe, expect, test } from 'vitest';
import { Ledger } from '../kill/ledger';
import { planOf } from '../kill/plan';

/** The ledger of the kill run on paper: each thing it must find is planted once. */
describe('the ledger of a kill run', () => {
  let ledger: Ledger;
  const arrival = (text: string, logical = `logical of ${text}`, event = `event of ${text} ${logical}`) =>
    ledger.arrives({ event, logical, text }).map(({ kind }) => kind);

  beforeEach(() => {
    ledger = new Ledger();
    for (const text of ['one', 'two', 'three']) {
      ledger.says(text);
      ledger.kept(text);
    }
  });

  test('all that was kept, once and in order, is no breach', () => {
    expect(['one', 'two', 'three'].flatMap((text) => arrival(text))).toEqual([]);
    expect(ledger.missing()).toEqual([]);
    expect(ledger.settle()).toEqual([]);
    expect([ledger.keptCount, ledger.arrivedCount, ledger.copies]).toEqual([3, 3, 0]);
  });

  test('what was said and never kept may be missing, and may arrive', () => {
    ledger.says('four');
    for (const text of ['one', 'two', 'three']) arrival(text);
    expect(ledger.missing()).toEqual([]);
    expect(arrival('four')).toEqual([]);
    expect(ledger.settle()).toEqual([]);
  });

  test('what was kept and does not arrive is lost, and told once', () => {
    arrival('one');
    arrival('three');
    expect(ledger.missing()).toEqual(['two']);
    expect(ledger.settle()).toEqual([{ kind: 'lostWithoutWipe', what: 'two' }]);
    expect(ledger.settle()).toEqual([]);
  });

  test('a wipe excuses what was kept before it, and nothing after', () => {
    arrival('one');
    ledger.wiped();
    expect(ledger.keepsSome).toBe(false);
    ledger.says('four');
    ledger.kept('four');
    expect(ledger.settle()).toEqual([
      { kind: 'lostAfterWipe', what: 'two' },
      { kind: 'lostAfterWipe', what: 'three' },
      { kind: 'lostWithoutWipe', what: 'four' },
    ]);
  });

  test('a later one first is reordered', () => {
    expect([arrival('two'), arrival('one'), arrival('three')]).toEqual([[], ['reordered'], []]);
  });

  test('a text under two logical ids, or under none again, is duplicated; a further event of one is a copy', () => {
    arrival('one', 'a', 'first');
    expect(arrival('one', 'a', 'second')).toEqual([]);
    expect(ledger.copies).toBe(1);
    expect(arrival('one', 'b', 'third')).toEqual(['duplicated']);
    expect(ledger.arrives({ event: 'fourth', logical: undefined, text: 'one' })).toHaveLength(1);
    expect(arrival('one', 'a', 'first')).toEqual(['duplicated']);
    expect(arrival('never said')).toEqual(['duplicated']);
  });

  test('a timeline shows each text once, in order', () => {
    expect(ledger.shows(['one', 'two', 'three'])).toEqual([]);
    expect(ledger.shows(['two', 'three'])).toEqual([]);
    expect(ledger.shows(['one', 'one', 'two']).map(({ kind }) => kind)).toEqual(['duplicated']);
    expect(ledger.shows(['two', 'one', 'three']).map(({ kind }) => kind)).toEqual(['reordered']);
  });

  test('plans are drawn by their seed alone, and all kinds are drawn', () => {
    expect(planOf('a.1')).toEqual(planOf('a.1'));
    const plans = Array.from({ length: 100 }, (_, nth) => planOf(`a.${nth}`));
    expect(new Set(plans.map(({ network }) => network.kind))).toEqual(new Set(['open', 'slow', 'returning']));
    expect(new Set(plans.map(({ trigger }) => trigger.on))).toEqual(
      new Set(['time', 'kept', 'put', 'answer']),
    );
  });
});
