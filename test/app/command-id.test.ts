import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EnqueueOutcome } from '../../src/core/transactions/enqueue';
import type { Overview } from '../../src/core/transactions/reads';
import { Relay } from './kit/relay';
import { Tap } from './kit/tap';
import { allMarked, joinChannel, Person, say, sees } from './person';

interface Answer {
  readonly err?: string;
  readonly outcome?: unknown;
}

/** Calls the store through the message door, as any page of the origin may, with bytes given as plain numbers. */
function call(name: string, args: object, id?: string): Promise<Answer> {
  const bytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
  const made = btoa(String.fromCharCode(...bytes(16)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
  const { port1, port2 } = new MessageChannel();
  const answered = new Promise<Answer>((settle) => {
    port1.onmessage = ({ data: [{ answer }] }) => settle({ err: answer.err, outcome: answer.outcome });
  });
  const full = name === 'enqueue' ? { ...args, now: Date.now(), nonce: bytes(12) } : args;
  const request = { v: 1, build: 'test', call: id ?? made, name, args: full };
  navigator.serviceWorker.controller?.postMessage({ holdfast: 'calls', requests: [request] }, [port2]);
  return answered;
}

describe('a command id', () => {
  let relay: Relay;
  let tap: Tap;
  let ana: Person;
  let overview: Overview;

  beforeAll(async () => {
    relay = await Relay.start();
    tap = await Tap.open(relay.url);
    ana = await Person.arrive('Ana', [tap.url]);
    await joinChannel(ana.tab, 'pier');
    await joinChannel(ana.tab, 'harbour');
    await tap.cut();
    overview = await read<Overview>('overview', {});
  });

  afterAll(async () => {
    await ana.leave();
    await tap.close();
    await relay.dispose();
  });

  async function read<T>(name: string, args: object): Promise<T> {
    const { err, outcome } = await ana.tab.evaluate(call, name, args);
    expect(err).toBeUndefined();
    return outcome as T;
  }

  async function enqueue(text: string, command: string, more: object = {}, id?: string) {
    const { account } = overview;
    const place = overview.conversations.find((one) => one.name === '#harbour');
    const args = {
      account: account?.account,
      conversation: place?.conversation,
      command,
      profile: account?.profile,
      body: { nick: 'Ana', channel: '#harbour', text },
      ...more,
    };
    const rest = id === undefined ? [] : [id];
    const { err, outcome } = await ana.tab.evaluate(call, 'enqueue', args, ...rest);
    expect(err).toBeUndefined();
    return outcome as EnqueueOutcome;
  }

  /** What a message changes: not the revision, which a mark of the open page raises too. */
  const counted = async () => {
    const { counters, waiting, conversations } = await read<Overview>('overview', {});
    const { revision: _, ...rest } = counters;
    const kept = conversations.map(({ name, last }) => ({ name, last }));
    return { counters: rest, waiting, kept };
  };

  test('[OB-33] a repeat with the same content answers the same result, at once and after every kind of pause', async () => {
    const command = 'c0'.repeat(16);
    const first = await enqueue('once', command);
    expect(first).toMatchObject({ kind: 'queued', repeated: false });
    const seq = first.kind === 'queued' ? first.seq : 0;
    const after = await counted();
    const same = { kind: 'queued', seq, repeated: true };
    expect(await enqueue('once', command)).toEqual(same);
    const together = await Promise.all([1, 2, 3, 4].map(() => enqueue('once', command)));
    expect(together).toEqual([same, same, same, same]);
    expect(await ana.browser.workers.stop()).toBe(1);
    expect(await enqueue('once', command)).toEqual(same);
    await ana.restart();
    await ana.tab.waitFor('control', () => navigator.serviceWorker.controller !== null);
    expect(await enqueue('once', command)).toEqual(same);
    expect(await counted()).toMatchObject({ waiting: after.waiting });
    expect((await counted()).counters.seq).toBe(after.counters.seq);
    expect((await counted()).counters.outboxBytes).toBe(after.counters.outboxBytes);
    await sees(ana.tab, ['once']);
  });

  test('[OB-33] a repeat with other content answers a conflict and changes nothing', async () => {
    const command = 'c1'.repeat(16);
    expect(await enqueue('as it was', command)).toMatchObject({ kind: 'queued' });
    const after = await counted();
    const other = overview.conversations.find((one) => one.name === '#pier');
    const body = { nick: 'Ana', channel: '#harbour', text: 'as it was' };
    const attempts = [
      await enqueue('another text', command),
      await enqueue('as it was', command, { body: { ...body, nick: 'Eve' } }),
      await enqueue('as it was', command, {
        conversation: other?.conversation,
        body: { ...body, channel: '#pier' },
      }),
      await enqueue('as it was', command, { conversation: other?.conversation }),
    ];
    expect(attempts).toEqual(attempts.map(() => ({ kind: 'conflict' })));
    expect(await counted()).toEqual(after);
    await sees(ana.tab, ['once', 'as it was']);
  });

  test('[OB-33] one call under one call id is one enqueue; two command ids of the same text are two messages', async () => {
    const [one, two] = ['c2'.repeat(16), 'c3'.repeat(16)];
    const id = 'AAAAAAAAAAAAAAAAAAAAAA';
    const first = await enqueue('twice', one, {}, id);
    expect(await enqueue('twice', one, {}, id)).toEqual(first);
    expect(await enqueue('twice', two)).toMatchObject({ kind: 'queued', repeated: false });
    await sees(ana.tab, ['once', 'as it was', 'twice', 'twice']);
  });

  test('[OB-33] is known after the message was accepted too', async () => {
    await tap.restore();
    await allMarked(ana.tab, 4, 'accepted');
    const after = await counted();
    expect(after.waiting).toBe(0);
    expect(await enqueue('once', 'c0'.repeat(16))).toMatchObject({ kind: 'queued', repeated: true });
    expect(await enqueue('twice', 'c0'.repeat(16))).toEqual({ kind: 'conflict' });
    expect(await counted()).toEqual(after);
    await say(ana.tab, 'the next');
    await allMarked(ana.tab, 5, 'accepted');
    expect([...tap.puts().values()]).toEqual([1, 1, 1, 1, 1]);
  });

  test('[OB-13] what was accepted has left the line for good: neither a reload nor a restart sends it again', async () => {
    const before = new Map(tap.puts());
    expect(before.size).toBe(5);
    await ana.tab.reload();
    await allMarked(ana.tab, 5, 'accepted');
    await ana.restart();
    await allMarked(ana.tab, 5, 'accepted');
    await ana.restart('kill');
    await allMarked(ana.tab, 5, 'accepted');
    // One more goes through the line, which would send whatever still stood before it.
    await say(ana.tab, 'the last');
    await allMarked(ana.tab, 6, 'accepted');
    const puts = tap.puts();
    for (const [logical, times] of before) expect(puts.get(logical)).toBe(times);
    expect(puts.size).toBe(6);
    expect((await counted()).waiting).toBe(0);
  });
});
