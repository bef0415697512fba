import { describe, expect, test } from 'vitest';
import { backoffMaxMs, backoffMs } from '../../src/core/backoff';
import { fromHex } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { relaxedWrites, writes } from '../../src/core/transactions/registry';
import { utf8Bytes } from '../../src/core/wire/codec';
import { commands } from '../../src/core/wire/commands';
import { encodeEvent, makeEvent } from '../../src/core/wire/event';
import { decodeFrame, encodeFrame } from '../../src/core/wire/frame';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { account, command, enqueueArgs, fresh, nick, open, relays, slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle } from '../fixtures/fake-ports';
import { Home, had, taken } from '../fixtures/home';

const minute = 60_000;
const invalid = { type: 'nack', reason: 'invalid' } as const;

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

async function silent(count: number, names: readonly string[] = ['one']): Promise<EngineWorld> {
  const world = await EngineWorld.with(count, names);
  for (const relay of world.relays) relay.verdict = () => undefined;
  return world;
}

async function press(world: EngineWorld, nth: number): Promise<string> {
  const args = world.home.hand(nth, world.clock.now());
  const { outcome } = await world.home.store.transact('retryNow', args);
  world.engine?.nudge();
  await idle();
  return outcome.kind;
}

describe('the order of the line, whatever is pressed', () => {
  test('(BL-01) a slow head, three presses and a fresh message at the opening of the link: each once, in order', async () => {
    const world = await EngineWorld.with(5, ['one']);
    world.relay(0).verdict = (put) =>
      put.at - t0 < 8_000 && world.heard(0).length === 1 ? undefined : taken;
    const started = world.start();
    void world.home.enqueue(6);
    await started;
    await world.clock.pass(1_000);
    expect([await press(world, 1), await press(world, 1), await press(world, 1)]).toEqual(
      Array(3).fill('not-before'),
    );
    await world.clock.pass(7_000);
    world.relay(0).say(world.home.active(1), taken);
    await world.clock.pass(2_000);
    expect(world.heard(0)).toEqual(range(6));
    expect(new Set(world.relay(0).arrived.map((put) => put.id)).size).toBe(6);
  });

  test('(BL-01) presses after the pause send the head again, once for all of them, and nothing else', async () => {
    const world = await silent(3);
    await world.start();
    await world.clock.pass(limits.retryPauseMs + 1_000);
    const kinds = [await press(world, 1), await press(world, 1), await press(world, 1)];
    expect(kinds).toEqual(['due', 'not-before', 'not-before']);
    expect([await press(world, 2), await press(world, 3)]).toEqual(['waits', 'waits']);
    expect(world.heard(0)).toEqual([1, 1]);
    expect(new Set(world.relay(0).arrived.map((put) => put.id)).size).toBe(1);
  });

  test('(BL-02) a refused head holds the others until it is dropped; then they leave, without a restart', async () => {
    const world = await EngineWorld.with(3, ['one']);
    world.relay(0).verdict = () => invalid;
    await world.start();
    await world.clock.pass(40 * minute);
    expect(new Set(world.heard(0))).toEqual(new Set([1]));
    world.relay(0).verdict = () => taken;
    await world.home.store.transact('drop', world.home.hand(1, world.clock.now()));
    const before = world.heard(0).length;
    world.engine?.nudge();
    await world.clock.pass(2_000);
    expect(world.heard(0).slice(before)).toEqual([2, 3]);
  });

  test('(BL-02) the same with a head that nothing can be made of', async () => {
    const world = await EngineWorld.with(2, ['one']);
    const row = world.home.message(1);
    world.home.tables.write([{ put: 'messages', row: { ...row, body: fresh(40) } }]);
    await world.start();
    await world.clock.pass(10 * minute);
    expect([world.heard(0), world.status?.parked]).toEqual([[], 'processing']);
    await world.home.store.transact('drop', world.home.hand(1, world.clock.now()));
    world.engine?.nudge();
    await world.clock.pass(2_000);
    expect(world.heard(0)).toEqual([2]);
  });

  test('(BL-05) any number of triggers make one drain: four rows, in order, each once, over the death of the engine', async () => {
    const world = await silent(3);
    await world.start();
    await world.clock.pass(1_000);
    world.crash();
    world.relay(0).verdict = () => taken;
    await world.start();
    for (const _ of range(5)) world.engine?.nudge();
    void world.engine?.reload();
    void world.home.enqueue(4);
    world.engine?.nudge();
    await world.clock.pass(minute);
    expect([...new Set(world.heard(0))]).toEqual(range(4));
    expect(world.home.rows('generations')).toHaveLength(4);
    expect(world.heard(0)).toHaveLength(5);
  });

  test('(BL-08) what is written while the backlog drains stands behind it, over a cut and a restart', async () => {
    const world = await EngineWorld.with(50, ['one']);
    let acked = 0;
    world.relay(0).verdict = () => {
      acked += 1;
      if (acked === 10) void world.home.enqueue(51);
      if (acked > 12) return undefined;
      return taken;
    };
    await world.start();
    await world.clock.pass(1_000);
    world.relay(0).breakLink(true);
    await idle();
    world.crash();
    expect(world.home.waiting().at(-1)).toBe(51);
    world.relay(0).up = true;
    world.relay(0).verdict = () => taken;
    await world.start();
    await world.clock.pass(2 * minute);
    expect([...new Set(world.heard(0))]).toEqual(range(51));
    expect(world.home.waiting()).toEqual([]);
  });
});

