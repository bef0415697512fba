import { describe, expect, test } from 'vitest';
import type { PutResult } from '../../../src/core/wire/event-put';
import { holdfast } from '../../../src/core/wire/profile';
import { account, makingArgs, relays, t0 } from '../../fixtures/account';
import { Home, had, taken } from '../../fixtures/home';

const hour = holdfast.rotationMs;
const [one, two] = relays;
const refusals = (['too-old', 'not-synced', 'invalid', 'busy'] as const).map(
  (reason): PutResult => ({ type: 'nack', reason }),
);

async function sent(count = 2): Promise<Home> {
  const home = await Home.with(count);
  await home.make(1);
  return home;
}

/** A head with three generations, the first two superseded. */
async function copied(): Promise<{ readonly home: Home; readonly ids: readonly string[] }> {
  const home = await sent();
  for (const nth of [1, 2]) await home.make(1, { supersedes: home.active(1), now: t0 + nth * hour });
  return { home, ids: home.operation(1).generations.map((made) => made.id) };
}

describe('a Has', () => {
  test.each([
    ['new', taken],
    ['known', had],
  ])(
    '[OB-10] [OB-13] that says the event is %s ends the head, for each of its generations',
    async (_what, result) => {
      for (const nth of [0, 1, 2]) {
        const { home, ids } = await copied();
        const outcome = await home.answer(ids[nth] ?? '', result);
        expect(outcome).toEqual({ kind: 'acknowledged', seq: 1 });
        home.restart();
        expect(home.waiting()).toEqual([2]);
        expect(home.operation(1)).toMatchObject({ acked: { event: ids[nth], by: one } });
      }
    },
  );

  test('[OB-13] an ACK dequeues exactly once, ends retries and copies, and makes the next eligible', async () => {
    const home = await sent();
    const id = home.active(1);
    const [first, second, third] = await Promise.all([
      home.answer(id, taken),
      home.answer(id, taken),
      home.answer(id, had, { relay: two }),
    ]);
    expect([first, second, third].map((outcome) => outcome.kind)).toEqual([
      'acknowledged',
      'repeated',
      'late',
    ]);
    expect(home.rows('counters')[0]).toMatchObject({ live: 1 });
    expect(home.message(1)).not.toHaveProperty('lane');
    expect(home.operation(1)).not.toHaveProperty('nextAt');
    expect(home.operation(1).generations.map((made) => made.event)).toEqual([undefined]);
    expect((await home.make(1, { supersedes: id })).outcome).toEqual({ kind: 'past' });
    expect((await home.round(1)).outcome).toEqual({ kind: 'past' });
    expect((await home.make(2)).outcome).toMatchObject({ kind: 'made' });
  });

  test('[OB-13] [OB-02] accept, dequeue, the next head and its claims are one transaction', async () => {
    const home = await sent(3);
    const id = home.active(1);
    const committed: number[] = [];
    const write = home.tables.write.bind(home.tables);
    home.tables.write = (changes) => {
      committed.push(changes.length);
      write(changes);
    };
    const next = makingArgs(0, { now: t0 + 3_000 });
    const { effects, outcome } = await home.store.transact('answer', {
      account,
      id,
      relay: one,
      result: taken,
      now: t0 + 3_000,
      next,
    });
    expect(committed).toHaveLength(1);
    expect(outcome).toEqual({
      kind: 'acknowledged',
      seq: 1,
      next: { kind: 'made', seq: 2, id: home.active(2) },
    });
    expect(effects.filter((effect) => effect.type === 'put-event').map((effect) => effect.id)).toEqual([
      home.active(2),
    ]);
    expect(home.intent(2, one)?.state).toBe('leased');
    expect(home.message(3).operation).toBeUndefined();
  });

  test('[OB-14] is taken whenever it comes: between rounds, while parked, by an engine with no relay and no next', async () => {
    const home = await sent();
    const id = home.active(1);
    for (const relay of relays) await home.store.transact('release', { account, relay, now: t0 + 2_000 });
    home.bound(1);
    await home.make(1, { supersedes: id, now: t0 + hour });
    expect(home.operation(1).parked).toBe('room');
    home.restart();
    home.keys = {};
    expect(await home.answer(id, had, { now: t0 + 500 * hour })).toEqual({ kind: 'acknowledged', seq: 1 });
    expect(home.waiting()).toEqual([2]);
  });

  test('[OB-15] duplicate, unrelated and late statuses remove nothing, also after a restart', async () => {
    const home = await sent(3);
    const first = home.active(1);
    await home.answer(first, taken);
    await home.make(2);
    home.restart();
    const before = home.everything();
    expect(await home.answer(first, taken)).toEqual({ kind: 'repeated' });
    expect(await home.answer('ab'.repeat(32), taken)).toEqual({ kind: 'unrelated' });
    expect(home.everything()).toEqual(before);
    expect(await home.answer(first, had, { relay: two })).toEqual({ kind: 'late', seq: 1 });
    expect(
      await home.answer(first, { type: 'nack', reason: 'busy' }, { relay: 'wss://three/' }),
    ).toMatchObject({ kind: 'refused', seq: 1 });
    expect(home.waiting()).toEqual([2, 3]);
    expect(home.intent(2, one)?.state).toBe('leased');
    expect(await home.answer(home.active(2), taken)).toMatchObject({ kind: 'acknowledged', seq: 2 });
  });

  test('[OB-16] an ACK of the old generation racing a copy dequeues once, and stale work does not bring it back', async () => {
    for (const ackFirst of [true, false]) {
      const home = await sent();
      const old = home.active(1);
      const copy = () => home.make(1, { supersedes: old, now: t0 + hour });
      const ack = () => home.answer(old, had);
      await Promise.all(ackFirst ? [ack(), copy()] : [copy(), ack()]);
      home.restart();
      expect(home.waiting()).toEqual([2]);
      expect(home.operation(1).generations).toHaveLength(ackFirst ? 1 : 2);
      const stale = await Promise.all([copy(), home.round(1), ack()]);
      expect(stale[0].outcome).toEqual({ kind: 'past' });
      expect(stale[1].outcome).toEqual({ kind: 'past' });
      expect(stale[2]).toEqual({ kind: 'repeated' });
      const effects = [...stale[0].effects, ...stale[1].effects];
      expect(effects).toEqual([]);
      expect(home.waiting()).toEqual([2]);
    }
  });

  test('[OB-23] of a retained slot ends an expired head without a copy', async () => {
    const home = await sent();
    const id = home.active(1);
    await home.round(1, { now: t0 + 3 * hour });
    expect(await home.answer(id, had, { now: t0 + 3 * hour + 100 })).toMatchObject({ kind: 'acknowledged' });
    expect(home.operation(1).generations).toHaveLength(1);
    expect((await home.make(1, { supersedes: id, now: t0 + 3 * hour + 30_000 })).outcome).toEqual({
      kind: 'past',
    });
  });
});

