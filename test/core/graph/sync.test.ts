import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { insertFetched } from '../../../src/core/graph/fetched';
import { headersAfter } from '../../../src/core/graph/headers';
import { bodiesOf, lackingOf, tipsOf } from '../../../src/core/graph/serve';
import {
  beginFetch,
  beginSync,
  type SyncInput,
  type SyncResult,
  type SyncState,
  stepSync,
} from '../../../src/core/graph/sync';
import { limits } from '../../../src/core/limits';
import { rows } from '../../../src/core/transaction';
import { decodeEvent, encodeEvent, eventId, type Header } from '../../../src/core/wire/event';
import { genesisOf, holdfast } from '../../../src/core/wire/profile';
import { type Drawing, drawn } from '../../fixtures/draw-graph';
import { GraphWorld, type Made, make, noBlob, one, slot } from '../../fixtures/graph-world';

/** What a peer answers; by default the truth about its graph. */
type Peer = (output: SyncState['output']) => SyncInput | undefined;

function honest(world: GraphWorld, bytesMax = 1e6): Peer {
  return (output) => {
    switch (output.want) {
      case 'peer-tips':
        return { got: 'peer-tips', tips: world.ask(() => tipsOf(world.place, slot)) };
      case 'headers': {
        const ids = output.tips.map((tip) => tip.id);
        let outcome = world.ask(() => headersAfter(world.place, slot, ids));
        while (!outcome.done) {
          const { walk } = outcome;
          outcome = world.ask(() => headersAfter(world.place, slot, ids, walk));
        }
        return { got: 'headers', headers: outcome.headers };
      }
      case 'events': {
        const wanted = { ids: output.ids, eventsMax: 128, bytesMax };
        const bodies = world.ask(() => bodiesOf(world.place.account, wanted));
        return { got: 'events', events: bodies.map((body) => ({ ...body, id: idOf(body.event) })) };
      }
      default:
        return undefined;
    }
  };
}

function idOf(bytes: Uint8Array): string {
  return eventId(decodeEvent(bytes).header);
}

/** Runs a sync to its end; fails when it asks for more than any honest exchange needs. */
function settle(
  world: GraphWorld,
  begun: SyncState,
  peer: Peer,
  room = 1e9,
): { result: SyncResult; steps: number } {
  let state = begun;
  for (let steps = 0; steps < 2_000; steps++) {
    const { output } = state;
    if (output.want === 'nothing') return { result: output.result, steps };
    state = stepSync(state, peer(output) ?? own(world, output, room));
  }
  throw new Error('the sync does not end');
}

function own(world: GraphWorld, output: SyncState['output'], room: number): SyncInput {
  if (output.want === 'lacking') {
    return { got: 'lacking', ids: world.ask(() => lackingOf(world.place, slot, output.ids)) };
  }
  if (output.want === 'own-tips')
    return { got: 'own-tips', tips: world.ask(() => tipsOf(world.place, slot)) };
  if (output.want !== 'insert') throw new Error(`the peer did not answer ${output.want}`);
  const fetched = { slot, events: output.events, now: slot + 90_000, room };
  const { inserted, broken, invalid, full } = world.run(() => insertFetched(world.place, fetched));
  return { got: 'inserted', outcome: { inserted: inserted.length, broken, invalid, full } };
}

const begin = (batchEventsMax = 128): SyncState => beginSync(holdfast, slot, { batchEventsMax });

function idsOf(world: GraphWorld): string[] {
  return world.ask(() => rows('events', { prefix: [world.place.account] }, 4_000)).map((row) => row.id);
}

const zigzag = String.raw`
       c - d
      /     \
 a - b   g   e - f
  \     / \     /
   h - i   j - k`;

