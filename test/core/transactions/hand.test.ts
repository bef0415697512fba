import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/core/limits';
import { nextForHead } from '../../../src/core/outbox/policy';
import { holdfast } from '../../../src/core/wire/profile';
import { account, bodyOf, command, fresh, makingArgs, relays, t0 } from '../../fixtures/account';
import { Home, had, taken } from '../../fixtures/home';

const [one, two] = relays;
const hour = holdfast.rotationMs;

async function sent(count = 3): Promise<Home> {
  const home = await Home.with(count);
  await home.make(1, { now: t0 });
  return home;
}

function ask(home: Home, now: number) {
  const conditions = { synced: true, minPeers: 2, clockTrusted: true, rotationMs: hour, term: 1 };
  const [head] = home.lane();
  if (head === undefined) throw new Error('the lane is empty');
  return nextForHead(head, { ...conditions, now, ready: relays });
}

async function retry(home: Home, nth: number, now: number) {
  return (await home.store.transact('retryNow', home.hand(nth, now))).outcome;
}

function editOf(home: Home, nth: number, to: number, text = `edited ${to}`) {
  const more = { profile: holdfast.name, newCommand: command(to), body: bodyOf(text), nonce: fresh(12) };
  return { ...home.hand(nth, t0 + 500), ...more };
}

function counters(home: Home) {
  const [row] = home.rows('counters');
  if (row === undefined) throw new Error('no counters');
  return row;
}

describe('try now', () => {
  test('(BL-01) three presses bring one round forward: the same event, once in flight, the others behind it', async () => {
    const home = await sent();
    const at = t0 + 6_000;
    expect(await Promise.all([1, 2, 3].map(() => retry(home, 1, at)))).toEqual(
      Array(3).fill({ kind: 'due' }),
    );
    expect(ask(home, at)).toEqual({ send: 'rebroadcast', relays });
    const round = { account, seq: 1, event: home.active(1), round: 1, due: true, relays, term: 1, now: at };
    const rounds = await Promise.all(
      [1, 2, 3].map(() => home.store.transact('sendRound', { ...round, jitter: 0.5 })),
    );
    expect(rounds.map((done) => done.outcome.kind)).toEqual(['sent', 'past', 'past']);
    expect(home.operation(1).generations).toHaveLength(1);
    expect(home.rows('events')).toHaveLength(1);
    expect(home.waiting()).toEqual([1, 2, 3]);
  });

  test('(BL-01) before the pause is over it says when, and nothing changes; then it is due', async () => {
    const home = await sent();
    const before = home.everything();
    expect(await retry(home, 1, t0 + 1_000)).toEqual({ kind: 'not-before', at: t0 + limits.retryPauseMs });
    expect(home.everything()).toEqual(before);
    expect(await retry(home, 1, t0 + limits.retryPauseMs)).toEqual({ kind: 'due' });
  });

  test('[OB-35] a pause longer than its own length was written by another clock, and holds nobody back', async () => {
    const home = await Home.with(1);
    for (const ahead of [900_000, hour, 20 * 365 * 24 * hour]) {
      await home.make(1, { now: t0 + ahead });
      if (ahead > 900_000) await home.round(1, { now: t0 + ahead });
      expect(await retry(home, 1, t0)).toEqual({ kind: 'due' });
      expect(ask(home, t0)).toMatchObject({ send: 'rebroadcast' });
    }
  });

  test('[OB-35] a page whose clock is ahead puts no round off: it is due by the clock of the peers', async () => {
    const home = await sent();
    expect(await retry(home, 1, t0 + 600_000)).toEqual({ kind: 'due' });
    expect(ask(home, t0 + limits.retryPauseMs - 1).send).toBeUndefined();
    expect(ask(home, t0 + limits.retryPauseMs)).toEqual({ send: 'rebroadcast', relays });
  });

  test('[OB-35] a page whose clock is a day behind brings no round nearer to the last than the pause', async () => {
    const home = await sent();
    expect(await retry(home, 1, t0 - 24 * hour)).toEqual({ kind: 'due' });
    expect(ask(home, t0 + limits.retryPauseMs - 1).send).toBeUndefined();
    expect(ask(home, t0 + limits.retryPauseMs)).toEqual({ send: 'rebroadcast', relays });
  });

  test('(BL-02) one behind the head waits, and one that left or was edited meanwhile is gone', async () => {
    const home = await sent();
    const before = home.everything();
    expect(await retry(home, 2, t0 + 6_000)).toEqual({ kind: 'waits' });
    const seen = home.hand(1, t0 + 6_000);
    const other = await home.store.transact('retryNow', { ...seen, command: command(77) });
    expect(other.outcome).toEqual({ kind: 'gone' });
    expect(home.everything()).toEqual(before);
    await home.answer(home.active(1), taken);
    expect((await home.store.transact('retryNow', seen)).outcome).toEqual({ kind: 'gone' });
  });

  test('(BL-02) it wakes a parked head, and opens what every relay refused for good', async () => {
    const home = await Home.with(2);
    home.bound(1);
    await home.make(1, { now: t0 });
    expect(ask(home, t0 + 1_000)).toMatchObject({ parked: 'room' });
    expect(await retry(home, 1, t0 + 1_000)).toEqual({ kind: 'due' });
    expect(ask(home, t0 + 1_000)).toMatchObject({ send: 'materialise' });
    home.bound(1e9);
    await home.make(1, { now: t0 + 1_000 });
    const small = { [one]: 1, [two]: 1 };
    const round = { account, seq: 1, event: home.active(1), due: true, relays, term: 1, jitter: 0.5 };
    const args = { ...round, round: 1, now: t0 + 31_000, contentMax: small };
    await home.store.transact('sendRound', args);
    expect(home.intent(1, one)).toMatchObject({ state: 'rejected', reason: 'event_too_large' });
    expect(ask(home, t0 + hour / 2)).toEqual({ parked: 'too-large' });
    expect(await retry(home, 1, t0 + hour / 2)).toEqual({ kind: 'due' });
    expect(ask(home, t0 + hour / 2)).toEqual({ send: 'rebroadcast', relays });
    const again = await home.store.transact('sendRound', { ...round, round: 2, now: t0 + hour / 2 });
    expect(again.effects[0]).toMatchObject({ type: 'put-event', relays });
  });
});

