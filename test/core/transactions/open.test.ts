import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/core/limits';
import { put } from '../../../src/core/transaction';
import { decodeEvent, encodeEvent } from '../../../src/core/wire/event';
import { holdfast } from '../../../src/core/wire/profile';
import { account, relays, t0 } from '../../fixtures/account';
import { Home, had, idOf, taken } from '../../fixtures/home';

const [one, two] = relays;
const three = 'wss://three.example/';
const all = [one, two, three] as const;
const hour = holdfast.rotationMs;
const busy = { type: 'nack', reason: 'busy' } as const;

/** A message sent to three relays, which the first accepted: it has left the lane. */
async function acceptedByOne(count = 2): Promise<Home> {
  const home = await Home.with(count);
  await home.make(1, { now: t0, relays: all });
  await home.answer(home.active(1), taken, { now: t0 + 100 });
  return home;
}

const states = (home: Home, nth = 1) => all.map((relay) => home.intent(nth, relay)?.state);
const puts = (committed: { readonly effects: readonly { readonly type: string }[] }) =>
  committed.effects.filter((effect) => effect.type === 'put-event');

describe('an operation outlives its entry', () => {
  test('[RD-04] it is open until every required relay has accepted, and the first acceptance frees the lane', async () => {
    const home = await acceptedByOne();
    expect(home.waiting()).toEqual([2]);
    expect(states(home)).toEqual(['accepted', 'leased', 'leased']);
    expect(home.message(1).open).toBe(1);
    expect(await home.answer(home.active(1), taken, { relay: two })).toEqual({ kind: 'late', seq: 1 });
    home.restart();
    expect(states(home)).toEqual(['accepted', 'accepted', 'leased']);
    expect(home.message(1).open).toBe(1);
    await home.answer(home.active(1), had, { relay: three });
    expect(states(home)).toEqual(['accepted', 'accepted', 'accepted']);
    expect(home.message(1)).not.toHaveProperty('open');
  });

  test('[RD-04] evidence of the network frees the lane and completes nothing', async () => {
    const home = await Home.with(1);
    await home.make(1, { now: t0, relays: all });
    await home.make(1, { now: t0 + hour, relays: all, supersedes: home.active(1) });
    const [first] = home.operation(1).generations;
    await home.answer(first?.id ?? '', had, { relay: 'wss://elsewhere/', now: t0 + hour + 1 });
    expect(home.waiting()).toEqual([]);
    expect(home.message(1).open).toBe(1);
    expect(states(home)).toEqual(['leased', 'leased', 'leased']);
  });

  test('[RD-04] a relay that came after the first send is not required: at most three are, and those that were ready', async () => {
    const home = await Home.with(1);
    const four = [...all, 'wss://four.example/'];
    await home.make(1, { now: t0, relays: four });
    await home.round(1, { due: false, relays: ['wss://five.example/'], now: t0 + 50 });
    for (const relay of all) await home.answer(home.active(1), taken, { relay });
    expect(
      home
        .operation(1)
        .intents.filter((intent) => intent.required)
        .map((intent) => intent.relay),
    ).toEqual(expect.arrayContaining([...all]));
    expect(home.operation(1).intents.filter((intent) => intent.required)).toHaveLength(3);
    expect(home.message(1)).not.toHaveProperty('open');
  });

  test('[RD-04] when its event has left the graph nothing is left to send: the rest ends as unconfirmed', async () => {
    const home = await acceptedByOne();
    const now = t0 + 40 * hour;
    const graph = { account, profile: holdfast.name, slotsRetained: limits.clientSlotsRetained, now };
    while ((await home.store.transact('pruneGraph', graph)).outcome.more);
    const claimed = await home.claimOpen(three, { now });
    expect(puts(claimed)).toEqual([]);
    expect(home.message(1)).not.toHaveProperty('open');
    expect(home.intent(1, two)).toMatchObject({ state: 'cancelled', reason: 'unconfirmed' });
    expect(home.intent(1, three)).toMatchObject({ state: 'cancelled', reason: 'unconfirmed' });
    expect(home.intent(1, one)).toMatchObject({ state: 'accepted' });
    await home.answer(home.active(1), busy, { relay: two });
    expect(home.intent(1, two)).toMatchObject({ state: 'cancelled', reason: 'unconfirmed' });
    expect(await home.answer(home.active(1), had, { relay: two })).toEqual({ kind: 'late', seq: 1 });
    expect(home.intent(1, two)).toMatchObject({ state: 'accepted' });
  });
});

