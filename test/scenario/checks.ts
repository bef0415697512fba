import { expect } from 'vitest';
import { limits } from '../../src/core/limits';
import type { nextForHead } from '../../src/core/outbox/policy';
import type { MessageRow } from '../../src/core/tables';
import type { Scripts } from '../../src/core/transactions/registry';
import { utf8Bytes } from '../../src/core/wire/codec';
import { commands } from '../../src/core/wire/commands';
import { encodeEvent, eventId, makeEvent } from '../../src/core/wire/event';
import { decodeEventPut } from '../../src/core/wire/event-put';
import { decodeFrame } from '../../src/core/wire/frame';
import { genesisOf, holdfast, holdfastLimited } from '../../src/core/wire/profile';
import type { Ports } from '../../src/engine/ports';
import { account, enqueueArgs, fresh, relays, slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { Home, had, taken } from '../fixtures/home';
import { leave, limitRates, proven } from '../fixtures/rated';

/** What is checked: the house as it is, or with a bug planted in one of these. */
export interface Sut {
  readonly scripts: Scripts;
  readonly policy: typeof nextForHead;
  ports(ports: Ports): Ports;
  /** A store that says committed of what it could not write. */
  readonly hidesFailures: boolean;
}

/** One bug put in by hand. */
export interface Bug {
  readonly title: string;
  readonly sut: Partial<Sut>;
}

/** One small scenario; it throws an `AssertionError` when the rule it stands for is broken. */
export type Check = (sut: Sut) => Promise<void>;

const hour = holdfast.rotationMs;
const [one, two] = relays;
const busy = { type: 'nack', reason: 'busy' } as const;

function homeOf(sut: Sut, count = 2): Promise<Home> {
  return Home.with(count, relays, sut.scripts);
}

async function sent(sut: Sut, count = 2): Promise<Home> {
  const home = await homeOf(sut, count);
  await home.make(1, { now: t0 });
  return home;
}

async function copied(sut: Sut): Promise<Home> {
  const home = await sent(sut);
  await home.make(1, { supersedes: home.active(1), now: t0 + hour });
  return home;
}

function puts({ effects }: { readonly effects: readonly { readonly type: string }[] }) {
  return effects.filter((effect) => effect.type === 'put-event');
}

async function worldOf(sut: Sut, count: number): Promise<EngineWorld> {
  const world = await EngineWorld.with(count, ['one', 'two'], { scripts: sut.scripts, ports: sut.ports });
  for (const relay of world.relays) relay.verdict = () => undefined;
  return world;
}

function countedBytes(home: Home): number {
  return home.lane().reduce((sum, row) => sum + (row.bytes ?? 0), 0);
}

function conditions(now: number, term = 1) {
  const base = { synced: true, minPeers: 2, clockTrusted: true, rotationMs: hour, ready: relays };
  return { ...base, now, term };
}

function headOf(home: Home): MessageRow {
  const [head] = home.lane();
  if (head === undefined) throw new Error('the lane is empty');
  return head;
}

/** The checks of the outbox, by id. */
export const outboxChecks = {
  async 'OB-01'(sut) {
    const home = await homeOf(sut, 3);
    home.restart();
    expect(home.waiting()).toEqual([1, 2, 3]);
  },
  async 'OB-02'(sut) {
    const home = await sent(sut, 3);
    await home.make(2);
    expect(home.rows('generations').map((row) => row.seq)).toEqual([1]);
    expect(home.message(2).operation).toBeUndefined();
  },
  async 'OB-03'(sut) {
    const head = headOf(await homeOf(sut));
    expect(sut.policy(head, { ...conditions(t0), ready: [one] }).send).toBeUndefined();
    expect(sut.policy(head, { ...conditions(t0), synced: false }).send).toBeUndefined();
  },
  async 'OB-04'(sut) {
    const home = await homeOf(sut, 0);
    for (const nth of [1, 2, 3]) {
      await home.enqueue(nth);
      home.restart();
    }
    expect(home.waiting()).toEqual([1, 2, 3]);
  },
  async 'OB-05'(sut) {
    const world = await worldOf(sut, 1);
    let seen = 0;
    const missing: string[] = [];
    world.links.onSend = (_relay, bytes) => {
      const { command, payload } = decodeFrame(holdfast.magic, bytes);
      if (command !== commands.eventPut) return;
      const id = eventId(decodeEventPut(payload).event.header);
      const row = world.home.rows('messages').find((message) => message.operation?.generations[0]?.id === id);
      const linked = world.home.rows('generations').some((generation) => generation.id === id);
      if (row?.operation?.generations[0]?.event === undefined || !linked) missing.push(id);
      seen += 1;
    };
    await world.start();
    await world.clock.pass(1_000);
    expect([seen > 0, missing]).toEqual([true, []]);
  },
  async 'OB-07'(sut) {
    const home = await copied(sut);
    const [old, copy] = home.operation(1).generations;
    expect([old?.supersededBy, old?.event]).toEqual([home.active(1), undefined]);
    expect([copy?.id, copy?.supersededBy]).toEqual([home.active(1), undefined]);
    expect(home.waiting()).toEqual([1, 2]);
  },
  async 'OB-08'(sut) {
    const home = await sent(sut);
    const before = home.everything();
    const { write } = home.tables;
    home.tables.write = () => {
      if (!sut.hidesFailures) throw new Error('the disk is full');
    };
    const made = await home.make(1, { supersedes: home.active(1), now: t0 + hour }).catch(() => undefined);
    home.tables.write = write;
    expect(puts(made ?? { effects: [] })).toEqual([]);
    expect(home.everything()).toEqual(before);
  },
  async 'OB-09'(sut) {
    const home = await sent(sut);
    const old = home.active(1);
    await home.make(1, { supersedes: old, now: t0 + hour });
    home.restart();
    const again = await home.make(1, { supersedes: old, now: t0 + 2 * hour });
    expect([again.outcome, home.operation(1).generations.length]).toEqual([{ kind: 'past' }, 2]);
    const active = home.operation(1).generations.filter((made) => made.event !== undefined);
    expect(active).toHaveLength(1);
  },
  async 'OB-10'(sut) {
    for (const nth of [0, 1]) {
      for (const result of [had, taken]) {
        const home = await copied(sut);
        const id = home.operation(1).generations[nth]?.id ?? '';
        expect((await home.answer(id, result)).kind).toBe('acknowledged');
        expect(home.waiting()).toEqual([2]);
      }
    }
  },
  async 'OB-13'(sut) {
    const home = await sent(sut);
    await home.answer(home.active(1), taken);
    await home.answer(home.active(1), had, { relay: two });
    home.restart();
    expect(home.waiting()).toEqual([2]);
    expect(home.rows('counters')[0]).toMatchObject({ live: 1 });
    expect(home.operation(1)).not.toHaveProperty('nextAt');
  },
  async 'OB-14'(sut) {
    const home = await sent(sut);
    for (const relay of relays) await home.store.transact('release', { account, relay, now: t0 + 1 });
    expect(await home.answer(home.active(1), had, { now: t0 + 40 * hour })).toMatchObject({
      kind: 'acknowledged',
    });
    expect(home.waiting()).toEqual([2]);
  },
  async 'OB-15'(sut) {
    const home = await sent(sut, 3);
    await home.answer(home.active(1), taken);
    await home.make(2, { now: t0 + 100 });
    home.restart();
    for (const id of [home.active(1), 'ab'.repeat(32)]) await home.answer(id, had, { relay: two });
    expect(home.waiting()).toEqual([2, 3]);
  },
  async 'OB-16'(sut) {
    const home = await sent(sut);
    const old = home.active(1);
    await home.answer(old, had);
    const stale = await home.make(1, { supersedes: old, now: t0 + hour });
    expect([stale.outcome, puts(stale)]).toEqual([{ kind: 'past' }, []]);
    expect(home.waiting()).toEqual([2]);
  },
  async 'OB-17'(sut) {
    const home = await sent(sut, 1);
    const pauses: number[] = [];
    for (let round = 1; round <= 8; round++) {
      const { nextAt = 0, lastRoundAt = 0 } = home.operation(1);
      pauses.push((nextAt - lastRoundAt) / 1_000);
      const [again] = puts(await home.round(1, { now: nextAt }));
      expect(again).toMatchObject({ id: home.active(1), event: home.operation(1).generations[0]?.event });
    }
    expect(pauses).toEqual([30, 60, 120, 240, 480, 960, 960, 960]);
  },
  async 'OB-18'(sut) {
    const world = await worldOf(sut, 3);
    await world.start();
    await world.clock.pass(1_000);
    world.relay(0).breakLink();
    await world.clock.pass(4_000);
    expect(world.heard(0)).toEqual([1, 1]);
    expect(world.home.rows('events')).toHaveLength(1);
  },
  async 'OB-19'(sut) {
    const home = await sent(sut);
    for (let round = 1; round <= 40; round++) {
      if (home.waiting()[0] !== 1) break;
      await home.round(1, { now: t0 + round * 2_000_000 });
    }
    expect(home.waiting()).toEqual([1, 2]);
    expect(sut.policy(headOf(home), conditions(t0 + 1_000 * hour)).send).toBeDefined();
  },
  async 'OB-20'(sut) {
    const home = await sent(sut);
    const { nextAt } = home.operation(1);
    for (const relay of relays) await home.answer(home.active(1), busy, { relay });
    expect(home.operation(1).nextAt).toBe(nextAt);
    expect(sut.policy(headOf(home), conditions(t0 + 2_000)).send).toBeUndefined();
  },
} satisfies Readonly<Record<string, Check>>;

/** Checks of parking, bounds, the caller's id and the clock, by id. */
export const boundChecks = {
  async 'OB-25'(sut) {
    const home = await homeOf(sut);
    await limitRates(home);
    const limited = { profile: holdfastLimited.name };
    await home.make(1, { ...limited, now: t0 });
    const first = proven(blobbed(home, 1));
    const [again] = puts(await home.round(1));
    expect(again).toMatchObject(blobbed(home, 1));
    await home.answer(home.active(1), taken);
    await home.make(2, { ...limited, now: t0 + 100 });
    expect(proven(blobbed(home, 2))).toMatchObject({ epoch: first.epoch, ticket: first.ticket + 1 });
  },
  async 'OB-26'(sut) {
    const home = await homeOf(sut);
    await limitRates(home);
    leave(home, 0, t0);
    const parked = await home.make(1, { profile: holdfastLimited.name, now: t0 });
    expect(puts(parked)).toEqual([]);
    expect(parked.outcome).toMatchObject({ kind: 'parked', reason: 'budget', untilMs: slot + 600_000 });
  },
  async 'OB-27'(sut) {
    const home = await homeOf(sut);
    await home.store.transact('limitRate', { account, on: true });
    const parked = await home.make(1, { profile: holdfastLimited.name, now: t0 });
    expect([parked.outcome, puts(parked)]).toMatchObject([{ kind: 'parked', reason: 'identity' }, []]);
    expect(home.waiting()).toEqual([1, 2]);
  },
  async 'OB-28'(sut) {
    const home = await homeOf(sut);
    home.tables.write([{ put: 'messages', row: { ...home.message(1), body: fresh(50) } }]);
    const parked = await home.make(1, { now: t0 });
    expect(parked.outcome).toMatchObject({ kind: 'parked', reason: 'processing' });
    expect(home.rows('messages')[0]).toMatchObject({ lane: 1, operation: { nextAt: t0 + 30_000 } });
    expect((await home.make(2)).outcome).toEqual({ kind: 'past' });
  },
  async 'OB-29'(sut) {
    const home = await homeOf(sut);
    home.bound(1);
    const { outcome } = await home.make(1, { now: t0 });
    expect(outcome).toMatchObject({ kind: 'parked', reason: 'room' });
    expect(sut.policy(headOf(home), conditions(t0 + 1))).toMatchObject({ parked: 'room' });
    expect(home.waiting()).toEqual([1, 2]);
  },
  async 'OB-30'(sut) {
    const home = await sent(sut);
    expect(home.rows('counters')[0]?.outboxBytes).toBe(countedBytes(home));
    await home.answer(home.active(1), taken);
    expect(home.rows('counters')[0]).toMatchObject({ outboxBytes: countedBytes(home), live: 1 });
  },
  async 'OB-31'(sut) {
    const home = await homeOf(sut);
    home.bound(limits.outboxHeadBytes);
    const before = home.everything();
    expect(await home.enqueue(3)).toMatchObject({ kind: 'outbox-full', max: limits.outboxHeadBytes });
    expect(home.everything()).toEqual(before);
  },
  async 'OB-32'(sut) {
    const home = await sent(sut);
    const before = home.operation(1).generations;
    home.bound(1);
    const parked = await home.make(1, { supersedes: home.active(1), now: t0 + hour });
    expect(parked.outcome).toMatchObject({ kind: 'parked', reason: 'room' });
    expect(home.operation(1).generations).toEqual(before);
  },
  async 'OB-33'(sut) {
    const home = await homeOf(sut);
    const before = home.everything();
    expect(await home.enqueue(1)).toEqual({ kind: 'queued', seq: 1, repeated: true });
    const other = await home.store.transact('enqueue', enqueueArgs(1, 'other words'));
    expect(other.outcome).toEqual({ kind: 'conflict' });
    expect(home.everything()).toEqual(before);
  },
  async 'OB-35'(sut) {
    const home = await homeOf(sut);
    const doubted = { ...conditions(t0), clockTrusted: false };
    expect(sut.policy(headOf(home), doubted)).toEqual({ parked: 'clock' });
    await home.make(1, { now: t0 });
    await home.round(1, { now: t0 + 20 * 365 * 24 * hour });
    expect(sut.policy(headOf(home), conditions(t0 + 1_000))).toMatchObject({ send: 'rebroadcast' });
  },
} satisfies Readonly<Record<string, Check>>;

function blobbed(
  home: Home,
  nth: number,
): { readonly event: Uint8Array<ArrayBuffer>; readonly blob: Uint8Array<ArrayBuffer> } {
  const made = home.operation(nth).generations.at(-1);
  return { event: made?.event ?? fresh(1), blob: made?.blob ?? fresh(1) };
}

/** The checks of relay delivery, by id. */
export const deliveryChecks = {
  async 'RD-01'(sut) {
    const home = await homeOf(sut, 1);
    const tables = new Set<string>();
    const write = home.tables.write.bind(home.tables);
    home.tables.write = (changes) => {
      for (const change of changes) if ('put' in change) tables.add(change.put);
      write(changes);
    };
    const made = await home.make(1);
    expect(puts(made)).toHaveLength(1);
    expect([...tables].sort()).toEqual(['counters', 'events', 'generations', 'messages', 'slots']);
  },
  async 'RD-02'(sut) {
    const world = await worldOf(sut, 2);
    await world.start();
    await world.clock.pass(2_000);
    expect(Object.values(world.home.intents(1))).toEqual(['leased', 'leased']);
    expect(world.home.waiting()).toEqual([1, 2]);
  },
  async 'RD-03'(sut) {
    const home = await sent(sut);
    await home.answer(home.active(1), taken);
    await home.answer(home.active(1), taken);
    await home.answer(home.active(1), busy);
    expect(home.intent(1, one)).toMatchObject({ state: 'accepted', reason: 'new' });
  },
  async 'RD-04'(sut) {
    const home = await sent(sut);
    await home.answer(home.active(1), taken);
    expect(home.message(1).open).toBe(1);
    expect(puts(await home.claimOpen(two))).toHaveLength(1);
    await home.answer(home.active(1), taken, { relay: two });
    expect(home.message(1).open).toBeUndefined();
  },
  async 'RD-06'(sut) {
    const home = await sent(sut);
    home.restart();
    const lease = t0 + limits.leaseMs;
    await home.round(1, { now: t0 + 30_000 });
    expect(sut.policy(headOf(home), conditions(lease + 1_000, 2)).send).toBeUndefined();
    expect(sut.policy(headOf(home), conditions(lease + 30_000, 2)).send).toBe('rebroadcast');
  },
  async 'RD-07'(sut) {
    const home = await sent(sut);
    const decided = { account, seq: 1, event: home.active(1), round: 1, due: true, relays, term: 1 };
    const args = { ...decided, now: t0 + 30_000, jitter: 0.5 };
    const rounds = [
      await home.store.transact('sendRound', args),
      await home.store.transact('sendRound', args),
    ];
    expect(rounds.map((round) => round.outcome.kind)).toEqual(['sent', 'past']);
    expect(home.intent(1, one)?.attempt).toBe(2);
  },
  async 'RD-08'(sut) {
    const home = await sent(sut);
    await home.answer(home.active(1), taken);
    await home.answer(home.active(1), busy, { relay: two });
    expect([home.intent(1, one)?.state, home.intent(1, two)?.state]).toEqual(['accepted', 'retryable']);
    expect(puts(await home.claimOpen(one))).toEqual([]);
    await home.claimOpen(two, { contentBytesMax: 1 });
    expect(home.intent(1, two)).toMatchObject({ state: 'rejected', reason: 'event_too_large' });
  },
  async 'RD-09'(sut) {
    const home = await sent(sut);
    await home.answer(home.active(1), busy);
    home.restart();
    expect(home.intent(1, one)).toMatchObject({ state: 'retryable', reason: 'busy' });
  },
  async 'RD-11'(sut) {
    const home = await sent(sut);
    const before = home.operation(1);
    const parents = [genesisOf(holdfast, slot).id];
    const event = encodeEvent(makeEvent(BigInt(t0 + 900), parents, 1n, utf8Bytes('a stranger')));
    const args = { account, profile: holdfast.name, now: t0 + 1_000, seed: fresh(32), synced: true };
    await home.store.transact('receive', { ...args, flooded: false, event, blob: fresh(0) });
    expect(home.operation(1)).toEqual(before);
  },
  async 'RD-12'(sut) {
    const home = await sent(sut);
    const now = home.intent(1, one)?.untilMs ?? 0;
    expect(await home.answer(home.active(1), taken, { now })).toMatchObject({ kind: 'acknowledged' });
    expect((await home.round(1, { now })).outcome).toEqual({ kind: 'past' });
  },
  async 'RD-16'(sut) {
    const home = await sent(sut);
    await home.store.transact('release', { account, relay: one, now: t0 + 1_000 });
    expect([home.intent(1, one)?.state, home.intent(1, two)?.state]).toEqual(['pending', 'leased']);
    expect(sut.policy(headOf(home), conditions(t0 + 2_000))).toMatchObject({ relays: [one] });
  },
} satisfies Readonly<Record<string, Check>>;
