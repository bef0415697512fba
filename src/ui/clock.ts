import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Snapshot } from './model';

/** The moment the screens draw for: the snapshot's, moved on by this page's own time. */
export interface Clock {
  readonly now: ReadonlySignal<number>;
  /** When this page last came to the front, or since when it has an account: before that it looks for no relay. */
  readonly foregroundSince: ReadonlySignal<number>;
  stop(): void;
}

const tickMs = 1_000;

/** A clock that ticks once a second while `page` is visible, and takes the snapshot's time whenever that changes. */
export function makeClock(snapshot: ReadonlySignal<Snapshot>, page: Document): Clock {
  const now = signal(snapshot.peek().now);
  const foregroundSince = signal(now.peek());
  let base = now.peek();
  let from = performance.now();
  const tick = () => {
    now.value = base + Math.round(performance.now() - from);
  };
  let ready = false;
  const stopFollowing = effect(() => {
    base = snapshot.value.now;
    from = performance.now();
    now.value = base;
    const was = ready;
    ready = snapshot.value.phase === 'ready';
    if (ready && !was) foregroundSince.value = base;
  });
  const timer = setInterval(() => page.visibilityState === 'visible' && tick(), tickMs);
  const turned = () => {
    if (page.visibilityState !== 'visible') return;
    tick();
    foregroundSince.value = now.peek();
  };
  page.addEventListener('visibilitychange', turned);
  return {
    now,
    foregroundSince,
    stop() {
      stopFollowing();
      clearInterval(timer);
      page.removeEventListener('visibilitychange', turned);
    },
  };
}
