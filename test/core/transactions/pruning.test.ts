import { describe, expect, test } from 'vitest';
import type { Bytes } from '../../../src/core/ids';
import { limits } from '../../../src/core/limits';
import { put } from '../../../src/core/transaction';
import type { Heard } from '../../../src/core/transactions/receive';
import { genesisOf, holdfast } from '../../../src/core/wire/profile';
import { account, fresh, open, relays, slot, t0 } from '../../fixtures/account';
import { type Made, make, noBlob, one } from '../../fixtures/graph-world';
import { Home } from '../../fixtures/home';

const hour = holdfast.rotationMs;
const genesis = genesisOf(holdfast, slot).id;
const graph = { account, profile: holdfast.name, slotsRetained: limits.clientSlotsRetained };

async function prune(home: Home, now: number): Promise<number> {
  let events = 0;
  for (let more = true; more; ) {
    const { outcome } = await home.store.transact('pruneGraph', { ...graph, now });
    events += outcome.events;
    ({ more } = outcome);
  }
  return events;
}

function heardIn({ id }: Made, text: string): Heard {
  return { event: id, conversation: open, logical: id.slice(0, 32), time: t0, nick: 'Cy', text };
}

async function receive(home: Home, made: Made, heard?: Heard, now = t0 + 5_000) {
  const base = { account, profile: holdfast.name, now, seed: fresh(32), blob: noBlob };
  const args = { ...base, event: made.bytes, synced: true, flooded: false, ...(heard ? { heard } : {}) };
  return (await home.store.transact('receive', args)).outcome;
}

async function texts(home: Home): Promise<readonly (string | undefined)[]> {
  const page = await home.store.read('timeline', { account, conversation: open, limit: 50 });
  return page.messages.map((message) => message.body?.text);
}

describe('pruning and the outbox', () => {
  test('[OB-06] a head whose slot was forgotten goes out byte for byte, after a restart too, and is what Has ends', async () => {
    const home = await Home.with(2);
    const made = await home.make(1, { now: t0 });
    const sent = made.effects.find((effect) => effect.type === 'put-event');
    expect(await prune(home, t0 + 30 * 24 * hour)).toBe(1);
    expect([home.rows('events'), home.rows('slots')]).toEqual([[], []]);
    home.restart();
    for (const now of [t0 + 31 * 24 * hour, t0 + 32 * 24 * hour]) {
      const { effects } = await home.round(1, { now });
      expect(effects.find((effect) => effect.type === 'put-event')).toEqual(sent);
      home.restart();
    }
    const verdict = await home.answer(home.active(1), { type: 'has', inserted: false });
    expect(verdict).toMatchObject({ kind: 'acknowledged' });
    expect(home.waiting()).toEqual([2]);
  });

  test('[OB-06] [OB-11] a copy of a forgotten head is linked to what was forgotten: evidence for either ends it', async () => {
    const home = await Home.with(2);
    await home.make(1, { now: t0 });
    const old = home.active(1);
    const later = t0 + 30 * hour;
    await prune(home, later);
    await home.make(1, { supersedes: old, now: later });
    expect(
      home
        .rows('generations')
        .map((row) => row.id)
        .sort(),
    ).toEqual([old, home.active(1)].sort());
    expect(await home.answer(old, { type: 'has', inserted: false })).toMatchObject({ kind: 'acknowledged' });
  });

  test('what an open operation has still to give to a relay stays as long as its slot, to the last moment of it', async () => {
    const home = await Home.with(1);
    await home.make(1, { now: t0 });
    await home.answer(home.active(1), { type: 'has', inserted: true });
    expect(await prune(home, slot + limits.clientSlotsRetained * hour - 1)).toBe(0);
    const [, two] = relays;
    expect((await home.claimOpen(two)).effects).toContainEqual(
      expect.objectContaining({ type: 'put-event', id: home.active(1), relays: [two] }),
    );
    expect(await prune(home, slot + limits.clientSlotsRetained * hour)).toBe(1);
  });
});

