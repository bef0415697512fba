import { describe, expect, test } from 'vitest';
import { utf8Bytes } from '../../src/core/wire/codec';
import { commands } from '../../src/core/wire/commands';
import { encodeEvent } from '../../src/core/wire/event';
import { encodeFrame } from '../../src/core/wire/frame';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { type Made, make, noBlob, one, slot } from '../fixtures/graph-world';
import { memoryGraph } from '../fixtures/peer';
import { runRelay } from '../fixtures/running-relay';

const has = (inserted: boolean) => ({ type: 'has', inserted });
const nack = (reason: string) => ({ type: 'nack', reason });
const genesis = genesisOf(holdfast, slot).id;
const at = (ms: number) => (): number => slot + ms;

function event(name: string, drawing = 'a - b - c'): Made {
  const found = make(drawing).get(name);
  if (found === undefined) throw new Error(`${name} is not drawn`);
  return found;
}

describe('what a relay answers to an event', () => {
  test('[EG-01] a fresh one: Has, inserted', async () => {
    const relay = await runRelay({ now: at(20_000) });
    const peer = await relay.peer();
    expect(await peer.put(event('a'))).toEqual(has(true));
  });

  test('[EG-02] one of the current slot that it holds: Has, not inserted', async () => {
    const relay = await runRelay({ now: at(20_000) });
    const peer = await relay.peer();
    await peer.put(event('a'));
    expect(await peer.put(event('a'))).toEqual(has(false));
  });

  test('[EG-03] one of a closed slot that it does not hold: too old', async () => {
    const relay = await runRelay({ now: at(holdfast.rotationMs + 5) });
    const peer = await relay.peer();
    expect(await peer.put(event('a'))).toEqual(nack('too-old'));
  });

  test('[EG-04] one of a closed slot that it holds: Has, not inserted', async () => {
    let now = slot + 20_000;
    const relay = await runRelay({ now: () => now });
    const peer = await relay.peer();
    await peer.put(event('a'));
    now = slot + 5 * holdfast.rotationMs;
    // The clock jumped: the session is over, and a new one asks.
    const later = await relay.peer();
    expect(await later.put(event('a'))).toEqual(has(false));
  });

  test('[EG-05] before its first sync everything is NotSynced, and after it no longer', async () => {
    const relay = await runRelay({ now: at(20_000), sections: '' });
    const silent = await relay.peer();
    expect(await silent.put(event('a'))).toEqual(nack('not-synced'));
    silent.close();
    await silent.ended;
    const graph = memoryGraph(at(20_000));
    await graph.put(event('a').bytes, noBlob, false);
    const full = await relay.peer({ graph });
    await full.next('events-asked');
    let answer = await full.put(event('a'));
    while (answer.type === 'nack' && answer.reason === 'not-synced') answer = await full.put(event('a'));
    expect(answer).toEqual(has(false));
    expect(await full.put(event('b'))).toEqual(has(true));
  });

  test('[EG-06] a broken one: Invalid', async () => {
    const relay = await runRelay({ now: at(20_000) });
    const peer = await relay.peer();
    const { event: good } = event('a');
    const altered = encodeEvent({ header: good.header, content: utf8Bytes('altered') });
    expect(await peer.put({ id: event('a').id, bytes: altered })).toEqual(nack('invalid'));
    expect(await peer.put(one(slot + 1_000, [], 1, 'no parent'))).toEqual(nack('invalid'));
    expect(await peer.put(one(slot + 1_000, [genesis], 2, 'layer'))).toEqual(nack('invalid'));
    expect(await peer.put(event('a'))).toEqual(has(true));
  });

  test('[EG-07] one whose parents cannot be had, and one without room: Busy', async () => {
    const relay = await runRelay({ now: at(20_000), relay: 'store_bytes_max = 300' });
    const peer = await relay.peer({ graph: memoryGraph(at(20_000)) });
    expect(await peer.put(event('b'))).toEqual(nack('busy'));
    expect(await peer.put(event('a'))).toEqual(has(true));
    expect(await peer.put(event('b'))).toEqual(nack('busy'));
  });

  test('one whose parents the peer has: they are fetched, and it is inserted', async () => {
    const relay = await runRelay({ now: at(20_000) });
    const graph = memoryGraph(at(20_000));
    for (const name of 'abc') await graph.put(event(name).bytes, noBlob, false);
    const peer = await relay.peer({ graph });
    expect(await peer.put(event('c'))).toEqual(has(true));
    expect(await peer.put(event('a'))).toEqual(has(false));
  });

  test('[EG-09] own and relayed events are answered alike, and reach everyone but their source', async () => {
    const relay = await runRelay({ now: at(20_000) });
    const [left, right] = [await relay.peer(), await relay.peer()];
    expect(await left.put(event('a'))).toEqual(has(true));
    const relayed = await right.next('put');
    expect(relayed).toMatchObject({ id: event('a').id, event: event('a').bytes });
    expect(await right.put({ id: relayed.id, bytes: relayed.event })).toEqual(has(false));
    expect(await left.put(event('a'))).toEqual(has(false));
    await left.settle();
    await right.settle();
    expect([left.of('put').length, right.of('put').length]).toEqual([0, 1]);
  });

  test('[EG-11] a status it cannot read is dropped, and the channel goes on', async () => {
    const relay = await runRelay({ now: at(20_000) });
    const peer = await relay.peer();
    const bodies = [new Uint8Array(0), new Uint8Array(33), new Uint8Array(34).fill(9), new Uint8Array(5_000)];
    for (const body of bodies) peer.send(statusFrame(body));
    expect(await peer.put(event('a'))).toEqual(has(true));
    // More than the strikes and unknown commands that would end a session.
    for (let count = 0; count < 40; count++) peer.send(statusFrame(new Uint8Array([count])));
    expect(await peer.put(event('b'))).toEqual(has(true));
  });

  test('a peer that does not know statuses gets none', async () => {
    const relay = await runRelay({ now: at(20_000) });
    const [old, other] = [await relay.peer({ features: [] }), await relay.peer()];
    old.say({ say: 'put', event: event('a').bytes, blob: noBlob });
    await other.next('put');
    await old.settle();
    expect(old.of('status')).toEqual([]);
  });
});

