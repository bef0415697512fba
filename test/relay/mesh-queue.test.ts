import { describe, expect, test } from 'vitest';
import type { Bytes } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { Allowance } from '../../src/core/link/allowance';
import { MemberPace } from '../../src/relay/pace';
import { RelayQueue } from '../../src/relay/relay-queue';
import { HandTiming } from '../fixtures/hand-timing';

const bytesMax = 100_000;
const kilobyte = (nth: number): Bytes => new Uint8Array(1_000).fill(nth);

/** A queue over a socket that takes what it is given and writes it when the test says so. */
function queue() {
  const seen = { sent: [] as Bytes[], waiting: 0, dropped: 0, stalled: 0, repairs: 0 };
  const time = { now: 0 };
  const timing = new HandTiming();
  const sink = {
    get waitingBytes() {
      return seen.waiting;
    },
    send: (frame: Bytes) => {
      seen.sent.push(frame);
      seen.waiting += frame.length;
    },
    onDropped: () => {
      seen.dropped += 1;
    },
    onStalled: () => {
      seen.stalled += 1;
    },
    repair: async () => {
      seen.repairs += 1;
    },
  };
  const made = new RelayQueue(sink, bytesMax, () => time.now, timing);
  const write = (): void => {
    seen.waiting = 0;
    made.resume();
  };
  return { queue: made, seen, time, timing, write };
}

/** Frames of a kilobyte that lie in the socket, and that wait beside it. */
const inSocket = Math.floor(limits.relaySocketBytesMax / 1_000);
const inQueue = bytesMax / 1_000;

describe('the queue of what is handed on', () => {
  test('keeps the order, through socket and queue', () => {
    const { queue: made, seen, write } = queue();
    for (let nth = 0; nth < inSocket + 20; nth++) made.push(kilobyte(nth));
    expect(seen.sent).toHaveLength(inSocket);
    write();
    expect(seen.sent.map((frame) => frame[0])).toEqual(
      Array.from({ length: inSocket + 20 }, (_, nth) => nth),
    );
    expect([seen.dropped, seen.repairs]).toEqual([0, 0]);
  });

  test('repairs once it is empty, however much was dropped, and not before', async () => {
    const { queue: made, seen, write } = queue();
    for (let nth = 0; nth < inSocket + inQueue + 50; nth++) made.push(kilobyte(nth));
    expect([seen.dropped, seen.stalled, seen.repairs]).toEqual([50, 0, 0]);
    write();
    expect(seen.repairs).toBe(0);
    write();
    await made.drained();
    expect([seen.repairs, seen.sent.length]).toEqual([1, inSocket + inQueue]);
  });

  test('repairs again for what is dropped while it repairs', async () => {
    const { queue: made, seen, write } = queue();
    made.markBehind();
    for (let nth = 0; nth < inSocket + inQueue + 1; nth++) made.push(kilobyte(nth));
    for (const _ of [1, 2, 3]) write();
    for (const _ of [1, 2, 3]) await made.drained();
    expect([seen.dropped, seen.repairs]).toEqual([1, 2]);
  });

  test('calls a peer stalled that reads nothing while as much again is dropped; one that reads a little is not', () => {
    const { queue: made, seen, write } = queue();
    for (let nth = 0; nth < inSocket + 2 * inQueue; nth++) made.push(kilobyte(nth));
    expect([seen.dropped, seen.stalled]).toEqual([inQueue, 0]);
    write();
    for (let nth = 0; nth < inSocket + inQueue - 1; nth++) made.push(kilobyte(nth));
    expect(seen.stalled).toBe(0);
    for (let nth = 0; nth < inQueue; nth++) made.push(kilobyte(nth));
    expect(seen.stalled).toBeGreaterThan(0);
  });

  test('that is paced drops what has to wait too long, and calls nobody stalled for it', () => {
    const { queue: made, seen, time, timing } = queue();
    made.pace(new Allowance(10, bytesMax, limits.floodWindowMs));
    for (let nth = 0; nth < 4 * inQueue; nth++) made.push(kilobyte(nth));
    expect([seen.sent.length, seen.stalled]).toEqual([10, 0]);
    expect(seen.dropped).toBe(3 * inQueue - 10);
    time.now += limits.floodWindowMs + 1;
    timing.pass(1_000);
    expect(seen.sent).toHaveLength(20);
    made.pace(undefined);
    expect(seen.sent.length).toBeGreaterThan(20);
    made.close();
    expect(timing.waits).toEqual([]);
  });

  test('to a member sends in no minute what its app ends the link for, and all there is when it is asked less', () => {
    const { queue: made, seen, time, timing } = queue();
    made.pace(new MemberPace());
    const sentAt: number[] = [];
    const frame = new Uint8Array(8);
    for (time.now = 0; time.now < 3 * limits.floodWindowMs; time.now += 1_000) {
      for (let nth = 0; nth < 500; nth++) made.push(frame);
      timing.pass(1_000);
      while (sentAt.length < seen.sent.length) sentAt.push(time.now);
      seen.waiting = 0;
    }
    for (const at of new Set(sentAt)) {
      const within = sentAt.filter((one) => one >= at && one < at + limits.floodWindowMs).length;
      expect(within).toBeLessThan(limits.relayFloodEventsMax);
    }
    // Fifty a second, for as long as it likes, are far below that.
    const before = seen.sent.length;
    for (let idle = 0; idle < 120; idle++) {
      time.now += 1_000;
      timing.pass(1_000);
    }
    const rest = seen.sent.length - before;
    for (let seconds = 0; seconds < 100; seconds++) {
      time.now += 1_000;
      for (let nth = 0; nth < 50; nth++) made.push(frame);
    }
    expect(seen.sent.length - before - rest).toBe(5_000);
    made.close();
  });
});