describe('a refusal', () => {
  test('[OB-20] [OB-24] neither dequeues, nor copies, nor moves the next round, whatever its reason', async () => {
    const home = await sent();
    const before = home.operation(1);
    for (const result of refusals) {
      for (const relay of relays) {
        const outcome = await home.answer(home.active(1), result, { relay });
        expect(outcome).toMatchObject({ kind: 'refused', seq: 1 });
      }
      expect(home.waiting()).toEqual([1, 2]);
      expect(home.operation(1)).toMatchObject({
        round: before.round,
        nextAt: before.nextAt,
        generations: before.generations,
      });
    }
  });

  test('[RD-08] stays apart from an acceptance, and is told by its reason', async () => {
    const home = await sent();
    const id = home.active(1);
    await home.answer(id, { type: 'nack', reason: 'busy' }, { relay: two });
    expect(home.intent(1, two)).toMatchObject({ state: 'retryable', reason: 'busy' });
    await home.answer(id, taken, { relay: one });
    expect(home.intents(1)).toEqual({ [`${one} ${id}`]: 'accepted', [`${two} ${id}`]: 'retryable' });
    await home.answer(id, { type: 'nack', reason: 'invalid' }, { relay: one });
    expect(home.intent(1, one)).toMatchObject({ state: 'accepted', reason: 'new' });
  });

  test('[RD-09] is durable before anything is tried again, and the next round claims that relay once more', async () => {
    const home = await sent();
    await home.answer(home.active(1), { type: 'nack', reason: 'busy' }, { relay: one });
    home.restart();
    expect(home.intent(1, one)).toMatchObject({ state: 'retryable', reason: 'busy', attempt: 1 });
    const { effects } = await home.round(1);
    expect(effects[0]).toMatchObject({ relays });
    expect(home.intent(1, one)).toMatchObject({ state: 'leased', attempt: 2 });
  });
});

