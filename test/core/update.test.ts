import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type UpdateParts, Updates } from '../../src/page/update';

/** A page of build `old` whose worker, storage and document the test holds. */
function page(over: Partial<UpdateParts> = {}) {
  let waiting: () => void = () => {};
  let controlling: () => void = () => {};
  const seen = { skipped: 0, reloaded: 0, ready: [] as boolean[] };
  const updates = new Updates({
    build: 'old',
    events: {
      onWaiting: (listener) => {
        waiting = listener;
      },
      onControlling: (listener) => {
        controlling = listener;
      },
      skipWaiting: () => {
        seen.skipped += 1;
      },
    },
    workerBuild: async () => 'new',
    beforeReload: async () => true,
    onReady: (ready) => seen.ready.push(ready),
    reload: () => {
      seen.reloaded += 1;
    },
    ...over,
  });
  return { updates, seen, waiting: () => waiting(), controlling: () => controlling() };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('a version that waits is offered and used only when asked', async () => {
  const { updates, seen, waiting, controlling } = page();
  waiting();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(seen).toEqual({ skipped: 0, reloaded: 0, ready: [true] });
  updates.use();
  expect(seen.skipped).toBe(1);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(seen.skipped).toBe(4);
  controlling();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(seen).toMatchObject({ skipped: 4, reloaded: 1 });
});

test('a worker of the same build, or one that does not answer, reloads nothing', async () => {
  const same = page({ workerBuild: async () => 'old' });
  same.controlling();
  const silent = page({ workerBuild: () => Promise.reject(new Error('busy')) });
  silent.controlling();
  await vi.advanceTimersByTimeAsync(120_000);
  expect([same.seen.reloaded, silent.seen.reloaded]).toEqual([0, 0]);
});

test('never reloads over text that is not stored, and does so when it is', async () => {
  let stored: boolean | Error = false;
  const { updates, seen, controlling } = page({
    beforeReload: async () => {
      if (stored instanceof Error) throw stored;
      return stored;
    },
  });
  controlling();
  await vi.advanceTimersByTimeAsync(1_000);
  stored = new Error('the store is gone');
  updates.retry();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(seen).toMatchObject({ reloaded: 0, ready: [true, true] });
  stored = true;
  updates.use();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(seen).toMatchObject({ reloaded: 1, skipped: 0 });
});