describe('a relay that has come back', () => {
  test('[RD-07] [RD-08] is given what is open for it, the same bytes; what it has accepted is not sent again', async () => {
    const home = await Home.with(1);
    const made = await home.make(1, { now: t0, relays: all });
    const [sent] = puts(made);
    await home.answer(home.active(1), taken);
    const claimed = await home.claimOpen(two);
    expect(puts(claimed)).toEqual([{ ...sent, relays: [two] }]);
    expect(home.intent(1, two)).toMatchObject({ state: 'leased', attempt: 2 });
    expect(puts(await home.claimOpen(one))).toEqual([]);
    expect(home.intent(1, one)).toMatchObject({ state: 'accepted', attempt: 1 });
    await home.answer(home.active(1), taken, { relay: two });
    expect(puts(await home.claimOpen(two))).toEqual([]);
    expect(puts(await home.claimOpen('wss://stranger.example/'))).toEqual([]);
  });

  test('[RD-07] what is in the lane is not claimed twice: the head and those behind it have their rounds', async () => {
    const home = await acceptedByOne(3);
    await home.make(2, { now: t0 + 1_000, relays: all });
    const claimed = await home.claimOpen(two);
    expect(claimed.outcome).toMatchObject({ claimed: 1, last: 1, upTo: 1, full: false, more: false });
    const later = await home.claimOpen(two, { after: 0, upTo: 0 });
    expect(later.outcome.claimed).toBe(0);
    await home.answer(home.active(2), taken, { now: t0 + 1_100 });
    expect((await home.claimOpen(two, { after: 1, upTo: 1 })).outcome.claimed).toBe(0);
    expect((await home.claimOpen(two, { after: 1 })).outcome.claimed).toBe(1);
  });

  test('[RD-07] pages go on where the last one ended, each message in exactly one', async () => {
    const count = 7;
    const home = await Home.with(count);
    for (let nth = 1; nth <= count; nth++) {
      await home.make(nth, { now: t0 + nth, relays: all });
      await home.answer(home.active(nth), taken, { now: t0 + nth });
    }
    const seen: string[] = [];
    let after = 0;
    let upTo: number | undefined;
    for (let pages = 0; pages < 4; pages++) {
      const cursor = upTo === undefined ? { after } : { after, upTo };
      const { outcome, effects } = await home.claimOpen(two, { ...cursor, limit: 3 });
      seen.push(...puts({ effects }).map((effect) => (effect as unknown as { readonly id: string }).id));
      ({ last: after, upTo } = outcome);
      if (!outcome.more) break;
    }
    expect(seen).toEqual(Array.from({ length: count }, (_, at) => home.active(at + 1)));
  });

  test('[RD-10] a page obeys the count and the bytes it is given, one that is over them goes alone, and none is left out', async () => {
    const texts = ['a'.repeat(300), 'b'.repeat(300), 'c'.repeat(9_000), 'd', 'e'];
    const home = await Home.with();
    for (const [at, text] of texts.entries()) {
      await home.enqueue(at + 1, text);
      await home.make(at + 1, { now: t0 + at, relays: all });
      await home.answer(home.active(at + 1), taken, { now: t0 + at });
    }
    const pages: { readonly ids: readonly number[]; readonly bytes: number }[] = [];
    let after = 0;
    for (let more = true; more; ) {
      const { outcome, effects } = await home.claimOpen(two, { after, upTo: 5, limit: 3, bytesMax: 1_500 });
      const ids = puts({ effects }).map((effect) => (effect as unknown as { readonly id: string }).id);
      const nths = ids.map((id) => texts.findIndex((_, at) => home.active(at + 1) === id) + 1);
      pages.push({ ids: nths, bytes: outcome.bytes });
      expect(ids).toHaveLength(outcome.claimed);
      ({ last: after, more } = outcome);
    }
    expect(pages.map((page) => page.ids)).toEqual([[1, 2], [3], [4, 5]]);
    expect(pages.map((page) => page.bytes <= 1_500)).toEqual([true, false, true]);
    const second = await home.claimOpen(two, { after: 2, bytesMax: 1_500, alone: false });
    expect(second.outcome).toMatchObject({ claimed: 0, bytes: 0, full: true, last: 2, more: true });
    expect(home.intent(3, two)?.attempt).toBe(2);
  });

  test('[RD-14] [RD-15] over a bound the relay lowered it keeps its history, its open intents end, and what is behind it goes', async () => {
    const home = await Home.with();
    for (const [at, text] of ['large '.repeat(200), 'small', 'small too'].entries()) {
      await home.enqueue(at + 1, text);
      await home.make(at + 1, { now: t0 + at, relays: all });
      await home.answer(home.active(at + 1), taken, { now: t0 + at });
    }
    const before = home.message(1);
    const revision = home.rows('counters')[0]?.revision ?? 0;
    const claimed = await home.claimOpen(two, { contentBytesMax: 500 });
    expect(puts(claimed)).toHaveLength(2);
    expect(home.rows('counters')[0]?.revision).toBe(revision + 1);
    expect(home.intent(1, two)).toMatchObject({ state: 'rejected', reason: 'event_too_large' });
    expect(home.intent(1, one)).toEqual(before.operation?.intents.find((intent) => intent.relay === one));
    expect(home.intent(1, three)?.state).toBe('leased');
    const { operation: _operation, ...kept } = home.message(1);
    const { operation: _before, ...was } = before;
    expect(kept).toEqual(was);
    // The event stays for those who take it, and is not given to one that does not.
    const ids = [1, 2, 3].map((nth) => home.active(nth));
    const ask = (contentBytesMax: number) =>
      home.store.read('graphBodies', { account, ids, eventsMax: 9, bytesMax: 1e6, contentBytesMax });
    expect((await ask(500)).map((body) => idOf(body.event))).toEqual(ids.slice(1));
    expect((await ask(5_000)).map((body) => idOf(body.event))).toEqual(ids);
    await home.claimOpen(three, { contentBytesMax: 500 });
    expect(home.message(1)).not.toHaveProperty('open');
    expect(states(home)).toEqual(['accepted', 'rejected', 'rejected']);
  });

  test('[RD-14] an imported event that no wire takes ends by itself, at every relay, and starves nothing', async () => {
    const home = await acceptedByOne(3);
    await home.make(2, { now: t0 + 1_000, relays: all });
    await home.answer(home.active(2), taken, { now: t0 + 1_100 });
    const event = home.rows('events').find((row) => row.id === home.active(1));
    if (event === undefined) throw new Error('the event was not stored');
    const header = decodeEvent(event.event).header;
    const bytes = new Uint8Array([
      ...encodeEvent({ header, content: new Uint8Array([1]) }).slice(0, 208),
      0xfe,
      0,
      0,
      5,
      0,
      ...new Uint8Array(0x50000),
    ]);
    home.tables.write([put('events', { ...event, event: bytes })]);
    const claimed = await home.claimOpen(two);
    expect(puts(claimed)).toMatchObject([{ id: home.active(2) }]);
    expect(home.intent(1, two)).toMatchObject({ state: 'rejected', reason: 'event_too_large' });
    expect(home.intent(1, one)).toMatchObject({ state: 'accepted' });
    const ids = [home.active(1), home.active(2)];
    const given = await home.store.read('graphBodies', { account, ids, eventsMax: 9, bytesMax: 1e9 });
    expect(given.map((body) => idOf(body.event))).toEqual([home.active(2)]);
  });

  test('[RD-14] an imported head that no wire takes is handed to nobody, and parks in sight', async () => {
    const home = await Home.with(1);
    await home.make(1, { now: t0, relays: all });
    const row = home.message(1);
    const [made] = row.operation?.generations ?? [];
    if (row.operation === undefined || made === undefined) throw new Error('nothing was made');
    const generations = [{ ...made, event: new Uint8Array(limits.contentBytesMax + 300) }];
    home.tables.write([
      put('messages', { ...row, operation: { ...row.operation, generations, intents: [] } }),
    ]);
    const round = await home.round(1, { relays: all });
    expect(puts(round)).toMatchObject([{ relays: [] }]);
    expect(states(home)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(home.waiting()).toEqual([1]);
  });

  test('[RD-08] a refusal may be tried again, a size is terminal: their states tell them apart', async () => {
    const home = await acceptedByOne();
    await home.answer(home.active(1), busy, { relay: two });
    const tooLarge = await home.claimOpen(three, { contentBytesMax: 10 });
    expect(puts(tooLarge)).toEqual([]);
    expect(home.intent(1, two)).toMatchObject({ state: 'retryable', reason: 'busy' });
    expect(home.intent(1, three)).toMatchObject({ state: 'rejected', reason: 'event_too_large' });
    expect(home.message(1).open).toBe(1);
    await home.answer(home.active(1), busy, { relay: three });
    expect(home.intent(1, three)).toMatchObject({ state: 'rejected', reason: 'event_too_large' });
    expect(puts(await home.claimOpen(three))).toEqual([]);
    expect(puts(await home.claimOpen(two))).toHaveLength(1);
    await home.answer(home.active(1), taken, { relay: two });
    expect(home.message(1)).not.toHaveProperty('open');
  });

  test('[RD-15] a claim that only ends something still advances the revision, and one that finds nothing does not', async () => {
    const home = await acceptedByOne();
    const revision = () => home.rows('counters')[0]?.revision ?? 0;
    const before = revision();
    await home.claimOpen(three, { contentBytesMax: 10 });
    expect(revision()).toBe(before + 1);
    await home.claimOpen(three, { contentBytesMax: 10 });
    expect(revision()).toBe(before + 1);
  });

  test('[RD-09] a refusal of an open operation is durable before the relay is tried again', async () => {
    const home = await acceptedByOne();
    await home.answer(home.active(1), busy, { relay: two, now: t0 + 5_000 });
    home.restart();
    expect(home.intent(1, two)).toMatchObject({ state: 'retryable', reason: 'busy', at: t0 + 5_000 });
    await home.claimOpen(two);
    expect(home.intent(1, two)).toMatchObject({ state: 'leased', attempt: 2 });
  });

  test('[RD-12] an acceptance handled at the deadline of the claim stands before the recovery of that claim', async () => {
    const home = await acceptedByOne();
    const deadline = home.intent(1, two)?.untilMs ?? 0;
    const [answered, claimed] = await Promise.all([
      home.answer(home.active(1), taken, { relay: two, now: deadline }),
      home.claimOpen(two, { now: deadline }),
    ]);
    expect(answered).toEqual({ kind: 'late', seq: 1 });
    expect(puts(claimed)).toEqual([]);
    expect(home.intent(1, two)).toMatchObject({ state: 'accepted', attempt: 1 });
  });

  test('[RD-16] the end of a link or of the engine erases no open intent', async () => {
    const home = await acceptedByOne();
    const before = home.operation(1).intents;
    await home.store.transact('release', { account, relay: two, now: t0 + 1_000 });
    await home.store.transact('removeRelay', { account, url: three, now: t0 + 1_000 });
    home.restart();
    expect(home.operation(1).intents.map((intent) => [intent.relay, intent.event])).toEqual(
      before.map((intent) => [intent.relay, intent.event]),
    );
    expect(puts(await home.claimOpen(two, { term: 2 }))).toHaveLength(1);
  });
});
