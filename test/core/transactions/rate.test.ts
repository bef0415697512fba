import { describe, expect, test } from 'vitest';
import { present } from '../../../src/core/assert';
import type { Effect } from '../../../src/core/effects';
import { openIdentity } from '../../../src/core/history/records';
import { put } from '../../../src/core/transaction';
import type { MaterialiseArgs } from '../../../src/core/transactions/materialise';
import { holdfast, holdfastLimited } from '../../../src/core/wire/profile';
import { account, fresh, makingArgs, nick, relays, slot, t0 } from '../../fixtures/account';
import { Home, had } from '../../fixtures/home';
import { identify, identityOf, leave, limiter, limitRates, proven, secretOf } from '../../fixtures/rated';

const hour = holdfast.rotationMs;
const limited = { profile: holdfastLimited.name };
const epochEnd = slot + 600_000;

/** Makes the nth message's next generation in the limited network. */
function make(home: Home, nth: number, more: Partial<MaterialiseArgs> = {}) {
  return home.make(nth, { ...limited, ...more });
}

function putOf(effects: readonly Effect[]) {
  const found = effects.filter((effect) => effect.type === 'put-event');
  expect(found).toHaveLength(1);
  return present(found[0], 'an event that leaves');
}

function spent(home: Home): unknown {
  const { rateEpoch, tickets } = present(home.rows('counters')[0], 'an account has counters');
  return { rateEpoch, tickets };
}

async function home(count: number): Promise<Home> {
  const made = await Home.with(count);
  await limitRates(made);
  return made;
}

/** An account in the limited network that has no identity. */
async function homeless(count: number): Promise<Home> {
  const made = await Home.with(count);
  await made.store.transact('limitRate', { account, on: true });
  return made;
}

describe('tickets', () => {
  test('[OB-25] every new generation takes a ticket of its own, a retry none, and the retry is the same bytes', async () => {
    const one = await home(2);
    const first = putOf((await make(one, 1)).effects);
    expect(proven(first)).toMatchObject({ identity: identityOf(1), epoch: limiter.epochOf(t0), ticket: 0 });
    expect(one.rows('events')[0]?.blob).toEqual(first.blob);
    const after = spent(one);
    for (let round = 1; round <= 3; round++) {
      const again = putOf((await one.round(1, { now: t0 + round * 31_000 })).effects);
      expect([again.event, again.blob]).toEqual([first.event, first.blob]);
    }
    one.restart();
    expect((await make(one, 1)).outcome).toEqual({ kind: 'past' });
    expect(spent(one)).toEqual(after);
    const later = slot + hour + 1_000;
    const second = putOf((await make(one, 1, { supersedes: first.id, now: later })).effects);
    expect(proven(second)).toMatchObject({ epoch: limiter.epochOf(later), ticket: 0 });
    await one.answer(first.id, had, { next: makingArgs(0, { ...limited, now: later + 5 }), now: later + 5 });
    const third = one.operation(2).generations[0];
    expect(proven({ event: third?.event ?? first.event, blob: third?.blob ?? first.blob })).toMatchObject({
      epoch: limiter.epochOf(later),
      ticket: 1,
    });
  });

  test('[OB-25] no ticket is taken twice: not over an identity that changes and comes back, nor a clock that goes back', async () => {
    const one = await home(4);
    const claims = [];
    for (const [nth, identity] of [1, 2, 1].entries()) {
      await identify(one, identity);
      const made = putOf((await make(one, nth + 1, { now: t0 + nth })).effects);
      claims.push(proven(made));
      await one.answer(made.id, had);
    }
    expect(claims.map(({ ticket }) => ticket)).toEqual([0, 1, 2]);
    leave(one, 50, slot + hour);
    expect((await make(one, 4, { now: t0 + 9_000 })).outcome).toMatchObject({ reason: 'budget' });
  });

  test('[OB-25] what is refused for want of room has spent none', async () => {
    const one = await home(1);
    const before = spent(one);
    one.bound(one.rows('counters')[0]?.outboxBytes ?? 0);
    expect((await make(one, 1)).outcome).toMatchObject({ kind: 'parked', reason: 'room' });
    expect(spent(one)).toEqual(before);
  });

  test('[OB-25] two makings of one head, decided at once, spend one ticket', async () => {
    const one = await home(1);
    const seq = one.message(1).seq;
    const args = [makingArgs(seq, limited), makingArgs(seq, limited)];
    const both = await Promise.all(args.map((each) => one.store.transact('materialise', each)));
    expect(both.map(({ outcome }) => outcome.kind)).toEqual(['made', 'past']);
    expect(spent(one)).toEqual({ rateEpoch: limiter.epochOf(t0), tickets: 1 });
  });
});