describe('[EG-07] a client whose graph is full', () => {
  const said = one(t0 + 1_000, [genesis], 1, 'said');

  async function full(): Promise<Home> {
    const home = await Home.with(2);
    await home.make(1, { now: t0 });
    const [counters] = home.rows('counters');
    if (counters === undefined) throw new Error('no counters');
    const graphBytes = limits.clientGraphBytesMax - said.bytes.length + 1;
    home.tables.write([put('counters', { ...counters, graphBytes })]);
    return home;
  }

  test('is Busy to others, put or asked for, says nothing against them, and keeps what it has', async () => {
    const home = await full();
    const before = home.rows('events');
    expect((await receive(home, said)).verdict).toEqual({
      type: 'nack',
      reason: 'busy',
      strike: false,
      counted: true,
    });
    const base = { account, profile: holdfast.name, now: t0 + 5_000, seed: fresh(32) };
    const events = [{ event: said.bytes, blob: noBlob }];
    const asked = await home.store.transact('receiveFetched', { ...base, slot, events, heard: [] });
    expect(asked.outcome).toMatchObject({ inserted: 0, broken: [], full: true });
    expect(home.rows('events')).toEqual(before);
  });

  test('still sends what is ours, still takes a Has, and takes others in again when slots were forgotten', async () => {
    const home = await full();
    await home.answer(home.active(1), { type: 'has', inserted: true });
    const made = await home.make(2, { now: t0 + 2_000 });
    expect(made.outcome.kind).toBe('made');
    expect((await receive(home, said)).verdict).toMatchObject({ reason: 'busy' });
    const later = slot + limits.clientSlotsRetained * hour;
    expect(await prune(home, later)).toBe(2);
    const fresher = one(later + 1_000, [genesisOf(holdfast, later).id], 1, 'said');
    expect((await receive(home, fresher, undefined, later + 2_000)).verdict).toMatchObject({ type: 'has' });
  });
});