describe('a sync of one slot with one peer', () => {
  test('of an empty graph with an empty one is over at once', () => {
    const { result } = settle(new GraphWorld(), begin(), honest(new GraphWorld()));
    expect(result).toEqual({ end: 'complete', inserted: 0 });
  });

  test.each([1, 2, 128])('brings everything, in batches of %i', (batch) => {
    const [ours, theirs] = [new GraphWorld(), new GraphWorld()];
    theirs.putAll(make(zigzag));
    expect(settle(ours, begin(batch), honest(theirs)).result).toEqual({ end: 'complete', inserted: 11 });
    expect(idsOf(ours)).toEqual(idsOf(theirs));
  });

  test('goes on when bytes cut an answer short', () => {
    const [ours, theirs] = [new GraphWorld(), new GraphWorld()];
    theirs.putAll(make(zigzag));
    expect(settle(ours, begin(), honest(theirs, 500)).result).toEqual({ end: 'complete', inserted: 11 });
  });

  test('asks again with the new tips until nothing is new', () => {
    const [ours, theirs] = [new GraphWorld(), new GraphWorld()];
    theirs.putAll(make(zigzag));
    const truth = honest(theirs);
    let asked = 0;
    const { result } = settle(ours, begin(), (output) => {
      const answer = truth(output);
      if (answer?.got !== 'headers') return answer;
      asked += 1;
      return { got: 'headers', headers: answer.headers.slice(0, 3) };
    });
    expect(result).toEqual({ end: 'complete', inserted: 11 });
    expect(asked).toBe(4);
  });

  test('two at once, each told that others were asked meanwhile, take each body once and end complete', () => {
    const [ours, theirs] = [new GraphWorld(), new GraphWorld()];
    theirs.putAll(make(zigzag));
    const truth = honest(theirs);
    let [one, other] = [begin(2), begin(2)];
    let given = 0;
    const step = (state: SyncState): SyncState => {
      const { output } = state;
      if (output.want === 'nothing') return state;
      const answer = truth(output) ?? own(ours, output, 1e9);
      if (answer.got === 'events') given += answer.events.length;
      return stepSync(state, answer);
    };
    for (let steps = 0; steps < 200; steps++) {
      // The second waits with its question for bodies until the first has asked for all it wants.
      if (other.output.want !== 'events' || one.output.want === 'nothing') other = step(other);
      if (other.output.want === 'events') other = stepSync(other, { got: 'meanwhile' });
      one = step(one);
    }
    expect(one.output).toEqual({ want: 'nothing', result: { end: 'complete', inserted: 11 } });
    expect(other.output).toEqual({ want: 'nothing', result: { end: 'complete', inserted: 0 } });
    expect(given).toBe(11);
  });

  test('one that the answer of the peer does not lead to is asked for by its id, once', () => {
    const [ours, theirs] = [new GraphWorld(), new GraphWorld()];
    const made = make('a - b');
    theirs.putAll(made);
    const b = made.get('b')?.id ?? '';
    const asked: string[][] = [];
    const truth = honest(theirs);
    const silent =
      (gives: boolean): Peer =>
      (output) => {
        if (output.want === 'headers') return { got: 'headers', headers: [] };
        if (output.want !== 'events') return truth(output);
        asked.push([...output.ids]);
        return gives ? truth(output) : { got: 'events', events: [] };
      };
    expect(settle(ours, begin(), silent(false)).result).toEqual({ end: 'incomplete', inserted: 0 });
    ours.put(made.get('a')?.bytes ?? noBlob);
    expect(settle(ours, begin(), silent(true)).result).toEqual({ end: 'complete', inserted: 1 });
    expect(asked).toEqual([[b], [b]]);
  });

  test('both ways, any two parts of one graph become the same', () => {
    const graphs = fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 1, maxLength: 25 });
    fc.assert(
      fc.property(graphs, fc.nat(), fc.nat(), (picks, left, right) => {
        const drawing: Drawing = new Map(
          picks.map((pick, at) => [
            `e${at}`,
            at === 0 ? [] : [...new Set(pick.map((one) => `e${one % at}`))],
          ]),
        );
        const made = make(drawing);
        const worlds = [left, right].map((seed) => {
          const world = new GraphWorld();
          for (const [at, { bytes }] of [...made.values()].entries()) {
            if ((seed >> (at % 16)) % 2 === 1) world.put(bytes, { now: slot + 90_000 });
          }
          return world;
        });
        const [one, other] = worlds as [GraphWorld, GraphWorld];
        expect(settle(one, begin(3), honest(other)).result.end).toBe('complete');
        expect(settle(other, begin(3), honest(one)).result.end).toBe('complete');
        expect(idsOf(one)).toEqual(idsOf(other));
      }),
      { numRuns: 60 },
    );
  });

  test('fetches the parents of a live event from the peer that put it', () => {
    const [ours, theirs] = [new GraphWorld(), new GraphWorld()];
    const made = make('a - b - c - d');
    theirs.putAll(made);
    ours.put(made.get('a')?.bytes ?? noBlob);
    const d = made.get('d')?.bytes ?? noBlob;
    const put = ours.put(d);
    expect(put).toEqual({ verdict: 'missing', slot, parents: [made.get('c')?.id] });
    const goal = put.verdict === 'missing' ? put.parents : [];
    const fetch = beginFetch(holdfast, slot, { batchEventsMax: 128 }, goal);
    expect(settle(ours, fetch, honest(theirs)).result.end).toBe('complete');
    expect(ours.put(d).verdict).toBe('known');
  });
});

