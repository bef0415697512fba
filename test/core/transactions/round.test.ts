import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/core/limits';
import { nextForHead } from '../../../src/core/outbox/policy';
import { utf8Bytes } from '../../../src/core/wire/codec';
import { encodeEvent, makeEvent } from '../../../src/core/wire/event';
import { genesisOf, holdfast } from '../../../src/core/wire/profile';
import { account, fresh, relays, slot, t0 } from '../../fixtures/account';
import { Home, taken } from '../../fixtures/home';

const [one, two] = relays;

function ask(home: Home, now: number, term = 1, ready: readonly string[] = relays) {
  const conditions = { synced: true, minPeers: 2, clockTrusted: true, rotationMs: holdfast.rotationMs };
  const [head] = home.lane();
  if (head === undefined) throw new Error('the lane is empty');
  return nextForHead(head, { ...conditions, now, term, ready });
}

async function sent(count = 3): Promise<Home> {
  const home = await Home.with(count);
  await home.make(1, { now: t0 });
  return home;
}

describe('claims and leases', () => {
  test('[OB-18] [RD-07] a reconnect sends the head again, once, and nothing behind it', async () => {
    const home = await sent();
    await home.store.transact('release', { account, relay: one, now: t0 + 1_000 });
    expect(home.intent(1, one)).toMatchObject({ state: 'pending' });
    expect(home.intent(1, two)).toMatchObject({ state: 'leased' });
    const verdict = ask(home, t0 + 2_000);
    expect(verdict).toEqual({ send: 'rebroadcast', relays: [one], wakeAt: t0 + 30_000 });
    const again = await home.round(1, { due: false, relays: [one], now: t0 + 2_000 });
    expect(again.effects.filter((effect) => effect.type === 'put-event')).toMatchObject([
      { id: home.active(1), relays: [one] },
    ]);
    expect(ask(home, t0 + 2_001)).toEqual({ wakeAt: t0 + 30_000 });
    expect(home.rows('events')).toHaveLength(1);
    expect(home.operation(1)).toMatchObject({ round: 1, nextAt: t0 + 30_000 });
  });

  test('[RD-07] a second reconnect while a claim lives multiplies nothing', async () => {
    const home = await sent();
    const before = home.everything();
    expect(ask(home, t0 + 5_000)).toEqual({ wakeAt: t0 + 30_000 });
    expect(
      (await home.store.transact('release', { account, relay: 'wss://three/', now: t0 })).outcome,
    ).toEqual({ kind: 'nothing' });
    expect(home.everything()).toEqual(before);
    const decided = {
      account,
      seq: 1,
      event: home.active(1),
      round: 1,
      due: true,
      relays,
      term: 1,
      now: t0 + 30_000,
      jitter: 0,
    };
    const both = await Promise.all([
      home.store.transact('sendRound', decided),
      home.store.transact('sendRound', decided),
    ]);
    expect(both.map((done) => done.outcome.kind)).toEqual(['sent', 'past']);
    expect(home.operation(1).round).toBe(2);
    expect(home.intent(1, one)).toMatchObject({ attempt: 2 });
  });

  test('[RD-06] after a restart an unfinished operation is there, and a claim of the engine before holds to its lease', async () => {
    const home = await sent();
    const operation = home.operation(1);
    home.restart();
    expect(home.operation(1)).toEqual(operation);
    const lease = t0 + limits.leaseMs;
    expect(ask(home, t0 + 1_000, 2)).toEqual({ wakeAt: lease });
    await home.store.transact('release', { account, relay: one, now: t0 + 2_000 });
    expect(ask(home, t0 + 2_000, 2)).toMatchObject({ send: 'rebroadcast', relays: [one] });
  });

  test('[RD-06] an expired lease is recovered, though its owner never released it', async () => {
    const home = await sent();
    await home.round(1, { now: t0 + 30_000 });
    home.restart();
    const lease = t0 + 30_000 + limits.leaseMs;
    expect(ask(home, lease - 1, 2)).toEqual({ wakeAt: lease });
    expect(ask(home, lease, 2)).toEqual({ send: 'rebroadcast', relays, wakeAt: t0 + 90_000 });
  });

  test('[RD-11] traffic that comes in does not move the deadline of a lease or of a round', async () => {
    const home = await sent();
    const before = home.operation(1);
    for (let nth = 1; nth <= 5; nth++) {
      const at = t0 + nth * 2_000;
      await home.answer(home.active(1), { type: 'nack', reason: 'busy' }, { relay: 'wss://three/', now: at });
      const { outcome } = await home.store.transact('receive', receiving(at));
      expect(outcome.verdict).toMatchObject({ type: 'has', inserted: true });
    }
    expect(home.operation(1).nextAt).toBe(before.nextAt);
    for (const relay of relays)
      expect(home.intent(1, relay)).toEqual(before.intents.find((intent) => intent.relay === relay));
    expect(ask(home, t0 + 30_000)).toEqual({ send: 'rebroadcast', relays });
  });

  test('[RD-16] a link may end at any time without erasing an intent', async () => {
    const home = await sent();
    const id = home.active(1);
    await home.answer(id, { type: 'nack', reason: 'busy' }, { relay: two });
    for (const relay of relays) await home.store.transact('release', { account, relay, now: t0 + 2_000 });
    home.restart();
    expect(home.intents(1)).toEqual({ [`${one} ${id}`]: 'pending', [`${two} ${id}`]: 'retryable' });
    expect(home.intent(1, one)).not.toHaveProperty('untilMs');
    expect(home.intent(1, one)).toMatchObject({ attempt: 1, required: true });
    await home.answer(id, taken, { relay: two });
    await home.store.transact('release', { account, relay: two, now: t0 + 4_000 });
    expect(home.intents(1)).toEqual({ [`${one} ${id}`]: 'pending', [`${two} ${id}`]: 'accepted' });
  });

  test('[RD-08] [RD-16] the end of a link frees live claims alone: what a relay has said of any generation stays said', async () => {
    const home = await sent();
    const old = home.active(1);
    await home.answer(old, { type: 'nack', reason: 'too-old' }, { relay: one });
    await home.make(1, { supersedes: old, now: t0 + holdfast.rotationMs });
    await home.store.transact('release', { account, relay: one, now: t0 + holdfast.rotationMs + 1 });
    expect(home.intent(1, one, old)).toMatchObject({ state: 'retryable', reason: 'too-old' });
    expect(home.intent(1, one)).toMatchObject({ state: 'pending' });
    expect(home.intent(1, two)).toMatchObject({ state: 'leased' });
  });

  test('[OB-17] a hand-over between rounds moves neither the round nor its deadline; a due round moves both', async () => {
    const home = await sent();
    await home.round(1, { due: false, relays: ['wss://three/'], now: t0 + 7_000 });
    expect(home.operation(1)).toMatchObject({ round: 1, nextAt: t0 + 30_000 });
    await home.round(1, { due: true, now: t0 + 30_000 });
    expect(home.operation(1)).toMatchObject({ round: 2, nextAt: t0 + 90_000, lastRoundAt: t0 + 30_000 });
  });
});

/** A foreign event that stands on nothing of ours. */
function receiving(now: number) {
  const event = encodeEvent(
    makeEvent(BigInt(now), [genesisOf(holdfast, slot).id], 1n, utf8Bytes(`foreign ${now}`)),
  );
  const args = { account, profile: holdfast.name, now, seed: fresh(32), synced: true, flooded: false };
  return { ...args, event, blob: fresh(0) };
}
