import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/core/limits';
import { frameOf } from '../../../src/core/link/messages';
import { put } from '../../../src/core/transaction';
import { commands } from '../../../src/core/wire/commands';
import { decodeFrame } from '../../../src/core/wire/frame';
import { holdfast } from '../../../src/core/wire/profile';
import { account, bodyOf, closed, command, enqueueArgs, fresh, open, t0 } from '../../fixtures/account';
import { Home } from '../../fixtures/home';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

describe('the lane', () => {
  test('[OB-01] accepted sends form one FIFO over all conversations, and a restart keeps order and contents', async () => {
    const home = await Home.with();
    for (const nth of numbers(6)) {
      await home.store.transact('enqueue', enqueueArgs(nth, `said ${nth}`, nth % 2 === 0 ? closed : open));
    }
    home.restart();
    expect(home.waiting()).toEqual([1, 2, 3, 4, 5, 6]);
    const positions = home.lane().map((row) => row.lane ?? 0);
    expect(positions).toEqual(positions.toSorted((left, right) => left - right));
    const [odd, even] = await Promise.all(
      [open, closed].map((conversation) => home.store.read('timeline', { account, conversation, limit: 9 })),
    );
    expect(odd?.messages.map((one) => one.body?.text)).toEqual(['said 1', 'said 3', 'said 5']);
    expect(even?.messages.map((one) => one.body?.text)).toEqual(['said 2', 'said 4', 'said 6']);
    expect((await home.store.read('head', { account }))?.logical).toBe(command(1));
  });

  test('[OB-01] sends at once take their places in the order of the calls', async () => {
    const home = await Home.with();
    await Promise.all(numbers(100).map((nth) => home.enqueue(nth)));
    expect(home.waiting()).toEqual(numbers(100));
  });

  test('[OB-01] everything a generation is rebuilt from is kept: the real message comes out after a restart', async () => {
    const home = await Home.with();
    await home.store.transact('enqueue', enqueueArgs(1, 'rebuilt', open));
    home.restart();
    await home.make(1);
    const event = home.operation(1).generations[0]?.event ?? fresh(1);
    const text = new TextDecoder().decode(event);
    for (const part of [bodyOf('').nick, bodyOf('').channel, 'rebuilt']) expect(text).toContain(part);
  });

  test('[OB-04] messages accepted with no relay known and nothing synced wait in order over restarts', async () => {
    const home = await Home.with(0, []);
    for (const nth of numbers(4)) {
      await home.enqueue(nth);
      home.restart();
    }
    expect(home.waiting()).toEqual([1, 2, 3, 4]);
    expect([home.rows('events'), home.rows('generations')]).toEqual([[], []]);
  });

  test('[OB-13] positions are not used again, also not those of messages that have left', async () => {
    const home = await Home.with(2);
    await home.make(1);
    await home.answer(home.active(1), { type: 'has', inserted: true });
    home.restart();
    await home.enqueue(3);
    expect(home.message(3).seq).toBe(3);
    expect(home.waiting()).toEqual([2, 3]);
  });
});

describe('the command id', () => {
  test('[OB-33] a repeat with the same content answers the same result and changes nothing', async () => {
    const home = await Home.with(2);
    const before = home.everything();
    const [first, again] = [await home.enqueue(1, 'message 1'), await home.enqueue(1, 'message 1')];
    expect(first).toEqual({ kind: 'queued', seq: 1, repeated: true });
    expect(again).toEqual(first);
    expect(home.everything()).toEqual(before);
  });

  test('[OB-33] a repeat answers the same after the message has left the lane, and does not send it again', async () => {
    const home = await Home.with(1);
    await home.make(1);
    await home.answer(home.active(1), { type: 'has', inserted: true });
    expect(await home.enqueue(1, 'message 1')).toEqual({ kind: 'queued', seq: 1, repeated: true });
    expect(home.waiting()).toEqual([]);
  });

  test('[OB-33] a repeat with other content is a conflict and changes nothing', async () => {
    const home = await Home.with(1);
    const before = home.everything();
    const base = enqueueArgs(1);
    const others = [
      { ...base, body: { ...base.body, text: 'message 1 ' } },
      { ...base, body: { ...base.body, nick: 'Someone' } },
      { ...base, body: { ...base.body, channel: '#elsewhere' } },
      { ...base, body: { ...base.body, secret: fresh(32) } },
      { ...base, conversation: closed },
    ];
    for (const args of others) {
      expect((await home.store.transact('enqueue', args)).outcome).toEqual({ kind: 'conflict' });
    }
    expect(home.everything()).toEqual(before);
  });

  test('[OB-33] a repeat of a text with half a surrogate pair is a repeat: what was kept is what was asked for', async () => {
    const home = await Home.with();
    expect(await home.enqueue(1, 'half \ud83d')).toEqual({ kind: 'queued', seq: 1, repeated: false });
    expect(await home.enqueue(1, 'half \ud83d')).toEqual({ kind: 'queued', seq: 1, repeated: true });
    expect(await home.enqueue(1, 'half')).toEqual({ kind: 'conflict' });
  });

  test('[OB-33] both copies of a call that came twice at once are answered, and one is kept', async () => {
    const home = await Home.with();
    const outcomes = await Promise.all([home.enqueue(1), home.enqueue(1), home.enqueue(1, 'other')]);
    expect(outcomes).toEqual([
      { kind: 'queued', seq: 1, repeated: false },
      { kind: 'queued', seq: 1, repeated: true },
      { kind: 'conflict' },
    ]);
    expect(home.rows('messages')).toHaveLength(1);
  });

  test('[OB-33] the same id on a message that was received is no conflict: ids of others are theirs', async () => {
    const home = await Home.with();
    const heard = {
      event: 'e1'.repeat(32),
      conversation: open,
      logical: command(1),
      time: t0,
      nick: 'n',
      text: 'theirs',
    };
    await home.store.transact('scanChannel', { account, heard: [heard], now: t0, seed: fresh(32) });
    expect(await home.enqueue(1)).toMatchObject({ kind: 'queued', repeated: false });
    expect(home.waiting()).toEqual([1]);
  });
});

