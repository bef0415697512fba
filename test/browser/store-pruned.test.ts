import { afterEach, expect, test } from 'vitest';
import type { Bytes } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { holdfast } from '../../src/core/wire/profile';
import { IdbStore } from '../../src/store/idb/idb-store';
import { account, makingArgs, relays, settle, t0 } from '../fixtures/account';

const name = `holdfast-test-${crypto.randomUUID()}`;
const randomBytes = (length: number): Bytes => crypto.getRandomValues(new Uint8Array(length));
const day = 24 * holdfast.rotationMs;
let store = new IdbStore({ name, randomBytes });

afterEach(async () => {
  await store.close();
  await new Promise<void>((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error);
  });
});

test('[OB-06] a head whose slot was forgotten goes out byte for byte from a database that was opened again', async () => {
  await settle(store, 2);
  const head = await store.read('head', { account });
  const made = await store.transact('materialise', makingArgs(head?.seq ?? 0));
  if (made.outcome.kind !== 'made') throw new Error(`the head was not made: ${made.outcome.kind}`);
  const sent = made.effects.find((effect) => effect.type === 'put-event');
  const graph = { account, profile: holdfast.name, slotsRetained: limits.clientSlotsRetained };
  const now = t0 + 30 * day;
  let forgotten = 0;
  for (let more = true; more; ) {
    const { outcome } = await store.transact('pruneGraph', { ...graph, now });
    forgotten += outcome.events;
    ({ more } = outcome);
  }
  expect(forgotten).toBe(1);
  const ids = [made.outcome.id];
  expect(await store.read('graphBodies', { account, ids, eventsMax: 1, bytesMax: 1e6 })).toEqual([]);
  await store.close();
  store = new IdbStore({ name, randomBytes });
  const round = {
    account,
    seq: made.outcome.seq,
    event: made.outcome.id,
    round: 1,
    due: true,
    relays,
    term: 1,
  };
  const again = await store.transact('sendRound', { ...round, now, jitter: 0.5 });
  expect(again.effects.find((effect) => effect.type === 'put-event')).toEqual(sent);
  const result = { type: 'has', inserted: false } as const;
  const answer = { account, id: made.outcome.id, relay: relays[0], result, now };
  expect((await store.transact('answer', answer)).outcome).toMatchObject({ kind: 'acknowledged' });
});
