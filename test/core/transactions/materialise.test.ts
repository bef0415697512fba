import { describe, expect, test } from 'vitest';
import { sameBytes } from '../../../src/core/ids';
import { limits } from '../../../src/core/limits';
import { put } from '../../../src/core/transaction';
import { readContent } from '../../../src/core/wire/content';
import { decodeEvent } from '../../../src/core/wire/event';
import { genesisOf, holdfast } from '../../../src/core/wire/profile';
import {
  account,
  closed,
  closedName,
  enqueueArgs,
  fresh,
  makingArgs,
  open,
  relays,
  slot,
  t0,
} from '../../fixtures/account';
import { Home, had, idOf, taken } from '../../fixtures/home';

const hour = holdfast.rotationMs;

describe('making the head', () => {
  test('[OB-02] while A is unacknowledged no row and no effect of B exists anywhere', async () => {
    const home = await Home.with(3);
    const first = await home.make(1);
    const b = home.message(2);
    const tries = [
      await home.make(2),
      await home.make(3),
      await home.store.transact('materialise', makingArgs(b.seq, { supersedes: home.active(1) })),
      await home.round(1),
      await home.store.transact('release', { account, relay: relays[0], now: t0 + 40_000 }),
    ];
    expect(tries.slice(0, 3).map((one) => [one.outcome, one.effects])).toEqual(
      Array(3).fill([{ kind: 'past' }, []]),
    );
    const sent = [first, ...tries].flatMap((one) => one.effects).filter((one) => one.type === 'put-event');
    expect(new Set(sent.map((one) => one.id))).toEqual(new Set([home.active(1)]));
    expect(home.rows('events').map((row) => row.covers)).toEqual([home.message(1).seq]);
    expect(home.rows('generations').map((row) => row.seq)).toEqual([home.message(1).seq]);
    expect([home.message(2).operation, home.message(3).operation]).toEqual([undefined, undefined]);
    home.restart();
    expect((await home.make(2)).outcome).toEqual({ kind: 'past' });
  });

  test('[OB-02] B waits while A is parked, and is made when A is acknowledged', async () => {
    const home = await Home.with(2);
    home.bound(home.rows('counters')[0]?.outboxBytes ?? 0);
    const parked = await home.make(1);
    expect(parked.outcome).toMatchObject({ kind: 'parked', reason: 'room' });
    expect((await home.make(2)).outcome).toEqual({ kind: 'past' });
    home.bound(1e6);
    await home.make(1);
    await home.answer(home.active(1), had);
    expect((await home.make(2)).outcome).toMatchObject({ kind: 'made' });
  });

  test('[OB-05] [RD-01] what is handed out is what is durable, byte for byte, in the graph as in the operation', async () => {
    const home = await Home.with(1);
    const { effects, outcome } = await home.make(1);
    const put = effects.find((one) => one.type === 'put-event');
    const generation = home.operation(1).generations.at(-1);
    const row = home.rows('events').at(-1);
    expect(put).toMatchObject({ id: generation?.id, relays });
    expect(put && generation?.event && sameBytes(put.event, generation.event)).toBe(true);
    expect(put && row && sameBytes(put.event, row.event) && sameBytes(put.blob, row.blob)).toBe(true);
    expect(put && idOf(put.event)).toBe(generation?.id);
    expect(outcome).toEqual({ kind: 'made', seq: 1, id: generation?.id });
    expect(home.intents(1)).toEqual({
      [`${relays[0]} ${put?.id}`]: 'leased',
      [`${relays[1]} ${put?.id}`]: 'leased',
    });
    const again = await home.round(1);
    const resent = again.effects.find((one) => one.type === 'put-event');
    expect(resent && put && sameBytes(resent.event, put.event) && sameBytes(resent.blob, put.blob)).toBe(
      true,
    );
  });

  test('[RD-01] message, operation, generation and graph row come in one commit, or none does', async () => {
    const home = await Home.with(1);
    const before = home.everything();
    const { write } = home.tables;
    const committed: string[][] = [];
    home.tables.write = (changes) => {
      committed.push(changes.map((one) => ('put' in one ? one.put : one.remove)));
      throw new Error('the disk is gone');
    };
    await expect(home.make(1)).rejects.toMatchObject({ kind: 'storage' });
    expect(committed.map((one) => one.toSorted())).toEqual([
      ['counters', 'events', 'generations', 'messages', 'slots'],
    ]);
    expect(home.everything()).toEqual(before);
    home.tables.write = write;
    expect((await home.make(1)).outcome).toMatchObject({ kind: 'made' });
  });

  test('[OB-09] [RD-06] the same decision again after a crash makes no second generation: the first goes on', async () => {
    const home = await Home.with(1);
    const args = makingArgs(1);
    await home.store.transact('materialise', args);
    const before = home.everything();
    home.restart();
    const again = await home.store.transact('materialise', {
      ...args,
      seed: fresh(32),
      now: args.now + 5_000,
    });
    expect(again).toEqual({ outcome: { kind: 'past' }, effects: [] });
    expect(home.everything()).toEqual(before);
    const resumed = await home.round(1);
    expect(resumed.effects[0]).toMatchObject({ type: 'put-event', id: home.active(1) });
  });

  test('[OB-17] every rebroadcast is the same bytes, whatever the graph has forgotten', async () => {
    const home = await Home.with(1);
    const { effects } = await home.make(1);
    const now = t0 + 40 * hour;
    const graph = { account, profile: holdfast.name, slotsRetained: 24, now };
    while ((await home.store.transact('pruneGraph', graph)).outcome.more);
    expect(home.rows('events')).toEqual([]);
    home.restart();
    for (let nth = 0; nth < 3; nth++) {
      const sent = await home.round(1, { now: now + nth * 1_000_000 });
      expect(sent.effects[0]).toEqual({ ...effects[0], relays });
    }
    expect(home.operation(1).generations).toHaveLength(1);
  });
});

