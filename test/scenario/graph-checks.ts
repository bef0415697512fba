import { expect } from 'vitest';
import type { Bytes, EventId } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { put, remove } from '../../src/core/transaction';
import { utf8Bytes } from '../../src/core/wire/codec';
import { decodeEvent, encodeEvent, eventId, makeEvent, parentsOf } from '../../src/core/wire/event';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { account, fresh, relays, slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle } from '../fixtures/fake-ports';
import { Home, had, idOf, taken } from '../fixtures/home';
import type { Check, Sut } from './checks';

const hour = holdfast.rotationMs;
const [one, two] = relays;
const genesis = genesisOf(holdfast, slot).id;

/** An event of somebody else. */
function event(text: string, parent: EventId = genesis, layer = 1, time = t0): Bytes {
  return encodeEvent(makeEvent(BigInt(time), [parent], BigInt(layer), utf8Bytes(text)));
}

/** What a peer's live event is answered. */
async function verdict(home: Home, bytes: Bytes, now = t0 + 5_000) {
  const base = { account, profile: holdfast.name, now, seed: fresh(32), synced: true, flooded: false };
  const call = await home.store.transact('receive', { ...base, event: bytes, blob: fresh(0) });
  return call.outcome.verdict;
}

async function sent(sut: Sut, count = 2): Promise<Home> {
  const home = await Home.with(count, relays, sut.scripts);
  await home.make(1, { now: t0 });
  return home;
}

/** So many messages of so many bytes that the first relay has taken and the second has not. */
async function open(sut: Sut, bytes: number, count = 3): Promise<Home> {
  const home = await Home.with(0, relays, sut.scripts);
  for (let nth = 1; nth <= count; nth++) {
    await home.enqueue(nth, 'x'.repeat(nth === 1 ? bytes : 20));
    await home.make(nth, { now: t0 + nth });
    await home.answer(home.active(nth), taken, { now: t0 + nth });
  }
  return home;
}

function given({ effects }: { readonly effects: readonly { readonly type: string }[] }): number {
  return effects.filter((effect) => effect.type === 'put-event').length;
}

async function worldOf(sut: Sut, count: number): Promise<EngineWorld> {
  const world = await EngineWorld.with(count, ['one'], { scripts: sut.scripts, ports: sut.ports });
  world.relay(0).verdict = () => undefined;
  await world.start();
  await world.clock.pass(1_000);
  return world;
}

