import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { limits } from '../../src/core/limits';
import type { Store } from '../../src/engine/ports';
import { AppModel } from '../../src/page/app-model';
import { account, command, fresh, open, t0 } from '../fixtures/account';
import { Home } from '../fixtures/home';

const count = 200;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A tab that shows our channel: what it reads, and how often. */
async function tabOf(home: Home): Promise<{ readonly model: AppModel; readonly reads: () => number }> {
  let reads = 0;
  const store: Store = {
    transact: (name, args, term) => home.store.transact(name, args, term),
    read: (name, args) => {
      reads += 1;
      return home.store.read(name, args);
    },
  };
  const model = new AppModel(store);
  model.look();
  await vi.advanceTimersByTimeAsync(1_000);
  await model.open(open);
  await vi.advanceTimersByTimeAsync(1_000);
  return { model, reads: () => reads };
}

/** The nth line of somebody else comes in; whoever listens is told to look. */
async function arrives(home: Home, nth: number): Promise<void> {
  const event = nth.toString(16).padStart(64, 'e');
  const said = { event, conversation: open, logical: command(1_000 + nth), time: t0 + nth };
  const heard = [{ ...said, nick: 'Cy', text: `line ${nth}` }];
  await home.store.transact('scanChannel', { account, heard, now: t0 + nth, seed: fresh(32) });
}

function texts(model: AppModel): readonly (string | undefined)[] {
  return model.snapshot.value.timeline?.messages.map((message) => message.text) ?? [];
}

async function allOf(model: AppModel): Promise<readonly (string | undefined)[]> {
  for (let page = 0; page < 10 && model.snapshot.value.timeline?.older === 'more'; page++) {
    model.loadOlder();
    await vi.advanceTimersByTimeAsync(1_000);
  }
  return texts(model);
}

const lines = Array.from({ length: count }, (_, nth) => `line ${nth}`);

describe('a tab in the background while 200 messages come in through another', () => {
  test('(BL-24) that was told nothing: when it is shown it has all of them, in order, as the other has', async () => {
    const home = await Home.with();
    const [front, back] = [await tabOf(home), await tabOf(home)];
    for (let nth = 0; nth < count; nth++) {
      await arrives(home, nth);
      if (nth % 5 < 4) continue;
      front.model.hear();
      await vi.advanceTimersByTimeAsync(600);
    }
    expect(texts(front.model).at(-1)).toBe(`line ${count - 1}`);
    expect(texts(back.model)).toEqual([]);
    back.model.hear();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(texts(back.model)).toEqual(lines.slice(-60));
    expect(await allOf(back.model)).toEqual(lines);
    expect(await allOf(front.model)).toEqual(lines);
    expect(back.model.snapshot.value.conversations.find((one) => one.conversation === open)?.unread).toBe(
      count,
    );
  });

  test('(BL-24) whose timers are slow: the signals of two minutes make a handful of reads, and nothing is missing', async () => {
    const home = await Home.with();
    const back = await tabOf(home);
    const before = back.reads();
    for (let nth = 0; nth < count; nth++) {
      await arrives(home, nth);
      back.model.hear();
    }
    await vi.advanceTimersByTimeAsync(60_000);
    expect(back.reads() - before).toBeLessThan(10);
    expect(await allOf(back.model)).toEqual(lines);
  });

  test('(BL-24) told the same again and again, and late: it shows each message once', async () => {
    const home = await Home.with();
    const back = await tabOf(home);
    for (let nth = 0; nth < 20; nth++) await arrives(home, nth);
    for (let times = 0; times < 50; times++) {
      back.model.hear();
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(texts(back.model)).toEqual(lines.slice(0, 20));
    expect(limits.timelineWindowRowsMax).toBeGreaterThan(count);
  });
});