describe('only an acceptance that names the event ends it', () => {
  test('(BL-03) a relay that says not yet three times is asked again with the same event, and then it leaves', async () => {
    const world = await EngineWorld.with(1, ['one']);
    world.relay(0).verdict = () =>
      world.heard(0).length <= 3 ? { type: 'nack', reason: 'not-synced' } : taken;
    await world.start();
    await world.clock.pass(10 * minute);
    expect(world.heard(0)).toEqual([1, 1, 1, 1]);
    expect(new Set(world.relay(0).arrived.map((put) => put.id)).size).toBe(1);
    expect(world.home.waiting()).toEqual([]);
  });

  const unknownStatus = (id: string) =>
    encodeFrame(holdfast.magic, commands.eventPutStatus, new Uint8Array([...(fromHex(id) ?? []), 9, 9]));
  test.each([
    ['close code 1006', (world: EngineWorld) => world.relay(0).breakLink(false, { code: 1006 })],
    ['close code 1011', (world: EngineWorld) => world.relay(0).breakLink(false, { code: 1011 })],
    ['close code 1013', (world: EngineWorld) => world.relay(0).breakLink(false, { code: 1013 })],
    ['close code 4000', (world: EngineWorld) => world.relay(0).breakLink(false, { code: 4000 })],
    ['a web page', (world: EngineWorld) => world.relay(0).breakLink(false, { seen: 'web-page' })],
    ['a status of another event', (world: EngineWorld) => world.relay(0).say('ab'.repeat(32), taken)],
    ['bytes that are no frame', (world: EngineWorld) => world.relay(0).raw(utf8Bytes('<html>no</html>'))],
    ['an unknown status', (world: EngineWorld) => world.relay(0).raw(unknownStatus(world.home.active(1)))],
    ['silence', () => undefined],
  ] as const)(
    '(BL-04) %s: the head stays the head, is tried again, and the order stands',
    async (_what, happens) => {
      const world = await silent(3);
      await world.start();
      await world.clock.pass(1_000);
      const attempts = world.home.intent(1, world.relay(0).url)?.attempt ?? 0;
      happens(world);
      await world.clock.pass(3 * minute);
      expect(world.home.waiting()).toEqual([1, 2, 3]);
      expect(world.home.intent(1, world.relay(0).url)?.attempt).toBeGreaterThan(attempts);
      expect(new Set(world.heard(0))).toEqual(new Set([1]));
      world.relay(0).verdict = () => taken;
      await world.clock.pass(20 * minute);
      expect([...new Set(world.heard(0))]).toEqual([1, 2, 3]);
    },
  );

  test('(BL-06) a timer of its own tries again, though the network never changes and nobody presses anything', async () => {
    const world = await EngineWorld.with(1, ['one']);
    world.relay(0).verdict = (put) => (put.at - t0 < 90_000 ? { type: 'nack', reason: 'busy' } : taken);
    await world.start();
    await world.clock.pass(2 * minute);
    expect(world.times(0)).toEqual([0, 30_000, 90_000]);
    expect(world.home.waiting()).toEqual([]);
  });

  test('(BL-10) silence is waiting and never a failure; a reply that comes late counts, and there is one event', async () => {
    const world = await silent(1);
    await world.start();
    await world.clock.pass(35_000);
    expect(world.home.operation(1)).not.toHaveProperty('parked');
    expect(Object.values(world.home.intents(1))).toEqual(['leased']);
    world.relay(0).say(world.home.active(1), taken);
    await idle();
    expect(world.home.waiting()).toEqual([]);
    expect(new Set(world.relay(0).arrived.map((put) => put.id)).size).toBe(1);
  });

  test('(BL-11) two presses and a restart: the one id it was born with is on the wire', async () => {
    const world = await silent(1);
    await world.start();
    for (const _ of range(2)) {
      await world.clock.pass(6_000);
      expect(await press(world, 1)).toBe('due');
    }
    world.crash();
    await world.start();
    await world.clock.pass(5 * minute);
    expect(world.relay(0).arrived.length).toBeGreaterThan(3);
    expect(new Set(world.relay(0).arrived.map((put) => put.id)).size).toBe(1);
    expect(new Set(world.heard(0))).toEqual(new Set([1]));
  });

  test('(BL-60) what was sent while the link was closing is still to be sent, and goes out on the next', async () => {
    const world = await EngineWorld.with(0, ['one']);
    await world.start();
    await world.clock.pass(1_000);
    world.relay(0).hungUp(world.relay(0).link);
    await world.send(1);
    expect([world.heard(0), world.home.waiting()]).toEqual([[], [1]]);
    await world.clock.pass(20_000);
    world.relay(0).breakLink();
    await world.clock.pass(5_000);
    expect([world.heard(0), world.home.waiting()]).toEqual([[1], []]);
  });

  test('(BL-62) with no relay it stays queued; a relay that only closes costs time and no message', async () => {
    const lonely = await EngineWorld.with(2, []);
    await lonely.start();
    await lonely.clock.pass(30 * minute);
    expect(lonely.home.waiting()).toEqual([1, 2]);
    expect(lonely.home.rows('events')).toEqual([]);
    const world = await silent(2);
    world.relay(0).verdict = () => {
      world.relay(0).breakLink(false, { code: 4000 });
      return undefined;
    };
    await world.start();
    await world.clock.pass(3 * minute);
    expect(world.home.waiting()).toEqual([1, 2]);
    world.relay(0).verdict = () => taken;
    await world.clock.pass(20 * minute);
    expect(world.home.waiting()).toEqual([]);
  });
});

