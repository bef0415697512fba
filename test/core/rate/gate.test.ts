import { beforeEach, describe, expect, test } from 'vitest';
import { present } from '../../../src/core/assert';
import type { Bytes } from '../../../src/core/ids';
import { limits } from '../../../src/core/limits';
import type { Registry } from '../../../src/core/rate/gate';
import type { RelayPutOutcome } from '../../../src/core/transactions/relay';
import { genesisOf, holdfast, holdfastLimited } from '../../../src/core/wire/profile';
import { RelayGraph } from '../../../src/relay/relay-graph';
import { MemoryStore } from '../../../src/store/memory/memory-store';
import { MemoryTables } from '../../../src/store/memory/memory-tables';
import { type Made, noBlob, one, slot } from '../../fixtures/graph-world';
import { identityOf, limiter, proofOf } from '../../fixtures/rated';

const profile = holdfastLimited;
const genesis = genesisOf(profile, slot).id;
const epoch = limiter.epochOf(slot + 1_000);
const event = (text: string, time = slot + 1_000, on: Made | undefined = undefined): Made =>
  one(time, [on?.id ?? genesis], on === undefined ? 1 : on.layer + 1, text);
const refused = (breach: string, strike = false) => ({
  verdict: 'refused',
  reason: 'invalid',
  strike,
  breach,
});

let now = slot + 20_000;
let tables: MemoryTables;
let admitted: Set<string>;
let relay: RelayGraph;
const registry: Registry = { limiter, has: (identity) => admitted.has(identity) };

function graphOver(store: MemoryStore, its = profile): RelayGraph {
  const bounds = { profile: its, slotsRetained: 3, slotsSynced: 2, storeBytesMax: 1e9 };
  return new RelayGraph(store, bounds, () => now, true);
}

function rows(): unknown {
  return (['events', 'slots', 'counters', 'tickets'] as const).map((table) =>
    tables.answer([{ ask: 'rows', table, range: { prefix: [] }, limit: 1_000 }]),
  );
}

function tickets(): readonly { readonly ticket: number; readonly id: string }[] {
  const question = { ask: 'rows', table: 'tickets', range: { prefix: [] }, limit: 1_000 } as const;
  return tables.answer([question])[0] as readonly { readonly ticket: number; readonly id: string }[];
}

/** Puts an event that must not enter, and sees that nothing at all was stored. */
async function refuse(made: Made, blob: Bytes): Promise<RelayPutOutcome> {
  const before = structuredClone(rows());
  const outcome = await relay.put(made.bytes, blob, false);
  expect(rows()).toEqual(before);
  return outcome;
}

beforeEach(() => {
  now = slot + 20_000;
  tables = new MemoryTables();
  admitted = new Set([identityOf(1), identityOf(2)]);
  relay = graphOver(new MemoryStore(() => ({ registry }), tables));
});