describe('making it again', () => {
  async function recreated(count = 2) {
    const home = await Home.with(count);
    await home.make(1);
    const old = home.active(1);
    const oldEvent = home.operation(1).generations[0]?.event ?? fresh(1);
    await home.round(1, { now: t0 + hour });
    const done = await home.make(1, { supersedes: old, now: t0 + hour + 40_000 });
    return { home, old, oldEvent, done };
  }

  test('[OB-07] the copy keeps the place in the lane, links old to new and drops no id', async () => {
    const { home, old, done } = await recreated();
    const fresh = home.active(1);
    expect(done.outcome).toEqual({ kind: 'made', seq: 1, id: fresh });
    expect(home.waiting()).toEqual([1, 2]);
    const third = await home.make(1, { supersedes: fresh, now: t0 + 2 * hour + 40_000 });
    expect(third.outcome).toMatchObject({ kind: 'made' });
    home.restart();
    const generations = home
      .operation(1)
      .generations.map((one) => [one.id, one.supersededBy, one.event !== undefined]);
    expect(generations).toEqual([
      [old, fresh, false],
      [fresh, home.active(1), false],
      [home.active(1), undefined, true],
    ]);
    expect(home.rows('generations').map((row) => row.seq)).toEqual([1, 1, 1]);
  });

  test('[OB-09] a crash after the commit goes on with the copy; the transition that is done makes no third', async () => {
    const { home, old } = await recreated();
    const before = home.everything();
    home.restart();
    const again = await home.make(1, { supersedes: old, now: t0 + hour + 50_000 });
    expect(again).toEqual({ outcome: { kind: 'past' }, effects: [] });
    expect(home.everything()).toEqual(before);
    const resumed = await home.round(1, { now: t0 + hour + 80_000 });
    expect(resumed.effects[0]).toMatchObject({ id: home.active(1) });
    expect(home.operation(1).generations.filter((one) => one.event !== undefined)).toHaveLength(1);
  });

  test('[OB-08] a copy that cannot be made durable is not handed out, and the old head stays as it was', async () => {
    const home = await Home.with(1);
    await home.make(1);
    const before = home.everything();
    const { write } = home.tables;
    home.tables.write = () => {
      throw new Error('the disk is gone');
    };
    await expect(home.make(1, { supersedes: home.active(1), now: t0 + hour })).rejects.toMatchObject({
      kind: 'storage',
    });
    home.tables.write = write;
    home.restart();
    expect(home.everything()).toEqual(before);
  });

  test('[OB-22] the copy has its own time, parents and nonces, and says the same', async () => {
    const home = await Home.with();
    await home.store.transact('enqueue', enqueueArgs(1, 'below', closed));
    await home.make(1);
    const old = decodeEvent(home.operation(1).generations[0]?.event ?? fresh(1));
    await home.make(1, { supersedes: home.active(1), now: t0 + hour });
    const copy = decodeEvent(home.operation(1).generations[1]?.event ?? fresh(1));
    expect(copy.header.timestamp).toBe(BigInt(t0 + hour));
    expect(old.header.timestamp).toBe(BigInt(t0 + 1_000));
    const genesis = [slot, slot + hour].map((at) => genesisOf(holdfast, at).id);
    expect([old.header.parents, copy.header.parents].map((parents) => parents[0])).toEqual(genesis);
    const [before, after] = [old, copy].map((one) => readContent(holdfast, one.content));
    if (before?.kind !== 'privmsg' || after?.kind !== 'privmsg') throw new Error('not a message');
    expect(after.privmsg.logical).toBe(before.privmsg.logical);
    for (const field of ['channel', 'nick', 'text'] as const) {
      expect(after.privmsg[field]).not.toBe(before.privmsg[field]);
      expect(after.privmsg[field]).not.toContain(field === 'channel' ? closedName : 'below');
    }
  });

  test('[OB-32] a copy that does not fit parks the head, keeps every id, and sends the old one again', async () => {
    const home = await Home.with(2);
    await home.make(1);
    const old = home.active(1);
    const event = home.operation(1).generations[0]?.event;
    home.bound(home.rows('counters')[0]?.outboxBytes ?? 0);
    const { outcome, effects } = await home.make(1, { supersedes: old, now: t0 + hour });
    expect(outcome).toMatchObject({ kind: 'parked', reason: 'room' });
    expect(effects.find((one) => one.type === 'put-event')).toMatchObject({ id: old, event });
    expect(home.operation(1)).toMatchObject({ parked: 'room', generations: [{ id: old, event }] });
    expect(home.waiting()).toEqual([1, 2]);
    home.bound(1e6);
    const later = await home.make(1, { supersedes: old, now: t0 + hour + 60_000 });
    expect(later.outcome).toMatchObject({ kind: 'made' });
    expect(home.operation(1).parked).toBeUndefined();
    expect(home.operation(1).generations.map((one) => one.id)).toEqual([old, home.active(1)]);
  });

  test('[OB-19] hundreds of copies later it is still the head, and any of its ids still ends it', async () => {
    const { home, old } = await recreated();
    for (let nth = 2; nth < 300; nth++) {
      const made = await home.make(1, { supersedes: home.active(1), now: t0 + nth * hour });
      if (made.outcome.kind !== 'made') expect(made.outcome).toMatchObject({ kind: 'made' });
    }
    expect(home.operation(1).generations).toHaveLength(300);
    expect(home.waiting()).toEqual([1, 2]);
    expect(await home.answer(old, taken)).toMatchObject({ kind: 'acknowledged', seq: 1 });
    expect(home.waiting()).toEqual([2]);
  });
});

