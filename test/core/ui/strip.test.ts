import { describe, expect, test } from 'vitest';
import { makeFormat } from '../../../src/ui/format';
import type { MarkView, NetworkView, Snapshot } from '../../../src/ui/model';
import {
  type StripCause,
  type StripState,
  stripCause,
  stripStart,
  stripStep,
  stripText,
} from '../../../src/ui/strip';
import { en } from '../../../src/ui/texts/en';

const now = Date.UTC(2026, 10, 30, 14, 0, 0);
const format = makeFormat('en', 'UTC');
const network: NetworkView = {
  relays: [{ url: 'wss://a.example', state: 'answering' }],
  synced: true,
  engine: 'shared-worker',
  carrier: 'this-tab',
  sendsWhenClosed: false,
};

function snapshot(more: Partial<Snapshot> = {}): Snapshot {
  return {
    phase: 'ready',
    kept: true,
    conversations: [],
    queue: { waiting: 0, bytes: 0, bytesMax: 1 },
    network,
    updateReady: false,
    now,
    ...more,
  };
}

const mark = (more: Partial<MarkView>): MarkView => ({
  state: 'on-hold',
  acceptedBy: 0,
  handedTo: 0,
  rounds: 0,
  queuedAt: 0,
  ...more,
});
const queue = (head: Partial<MarkView>, waiting = 4) => ({
  waiting,
  bytes: 0,
  bytesMax: 1,
  head: { conversation: 'aa', name: '#harbour', mark: mark(head) },
});

describe('what the strip says', () => {
  test('the most urgent cause alone is named', () => {
    const all = snapshot({
      kept: false,
      queue: queue({}),
      updateReady: true,
      network: { ...network, clockOffSeconds: 20_000, silentSince: 0, synced: false },
    });
    const causes: (StripCause | undefined)[] = [
      stripCause({ ...all, phase: 'unavailable' }, now, 0),
      stripCause(all, now, 0),
      stripCause({ ...all, kept: true }, now, 0),
      stripCause({ ...all, kept: true, queue: queue({ state: 'queued' }) }, now, 0),
      stripCause(snapshot({ network: { ...network, silentSince: 0 }, updateReady: true }), now, 0),
      stripCause(
        snapshot({ queue: queue({ state: 'sent', firstHandedAt: now - 61_000 }), updateReady: true }),
        now,
        0,
      ),
      stripCause(snapshot({ updateReady: true }), now, 0),
      stripCause(
        snapshot({ network: { ...network, synced: false, relays: [{ url: 'a', state: 'catching-up' }] } }),
        now,
        0,
      ),
      stripCause(snapshot(), now, 0),
    ];
    expect(causes).toEqual([
      'store',
      'not-kept',
      'on-hold',
      'clock',
      'silent',
      'unanswered',
      'update',
      'catching-up',
      undefined,
    ]);
  });

  test('no relay in reach is never claimed in the first four seconds of silence or of the foreground', () => {
    const silent = snapshot({ network: { ...network, silentSince: now - 60_000 } });
    expect(stripCause(silent, now, now - 3_999)).toBeUndefined();
    expect(stripCause(silent, now, now - 4_000)).toBe('silent');
    const fresh = snapshot({ network: { ...network, silentSince: now - 3_999 } });
    expect(stripCause(fresh, now, 0)).toBeUndefined();
  });

  test('the words carry what waits', () => {
    const text = (cause: StripCause, shown: Snapshot) => stripText(cause, shown, en, format);
    expect(text('on-hold', snapshot({ queue: queue({ reason: 'budget' }) }))).toBe(
      'On hold: sending budget used up · 3 messages wait behind it',
    );
    expect(text('silent', snapshot({ queue: queue({ state: 'queued' }, 3) }))).toBe(
      'No relay in reach · 3 messages wait on this device',
    );
    expect(text('silent', snapshot())).toBe('No relay in reach');
    expect(text('silent', snapshot({ network: { ...network, relays: [] } }))).toBe('No relays yet');
    expect(text('clock', snapshot({ network: { ...network, clockOffSeconds: -18_000 } }))).toBe(
      "This device's clock seems 5 h off",
    );
    expect(text('unanswered', snapshot({ queue: queue({ state: 'sent', nextAt: now + 780_000 }) }))).toBe(
      'A message without an answer · next try about 14:13',
    );
  });
});

/** The causes shown at each moment, for causes wanted from given moments on. */
function run(wanted: readonly (readonly [at: number, cause: StripCause | undefined])[], until: number) {
  const shown: (readonly [number, StripCause | undefined])[] = [];
  const said: (readonly [number, StripCause])[] = [];
  let state: StripState = stripStart(0);
  for (let at = 0; at <= until; at += 100) {
    const cause = wanted.findLast(([from]) => from <= at)?.[1];
    const before = state.shown;
    state = stripStep(state, cause, at);
    if (state.shown !== before) shown.push([at, state.shown]);
    if (state.say) said.push([at, state.say]);
  }
  return { shown, said };
}

describe('when the strip shows it', () => {
  test('it stays two seconds at least, and one second after its cause is gone', () => {
    expect(
      run(
        [
          [0, 'silent'],
          [100, undefined],
        ],
        5_000,
      ).shown,
    ).toEqual([
      [0, 'silent'],
      [2_000, undefined],
    ]);
    expect(
      run(
        [
          [0, 'silent'],
          [4_000, undefined],
        ],
        9_000,
      ).shown,
    ).toEqual([
      [0, 'silent'],
      [5_000, undefined],
    ]);
  });

  test('a cause that comes back within that second does not flicker', () => {
    expect(
      run(
        [
          [0, 'silent'],
          [3_000, undefined],
          [3_500, 'silent'],
        ],
        6_000,
      ).shown,
    ).toEqual([[0, 'silent']]);
  });

  test('something more urgent shows at once, something less urgent waits', () => {
    expect(
      run(
        [
          [0, 'update'],
          [100, 'on-hold'],
        ],
        1_000,
      ).shown,
    ).toEqual([
      [0, 'update'],
      [100, 'on-hold'],
    ]);
    expect(
      run(
        [
          [0, 'on-hold'],
          [3_000, 'update'],
        ],
        6_000,
      ).shown,
    ).toEqual([
      [0, 'on-hold'],
      [4_000, 'update'],
    ]);
  });

  test('catching up shows only after two seconds of it', () => {
    expect(
      run(
        [
          [0, 'catching-up'],
          [1_900, undefined],
        ],
        4_000,
      ).shown,
    ).toEqual([]);
    expect(run([[0, 'catching-up']], 4_000).shown).toEqual([[2_000, 'catching-up']]);
  });

  test('each showing is said once; at the opening of the page only what is stuck or damaged', () => {
    expect(run([[0, 'not-kept']], 9_000).said).toEqual([]);
    expect(run([[0, 'on-hold']], 9_000).said).toEqual([[0, 'on-hold']]);
    expect(run([[4_000, 'silent']], 9_000).said).toEqual([[4_000, 'silent']]);
  });
});