describe('a budget that is spent', () => {
  test('[OB-26] the hundred and first of an epoch waits for the next, and everything behind it waits with it', async () => {
    const one = await home(103);
    let made = putOf((await make(one, 1)).effects);
    const tickets = new Set([proven(made).ticket]);
    for (let nth = 2; nth <= 100; nth++) {
      await one.answer(made.id, had, { next: makingArgs(0, { ...limited, now: t0 + nth }) });
      const { event, blob, id } = present(one.operation(nth).generations[0], 'the next head is made');
      made = { ...made, id, event: event ?? made.event, blob: blob ?? made.blob };
      tickets.add(proven(made).ticket);
    }
    expect(tickets.size).toBe(100);
    const events = one.rows('events').length;
    const ended = await one.answer(made.id, had, { next: makingArgs(0, { ...limited, now: t0 + 500 }) });
    expect(ended).toMatchObject({
      kind: 'acknowledged',
      next: { kind: 'parked', reason: 'budget', untilMs: epochEnd },
    });
    const tries = [await make(one, 101, { now: epochEnd - 1 }), await make(one, 102), await make(one, 103)];
    expect(tries.map(({ outcome }) => outcome.kind)).toEqual(['parked', 'past', 'past']);
    expect(tries.flatMap(({ effects }) => effects).filter(({ type }) => type === 'put-event')).toEqual([]);
    expect(one.rows('events')).toHaveLength(events);
    expect(one.waiting()).toEqual([101, 102, 103]);
    const resumed = putOf((await make(one, 101, { now: epochEnd })).effects);
    expect(proven(resumed)).toMatchObject({ epoch: limiter.epochOf(epochEnd), ticket: 0 });
    expect(one.operation(101).parked).toBeUndefined();
  });

  test('[OB-26] an exposed generation goes on being sent as it was, and nothing takes its place unproven', async () => {
    const one = await home(1);
    const first = putOf((await make(one, 1)).effects);
    const later = slot + hour + 1_000;
    leave(one, 0, later);
    const parked = await make(one, 1, { supersedes: first.id, now: later });
    expect(parked.outcome).toMatchObject({ kind: 'parked', reason: 'budget' });
    const again = putOf(parked.effects);
    expect([again.event, again.blob, again.relays]).toEqual([first.event, first.blob, relays]);
    expect(one.operation(1)).toMatchObject({ parked: 'budget', generations: [{ id: first.id }] });
    expect(one.rows('events')).toHaveLength(1);
  });

  test('[OB-26] a wait is never longer than a stored deadline may be, wherever the clock went', async () => {
    const one = await home(1);
    const counters = present(one.rows('counters')[0], 'an account has counters');
    const ownTime = slot + hour - 5_000;
    one.tables.write([put('counters', { ...counters, ownTime })]);
    leave(one, 0, ownTime);
    const { outcome } = await make(one, 1);
    expect(outcome).toMatchObject({ kind: 'parked', reason: 'budget' });
    expect(outcome.kind === 'parked' && outcome.untilMs - (t0 + 1_000)).toBeLessThanOrEqual(1_200_000);
  });
});

