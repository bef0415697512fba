import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limits } from '../../../src/core/limits';
import { holdfast } from '../../../src/core/wire/profile';
import { account, bodyOf, command, fresh, makingArgs, relays, t0 } from '../../fixtures/account';
import { Home, had } from '../../fixtures/home';

const hour = holdfast.rotationMs;

/** One thing that happens to an outbox. Numbers choose among the messages there are. */
type Step =
  | { readonly do: 'enqueue'; readonly size: number }
  | { readonly do: 'edit'; readonly which: number; readonly size: number }
  | { readonly do: 'drop' | 'undo' | 'forget' | 'retry'; readonly which: number }
  | { readonly do: 'make' | 'remake' | 'round' | 'acknowledge' | 'refuse' | 'claim' | 'release' }
  | { readonly do: 'bound'; readonly max: number };

const which = fc.nat({ max: 30 });
const size = fc.nat({ max: 3_000 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('enqueue' as const), size }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('edit' as const), which, size }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom('drop' as const, 'undo', 'forget', 'retry'), which }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('make' as const, 'remake', 'round', 'acknowledge', 'refuse', 'claim', 'release'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('bound' as const), max: fc.integer({ min: 1, max: 90_000 }) }),
  },
);

class Outbox {
  now = t0;
  enqueued = 0;

  constructor(readonly home: Home) {}

  async run(one: Step): Promise<unknown> {
    const { home } = this;
    this.now += 1_000;
    const [head] = home.lane();
    const nth = head && Number.parseInt(head.logical, 16);
    const active = head?.operation?.generations.at(-1);
    switch (one.do) {
      case 'enqueue':
        this.enqueued += 1;
        return home.enqueue(this.enqueued, 'x'.repeat(one.size));
      case 'bound':
        return home.bound(one.max);
      case 'make':
        return nth !== undefined && active === undefined && home.make(nth, { now: this.now });
      case 'remake':
        if (nth === undefined || active === undefined) return;
        this.now += hour;
        return home.make(nth, { supersedes: active.id, now: this.now });
      case 'round':
        return nth !== undefined && active !== undefined && home.round(nth, { now: this.now });
      case 'acknowledge':
        return (
          active && home.answer(active.id, had, { now: this.now, next: makingArgs(0, { now: this.now }) })
        );
      case 'refuse':
        return active && home.answer(active.id, { type: 'nack', reason: 'invalid' }, { now: this.now });
      case 'claim':
        return home.claimOpen(relays[1], { now: this.now });
      case 'release':
        return home.store.transact('release', { account, relay: relays[0], now: this.now });
      default:
        return this.hand(one);
    }
  }

  private async hand(one: Extract<Step, { readonly which: number }>): Promise<unknown> {
    const { store } = this.home;
    const own = this.home.rows('messages');
    const row = own[one.which % Math.max(1, own.length)];
    if (row === undefined) return;
    const named = this.home.hand(Number.parseInt(row.logical, 16), this.now);
    if (one.do === 'edit') return this.edit(named, one.size);
    if (one.do === 'drop') return store.transact('drop', named);
    if (one.do === 'undo') return store.transact('undoDrop', named);
    if (one.do === 'forget') return store.transact('forgetDropped', named);
    return store.transact('retryNow', named);
  }

  private edit(named: ReturnType<Home['hand']>, size: number): Promise<unknown> {
    this.enqueued += 1;
    const body = bodyOf('y'.repeat(size));
    const more = { profile: holdfast.name, newCommand: command(this.enqueued), body, nonce: fresh(12) };
    return this.home.store.transact('editQueued', { ...named, ...more });
  }
}

/** What the rows say the counters must be, counted by somebody else than the code that keeps them. */
function counted(home: Home): {
  readonly live: number;
  readonly outboxBytes: number;
  readonly graphBytes: number;
} {
  let outboxBytes = 0;
  for (const row of home.lane()) {
    outboxBytes += row.body.length + 512;
    for (const made of row.operation?.generations ?? []) {
      outboxBytes += 256 + (made.event?.length ?? 0) + (made.blob?.length ?? 0);
    }
  }
  const graphBytes = home.rows('events').reduce((sum, row) => sum + row.event.length + row.blob.length, 0);
  return { live: home.lane().length, outboxBytes, graphBytes };
}

test('[OB-30] whatever is done in whichever order, the bytes and entries counted are those the rows hold', async () => {
  let checked = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const outbox = new Outbox(await Home.with());
      for (const one of steps) {
        const order = outbox.home.waiting();
        const before = outbox.home.rows('counters')[0]?.outboxBytes ?? 0;
        const done = await outbox.run(one);
        const [counters] = outbox.home.rows('counters');
        expect({ one, counters }).toMatchObject({ one, counters: counted(outbox.home) });
        for (const row of outbox.home.rows('messages')) {
          expect(row.bytes === undefined).toBe(row.lane === undefined);
        }
        const kept = outbox.home.waiting().filter((nth) => order.includes(nth));
        expect(kept).toEqual(order.filter((nth) => kept.includes(nth)));
        const max = outbox.home.keys.outboxBytesMax ?? limits.outboxBytesMax;
        const after = counters?.outboxBytes ?? 0;
        if (after > before) expect(after).toBeLessThanOrEqual(max);
        if ((done as { readonly kind?: string } | undefined)?.kind === 'outbox-full') refused += 1;
        checked += 1;
      }
    }),
    { numRuns: 40 },
  );
  expect(checked).toBeGreaterThan(400);
  expect(refused).toBeGreaterThan(0);
});