describe('[EG-06] [EG-07] what a live event stands on is given, and is broken', () => {
  const drawing = 'a - b - c - d';
  const made = make(drawing);
  const fetch = (peer: Peer): SyncResult => {
    const c = made.get('c')?.id ?? '';
    const begun = beginFetch(holdfast, slot, { batchEventsMax: 128 }, [c]);
    return settle(new GraphWorld(), begun, peer).result;
  };
  /** The truth about the drawing, but for one event: its parents, layer or time are others, under its own new id. */
  const lying = (
    name: string,
    twist: (header: Header) => Header,
  ): { readonly peer: Peer; readonly goal: string } => {
    const ids = new Map<string, string>();
    const events = [...made].map(([named, { event }]) => {
      const moved = event.header.parents.map((parent) => ids.get(parent) ?? parent);
      const honestHeader = { ...event.header, parents: moved };
      const header = named === name ? twist(honestHeader) : honestHeader;
      const id = eventId(header);
      ids.set(eventId(event.header), id);
      return { id, event: encodeEvent({ header, content: event.content }), blob: noBlob, header };
    });
    const peer: Peer = (output) => {
      if (output.want === 'headers') return { got: 'headers', headers: events.map((one) => one.header) };
      if (output.want === 'events')
        return { got: 'events', events: events.filter((one) => output.ids.includes(one.id)) };
      return undefined;
    };
    return { peer, goal: ids.get(made.get('c')?.id ?? '') ?? '' };
  };
  const fetchLie = (name: string, twist: (header: Header) => Header): SyncResult => {
    const { peer, goal } = lying(name, twist);
    const begun = beginFetch(holdfast, slot, { batchEventsMax: 128 }, [goal]);
    return settle(new GraphWorld(), begun, peer).result;
  };

  test.each<[string, (header: Header) => Header]>([
    ['a layer of its own choice', (header) => ({ ...header, layer: header.layer + 1n })],
    ['a time outside the slot', (header) => ({ ...header, timestamp: header.timestamp - 3_600_000n })],
    [
      'one parent twice',
      (header) => ({
        ...header,
        parents: [header.parents[0], header.parents[0], ...header.parents.slice(2)] as string[],
      }),
    ],
    ['no parent', (header) => ({ ...header, parents: Array(5).fill('0'.repeat(64)) })],
    [
      'the genesis of another slot',
      (header) => ({
        ...header,
        layer: 1n,
        parents: [genesisOf(holdfast, slot - holdfast.rotationMs).id, ...header.parents.slice(1)],
      }),
    ],
  ])('in an ancestor, %s: it was in vain', (_name, twist) => {
    expect(fetchLie('b', twist)).toMatchObject({ end: 'broken', inVain: true });
  });

  test('beside what it stands on: nothing is proven against it', () => {
    const { peer } = lying('d', (header) => ({ ...header, layer: header.layer + 1n }));
    expect(fetch(peer)).toMatchObject({ end: 'broken', inVain: false });
  });

  test('[EG-08] (HX-11) without end: a bounded number of ancestors is taken, and the next fetch goes on from there', () => {
    const most = limits.parentFetchEventsMax;
    const theirs = new GraphWorld();
    const chain: Made[] = [];
    for (let at = 0; at < most + 300; at++) {
      const parent = chain.at(-1)?.id ?? genesisOf(holdfast, slot).id;
      chain.push(one(slot + at, [parent], at + 1, 'x'));
    }
    for (let from = 0; from < chain.length; from += 600) {
      const events = chain.slice(from, from + 600).map(({ bytes }) => ({ event: bytes, blob: noBlob }));
      theirs.run(() => insertFetched(theirs.place, { slot, events, now: slot + 90_000, room: 1e9 }));
    }
    const ours = new GraphWorld();
    const goal = [chain.at(-1)?.id ?? ''];
    const truth = honest(theirs);
    const again = () => settle(ours, beginFetch(holdfast, slot, { batchEventsMax: 128 }, goal), truth).result;
    const first = again();
    expect(first.end).toBe('incomplete');
    expect(first.inserted).toBeGreaterThanOrEqual(most);
    expect(first.inserted).toBeLessThan(most + 128);
    expect(again()).toEqual({ end: 'complete', inserted: chain.length - first.inserted });
  });

  test('an altered body: another peer may have the right one', () => {
    const theirs = new GraphWorld();
    theirs.putAll(made);
    const truth = honest(theirs);
    const result = fetch((output) => {
      const answer = truth(output);
      if (answer?.got !== 'events') return answer;
      return { got: 'events', events: answer.events.map((one) => ({ ...one, event: altered(one.event) })) };
    });
    expect(result).toMatchObject({ end: 'broken', breach: 'content-hash', inVain: false });
  });
});

