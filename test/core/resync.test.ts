import { expect, test } from 'vitest';
import { limits } from '../../src/core/limits';
import type { RelayPeer } from '../../src/engine/relay-peer';
import { Resync } from '../../src/engine/resync';
import { ManualClock } from '../fixtures/fake-ports';

test('[EG-05] a peer whose sync takes long is not asked beside it again and again, and once more when it has ended', async () => {
  const clock = new ManualClock(0);
  const slow = { ready: true } as RelayPeer;
  let syncs = 0;
  let end = (): void => undefined;
  const resync = new Resync(
    clock,
    () => [slow],
    () => {
      syncs += 1;
      return new Promise((done) => {
        end = done;
      });
    },
  );
  resync.start();
  for (let seconds = 0; seconds < 120; seconds++) {
    resync.soon(slow);
    await clock.pass(1_000);
  }
  await clock.pass(limits.resyncMs);
  expect(syncs).toBe(1);
  end();
  await clock.pass(10_000);
  expect(syncs).toBe(2);
  end();
  await clock.pass(60_000);
  expect(syncs).toBe(2);
});

test('[EG-05] a stream of what one peer says too much does not put off asking it for the rest', async () => {
  const clock = new ManualClock(0);
  const busy = { ready: true } as RelayPeer;
  let syncs = 0;
  const resync = new Resync(
    clock,
    () => [busy],
    async () => {
      syncs += 1;
    },
  );
  resync.start();
  for (let seconds = 0; seconds < 60; seconds++) {
    resync.soon(busy);
    await clock.pass(1_000);
  }
  expect(syncs).toBe(12);
});