describe('relay acceptance', () => {
  test('[RD-02] a send marks nothing accepted: only an answer for that event by that relay does', async () => {
    const home = await sent();
    for (let nth = 0; nth < 5; nth++) await home.round(1, { now: t0 + nth * 1_000_000 });
    await home.answer('cd'.repeat(32), taken);
    const id = home.active(1);
    expect(home.intents(1)).toEqual({ [`${one} ${id}`]: 'leased', [`${two} ${id}`]: 'leased' });
    expect(home.waiting()).toEqual([1, 2]);
    await home.answer(id, taken, { relay: two });
    expect(home.intents(1)).toEqual({ [`${one} ${id}`]: 'leased', [`${two} ${id}`]: 'accepted' });
  });

  test('[RD-03] [RD-08] once accepted it stays so: repeats, refusals, lost links and rounds undo nothing', async () => {
    const home = await sent(1);
    const id = home.active(1);
    const claimed = await home.round(1, { now: t0 + 40_000 });
    await home.answer(id, taken);
    const before = home.message(1);
    expect(await home.answer(id, taken)).toEqual({ kind: 'repeated' });
    expect(await home.answer(id, { type: 'nack', reason: 'too-old' })).toEqual({ kind: 'repeated' });
    await home.store.transact('release', { account, relay: one, now: t0 + 41_000 });
    expect((await home.round(1)).effects).toEqual([]);
    home.restart();
    expect(home.message(1)).toEqual(before);
    expect(home.intent(1, one)).toMatchObject({ state: 'accepted' });
    expect(claimed.outcome).toMatchObject({ kind: 'sent' });
  });

  test('[RD-12] at the deadline of its claim an acceptance wins over the round that was due, whichever is asked first', async () => {
    const home = await sent();
    const id = home.active(1);
    const due = home.operation(1).nextAt ?? 0;
    const decided = {
      account,
      seq: 1,
      event: id,
      round: 1,
      due: true,
      relays,
      term: 1,
      now: due,
      jitter: 0.5,
    };
    const [answered, round] = await Promise.all([
      home.answer(id, taken, { now: due }),
      home.store.transact('sendRound', decided),
    ]);
    expect(answered).toMatchObject({ kind: 'acknowledged' });
    expect(round).toEqual({ outcome: { kind: 'past' }, effects: [] });
    expect(home.waiting()).toEqual([2]);
    const other = await sent();
    const [sentAgain, late] = await Promise.all([
      other.store.transact('sendRound', { ...decided, event: other.active(1) }),
      other.answer(other.active(1), taken, { now: due }),
    ]);
    expect([sentAgain.outcome.kind, late.kind]).toEqual(['sent', 'acknowledged']);
    expect(other.waiting()).toEqual([2]);
  });

  test('[OB-14] evidence needs no key: a locked store dequeues, and makes the next head when it is open again', async () => {
    const home = await sent();
    const { keys } = home;
    home.keys = {};
    const next = makingArgs(0, { now: t0 + 3_000 });
    expect(await home.answer(home.active(1), taken, { next })).toEqual({ kind: 'acknowledged', seq: 1 });
    expect(home.waiting()).toEqual([2]);
    home.keys = keys;
    expect((await home.make(2)).outcome).toMatchObject({ kind: 'made' });
  });
});