describe('edit', () => {
  test('[OB-01] before anything was made it changes the text in its place, under a new command', async () => {
    const home = await Home.with(3);
    const { outcome } = await home.store.transact('editQueued', editOf(home, 2, 42, 'other words'));
    expect(outcome).toEqual({ kind: 'edited', seq: 2 });
    home.restart();
    expect(home.waiting()).toEqual([1, 42, 3]);
    await home.make(1);
    await home.answer(home.active(1), taken, { next: makingArgs(0, { now: t0 + 3_000 }) });
    const text = new TextDecoder().decode(home.operation(42).generations[0]?.event);
    expect(text).toContain('other words');
    expect(text).not.toContain('message 2');
  });

  test('[OB-33] a repeat answers the same, also after the message has left, and changes nothing', async () => {
    const home = await Home.with(2);
    const args = editOf(home, 1, 42);
    await home.store.transact('editQueued', args);
    const before = home.everything();
    expect((await home.store.transact('editQueued', args)).outcome).toEqual({ kind: 'edited', seq: 1 });
    expect(home.everything()).toEqual(before);
    await home.make(42);
    await home.answer(home.active(42), taken);
    expect((await home.store.transact('editQueued', args)).outcome).toEqual({ kind: 'edited', seq: 1 });
    expect(home.waiting()).toEqual([2]);
  });

  test('[OB-33] the command of an edited message is used up: its old one says gone, and is no other message', async () => {
    const home = await Home.with(1);
    const [first, second] = [editOf(home, 1, 42), editOf(home, 1, 43)];
    await home.store.transact('editQueued', first);
    expect((await home.store.transact('editQueued', second)).outcome).toEqual({ kind: 'gone' });
    expect(home.waiting()).toEqual([42]);
  });

  test('[OB-05] once a copy exists it may have left: no edit, however often it failed', async () => {
    const home = await sent();
    const before = home.everything();
    expect((await home.store.transact('editQueued', editOf(home, 1, 42))).outcome).toEqual({
      kind: 'exposed',
    });
    expect(home.everything()).toEqual(before);
  });

  test('[OB-31] an edit that does not fit is refused with numbers, and the old text stays', async () => {
    const home = await Home.with(2);
    const held = counters(home).outboxBytes;
    const before = home.everything();
    const long = editOf(home, 2, 42, 'é'.repeat(limits.textBytesMax / 2 + 2));
    expect((await home.store.transact('editQueued', long)).outcome).toEqual({ kind: 'too-long', over: 4 });
    home.bound(held + limits.outboxHeadBytes + 20);
    const full = editOf(home, 2, 42, 'x'.repeat(200));
    const max = held + limits.outboxHeadBytes + 20;
    expect((await home.store.transact('editQueued', full)).outcome).toEqual({
      kind: 'outbox-full',
      held,
      max,
    });
    expect(home.everything()).toEqual(before);
    home.bound(1);
    const shorter = editOf(home, 2, 42, 'x');
    expect((await home.store.transact('editQueued', shorter)).outcome).toEqual({ kind: 'edited', seq: 2 });
    expect(counters(home).outboxBytes).toBeLessThan(held);
  });

  test('(BL-02) it wakes a head that was parked for its text', async () => {
    const home = await Home.with(2);
    await home.make(1, { now: t0, contentMax: { [one]: 10, [two]: 10 } });
    expect(ask(home, t0 + 1_000)).toMatchObject({ parked: 'too-large' });
    await home.store.transact('editQueued', editOf(home, 1, 42, 'x'));
    expect(ask(home, t0 + 1_000)).toEqual({ send: 'materialise', relays });
    expect(home.waiting()).toEqual([42, 2]);
  });
});