describe('what came while the store was locked', () => {
  const said = one(t0 + 1_000, [genesis], 1, 'said');
  const answered = one(t0 + 2_000, [said.id], 2, 'answered');
  const heard = [heardIn(said, 'said'), heardIn(answered, 'answered')] as const;

  async function locked(): Promise<Home> {
    const home = await Home.with(1);
    home.keys = {};
    expect(await receive(home, said, heard[0])).toMatchObject({
      verdict: { type: 'has', inserted: true },
      unapplied: true,
    });
    await receive(home, answered, heard[1]);
    return home;
  }

  const unlock = (home: Home): void => {
    home.keys = { data: { id: 1, bytes: new Uint8Array(32).fill(0x42) } };
  };
  const mark = (home: Home) => home.rows('counters')[0]?.unapplied;
  const scan = async (home: Home, applied: number) => {
    const args = { account, heard, now: t0 + 9_000, seed: fresh(32), applied };
    return (await home.store.transact('scanChannel', args)).outcome;
  };

  test('[OB-14] is in the graph, is evidence, and waits to be heard', async () => {
    const home = await Home.with(1);
    await home.make(1, { now: t0 });
    home.keys = {};
    const above = one(t0 + 1_000, [home.active(1)], 2, 'above');
    const outcome = await receive(home, above, heardIn(above, 'above'));
    expect(outcome).toMatchObject({ acknowledged: { seq: 1 }, unapplied: true });
    expect(home.waiting()).toEqual([]);
    expect(mark(home)?.from).toBe(slot);
    expect(home.rows('messages')).toHaveLength(1);
  });

  test('is not forgotten however old it is, until it is in its conversation', async () => {
    const home = await locked();
    const late = slot + 100 * hour;
    const after = make('x', slot + 2 * hour);
    for (const event of after.values()) await receive(home, event, undefined, slot + 2 * hour + 20_000);
    expect(await prune(home, late)).toBe(0);
    unlock(home);
    const revision = mark(home)?.revision ?? 0;
    expect(await scan(home, revision)).toEqual({ stored: 2 });
    expect(await texts(home)).toEqual(['message 1', 'said', 'answered']);
    expect(mark(home)).toBeUndefined();
    expect(await prune(home, late)).toBe(3);
    expect(await scan(home, revision)).toEqual({ stored: 0 });
  });

  test('more that comes while it is looked through keeps the mark', async () => {
    const home = await locked();
    const { revision = 0 } = mark(home) ?? {};
    const more = one(t0 + 3_000, [answered.id], 3, 'more');
    await receive(home, more, heardIn(more, 'more'));
    unlock(home);
    await scan(home, revision);
    expect(mark(home)).toMatchObject({ from: slot });
    expect(await prune(home, slot + 100 * hour)).toBe(0);
    await scan(home, mark(home)?.revision ?? 0);
    expect(mark(home)).toBeUndefined();
  });

  test('a row of a build that knew no mark is one without it: nothing is held back, and the mark is set and lifted', async () => {
    const home = await Home.with(1);
    const [row] = home.rows('counters');
    if (row === undefined) throw new Error('no counters');
    const { seq, outboxBytes, live, graphBytes, ownTime, revision } = row;
    const old = { account, seq, outboxBytes, live, graphBytes, ownTime, revision };
    home.tables.write([put('counters', old)]);
    expect(await home.store.read('graphSlots', { account })).toEqual({ slots: [] });
    expect(await prune(home, slot + 100 * hour)).toBe(0);
    home.keys = {};
    expect(await receive(home, said, heard[0])).toMatchObject({ unapplied: true });
    expect(mark(home)).toEqual({ from: slot, revision: home.rows('counters')[0]?.revision });
    unlock(home);
    await scan(home, mark(home)?.revision ?? 0);
    expect(Object.keys(home.rows('counters')[0] ?? {}).sort()).toEqual(Object.keys(old).sort());
  });

  test('the mark is handed on by whatever else happens before it is lifted', async () => {
    const home = await locked();
    const before = mark(home);
    unlock(home);
    const now = t0 + 5_000;
    await home.enqueue(2);
    await home.enqueue(3);
    await home.make(1, { now });
    await home.round(1);
    await home.store.transact('retryNow', home.hand(1, now + 60_000));
    await home.answer(home.active(1), { type: 'has', inserted: true });
    await home.claimOpen(relays[1]);
    await home.store.transact('release', { account, relay: relays[1], now });
    await home.store.transact('drop', home.hand(2, now));
    await home.store.transact('undoDrop', home.hand(2, now));
    await home.store.transact('drop', home.hand(3, now));
    await home.store.transact('forgetDropped', home.hand(3, now));
    await home.store.transact('addRelay', { account, url: 'wss://three.example/', now });
    await home.store.transact('removeRelay', { account, url: relays[1], now });
    await home.store.transact('markRead', { account, conversation: open, seq: 1 });
    await home.store.transact('limitRate', { account, on: true });
    const revision = home.rows('counters')[0]?.revision ?? 0;
    expect(revision).toBeGreaterThan((before?.revision ?? 0) + 10);
    expect(mark(home)).toEqual(before);
  });

  test('a store that is open sets no mark, and holds nothing back', async () => {
    const home = await Home.with(1);
    expect(await receive(home, said, heard[0])).not.toHaveProperty('unapplied');
    const events: { readonly event: Bytes; readonly blob: Bytes }[] = [
      { event: answered.bytes, blob: noBlob },
    ];
    const base = { account, profile: holdfast.name, now: t0 + 5_000, seed: fresh(32) };
    await home.store.transact('receiveFetched', { ...base, slot, events, heard: [heard[1]] });
    expect(mark(home)).toBeUndefined();
    expect(await texts(home)).toEqual(['message 1', 'said', 'answered']);
    expect(await prune(home, slot + 100 * hour)).toBe(2);
  });

  test('where nobody is locked out: a relay, which has no key and hears nothing, forgets by age alone', async () => {
    const home = new Home();
    home.keys = {};
    const relay = { account: '00'.repeat(16), profile: holdfast.name, slotsRetained: 1 };
    const live = { event: said.bytes, blob: noBlob, now: t0 + 5_000, synced: true, flooded: false };
    const taken = await home.store.transact('relayPut', { ...relay, ...live, bytesMax: 1e9 });
    expect(taken.outcome).toEqual({ verdict: 'inserted' });
    const { outcome } = await home.store.transact('pruneGraph', { ...relay, now: slot + hour });
    expect(outcome.events).toBe(1);
  });
});
