import { describe, expect, test, vi } from 'vitest';
import { type Bytes, type EventId, toHex } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { decodeAll, utf8Bytes } from '../../src/core/wire/codec';
import { commands } from '../../src/core/wire/commands';
import {
  type Event,
  encodeEvent,
  eventId,
  type Header,
  makeEvent,
  parentsOf,
  readHeader,
} from '../../src/core/wire/event';
import { encodeEventPutOf } from '../../src/core/wire/event-put';
import { encodeFrame } from '../../src/core/wire/frame';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { encodeEventRep, encodeHeaderRep } from '../../src/core/wire/sync';
import type { RelayGraph } from '../../src/relay/relay-graph';
import { type Made, make, noBlob, one, slot } from '../fixtures/graph-world';
import { memoryGraph, type TestPeer } from '../fixtures/peer';
import { RawPeer } from '../fixtures/raw-peer';
import { runRelay, type TestRelay } from '../fixtures/running-relay';

const now = (): number => slot + 20_000;
const has = (inserted: boolean) => ({ type: 'has', inserted });
const nack = (reason: string) => ({ type: 'nack', reason });
const genesis = genesisOf(holdfast, slot).id;
const u64Max = (1n << 64n) - 1n;
const yearMs = 365 * 24 * 3_600_000;

/** An event of any numbers, also of those no honest peer has. */
function odd(timestamp: bigint, parents: readonly EventId[], layer: bigint, text: string): Odd {
  return oddOf(makeEvent(timestamp, parents, layer, utf8Bytes(text)));
}

interface Odd {
  readonly id: EventId;
  readonly bytes: Bytes;
  readonly event: Event;
}

function oddOf(event: Event): Odd {
  return { id: eventId(event.header), bytes: encodeEvent(event), event };
}

/** Others are served as if nothing had been. */
async function stillServes(relay: TestRelay, text = 'another'): Promise<void> {
  const peer = await relay.peer();
  expect(await peer.put(one(slot + 1_000, [genesis], 1, text))).toEqual(has(true));
}

const good = one(slot + 1_000, [genesis], 1, 'good');

describe('events that no honest peer makes', () => {
  const second = BigInt(slot + 1_000);
  test.each<[string, Odd, object, 'strike' | 'no strike']>([
    ['the same parent twice', odd(second, [genesis, genesis], 1n, 'a'), nack('invalid'), 'strike'],
    ['no parent', odd(second, [], 1n, 'a'), nack('invalid'), 'strike'],
    ['a layer of its own choice', odd(second, [genesis], 2n, 'a'), nack('invalid'), 'strike'],
    ['layer 0', odd(second, [genesis], 0n, 'a'), nack('invalid'), 'strike'],
    [
      'the highest layer a number holds',
      odd(second, [genesis], 2n ** 53n - 1n, 'a'),
      nack('invalid'),
      'strike',
    ],
    ['the highest layer there is', odd(second, [genesis], u64Max, 'a'), nack('invalid'), 'strike'],
    ['a time in 20 years', odd(BigInt(now() + 20 * yearMs), [genesis], 1n, 'a'), nack('invalid'), 'strike'],
    ['a time beyond any date', odd(8_640_000_000_000_001n, [genesis], 1n, 'a'), nack('invalid'), 'strike'],
    ['the highest time there is', odd(u64Max, [genesis], 1n, 'a'), nack('invalid'), 'strike'],
    [
      'a time a little too far ahead',
      odd(BigInt(now() + 60_001), [genesis], 1n, 'a'),
      nack('invalid'),
      'strike',
    ],
    [
      'a time as far ahead as may be',
      odd(BigInt(now() + 60_000), [genesis], 1n, 'a'),
      has(true),
      'no strike',
    ],
    ['time 0', odd(0n, [genesis], 1n, 'a'), nack('too-old'), 'no strike'],
    ['no content', oddOf(makeEvent(second, [genesis], 1n, new Uint8Array(0))), nack('invalid'), 'strike'],
    [
      'an altered body',
      oddOf({ header: good.event.header, content: utf8Bytes('altered') }),
      nack('invalid'),
      'strike',
    ],
  ])('[EG-08] (HX-11) %s', async (_name, event, answer, struck) => {
    const relay = await runRelay({ now });
    const peer = await RawPeer.connect(relay.url, now);
    expect(await peer.put(event)).toEqual(answer);
    for (let nth = 1; nth < limits.strikesMax - 1; nth++) {
      expect(await peer.put(odd(second, [], 1n, `${nth}`))).toEqual(nack('invalid'));
    }
    // One short of the strikes that end a session, if the first was none.
    expect(await peer.put(odd(second, [], 1n, 'last but one'))).toEqual(nack('invalid'));
    expect(await peer.put(good)).toEqual(struck === 'strike' ? 'closed' : has(true));
    await stillServes(relay);
  });

  test('(HX-11) its own id as a parent: nobody can make one, and what is made to look so has a parent nobody has', async () => {
    const relay = await runRelay({ now });
    const first = one(slot + 1_000, ['ab'.repeat(32)], 2, 'self');
    const claimed = one(slot + 1_000, [first.id], 2, 'self');
    expect(claimed.id).not.toBe(first.id);
    const peer = await relay.peer({ graph: scripted([claimed]) });
    expect(await peer.put(claimed)).toEqual(nack('busy'));
    expect(questionsOf(peer)).toBeLessThanOrEqual(questionsMax);
    await stillServes(relay);
  });
});