describe('what is queued is kept, once', () => {
  test('(BL-09) each message that was answered as queued is there after the realm died at once', async () => {
    const home = await Home.with();
    for (const nth of range(3)) {
      expect(await home.enqueue(nth)).toMatchObject({ kind: 'queued' });
      home.restart();
      expect(home.waiting()).toEqual(range(nth));
    }
  });

  test('(BL-12) the own message is the record: it stands once at its place, echo or not, over a restart', async () => {
    const home = await Home.with(1);
    await home.make(1, { now: t0 });
    await home.answer(home.active(1), taken);
    const heard = range(30).map((nth) => ({
      ...{ event: nth.toString(16).padStart(64, 'e'), conversation: open, logical: command(1_000 + nth) },
      ...{ time: t0 + nth, nick: 'Someone', text: `said ${nth}` },
    }));
    await home.store.transact('scanChannel', { account, heard, now: t0 + minute, seed: fresh(32) });
    for (const _ of range(2)) {
      const { messages } = await home.store.read('timeline', { account, conversation: open, limit: 100 });
      expect(messages.map((one) => one.own)).toEqual([true, ...Array(30).fill(false)]);
      home.restart();
    }
  });

  test('(BL-13) the echo before the reply, or after it: one message, accepted', async () => {
    for (const echoFirst of [true, false]) {
      const home = await Home.with(1);
      await home.make(1, { now: t0 });
      const [made] = home.rows('events');
      const id = home.active(1);
      const echo = async () => {
        const heard = {
          event: id,
          conversation: open,
          logical: command(1),
          time: t0,
          nick,
          text: 'message 1',
        };
        const args = { account, profile: holdfast.name, now: t0 + 500, seed: fresh(32), synced: true };
        const event = made?.event ?? fresh(1);
        await home.store.transact('receive', { ...args, event, blob: fresh(0), flooded: false, heard });
      };
      if (echoFirst) await echo();
      expect(await home.answer(id, had)).toMatchObject({ kind: 'acknowledged' });
      if (!echoFirst) await echo();
      expect(home.rows('messages')).toHaveLength(1);
      expect(home.intent(1, relays[0])).toMatchObject({ state: 'accepted' });
    }
  });

  test('(BL-14) the first frame of each link is the greeting, and the backlog follows the handshake', async () => {
    const world = await EngineWorld.with(5, ['one']);
    const frames: string[] = [];
    world.links.onSend = (_relay, bytes) => frames.push(decodeFrame(holdfast.magic, bytes).command);
    await world.start();
    await world.clock.pass(1_000);
    expect(frames[0]).toBe(commands.version);
    expect(frames.indexOf(commands.verack)).toBeLessThan(frames.indexOf(commands.eventPut));
    expect(world.heard(0)).toEqual(range(5));
  });

  test('(BL-15) a claim whose engine died in mid-send is taken back after its lease, once', async () => {
    const world = await silent(1);
    await world.start();
    await world.clock.pass(1_000);
    world.crash();
    const sent = world.heard(0).length;
    await world.start();
    await world.clock.pass(limits.leaseMs - 2_000);
    expect(world.heard(0)).toHaveLength(sent);
    await world.clock.pass(3_000);
    expect(world.heard(0)).toHaveLength(sent + 1);
    expect(world.home.operation(1).generations).toHaveLength(1);
  });

  test('(BL-16) one command twice in one task is one message; the same words under another command are two', async () => {
    const home = await Home.with();
    const args = enqueueArgs(1, 'hello');
    await Promise.all([home.store.transact('enqueue', args), home.store.transact('enqueue', args)]);
    expect(home.waiting()).toEqual([1]);
    await home.enqueue(2, 'hello');
    expect(home.waiting()).toEqual([1, 2]);
  });
});