describe('what does not fit', () => {
  const bytesOf = (home: Home): number => home.rows('counters')[0]?.outboxBytes ?? 0;

  test('[OB-31] an enqueue over the bound is refused, says how much is held, and leaves the others as they were', async () => {
    const home = await Home.with(3);
    const before = home.everything();
    const held = bytesOf(home);
    home.bound(held + 10);
    expect(await home.enqueue(4)).toEqual({ kind: 'outbox-full', held, max: held + 10 });
    expect(home.everything()).toEqual(before);
    home.restart();
    expect(home.waiting()).toEqual([1, 2, 3]);
    home.bound(held + limits.outboxHeadBytes + 10_000);
    expect(await home.enqueue(4)).toMatchObject({ kind: 'queued' });
    expect(home.waiting()).toEqual([1, 2, 3, 4]);
  });

  test('[OB-31] a repeat of what is queued is answered though the outbox is full', async () => {
    const home = await Home.with(1);
    home.bound(1);
    expect(await home.enqueue(1)).toMatchObject({ kind: 'queued', repeated: true });
    expect(await home.enqueue(2)).toMatchObject({ kind: 'outbox-full' });
  });

  test('[OB-31] an enqueue that the store cannot write rejects, and the entries before it stay', async () => {
    const home = await Home.with(2);
    const { write } = home.tables;
    home.tables.write = () => {
      throw new DOMException('no room', 'QuotaExceededError');
    };
    await expect(home.enqueue(3)).rejects.toMatchObject({ name: 'StoreError', kind: 'storage' });
    home.tables.write = write;
    expect(home.waiting()).toEqual([1, 2]);
    expect(await home.enqueue(3)).toMatchObject({ kind: 'queued', repeated: false });
  });

  test('[OB-31] without the data key nothing is accepted', async () => {
    const home = await Home.with(1);
    home.keys = {};
    await expect(home.enqueue(2)).rejects.toMatchObject({ name: 'StoreError', kind: 'locked' });
    expect(home.waiting()).toEqual([1]);
  });

  test('[OB-30] the bytes held count bodies, active events with their blobs and every generation, to the byte', async () => {
    const home = await Home.with(2);
    const bodies = home.lane().map((row) => row.body.length + 512);
    expect(bytesOf(home)).toBe((bodies[0] ?? 0) + (bodies[1] ?? 0));
    await home.make(1);
    const event = home.operation(1).generations[0]?.event?.length ?? 0;
    expect(event).toBeGreaterThan(208);
    const withOne = bytesOf(home);
    expect(withOne - (bodies[0] ?? 0) - (bodies[1] ?? 0) - event).toBe(256);
    const later = t0 + 3_600_000;
    await home.make(1, { supersedes: home.active(1), now: later });
    expect(bytesOf(home) - withOne).toBe(256);
    expect(home.lane().reduce((sum, row) => sum + (row.bytes ?? 0), 0)).toBe(bytesOf(home));
    await home.answer(home.active(1), { type: 'has', inserted: false });
    expect(bytesOf(home)).toBe(bodies[1]);
  });

  test('[OB-30] [OB-31] an outbox that takes no more can still send: the head has room of its own', async () => {
    const home = await Home.with(1);
    home.bound(limits.outboxHeadBytes + 20_000);
    let nth = 2;
    while ((await home.enqueue(nth, 'x'.repeat(1_000))).kind === 'queued') nth += 1;
    expect(nth).toBeGreaterThan(5);
    for (let sent = 1; sent < nth; sent++) {
      expect((await home.make(sent, { now: t0 + sent })).outcome).toMatchObject({ kind: 'made' });
      await home.answer(home.active(sent), { type: 'has', inserted: true });
    }
    expect([home.waiting(), bytesOf(home)]).toEqual([[], 0]);
  });

  test('[OB-30] the default bound holds where nothing else is said', async () => {
    const home = await Home.with(1);
    const [counters] = home.rows('counters');
    if (counters !== undefined)
      home.tables.write([put('counters', { ...counters, outboxBytes: limits.outboxBytesMax })]);
    expect(await home.enqueue(2)).toEqual({
      kind: 'outbox-full',
      held: limits.outboxBytesMax,
      max: limits.outboxBytesMax,
    });
  });

  test('[RD-13] what does not fit its publish frame is refused with the bytes over, and the longest that fits goes out', async () => {
    const home = await Home.with();
    const long = 'é'.repeat(limits.textBytesMax / 2);
    expect(await home.enqueue(1, `${long}xy`)).toEqual({ kind: 'too-long', over: 2 });
    expect(home.rows('messages')).toEqual([]);
    expect(await home.enqueue(2, long)).toMatchObject({ kind: 'queued' });
    const { effects } = await home.make(2);
    const [sent] = effects;
    if (sent?.type !== 'put-event') throw new Error('nothing is sent');
    const frame = frameOf(holdfast, { say: 'put', event: sent.event, blob: sent.blob });
    expect(frame.length).toBeLessThanOrEqual(limits.messageBytesMax);
    expect(decodeFrame(holdfast.magic, frame).command).toBe(commands.eventPut);
  });

  test('a conversation that is not joined takes no message', async () => {
    const home = await Home.with();
    const args = { ...enqueueArgs(1), conversation: 'ff'.repeat(16) };
    expect((await home.store.transact('enqueue', args)).outcome).toEqual({ kind: 'unknown-conversation' });
  });
});