/** Fetches of one put, and questions of a fetch that brings nothing. */
const questionsMax = 4 * 3;

function questionsOf(peer: TestPeer): number {
  return peer.of('headers-asked').length + peer.of('events-asked').length;
}

/** A graph that answers every question with all of these, whatever was asked. */
function scripted(events: readonly (Odd | Made)[], headers?: readonly Header[]): RelayGraph {
  const graph = memoryGraph(now);
  graph.headers = async () => headers ?? events.map(({ event }) => event.header);
  graph.bodies = async (ids) =>
    events.filter(({ id }) => ids.includes(id)).map(({ bytes }) => ({ event: bytes, blob: noBlob }));
  return graph;
}

describe('parents that lead nowhere', () => {
  test('(HX-11) A on B on A: each fetch ends, Busy is said, and others are served', async () => {
    const relay = await runRelay({ now });
    const phantom = 'cd'.repeat(32);
    const a = one(slot + 2_000, [phantom], 2, 'a');
    const b = one(slot + 3_000, [a.id], 3, 'b');
    const aOnB = one(slot + 4_000, [b.id], 4, 'a again');
    const peer = await relay.peer({ graph: scripted([a, b, aOnB]) });
    for (const event of [aOnB, b, a]) expect(await peer.put(event)).toEqual(nack('busy'));
    expect(questionsOf(peer)).toBeLessThanOrEqual(3 * questionsMax);
    await stillServes(relay);
  });

  test.each<[string, (on: EventId) => Odd]>([
    ['the highest layer', (on) => odd(BigInt(slot + 1_000), [on], u64Max, 'p')],
    ['a time beyond any date', (on) => odd(8_640_000_000_000_001n, [on], 1n, 'p')],
    ['a time of another slot', (on) => odd(BigInt(slot - 3_600_000), [on], 1n, 'p')],
    ['the same parent twice', (on) => odd(BigInt(slot + 1_000), [on, on], 1n, 'p')],
    ['no content', (on) => oddOf(makeEvent(BigInt(slot + 1_000), [on], 1n, new Uint8Array(0)))],
  ])(
    '(HX-11) a parent of %s is not taken in, nor what stands on it, and the peer is asked no further',
    async (_name, makeParent) => {
      const relay = await runRelay({ now });
      const parent = makeParent(genesis);
      const child = one(slot + 2_000, [parent.id], 2, 'child');
      const peer = await relay.peer({ graph: scripted([parent]) });
      expect((await peer.put(child)).type).toBe('nack');
      expect(questionsOf(peer)).toBeLessThanOrEqual(questionsMax);
      const asking = await relay.peer();
      expect(await asking.ask({ ask: 'tips', slot })).toMatchObject({ tips: [{ id: genesis, layer: 0 }] });
      await stillServes(relay);
    },
  );

  test('a body of another id is no answer; the right one, when it comes, is', async () => {
    const relay = await runRelay({ now });
    const made = make('a - b');
    const [a, b] = [made.get('a'), made.get('b')] as [Made, Made];
    const peer = await RawPeer.connect(relay.url, now);
    peer.say(b);
    await peer.until(() => peer.events.some(({ type }) => type === 'headers-asked'));
    peer.send(encodeFrame(holdfast.magic, commands.headerRep, encodeHeaderRep([a.event.header])));
    await peer.until(() => peer.events.some(({ type }) => type === 'events-asked'));
    const wrong = odd(BigInt(slot + 1_000), [genesis], 1n, 'not asked for');
    for (const event of [wrong.event, a.event]) {
      const body = encodeEventRep({ events: [event], blobs: [noBlob] });
      peer.send(encodeFrame(holdfast.magic, commands.eventRep, body));
    }
    await peer.until(() => peer.statuses(b.id).length > 0);
    expect(peer.statuses(b.id)).toEqual([has(true)]);
    const asking = await relay.peer();
    expect(await asking.ask({ ask: 'events', ids: [wrong.id] })).toMatchObject({ events: [] });
  });

  test('[EG-08] (HX-11) more than 10,001 invented ancestors: a minute takes 10,000 from one peer, give or take a batch; then it is Busy, without a strike', async () => {
    let time = slot + 1_000_000;
    const relay = await runRelay({ now: () => time });
    const chain: Made[] = [];
    const content = utf8Bytes('x');
    const count = limits.parentFetchEventsMax + 2 * limits.eventReplyEventsMax;
    for (let layer = 1; layer <= count; layer++) {
      const event = makeEvent(BigInt(slot + layer), [chain.at(-1)?.id ?? genesis], BigInt(layer), content);
      chain.push({ ...oddOf(event), layer });
    }
    const [top] = chain.slice(-1) as [Made];
    const peer = await relay.peer({ graph: chainGraph(chain) });
    const next = one(slot + 900_000, [top.id], top.layer + 1, 'on all of them');
    expect(await peer.put(next)).toEqual(nack('busy'));
    const again = questionsOf(peer);
    expect(await peer.put(next)).toEqual(nack('busy'));
    expect(questionsOf(peer)).toBe(again);
    await stillServes(relay);
    time += limits.floodWindowMs;
    expect(await peer.put(next)).toEqual(has(true));
  });

  test('one event that stands on thousands makes no relay say more to a member than the member bears', async () => {
    const relay = await runRelay({ now });
    const reader = await relay.peer({ graph: memoryGraph(now) });
    const { peer, top } = await standingOn(relay, 6_000);
    expect(await peer.put(top)).toEqual(has(true));
    await vi.waitFor(async () => {
      await reader.settle();
      expect(reader.of('put').map((put) => put.id)).toContain(top.id);
    }, 20_000);
    // What a member may put itself, and the tips that bring the rest.
    expect(reader.of('put').length).toBeLessThanOrEqual(limits.floodEventsMax + 4);
  });

  test('what of that is not handed on, a member is made to ask for, though the event itself never enters', async () => {
    const relay = await runRelay({ now });
    const reader = await relay.peer({ graph: memoryGraph(now) });
    const { peer, top, graph } = await standingOn(relay, 2 * limits.floodEventsMax);
    const [last = ''] = parentsOf(top.event.header);
    const truth = graph.bodies.bind(graph);
    graph.bodies = (ids, eventsMax, bytesMax) =>
      truth(
        ids.filter((id) => id !== last),
        eventsMax,
        bytesMax,
      );
    expect(await peer.put(top)).toEqual(nack('busy'));
    // The relay has the chain up to the one it was not given: the highest is put, and the rest stands below it.
    const highest = 2 * limits.floodEventsMax - 1;
    await reader.next(
      'put',
      (put) => Number(decodeAll(put.event.subarray(0, 208), readHeader).layer) === highest,
    );
  });
});

