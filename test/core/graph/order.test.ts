import { describe, expect, test } from 'vitest';
import { insertFetched } from '../../../src/core/graph/fetched';
import { type InsertOutcome, insertLive, type LiveEvent } from '../../../src/core/graph/insert';
import { limits } from '../../../src/core/limits';
import { get, put } from '../../../src/core/transaction';
import { encodeEvent } from '../../../src/core/wire/event';
import { genesisOf, holdfastLimited } from '../../../src/core/wire/profile';
import { GraphWorld, noBlob, one, slot } from '../../fixtures/graph-world';

const genesis = genesisOf(holdfastLimited, slot).id;
const good = new Uint8Array([1]);

/** The faults of a live event in the order in which event-graph.md 3.2 looks for them, and what is said of each. */
const faults = {
  'before the first sync': { verdict: 'refused', reason: 'not-synced', strike: false, counted: false },
  'known in this slot': { verdict: 'known', counted: false },
  'over the allowance': { verdict: 'flood' },
  'of a closed slot': { verdict: 'refused', reason: 'too-old', strike: false, counted: true },
  'altered content': { verdict: 'refused', reason: 'invalid', strike: true, counted: true },
  'without a proof': { verdict: 'refused', reason: 'invalid', strike: true, counted: true },
  'on parents nobody has': { verdict: 'missing' },
  'in a layer of its own choice': { verdict: 'refused', reason: 'invalid', strike: true, counted: true },
  'with a false proof': { verdict: 'refused', reason: 'invalid', strike: false, counted: true },
  'without room': { verdict: 'refused', reason: 'busy', strike: false, counted: true },
} as const;
type Fault = keyof typeof faults;

/** Two faults that no one event can have. */
const apart: readonly (readonly [Fault, Fault])[] = [
  ['known in this slot', 'of a closed slot'],
  ['known in this slot', 'on parents nobody has'],
  ['known in this slot', 'in a layer of its own choice'],
  ['without a proof', 'with a false proof'],
];

const names = Object.keys(faults) as Fault[];
const pairs = names.flatMap((first, at) =>
  names
    .slice(at + 1)
    .filter((second) => !apart.some(([one, other]) => one === first && other === second))
    .map((second) => [first, second] as const),
);

/** Puts an event with these faults to a graph that limits rates and judges a proof by its first byte. */
function putWith(of: readonly Fault[], judged: (id: string) => void = () => undefined): InsertOutcome {
  const has = (fault: Fault): boolean => of.includes(fault);
  const world = new GraphWorld(24, holdfastLimited);
  const place = {
    ...world.place,
    *gate(event: { readonly id: string }, blob: Uint8Array) {
      judged(event.id);
      // As a real gate it looks something up before it says so.
      yield* get('tickets', [event.id, '', 0, 0]);
      return blob[0] === 1 ? ([] as const) : ('bad-proof' as const);
    },
  };
  const parents = has('on parents nobody has') ? [genesis, 'ab'.repeat(32)] : [genesis];
  const layer = has('in a layer of its own choice') ? 7 : has('on parents nobody has') ? 2 : 1;
  const made = one(slot + (has('of a closed slot') ? -1_000 : 1_000), parents, layer, 'a');
  const live = { blob: good, now: slot + 20_000, synced: true, flooded: false, room: 1e9 };
  const run = (event: LiveEvent) => world.run(() => insertLive(place, event));
  if (has('known in this slot')) run({ event: made.bytes, ...live });
  const altered = encodeEvent({ header: made.event.header, content: new Uint8Array([9]) });
  return run({
    ...live,
    event: has('altered content') ? altered : made.bytes,
    blob: has('without a proof') ? noBlob : has('with a false proof') ? new Uint8Array([2]) : good,
    synced: !has('before the first sync'),
    flooded: has('over the allowance'),
    room: has('without room') ? 0 : 1e9,
  });
}

describe('the order in which a live event is looked at', () => {
  test('without a fault it is inserted', () => {
    expect(putWith([]).verdict).toBe('inserted');
  });

  test.each(names)('[EG-08] %s: what is said, whether it counts, whether it is a strike', (fault) => {
    expect(putWith([fault])).toMatchObject(faults[fault]);
  });

  test.each(pairs)('[EG-06] [EG-07] %s and %s: the first is said', (first, second) => {
    expect(putWith([first, second])).toEqual(putWith([first]));
  });

  test('(malformed_event_rejected_before_rln, empty_blob_rejected) a proof is judged last, and only of what may enter otherwise', () => {
    const looked = names.filter((fault) => {
      let count = 0;
      putWith([fault], () => {
        count += 1;
      });
      return count > (fault === 'known in this slot' ? 1 : 0);
    });
    expect(looked).toEqual(['with a false proof', 'without room']);
  });

  test('[EG-04] one that is known in a retained slot is known before it is too old, and after the allowance', () => {
    const world = new GraphWorld();
    const made = one(slot + 1_000, [genesis], 1, 'a');
    world.put(made.bytes);
    const later = { now: slot + 23 * holdfastLimited.rotationMs };
    expect(world.put(made.bytes, { ...later, flooded: true })).toEqual({ verdict: 'flood' });
    expect(world.put(made.bytes, later)).toEqual({ verdict: 'known', id: made.id, counted: true });
    const beside = one(slot + 1_000, [genesis], 1, 'beside');
    expect(world.put(beside.bytes, later)).toMatchObject({ reason: 'too-old' });
  });
});

describe('[EG-07] a slot that holds as many events as it may', () => {
  const full = { account: '00'.repeat(16), slot, tips: [{ id: genesis, layer: 0 }], bytes: 0 };

  test('is Busy to others, put or asked for', () => {
    const world = new GraphWorld();
    world.tables.write([put('slots', { ...full, events: limits.slotEventsMax - 1 })]);
    const [first, second] = [one(slot + 1_000, [genesis], 1, 'a'), one(slot + 1_000, [genesis], 1, 'b')];
    expect(world.put(first.bytes).verdict).toBe('inserted');
    expect(world.put(second.bytes)).toMatchObject({ reason: 'busy', strike: false });
    const events = [{ event: second.bytes, blob: noBlob }];
    const fetched = { slot, events, now: slot + 9_000, room: 1e9 };
    expect(world.run(() => insertFetched(world.place, fetched))).toMatchObject({ inserted: [], full: true });
    expect(world.put(first.bytes).verdict).toBe('known');
  });
});