describe('drop', () => {
  test('(BL-02) what stood behind a dropped head leaves, in its order, and the dropped one never again', async () => {
    const home = await sent();
    await home.answer(home.active(1), { type: 'nack', reason: 'invalid' });
    const { outcome } = await home.store.transact('drop', home.hand(1, t0 + 3_000));
    expect(outcome).toEqual({ kind: 'dropped', exposed: true });
    home.restart();
    expect(home.waiting()).toEqual([2, 3]);
    expect(home.message(1)).not.toHaveProperty('open');
    expect((await home.round(1)).outcome).toEqual({ kind: 'past' });
    expect((await home.make(1, { supersedes: home.active(1), now: t0 + hour })).outcome).toEqual({
      kind: 'past',
    });
    expect((await home.make(2, { now: t0 + 4_000 })).outcome).toMatchObject({ kind: 'made' });
    await home.answer(home.active(2), taken, { next: makingArgs(0, { now: t0 + 5_000 }) });
    expect(home.operation(3).generations).toHaveLength(1);
  });

  test('[OB-15] what relays say of a dropped copy later is kept, and neither sends it again nor ends another', async () => {
    const home = await sent();
    const id = home.active(1);
    await home.store.transact('drop', home.hand(1, t0 + 3_000));
    await home.make(2, { now: t0 + 4_000 });
    expect(await home.answer(id, { type: 'nack', reason: 'busy' }, { relay: two })).toMatchObject({
      kind: 'refused',
    });
    expect((await home.claimOpen(two)).effects).toEqual([]);
    expect(await home.answer(id, had)).toEqual({ kind: 'late', seq: 1 });
    expect(home.message(1)).not.toHaveProperty('open');
    expect(home.intent(1, one)).toMatchObject({ state: 'accepted' });
    expect(home.intent(1, two)).toMatchObject({ state: 'retryable', reason: 'busy' });
    expect((await home.claimOpen(two)).effects).toEqual([]);
    expect(home.waiting()).toEqual([2, 3]);
  });

  test('[OB-30] it gives back the room it took, whatever was made of it, and a repeat gives back nothing more', async () => {
    const home = await sent();
    await home.make(1, { supersedes: home.active(1), now: t0 + hour });
    const dropped = home.hand(1, t0 + hour);
    await home.store.transact('drop', dropped);
    const left = home.lane().reduce((sum, row) => sum + (row.bytes ?? 0), 0);
    expect(counters(home)).toMatchObject({ outboxBytes: left, live: 2 });
    const before = home.everything();
    expect((await home.store.transact('drop', dropped)).outcome).toEqual({ kind: 'dropped', exposed: true });
    expect(home.everything()).toEqual(before);
  });

  test('[OB-13] a message that was acknowledged first is gone from the hand: evidence stands', async () => {
    const home = await sent();
    const seen = home.hand(1, t0 + 3_000);
    await home.answer(home.active(1), taken);
    expect((await home.store.transact('drop', seen)).outcome).toEqual({ kind: 'gone' });
    expect(home.operation(1).acked).toBeDefined();
    expect(home.operation(1).droppedAt).toBeUndefined();
  });
});