/** A peer that has a chain of so many events, and one on top of them to put. */
async function standingOn(
  relay: TestRelay,
  count: number,
): Promise<{ readonly peer: TestPeer; readonly top: Made; readonly graph: RelayGraph }> {
  const chain: Made[] = [];
  for (let layer = 1; layer <= count + 1; layer++) {
    chain.push(one(slot + layer, [chain.at(-1)?.id ?? genesis], layer, 'x'));
  }
  const graph = chainGraph(chain);
  return { peer: await relay.peer({ graph }), top: chain[count] as Made, graph };
}

/** Gives headers of a chain as a relay does: those above the tips that are named, 4,096 at once. */
function chainGraph(chain: readonly Made[]): RelayGraph {
  const graph = memoryGraph(now);
  const places = new Map(chain.map(({ id }, at) => [id, at]));
  graph.headers = async (_slot, tips) => {
    const above = Math.max(-1, ...tips.map((id) => places.get(id) ?? -1)) + 1;
    return chain.slice(above, above + limits.headerReplyHeadersMax).map(({ event }) => event.header);
  };
  graph.bodies = async (ids) =>
    ids.flatMap((id) => {
      const made = chain[places.get(id) ?? -1];
      return made === undefined ? [] : [{ event: made.bytes, blob: noBlob }];
    });
  return graph;
}