describe('what a store may promise', () => {
  test('(BL-46) (BL-48) a write that fails is no success: refused with a reason, nothing kept, and it works when there is room', async () => {
    const home = await Home.with(2);
    const before = home.everything();
    const { write } = home.tables;
    home.tables.write = () => {
      throw new DOMException('no room', 'QuotaExceededError');
    };
    await expect(home.enqueue(3)).rejects.toMatchObject({ name: 'StoreError', kind: 'storage' });
    await expect(home.make(1)).rejects.toMatchObject({ name: 'StoreError', kind: 'storage' });
    home.tables.write = write;
    expect(home.everything()).toEqual(before);
    expect(await home.enqueue(3)).toMatchObject({ kind: 'queued', repeated: false });
    expect(home.waiting()).toEqual([1, 2, 3]);
  });

  test('(BL-47) nothing in a transaction can wait for anything but the rows it asks for', () => {
    const kinds = Object.values(writes).map((script) => Object.getPrototypeOf(script).constructor.name);
    expect(new Set(kinds)).toEqual(new Set(['GeneratorFunction']));
  });

  test('(BL-53) every write that a person or a peer relies on waits for the disk', () => {
    const strict = Object.keys(writes).filter((name) => !relaxedWrites.has(name));
    expect(strict).toEqual(expect.arrayContaining(['enqueue', 'materialise', 'answer', 'receive', 'drop']));
    expect([...relaxedWrites].sort()).toEqual(['markRead', 'putDraft']);
  });

  test('(BL-57) after sixty failed rounds the pause is the cap, and after a million as well', async () => {
    for (const round of [60, 1_024, 1_000_000]) {
      for (const jitter of [0, 0.5, 0.999_999]) {
        expect(backoffMs(round, jitter)).toBeGreaterThanOrEqual(720_000);
        expect(backoffMs(round, jitter)).toBeLessThanOrEqual(backoffMaxMs);
      }
    }
    const world = await silent(1);
    const row = world.home.message(1);
    const operation = { generations: [], intents: [], round: 60 };
    world.home.tables.write([{ put: 'messages', row: { ...row, operation } }]);
    await world.start();
    await world.clock.pass(50 * minute);
    const times = world.times(0);
    expect(times.length).toBeGreaterThan(2);
    for (const [at, time] of times.slice(1).entries()) {
      expect(time - (times[at] ?? 0)).toBeGreaterThanOrEqual(720_000);
    }
  });

  test('an event of another is no echo of ours: the field cases above do not pass by accepting all', async () => {
    const home = await Home.with(1);
    await home.make(1, { now: t0 });
    const event = encodeEvent(makeEvent(BigInt(t0), [genesisOf(holdfast, slot).id], 1n, utf8Bytes('x')));
    const args = { account, profile: holdfast.name, now: t0 + 500, seed: fresh(32), synced: true };
    const { outcome } = await home.store.transact('receive', {
      ...args,
      event,
      blob: fresh(0),
      flooded: false,
    });
    expect(outcome.verdict).toMatchObject({ type: 'has', inserted: true });
    expect(home.waiting()).toEqual([1]);
  });
});