describe('an identity that is missing', () => {
  test('[OB-27] parks the head, sends nothing, and lets nothing pass; with one it is made', async () => {
    const one = await homeless(2);
    const parked = await make(one, 1);
    expect(parked.outcome).toMatchObject({ kind: 'parked', reason: 'identity' });
    expect((await make(one, 2)).outcome).toEqual({ kind: 'past' });
    expect(parked.effects.map(({ type }) => type)).toEqual(['look']);
    expect([one.rows('events'), one.rows('generations')]).toEqual([[], []]);
    expect(one.operation(1).parked).toBe('identity');
    const args = { account, secret: secretOf(3), nonce: fresh(12) };
    const { outcome, effects } = await one.store.transact('setRateIdentity', args);
    expect(outcome).toEqual({ kind: 'set', identity: identityOf(3) });
    expect(effects.map((effect) => effect.type === 'look' && effect.store)).toEqual(['account', 'outbox']);
    expect(one.operation(1)).toEqual({ generations: [], intents: [], round: 0 });
    expect(proven(putOf((await make(one, 1)).effects)).identity).toBe(identityOf(3));
  });

  test('[OB-27] taken away it parks again, and what is exposed goes on unchanged', async () => {
    const one = await home(1);
    const first = putOf((await make(one, 1)).effects);
    await one.store.transact('setRateIdentity', { account, secret: null, nonce: fresh(12) });
    const parked = await make(one, 1, { supersedes: first.id, now: slot + hour + 1_000 });
    expect(parked.outcome).toMatchObject({ kind: 'parked', reason: 'identity' });
    expect(putOf(parked.effects)).toMatchObject({ id: first.id, event: first.event, blob: first.blob });
    await identify(one, 1);
    // What is exposed keeps its round: an identity that comes hurries nothing.
    expect(one.operation(1)).toMatchObject({ parked: 'identity', generations: [{ id: first.id }] });
    const again = await make(one, 1, { supersedes: first.id, now: slot + hour + 60_000 });
    expect(again.outcome).toMatchObject({ kind: 'made' });
  });

  test('is kept sealed beside the nick, in a record that opens as before when there is none', async () => {
    const one = await homeless(0);
    const row = () => present(one.rows('accounts')[0], 'an account');
    const key = present(one.keys.data, 'a key');
    await identify(one, 4);
    expect(openIdentity(key, row())).toEqual({ nick, rateSecret: secretOf(4) });
    expect(Buffer.from(row().sealed).includes(Buffer.from(secretOf(4)))).toBe(false);
    const shown = (await one.store.read('overview', {})).account;
    expect(shown?.rate).toEqual({
      on: true,
      identity: Buffer.from(identityOf(4), 'hex').toString('base64url'),
    });
    await one.store.transact('setRateIdentity', { account, secret: null, nonce: fresh(12) });
    expect(openIdentity(key, row())).toEqual({ nick });
    expect((await one.store.read('overview', {})).account?.rate).toEqual({ on: true });
  });

  test('is not put into a record that does not open, nor into an account that is not there', async () => {
    const one = await homeless(0);
    const args = { account: 'ee'.repeat(16), secret: secretOf(1), nonce: fresh(12) };
    expect((await one.store.transact('setRateIdentity', args)).outcome).toEqual({ kind: 'unknown-account' });
    const row = present(one.rows('accounts')[0], 'an account');
    one.tables.write([put('accounts', { ...row, sealed: row.sealed.map((byte) => byte ^ 1) })]);
    const here = await one.store.transact('setRateIdentity', { ...args, account });
    expect(here.outcome).toEqual({ kind: 'damaged' });
  });
});

describe('the switch', () => {
  test('is off at first, and then nothing of an account, event or counter speaks of rates', async () => {
    const one = await Home.with(1);
    const { effects } = await one.make(1);
    expect(putOf(effects).blob).toHaveLength(0);
    expect((await one.store.read('overview', {})).account).not.toHaveProperty('rate');
    expect(one.rows('counters')[0]).not.toHaveProperty('tickets');
    expect(one.rows('tickets')).toEqual([]);
  });

  test('turned off again, frees a head that waited for a ticket or an identity', async () => {
    for (const identity of [1, undefined]) {
      const one = identity === undefined ? await homeless(1) : await home(1);
      leave(one, 0, t0);
      expect((await make(one, 1)).outcome).toMatchObject({ kind: 'parked' });
      const off = await one.store.transact('limitRate', { account, on: false });
      expect(off.outcome).toEqual({ kind: 'switched' });
      expect((await one.store.transact('limitRate', { account, on: false })).outcome.kind).toBe('unchanged');
      expect(one.operation(1).parked).toBeUndefined();
      expect(one.rows('accounts')[0]?.profile).toBe(holdfast.name);
      expect((await one.make(1)).outcome).toMatchObject({ kind: 'made' });
    }
  });
});
