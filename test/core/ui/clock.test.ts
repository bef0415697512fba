import { signal } from '@preact/signals';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { makeClock } from '../../../src/ui/clock';
import type { Snapshot } from '../../../src/ui/model';
import { stripCause } from '../../../src/ui/strip';

const opened = Date.UTC(2026, 10, 30, 14, 0, 0);

function snapshot(phase: Snapshot['phase'], now: number): Snapshot {
  return {
    phase,
    kept: true,
    conversations: [],
    queue: { waiting: 0, bytes: 0, bytesMax: 1 },
    network: {
      relays: phase === 'ready' ? [{ url: 'wss://a.example', state: 'connecting' }] : [],
      synced: false,
      silentSince: opened,
      engine: 'shared-worker',
      carrier: 'this-tab',
      sendsWhenClosed: false,
    },
    updateReady: false,
    now,
  };
}

describe('the clock of the screens', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('time spent on the first screen is no time without a relay', () => {
    const shown = signal(snapshot('first-run', opened));
    const page = { visibilityState: 'visible', addEventListener: vi.fn(), removeEventListener: vi.fn() };
    const clock = makeClock(shown, page as unknown as Document);
    const cause = () => stripCause(shown.peek(), clock.now.peek(), clock.foregroundSince.peek());
    shown.value = snapshot('ready', opened + 60_000);
    expect(cause()).toBeUndefined();
    shown.value = snapshot('ready', opened + 63_999);
    expect(cause()).toBeUndefined();
    shown.value = snapshot('ready', opened + 64_000);
    expect(cause()).toBe('silent');
    clock.stop();
  });
});