describe('policing', () => {
  test('five broken events end the session', async () => {
    const relay = await runRelay({ now: at(20_000) });
    const peer = await relay.peer();
    for (let count = 0; count < 5; count++) {
      peer.say({ say: 'put', event: one(slot + 1_000, [], 1, `${count}`).bytes, blob: noBlob });
    }
    expect((await peer.ended).code).toBe(4000);
    expect(peer.of('status')).toHaveLength(5);
  });

  test('more new events than a minute admits end it without an answer; known ones never count', async () => {
    const relay = await runRelay({
      now: at(20_000),
      sections: '[peers]\nbootstrap = true\n[limits]\nevents_per_minute = 3',
    });
    const peer = await relay.peer();
    for (let round = 0; round < 4; round++) await peer.put(event('a'));
    expect(await peer.put(event('b'))).toEqual(has(true));
    expect(await peer.put(event('c'))).toEqual(has(true));
    expect(await peer.put(event('a'))).toEqual(has(false));
    peer.say({ say: 'put', event: one(slot + 1_000, [genesis], 1, 'more').bytes, blob: noBlob });
    expect((await peer.ended).code).toBe(4004);
    const fresh = await relay.peer();
    expect(await fresh.put(event('c'))).toEqual(has(false));
  });
});

describe('a burst', () => {
  test('of events that stand on each other is answered in order, all inserted', async () => {
    const relay = await runRelay({ now: at(500_000) });
    const [left, right] = [await relay.peer(), await relay.peer()];
    const chain: Made[] = [];
    for (let count = 0; count < 150; count++) {
      chain.push(one(slot + 1_000 + count, [chain.at(-1)?.id ?? genesis], count + 1, `${count}`));
    }
    for (const { bytes } of chain) left.say({ say: 'put', event: bytes, blob: noBlob });
    await left.next('status', (status) => status.id === chain.at(-1)?.id);
    expect(left.of('status').map((status) => status.id)).toEqual(chain.map((one) => one.id));
    expect(new Set(left.of('status').map((status) => JSON.stringify(status.result)))).toEqual(
      new Set([JSON.stringify(has(true))]),
    );
    await right.next('put', (put) => put.id === chain.at(-1)?.id);
    expect(right.of('put').map((put) => put.id)).toEqual(chain.map((one) => one.id));
  });
});

/** By hand: our own encoder refuses a status that is too long. */
function statusFrame(payload: Uint8Array): Uint8Array {
  const frame = encodeFrame(holdfast.magic, 'EventGraph::EventPutStatuS', new Uint8Array(payload));
  frame.set(utf8Bytes(commands.eventPutStatus), 5);
  return frame;
}