describe('a head that cannot be made', () => {
  test('[OB-28] a damaged record parks it at a bounded rate, and nothing passes it', async () => {
    const home = await Home.with(2);
    const whole = home.message(1);
    home.tables.write([put('messages', { ...whole, body: fresh(50) })]);
    const { outcome, effects } = await home.make(1, { now: t0 });
    expect(outcome).toEqual({ kind: 'parked', reason: 'processing', untilMs: t0 + limits.backoffFirstMs });
    expect(effects.filter((one) => one.type === 'put-event')).toEqual([]);
    expect((await home.make(2)).outcome).toEqual({ kind: 'past' });
    home.restart();
    expect(home.waiting()).toEqual([1, 2]);
    home.tables.write([put('messages', { ...home.message(1), body: whole.body })]);
    expect((await home.make(1, { now: t0 + 31_000 })).outcome).toMatchObject({ kind: 'made' });
    expect(home.operation(1).parked).toBeUndefined();
  });

  test('[OB-28] a store that fails keeps the head as it was', async () => {
    const home = await Home.with(2);
    const before = home.everything();
    const { answer } = home.tables;
    const args = makingArgs(1);
    home.tables.answer = () => {
      throw new Error('a bad sector');
    };
    const failed = { name: 'StoreError', kind: 'storage' };
    await expect(home.store.transact('materialise', args)).rejects.toMatchObject(failed);
    await expect(home.store.read('head', { account })).rejects.toMatchObject(failed);
    home.tables.answer = answer;
    expect(home.everything()).toEqual(before);
  });

  test('[OB-28] [OB-35] a clock that stands before the last own event in a slot that is over parks it, until it is right', async () => {
    const home = await Home.with(2);
    await home.make(1, { now: slot + hour - 1 });
    await home.answer(home.active(1), had);
    const parked = await home.make(2, { now: slot + 1_000 });
    expect(parked.outcome).toMatchObject({ kind: 'parked', reason: 'clock' });
    expect(home.waiting()).toEqual([2]);
    expect((await home.make(2, { now: slot + hour + 1_000 })).outcome).toMatchObject({ kind: 'made' });
  });

  test('without the data key nothing is made and nothing is lost', async () => {
    const home = await Home.with(1);
    const { keys } = home;
    home.keys = {};
    await expect(home.make(1)).rejects.toMatchObject({ kind: 'locked' });
    home.keys = keys;
    expect((await home.make(1)).outcome).toMatchObject({ kind: 'made' });
    expect(
      (await home.store.read('timeline', { account, conversation: open, limit: 1 })).messages,
    ).toHaveLength(1);
  });
});

describe('a last own event of a clock that was wrong', () => {
  test('[OB-35] far ahead it holds up nothing: the next message is made at the time that is right', async () => {
    for (const ahead of [2 * hour, 24 * hour, 20 * 365 * 24 * hour]) {
      const home = await Home.with(2);
      await home.make(1, { now: t0 + ahead });
      await home.answer(home.active(1), had);
      expect((await home.make(2, { now: t0 })).outcome).toMatchObject({ kind: 'made' });
      const event = home.operation(2).generations[0]?.event ?? fresh(1);
      expect(decodeEvent(event).header.timestamp).toBe(BigInt(t0));
    }
  });

  test('[OB-21] [OB-35] a copy is never made before the copies it replaces, whatever the clock says', async () => {
    const home = await Home.with(1);
    await home.make(1, { now: t0 + 24 * hour });
    const parked = await home.make(1, { supersedes: home.active(1), now: t0 });
    expect(parked.outcome).toMatchObject({ kind: 'parked', reason: 'clock' });
    expect(home.operation(1).generations).toHaveLength(1);
  });
});
