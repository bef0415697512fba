import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { limits } from '../../src/core/limits';
import { encodeEvent, eventId, nullId } from '../../src/core/wire/event';
import { encodeFrame } from '../../src/core/wire/frame';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { dagOf, encodeEventReq, encodeHeaderReq, encodeTipReq } from '../../src/core/wire/sync';
import { type Made, one, slot } from '../fixtures/graph-world';
import { heldBytes } from '../fixtures/memory';
import { RawPeer } from '../fixtures/raw-peer';
import { runRelay } from '../fixtures/running-relay';

const now = (): number => slot + 500_000;
const megabyte = 1_000_000;

/** Events under way at once, so that they share commits. */
const atOnce = 16;

/** The same content for all: its hash takes longest to make. */
const { event: large } = one(slot, [], 1, 'x'.repeat(limits.contentBytesMax));

/** An event of a chain; each is made when it is sent, for a test must not hold what a relay may not. */
function link(layer: number, parent: string): Pick<Made, 'id' | 'bytes'> {
  const { header, content } = large;
  const own = {
    ...header,
    timestamp: BigInt(slot + layer),
    layer: BigInt(layer),
    parents: [parent, ...unused],
  };
  return { id: eventId(own), bytes: encodeEvent({ header: own, content }) };
}

const unused = Array<string>(4).fill(nullId);

describe('a peer that stops reading (HX-09)', () => {
  test('while 200 MB are published: memory is bounded, others get all, it is ended by name, and comes back by sync', async () => {
    // It hears why it is ended, however long this takes: no timer cuts its socket before.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const sections =
      '[peers]\nbootstrap = true\n[limits]\nevents_per_minute = 5000\nbytes_per_minute = 900000000';
    const relay = await runRelay({ now, sections });
    const [victim, other, publisher] = [
      await RawPeer.connect(relay.url, now),
      await RawPeer.connect(relay.url, now),
      await RawPeer.connect(relay.url, now),
    ];
    let heard = 0;
    // What it does with them is not looked at here, and decoding 200 MB takes seconds.
    other.onLarge = () => {
      heard += 1;
    };
    victim.socket.pause();
    const count = Math.ceil((200 * megabyte) / limits.contentBytesMax);
    const before = heldBytes();
    let highest = 0;
    let parent = genesisOf(holdfast, slot).id;
    for (let layer = 1; layer <= count; layer++) {
      const event = link(layer, parent);
      publisher.say(event);
      parent = event.id;
      if (layer % atOnce === 0 || layer === count) {
        await publisher.until(() => publisher.isClosed || publisher.statuses(event.id).length > 0);
      }
      if (layer % 128 === 0) highest = Math.max(highest, heldBytes() - before);
    }
    await other.until(() => heard === count);
    expect(highest).toBeLessThan(limits.outboundBufferBytesMax + 40 * megabyte);
    victim.socket.resume();
    expect(await victim.closed).toEqual({ code: 4005, reason: 'too slow' });
    expect([other.isClosed, publisher.isClosed]).toEqual([false, false]);
    const back = await relay.peer();
    const headers = await back.ask({ ask: 'headers', slot, tips: [] });
    expect(headers?.type === 'headers' && headers.headers.length).toBe(count + 1);
    const last = await back.ask({ ask: 'events', ids: [parent] });
    expect(last?.type === 'events' && last.events.map(({ id }) => id)).toEqual([parent]);
  });
});

describe('a peer that asks without end (HX-07)', () => {
  test('10,000 requests, not read, then gone: nothing is made that is not read, others are served, and the memory comes back', async () => {
    const relay = await runRelay({ now });
    const giver = await RawPeer.connect(relay.url, now);
    let parent = genesisOf(holdfast, slot).id;
    for (let layer = 1; layer <= 20; layer++) {
      const event = link(layer, parent);
      expect(await giver.put(event)).toEqual({ type: 'has', inserted: true });
      parent = event.id;
    }
    const before = heldBytes();
    const asker = await RawPeer.connect(relay.url, now);
    asker.socket.pause();
    const dag = dagOf(slot);
    const questions = [
      encodeFrame(holdfast.magic, 'EventGraph::TipReq', encodeTipReq(dag)),
      encodeFrame(holdfast.magic, 'EventGraph::HeaderReq', encodeHeaderReq({ dag, tips: [] })),
      encodeFrame(holdfast.magic, 'EventGraph::EventReq', encodeEventReq([parent])),
    ];
    for (let nth = 0; nth < 10_000; nth++) asker.send(questions[nth % 3] ?? '');
    const fresh = await RawPeer.connect(relay.url, now);
    expect(await fresh.put(link(21, parent))).toEqual({ type: 'has', inserted: true });
    expect(asker.isClosed).toBe(false);
    // What is let go of is not counted off at once.
    await vi.waitFor(() => expect(heldBytes() - before).toBeLessThan(10 * megabyte), 10_000);
    asker.socket.terminate();
    await vi.waitFor(() => expect(relay.log.join('')).toContain('"why":"left"'), 10_000);
    await vi.waitFor(() => expect(heldBytes() - before).toBeLessThan(5 * megabyte), 10_000);
  });
});