describe('a relay that limits rates', () => {
  test('[OB-25] takes an event with its proof, its ticket with it; the same again is known and takes none', async () => {
    const a = event('a');
    const blob = proofOf(1, a.id, epoch, 7);
    expect(await relay.put(a.bytes, blob, false)).toEqual({ verdict: 'inserted' });
    expect(tickets()).toMatchObject([{ identity: identityOf(1), epoch, ticket: 7, id: a.id }]);
    expect(await relay.put(a.bytes, blob, false)).toMatchObject({ verdict: 'known', id: a.id });
    expect(tickets()).toHaveLength(1);
    expect(await relay.bodies([a.id], 9, 1e6)).toEqual([{ event: a.bytes, blob }]);
  });

  test('[OB-25] refuses a spent ticket for another event, and takes it of another identity or epoch', async () => {
    const [a, b, c] = [event('a'), event('b'), event('c', slot + 600_000)];
    await relay.put(a.bytes, proofOf(1, a.id, epoch, 7), false);
    expect(await refuse(b, proofOf(1, b.id, epoch, 7))).toMatchObject(refused('ticket-used'));
    expect(await relay.put(b.bytes, proofOf(2, b.id, epoch, 7), false)).toEqual({ verdict: 'inserted' });
    now = slot + 610_000;
    expect(await relay.put(c.bytes, proofOf(1, c.id, epoch + 1, 7), false)).toEqual({ verdict: 'inserted' });
  });

  test.each([
    ['no proof', 'no-proof', (_made: Made) => noBlob],
    ['a proof cut short', 'bad-proof', (made: Made) => proofOf(1, made.id, epoch, 7).slice(0, 106)],
    ['a proof of another event', 'bad-proof', () => proofOf(1, 'ab'.repeat(32), epoch, 7)],
    ['a ticket of another epoch', 'bad-proof', (made: Made) => proofOf(1, made.id, epoch + 1, 7)],
    ['a ticket beyond the epoch', 'bad-proof', (made: Made) => proofOf(1, made.id, epoch, 100)],
    ['an identity nobody registered', 'unknown-identity', (made: Made) => proofOf(3, made.id, epoch, 7)],
    [
      'a registered name over a signature of another',
      'bad-proof',
      (made: Made) => {
        const blob = proofOf(3, made.id, epoch, 7);
        blob.set(proofOf(1, made.id, epoch, 7).subarray(1, 33), 1);
        return blob;
      },
    ],
  ])('an event with %s is invalid, and nothing of it is kept', async (_name, breach, blobOf) => {
    const a = event('a');
    // Only what shows without a look at any other costs a strike (event-graph.md 3.2, steps 8 and 11).
    expect(await refuse(a, blobOf(a))).toMatchObject(refused(breach, breach === 'no-proof'));
    expect(await relay.put(a.bytes, proofOf(1, a.id, epoch, 7), false)).toEqual({ verdict: 'inserted' });
  });

  test('asks for no proof before parents are there, and none of what it knows', async () => {
    const a = event('a');
    const b = event('b', slot + 2_000, a);
    expect(await relay.put(b.bytes, proofOf(3, b.id, epoch, 1), false)).toMatchObject({ verdict: 'missing' });
    await relay.put(a.bytes, proofOf(1, a.id, epoch, 1), false);
    admitted.clear();
    expect(await relay.put(a.bytes, noBlob, false)).toMatchObject({ verdict: 'known' });
  });

  test('looks at what it asked for in the same way, and blames a peer only for what any peer would refuse', async () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((text) => event(text)) as [Made, Made, Made, Made];
    const take = (made: Made, blob: Bytes) => relay.take(slot, [{ event: made.bytes, blob }]);
    const nothing = { inserted: 0, ids: [], invalid: [], full: false };
    expect(await take(a, proofOf(1, a.id, epoch, 0))).toMatchObject({ ids: [a.id], broken: [] });
    expect(await take(b, proofOf(1, b.id, epoch, 0))).toEqual({ ...nothing, broken: [] });
    expect(await take(c, proofOf(3, c.id, epoch, 0))).toEqual({ ...nothing, broken: [] });
    expect(await take(d, noBlob)).toEqual({ ...nothing, broken: ['no-proof'] });
    expect(await take(d, proofOf(1, a.id, epoch, 1))).toEqual({ ...nothing, broken: ['bad-proof'] });
    expect(tickets()).toHaveLength(1);
  });

  test('[OB-25] remembers tickets while an event of their epoch may still come, two epochs at least, and then no more', async () => {
    for (let ticket = 0; ticket < 3; ticket++) {
      const made = event(`early ${ticket}`);
      await relay.put(made.bytes, proofOf(1, made.id, epoch, ticket), false);
    }
    now = slot + holdfast.rotationMs - 1_000;
    const late = event('late', now - 1_000);
    await relay.put(late.bytes, proofOf(1, late.id, limiter.epochOf(now), 0), false);
    await relay.prune();
    expect(tickets()).toHaveLength(4);
    // The first epoch's hour is open: a ticket of it, spent again now, is seen.
    const again = event('again');
    expect(await refuse(again, proofOf(1, again.id, epoch, 2))).toMatchObject(refused('ticket-used'));
    now = slot + holdfast.rotationMs + 1_000;
    await relay.prune();
    expect(tickets().map(({ id }) => id)).toEqual([late.id]);
    now += holdfast.rotationMs;
    await relay.prune();
    expect(tickets()).toEqual([]);
  });

  test('forgets more tickets than one transaction may, in several', async () => {
    const count = limits.pruneTicketsMax + 10;
    const identity = identityOf(1);
    const account = '00'.repeat(16);
    tables.write(
      Array.from({ length: count }, (_, ticket) => ({
        put: 'tickets' as const,
        row: { account, identity, epoch: 5, ticket, id: 'ab'.repeat(32) },
      })),
    );
    expect(tickets()).toHaveLength(count);
    await relay.prune();
    expect(tickets()).toEqual([]);
  });
});

describe('others', () => {
  test('a relay that does not limit rates keeps no blob and no ticket, whatever it is sent', async () => {
    relay = graphOver(new MemoryStore(() => ({}), tables), holdfast);
    const a = event('a');
    expect(await relay.put(a.bytes, proofOf(3, a.id, epoch, 7), false)).toEqual({ verdict: 'inserted' });
    expect(await relay.bodies([a.id], 9, 1e6)).toEqual([{ event: a.bytes, blob: noBlob }]);
    expect(tickets()).toEqual([]);
  });

  test('a device takes what is truly proven, of whomever, and nothing else; tickets it leaves to relays', async () => {
    const store = new MemoryStore(() => ({}), tables);
    const receive = async (made: Made, blob: Bytes) => {
      const base = { account: 'a0'.repeat(16), profile: profile.name, now, seed: new Uint8Array(32) };
      const args = { ...base, event: made.bytes, blob, synced: true, flooded: false };
      return (await store.transact('receive', args)).outcome.verdict;
    };
    const [a, b, c] = [event('a'), event('b'), event('c')];
    expect(await receive(a, proofOf(3, a.id, epoch, 7))).toMatchObject({ type: 'has', inserted: true });
    expect(await receive(b, proofOf(3, b.id, epoch, 7))).toMatchObject({ type: 'has', inserted: true });
    expect(tickets()).toEqual([]);
    for (const blob of [noBlob, proofOf(3, a.id, epoch, 8)]) {
      expect(await receive(c, blob)).toMatchObject({ type: 'nack', reason: 'invalid' });
    }
    expect(
      present(tables.answer([{ ask: 'get', table: 'events', key: ['a0'.repeat(16), c.id] }])[0], ''),
    ).toEqual([]);
  });
});