describe('an event that is no event', () => {
  test.each<[string, Bytes]>([
    ['cut in its header', good.bytes.slice(0, 100)],
    ['cut in its content', good.bytes.slice(0, -1)],
    ['of a length beyond what is there', withLength(new Uint8Array([0xfe, 0xff, 0xff, 0xff, 0x7f]))],
    ['of a length that is not minimal', withLength(new Uint8Array([0xfd, 4, 0]))],
  ])('%s ends the session by name', async (_name, bytes) => {
    const relay = await runRelay({ now });
    const peer = await RawPeer.connect(relay.url, now);
    peer.send(encodeFrame(holdfast.magic, commands.eventPut, encodeEventPutOf(bytes, noBlob)));
    expect(await peer.closed).toEqual({ code: 4000, reason: 'bad frame' });
    await stillServes(relay);
  });

  test('with a proof nobody asked for, or one too long: the first counts for nothing, the second ends the session', async () => {
    const relay = await runRelay({ now });
    const peer = await RawPeer.connect(relay.url, now);
    const put = (blob: Bytes): void => {
      const payload = new Uint8Array([...good.bytes, 0xfd, blob.length & 255, blob.length >> 8, ...blob]);
      peer.send(encodeFrame(holdfast.magic, commands.eventPut, payload));
    };
    put(new Uint8Array(limits.blobBytesMax));
    await peer.until(() => peer.statuses(good.id).length > 0);
    expect(peer.statuses(good.id)).toEqual([has(true)]);
    const asking = await relay.peer();
    const answer = await asking.ask({ ask: 'events', ids: [good.id] });
    expect(answer?.type === 'events' && answer.events.map(({ blob }) => toHex(blob))).toEqual(['']);
    put(new Uint8Array(limits.blobBytesMax + 1));
    expect((await peer.closed).code).toBe(4000);
  });
});

/** The good event with another length before its content. */
function withLength(length: Bytes): Bytes {
  return new Uint8Array([...good.bytes.slice(0, 208), ...length, ...good.bytes.slice(209)]);
}