describe('undo', () => {
  const undo = async (home: Home, nth: number, now: number) =>
    (await home.store.transact('undoDrop', home.hand(nth, now))).outcome;

  test('[OB-01] [OB-30] a dropped message that never left stands again where it stood, with the bytes it had', async () => {
    for (const nth of [1, 2, 3]) {
      const home = await Home.with(3);
      const { lane, bytes } = home.message(nth);
      const { outboxBytes, live } = counters(home);
      await home.store.transact('drop', home.hand(nth, t0 + 100));
      expect(await undo(home, nth, t0 + 5_000)).toEqual({ kind: 'back' });
      expect(home.waiting()).toEqual([1, 2, 3]);
      expect(home.message(nth)).toMatchObject({ lane, bytes });
      expect(counters(home)).toMatchObject({ outboxBytes, live });
      const before = home.everything();
      expect(await undo(home, nth, t0 + 5_000)).toEqual({ kind: 'back' });
      expect(home.everything()).toEqual(before);
    }
  });

  test('[OB-01] one behind the head comes back though the head was sent meanwhile', async () => {
    const home = await Home.with(3);
    await home.store.transact('drop', home.hand(2, t0 + 100));
    await home.make(1, { now: t0 + 200 });
    expect(await undo(home, 2, t0 + 5_000)).toEqual({ kind: 'back' });
    expect(home.waiting()).toEqual([1, 2, 3]);
  });

  test('[OB-01] not when what stood behind it was exposed, or has left', async () => {
    const home = await Home.with(2);
    await home.store.transact('drop', home.hand(1, t0 + 100));
    await home.make(2, { now: t0 + 200 });
    const before = home.everything();
    expect(await undo(home, 1, t0 + 300)).toEqual({ kind: 'too-late' });
    expect(home.everything()).toEqual(before);
    await home.answer(home.active(2), taken);
    expect(await undo(home, 1, t0 + 400)).toEqual({ kind: 'too-late' });
  });

  test('[OB-02] not when a copy of its own was exposed, nor after its time, nor by another command', async () => {
    const home = await sent();
    await home.store.transact('drop', home.hand(1, t0 + 100));
    expect(await undo(home, 1, t0 + 200)).toEqual({ kind: 'too-late' });
    await home.store.transact('drop', home.hand(2, t0 + 100));
    expect(await undo(home, 2, t0 + 101 + limits.undoMs)).toEqual({ kind: 'too-late' });
    const other = { ...home.hand(2, t0 + 200), command: command(77) };
    expect((await home.store.transact('undoDrop', other)).outcome).toEqual({ kind: 'too-late' });
    expect(await undo(home, 2, t0 + 200)).toEqual({ kind: 'back' });
  });

  test('[OB-31] not into an outbox that was filled meanwhile: refused with numbers, and it can still be undone', async () => {
    const home = await Home.with(2);
    await home.store.transact('drop', home.hand(2, t0 + 100));
    home.bound(limits.outboxHeadBytes + 1_000);
    const held = counters(home).outboxBytes;
    expect(await undo(home, 2, t0 + 200)).toEqual({
      kind: 'outbox-full',
      held,
      max: limits.outboxHeadBytes + 1_000,
    });
    home.bound(1e9);
    expect(await undo(home, 2, t0 + 300)).toEqual({ kind: 'back' });
  });

  test('a repeat of an undo whose message was sent meanwhile answers the same', async () => {
    const home = await Home.with(1);
    await home.store.transact('drop', home.hand(1, t0 + 100));
    const seen = home.hand(1, t0 + 200);
    await home.store.transact('undoDrop', seen);
    await home.make(1, { now: t0 + 300 });
    await home.answer(home.active(1), taken);
    expect((await home.store.transact('undoDrop', seen)).outcome).toEqual({ kind: 'back' });
    expect(home.waiting()).toEqual([]);
  });
});

describe('forgetting what was dropped', () => {
  test('a message that never left is forgotten; one with a copy, or in the line, or unknown, is kept', async () => {
    const home = await sent();
    const forget = async (nth: number) =>
      (await home.store.transact('forgetDropped', home.hand(nth, t0 + 20_000))).outcome.kind;
    await home.store.transact('drop', home.hand(1, t0 + 100));
    await home.store.transact('drop', home.hand(2, t0 + 100));
    const seen = home.hand(2, t0 + 20_000);
    expect([await forget(1), await forget(2), await forget(3)]).toEqual(['kept', 'forgotten', 'kept']);
    expect(home.rows('messages').map((row) => row.seq)).toEqual([1, 3]);
    expect((await home.store.transact('forgetDropped', seen)).outcome).toEqual({ kind: 'kept' });
    expect(home.rows('generations').map((row) => row.seq)).toEqual([1]);
  });
});