/** The checks of the graph and of what rests on it, by id. */
export const graphChecks = {
  async 'EG-03'(sut) {
    const home = await Home.with(0, relays, sut.scripts);
    const before = slot - hour;
    const old = event('old', genesisOf(holdfast, before).id, 1, before + 1_000);
    expect(await verdict(home, old)).toMatchObject({ type: 'nack', reason: 'too-old', strike: false });
  },
  async 'EG-04'(sut) {
    const home = await Home.with(0, relays, sut.scripts);
    const kept = event('kept');
    await verdict(home, kept);
    const answer = await verdict(home, kept, slot + 5 * hour);
    expect(answer).toEqual({ type: 'has', inserted: false, id: idOf(kept) });
  },
  async 'EG-07'(sut) {
    const world = await worldOf(sut, 0);
    world.relay(0).put(event('orphan', 'ab'.repeat(32), 7));
    await idle();
    const [counters] = world.home.rows('counters');
    if (counters === undefined) throw new Error('no counters');
    world.home.tables.write([put('counters', { ...counters, graphBytes: limits.clientGraphBytesMax })]);
    world.relay(0).put(event('no room'));
    await world.clock.pass(1_000);
    const busy = { type: 'nack', reason: 'busy' };
    expect(world.relay(0).told).toEqual([busy, busy]);
  },
  async 'EG-12'(sut) {
    const world = await worldOf(sut, 1);
    const own = world.home.active(1);
    const said = [own, 'ab'.repeat(32), own, own];
    for (const id of said) world.relay(0).say(id, { type: 'nack', reason: 'busy' });
    await idle();
    const noted = world.notes?.all.filter((note) => note.what === 'status').map((note) => note.detail);
    const { url } = world.relay(0);
    expect(noted).toEqual(said.map((id) => ({ relay: url, id, result: 'nack', reason: 'busy' })));
  },
  async 'EG-13'(sut) {
    const home = await Home.with(0, relays, sut.scripts);
    const tables = new Set<string>();
    const write = home.tables.write.bind(home.tables);
    home.tables.write = (changes) => {
      for (const change of changes) if ('put' in change) tables.add(change.put);
      write(changes);
    };
    await verdict(home, event('a'));
    await verdict(home, event('orphan', 'ab'.repeat(32), 7));
    expect([...tables].sort()).toEqual(['counters', 'events', 'slots']);
  },
  async 'OB-11'(sut) {
    const home = await sent(sut);
    const on = event('on it', home.active(1), 2, t0 + 1_000);
    expect(await verdict(home, event('beside it'))).toMatchObject({ type: 'has' });
    expect(home.waiting()).toEqual([1, 2]);
    expect(await verdict(home, on)).toMatchObject({ type: 'has', inserted: true });
    expect(home.waiting()).toEqual([2]);
  },
  async 'OB-12'(sut) {
    const home = await sent(sut);
    const [row] = home.rows('events');
    home.tables.write([remove('events', [account, row?.id ?? ''])]);
    await verdict(home, row?.event ?? fresh(1));
    await home.make(1, { supersedes: home.active(1), now: t0 + hour });
    expect(home.waiting()).toEqual([1, 2]);
  },
  async 'OB-21'(sut) {
    const home = await sent(sut, 1);
    const at = (now: number) => {
      const base = { synced: true, minPeers: 2, clockTrusted: true, rotationMs: hour, ready: relays };
      const [head] = home.lane();
      return head === undefined ? undefined : sut.policy(head, { ...base, now, term: 1 }).send;
    };
    // Not while the slot is open, nor before a round was completed since it closed, nor in the last seconds of one.
    expect([at(slot + hour / 2), at(slot + hour + 1_000)]).toEqual(['rebroadcast', 'rebroadcast']);
    await home.round(1, { now: slot + hour + 1_000 });
    expect([at(slot + 2 * hour - 1_000), at(slot + hour + 200_000)]).toEqual(['rebroadcast', 'recreate']);
    // Nor by a clock that went back: a copy is always of a later slot.
    expect(at(slot - hour / 2)).toBe('rebroadcast');
  },
  async 'OB-22'(sut) {
    const home = await sent(sut);
    const bytes = home.operation(1).generations[0]?.event;
    await verdict(
      home,
      event('next slot', genesisOf(holdfast, slot + hour).id, 1, slot + hour + 10),
      slot + hour + 20,
    );
    await home.make(1, { supersedes: home.active(1), now: t0 + hour });
    const copy = home.operation(1).generations[1];
    const [was, is] = [bytes, copy?.event].map((made) => decodeEvent(made ?? fresh(1)));
    expect(copy?.id).not.toBe(home.operation(1).generations[0]?.id);
    expect(is?.header.timestamp).toBeGreaterThan(was?.header.timestamp ?? 0n);
    expect(parentsOf(is?.header ?? ({} as never))).not.toEqual(parentsOf(was?.header ?? ({} as never)));
    expect(is?.content).toEqual(was?.content);
  },
  async 'OB-23'(sut) {
    const home = await sent(sut);
    const old = home.active(1);
    expect(await home.answer(old, had, { now: t0 + 5 * hour })).toMatchObject({ kind: 'acknowledged' });
    expect([home.waiting(), home.operation(1).generations.length]).toEqual([[2], 1]);
  },
  async 'OB-24'(sut) {
    const home = await sent(sut);
    for (const reason of ['invalid', 'not-synced', 'busy'] as const) {
      for (const relay of relays) await home.answer(home.active(1), { type: 'nack', reason }, { relay });
    }
    expect([home.waiting(), home.operation(1).generations.length]).toEqual([[1, 2], 1]);
  },
  async 'RD-10'(sut) {
    const home = await open(sut, 300);
    expect(given(await home.claimOpen(two, { limit: 1 }))).toBe(1);
    expect(given(await home.claimOpen(two, { after: 1, bytesMax: 400 }))).toBe(1);
  },
  async 'RD-13'(sut) {
    const home = await Home.with(0, relays, sut.scripts);
    expect(await home.enqueue(1, 'x'.repeat(limits.textBytesMax + 1))).toEqual({ kind: 'too-long', over: 1 });
    expect(home.waiting()).toEqual([]);
  },
  async 'RD-14'(sut) {
    const lowered = await open(sut, 2_000);
    expect(given(await lowered.claimOpen(two, { contentBytesMax: 1_000 }))).toBe(2);
    const imported = await open(sut, 20);
    const row = imported.rows('events').find((kept) => kept.id === imported.active(1));
    if (row === undefined) throw new Error('the event was not stored');
    const large = new Uint8Array([...row.event.slice(0, 208), 0xfe, 0, 0, 5, 0, ...fresh(0x50000)]);
    imported.tables.write([put('events', { ...row, event: large })]);
    expect(given(await imported.claimOpen(two))).toBe(2);
    for (const home of [lowered, imported]) {
      expect(home.intent(1, two)).toMatchObject({ state: 'rejected', reason: 'event_too_large' });
      expect(home.intent(1, one)).toMatchObject({ state: 'accepted' });
    }
    const ids = [1, 2, 3].map((nth) => imported.active(nth));
    const asked = { account, ids, eventsMax: 9, bytesMax: 1e9 };
    const bodies = await imported.store.read('graphBodies', asked);
    expect(bodies.map((body) => eventId(decodeEvent(body.event).header))).toEqual(ids.slice(1));
  },
  async 'RD-15'(sut) {
    const home = await open(sut, 2_000, 1);
    const revision = home.rows('counters')[0]?.revision ?? 0;
    expect(given(await home.claimOpen(two, { contentBytesMax: 1_000 }))).toBe(0);
    expect(home.rows('counters')[0]?.revision).toBe(revision + 1);
  },
} satisfies Readonly<Record<string, Check>>;