describe('a peer that does not keep its word', () => {
  const truthOf = (drawing: string): { readonly peer: Peer; readonly made: ReturnType<typeof make> } => {
    const theirs = new GraphWorld();
    const made = make(drawn(drawing));
    theirs.putAll(made);
    return { peer: honest(theirs), made };
  };

  test.each<[string, (answer: SyncInput) => SyncInput, string]>([
    [
      'names tips and no headers',
      (answer) => (answer.got === 'headers' ? { ...answer, headers: [] } : answer),
      'incomplete',
    ],
    [
      'gives children and never their parents',
      (answer) => (answer.got === 'headers' ? { ...answer, headers: answer.headers.slice(1) } : answer),
      'incomplete',
    ],
    [
      'gives no events',
      (answer) => (answer.got === 'events' ? { ...answer, events: [] } : answer),
      'incomplete',
    ],
    [
      'gives altered events',
      (answer) =>
        answer.got === 'events'
          ? { ...answer, events: answer.events.map((one) => ({ ...one, event: altered(one.event) })) }
          : answer,
      'broken',
    ],
    [
      'gives headers of another time',
      (answer) =>
        answer.got === 'headers'
          ? { ...answer, headers: answer.headers.map((header) => ({ ...header, timestamp: 1n })) }
          : answer,
      'broken',
    ],
    [
      'gives headers without parents',
      (answer) =>
        answer.got === 'headers'
          ? {
              ...answer,
              headers: answer.headers.map((header) => ({
                ...header,
                parents: Array(5).fill('0'.repeat(64)),
              })),
            }
          : answer,
      'broken',
    ],
    [
      'names a tip it does not have',
      (answer) =>
        answer.got === 'peer-tips' ? { ...answer, tips: [{ id: 'ff'.repeat(32), layer: 9 }] } : answer,
      'incomplete',
    ],
  ])('%s: the sync ends and says so', (_name, twist, end) => {
    const { peer } = truthOf('a - b - c');
    const twisted: Peer = (output) => {
      const answer = peer(output);
      return answer && twist(answer);
    };
    const { result, steps } = settle(new GraphWorld(), begin(), twisted);
    expect(result.end).toBe(end);
    expect(steps).toBeLessThan(20);
  });

  test('no room ends it too', () => {
    const { peer } = truthOf('a - b - c');
    expect(settle(new GraphWorld(), begin(), peer, 300).result).toEqual({ end: 'full', inserted: 1 });
  });

  test('an answer to another question is a fault of ours', () => {
    expect(() => stepSync(begin(), { got: 'lacking', ids: [] })).toThrow('wanted peer-tips got lacking');
  });
});

function altered(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const event = decodeEvent(bytes);
  return encodeEvent({ header: event.header, content: new Uint8Array([1]) });
}
