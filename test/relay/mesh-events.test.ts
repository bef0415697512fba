import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { limits } from '../../src/core/limits';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { freePort } from '../app/kit/relay';
import { Tap } from '../app/kit/tap';
import { type Made, make, noBlob, one, slot } from '../fixtures/graph-world';
import { HandTiming } from '../fixtures/hand-timing';
import { memoryGraph, type TestPeer } from '../fixtures/peer';
import { runRelay, type TestRelay } from '../fixtures/running-relay';

const now = (): number => slot + 500_000;
const genesis = genesisOf(holdfast, slot).id;
const has = { type: 'has', inserted: true };

afterEach(() => void vi.useRealTimers());

function peersTo(...addresses: readonly string[]): string {
  return `[peers]\nbootstrap = true\noutbound = ${JSON.stringify(addresses)}`;
}

function urlOf(port: number): string {
  return `ws://127.0.0.1:${port}/`;
}

async function healthOf(relay: TestRelay): Promise<Record<string, number>> {
  return (await fetch(`http://127.0.0.1:${relay.running.healthPort}/health`)).json();
}

async function reaches(relay: TestRelay, reached: number): Promise<void> {
  await vi.waitFor(async () => expect(await healthOf(relay)).toMatchObject({ reached }), 10_000);
}

function found(made: ReadonlyMap<string, Made>, name: string): Made {
  const event = made.get(name);
  if (event === undefined) throw new Error(`${name} is not drawn`);
  return event;
}

async function tipsAt(peer: TestPeer): Promise<readonly string[]> {
  const answer = await peer.ask({ ask: 'tips', slot });
  return answer?.type === 'tips' ? answer.tips.map((tip) => tip.id).toSorted() : [];
}

/** Waits until a relay's newest events are these; the test's own timeout ends it. */
async function comesTo(peer: TestPeer, ids: readonly string[]): Promise<void> {
  await vi.waitFor(async () => expect(await tipsAt(peer)).toEqual(ids.toSorted()), 20_000);
}

/** A peer that gives what it put, and takes nothing in. */
async function member(relay: TestRelay): Promise<TestPeer> {
  return relay.peer({ graph: memoryGraph(now) });
}

/** Stands between two relays and can leave unread what the target says, so that it has to wait with more. */
async function valveTo(target: number): Promise<{ readonly port: number; shut(): void; open(): void }> {
  let reading = true;
  const pairs: (readonly [Socket, Socket])[] = [];
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    near.pipe(far);
    far.on('data', (data) => {
      if (!near.write(data)) far.pause();
    });
    near.on('drain', () => {
      if (reading) far.resume();
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => one.destroy());
      one.on('close', () => other.destroy());
    }
    pairs.push([near, far]);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    server.close();
  });
  const turn = (open: boolean): void => {
    reading = open;
    for (const [, far] of pairs)
      if (open) far.resume();
      else far.pause();
  };
  const { port } = server.address() as AddressInfo;
  return { port, shut: () => turn(false), open: () => turn(true) };
}

describe('three relays', () => {
  test('[EG-09] in a line carry an event of a member of the first to one of the third', async () => {
    const first = await runRelay({ now });
    const second = await runRelay({ now, sections: peersTo(first.url) });
    const third = await runRelay({ now, sections: peersTo(second.url) });
    await reaches(second, 1);
    await reaches(third, 1);
    const [left, right] = [await member(first), await member(third)];
    const { a, b } = Object.fromEntries(make('a - b'));
    expect(await left.put(a as Made)).toEqual(has);
    expect((await right.next('put')).event).toEqual(a?.bytes);
    expect(await right.put(b as Made)).toEqual(has);
    expect((await left.next('put')).event).toEqual(b?.bytes);
    // Nobody heard what it had said, and nobody heard anything twice.
    for (const peer of [left, right]) await peer.settle();
    expect([left.of('put').length, right.of('put').length]).toEqual([1, 1]);
  });

  test('in a ring end by what is known: every member hears everything once', async () => {
    const ports = [await freePort(), await freePort(), await freePort()];
    const time = new HandTiming();
    const ring: TestRelay[] = [];
    for (const [at, port] of ports.entries()) {
      const next = urlOf(ports[(at + 1) % 3] ?? 0);
      ring.push(await runRelay({ now, port, timing: time, sections: peersTo(next) }));
    }
    await vi.waitFor(async () => {
      // Who began before the next one listened dials again.
      time.pass(limits.connectMs - 1);
      for (const relay of ring) expect(await healthOf(relay)).toMatchObject({ reached: 1 });
    }, 10_000);
    const members = await Promise.all(ring.map(member));
    const events = Array.from({ length: 60 }, (_, at) => one(slot + 1_000 + at, [genesis], 1, `event ${at}`));
    const answers = events.map((event, at) => (members[at % 3] as TestPeer).put(event));
    expect(await Promise.all(answers)).toEqual(events.map(() => has));
    const ids = events.map((event) => event.id);
    for (const [nth, peer] of members.entries()) {
      const foreign = ids.filter((_, at) => at % 3 !== nth).toSorted();
      await vi.waitFor(() => expect(peer.of('put').length).toBeGreaterThanOrEqual(foreign.length), 10_000);
      await peer.settle();
      expect(
        peer
          .of('put')
          .map((put) => put.id)
          .toSorted(),
      ).toEqual(foreign);
    }
  });
});

describe('a link between relays that was down', () => {
  test('brings both sides what was said on the other meanwhile, in the middle of the slot too', async () => {
    const time = new HandTiming();
    const left = await runRelay({ now });
    const tap = await Tap.open(left.url);
    onTestFinished(() => tap.close());
    const right = await runRelay({ now, timing: time, sections: peersTo(tap.url) });
    await reaches(right, 1);
    const [one, other] = [await member(left), await member(right)];
    const made = make(String.raw`
   b - d
  /
 a - c
  \
   e - f`);
    expect(await one.put(found(made, 'a'))).toEqual(has);
    await other.next('put');
    await tap.cut();
    await reaches(right, 0);
    for (const name of 'bd') expect(await one.put(found(made, name))).toEqual(has);
    for (const name of 'cef') expect(await other.put(found(made, name))).toEqual(has);
    await tap.restore();
    time.pass(limits.reconnectMaxMs);
    const tips = ['d', 'c', 'f'].map((name) => found(made, name).id);
    await comesTo(one, tips);
    await comesTo(other, tips);
    // And their members hear of it without asking.
    for (const name of 'cf') await one.next('put', (put) => put.id === found(made, name).id);
    for (const name of 'bd') await other.next('put', (put) => put.id === found(made, name).id);
  });

  test('brings what came over it too late for its slot within half a minute, since it does not come again', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const end = slot + holdfast.rotationMs;
    const left = await runRelay({ now: () => end - 1 });
    // Its clock is past the turn of the slot by what the way took.
    const late = (): number => end + 1;
    const few = '[profile]\nsync_slots = 2';
    const right = await runRelay({ now: late, sections: `${peersTo(left.url)}\n${few}` });
    await reaches(right, 1);
    const source = await left.peer({ now: () => end - 1, graph: memoryGraph(() => end - 1) });
    const reader = await right.peer({ now: late, graph: memoryGraph(late) });
    await reader.settle();
    // The first is also brought by the round that follows the first peer, the second by nothing else.
    for (const text of ['first', 'second']) {
      const event = one(end - 1, [genesis], 1, text);
      expect(await source.put(event)).toEqual(has);
      // Far fewer than bring the round of every 15 minutes.
      let ticks = 0;
      await vi.waitFor(
        () => {
          ticks += 1;
          if (ticks < 10) vi.advanceTimersByTime(limits.heartbeatMs);
          expect(reader.of('put').map((put) => put.id)).toContain(event.id);
        },
        { timeout: 15_000, interval: 500 },
      );
    }
  });

  test('between two that know each other brings both what a slot held that is closed since', async () => {
    let clock = now();
    const time = new HandTiming();
    const moving = (): number => clock;
    const ports = [await freePort(), await freePort()] as const;
    const taps = [await Tap.open(urlOf(ports[0])), await Tap.open(urlOf(ports[1]))] as const;
    for (const tap of taps) onTestFinished(() => tap.close());
    const slots = '[profile]\nretained_slots = 2\nsync_slots = 2';
    const start = (at: 0 | 1): Promise<TestRelay> => {
      const sections = `${peersTo(taps[1 - at]?.url ?? '')}\n${slots}`;
      return runRelay({ now: moving, timing: time, port: ports[at], sections });
    };
    const relays = [await start(0), await start(1)] as const;
    const linked = (): Promise<unknown> =>
      vi.waitFor(async () => {
        time.pass(limits.connectMs - 1);
        for (const relay of relays) expect(await healthOf(relay)).toMatchObject({ ready: 1, reached: 1 });
      }, 10_000);
    await linked();
    for (const tap of taps) await tap.cut();
    for (const relay of relays) await reaches(relay, 0);
    const said = ['left', 'right'].map((text) => one(slot + 1_000, [genesis], 1, text));
    for (const [at, relay] of relays.entries()) {
      const peer = await relay.peer({ now: moving });
      expect(await peer.put(said[at] as Made)).toEqual(has);
      peer.close();
    }
    clock = slot + holdfast.rotationMs + 2 * limits.eventTimeDriftMs;
    for (const tap of taps) await tap.restore();
    for (const relay of relays) {
      await vi.waitFor(async () => {
        time.pass(limits.connectMs - 1);
        expect(await healthOf(relay)).toMatchObject({ reached: 1 });
      }, 10_000);
    }
    const ids = said.map((event) => event.id);
    for (const relay of relays) await comesTo(await relay.peer({ now: moving }), ids);
  });

  test('repairs those behind it too, when more came than is handed on one by one', async () => {
    const [first, second] = [await runRelay({ now }), await runRelay({ now })];
    const time = new HandTiming();
    const port = await freePort();
    const sections = `${peersTo(first.url)}\n[limits]\nevents_per_minute = 1000`;
    const chain: Made[] = [];
    const source = await member(first);
    for (let layer = 1; layer <= 150; layer++) {
      chain.push(one(slot + 1_000 + layer, [chain.at(-1)?.id ?? genesis], layer, `${layer}`));
    }
    for (const { bytes } of chain) source.say({ say: 'put', event: bytes, blob: noBlob });
    await source.next('status', (status) => status.id === chain.at(-1)?.id);
    const tap = await Tap.open(second.url);
    onTestFinished(() => tap.close());
    const outbound = JSON.stringify([tap.url, first.url]);
    const middle = await runRelay({
      now,
      port,
      timing: time,
      sections: sections.replace(/outbound = .*/, `outbound = ${outbound}`),
    });
    await reaches(middle, 2);
    await comesTo(await member(second), [chain.at(-1)?.id ?? '']);
  });
});

describe('the queue of a peer', () => {
  test('that overflows drops, counts, and repairs as soon as it has room', async () => {
    const more = '[limits]\noutbound_buffer_bytes = 1100000\nbytes_per_minute = 90000000';
    const left = await runRelay({ now, sections: `${peersTo()}\n${more}` });
    const source = await member(left);
    const chain = [one(slot + 1_000, [genesis], 1, 'what only a sync brings')];
    expect(await source.put(chain[0] as Made)).toEqual(has);
    const valve = await valveTo(left.running.port);
    const sections = `${peersTo(urlOf(valve.port))}\n${more}\n[profile]\nsync_slots = 1`;
    const right = await runRelay({ now, sections });
    const reader = await member(right);
    // The sync of the new link is over, so that none is under way when the valve opens again.
    await comesTo(reader, [chain[0]?.id ?? '']);
    await right.peer().then((peer) => peer.settle());
    for (const beside of ['x', 'y']) {
      const event = one(slot + 1_000, [genesis], 1, beside);
      await source.put(event);
      await reader.next('put', (put) => put.id === event.id);
      chain.unshift(event);
    }
    valve.shut();
    while ((await healthOf(left))['dropped'] === 0) {
      const parent = chain.at(-1)?.id ?? '';
      const event = one(slot + 2_000 + chain.length, [parent], chain.length - 1, 'x'.repeat(250_000));
      expect(await source.put(event)).toEqual(has);
      chain.push(event);
      expect(chain.length).toBeLessThan(100);
    }
    const last = chain.at(-1)?.id ?? '';
    expect(await tipsAt(reader)).not.toContain(last);
    valve.open();
    await comesTo(reader, [last, ...chain.slice(0, 2).map((event) => event.id)]);
    expect(await healthOf(left)).toMatchObject({ peers: 2, ready: 2 });
  });

  test('keeps within what a relay takes of a member, when that does not dial back', async () => {
    let time = now();
    const clock = (): number => time;
    const left = await runRelay({ now: clock, sections: `${peersTo()}\n[limits]\nevents_per_minute = 20` });
    const waits = new HandTiming();
    const right = await runRelay({ now: clock, timing: waits, sections: peersTo(left.url) });
    await reaches(right, 1);
    const source = await right.peer({ now: clock });
    const events = Array.from({ length: 30 }, (_, at) => one(slot + 1_000 + at, [genesis], 1, `event ${at}`));
    for (const event of events) expect(await source.put(event)).toEqual(has);
    const reader = await left.peer({ now: clock });
    await vi.waitFor(async () => expect(await tipsAt(reader)).toHaveLength(12), 10_000);
    // 20 events a minute are announced as batches of 12, and that many go out in any minute.
    expect(waits.waits).toContain(1_000);
    for (const count of [24, 30]) {
      time += limits.floodWindowMs + 1;
      waits.pass(1_000);
      await vi.waitFor(async () => expect(await tipsAt(reader)).toHaveLength(count), 10_000);
    }
    expect(left.log.join('')).not.toContain('"why":"flood"');
  });

  test('knows no such bound where both were told to know each other', async () => {
    const ports = [await freePort(), await freePort()] as const;
    const few = '[limits]\nevents_per_minute = 40';
    const time = new HandTiming();
    const left = await runRelay({
      now,
      timing: time,
      port: ports[0],
      sections: `${peersTo(urlOf(ports[1]))}\n${few}`,
    });
    const right = await runRelay({
      now,
      timing: time,
      port: ports[1],
      sections: `${peersTo(urlOf(ports[0]))}\n${few}`,
    });
    await vi.waitFor(async () => {
      time.pass(limits.connectMs - 1);
      for (const relay of [left, right]) {
        expect(await healthOf(relay)).toMatchObject({ peers: 1, ready: 1, reached: 1 });
      }
    }, 10_000);
    const readers = [await member(left), await member(right)] as const;
    const events = Array.from({ length: 120 }, (_, at) =>
      one(slot + 1_000 + at, [genesis], 1, `event ${at}`),
    );
    // Members within their own allowance, who together put far more than one member may.
    const sources = await Promise.all([left, left, left, left, right].map(member));
    for (const [at, event] of events.entries()) expect(await sources[at % 5]?.put(event)).toEqual(has);
    for (const reader of readers)
      await comesTo(
        reader,
        events.map((event) => event.id),
      );
    for (const relay of [left, right]) expect(relay.log.join('')).not.toContain('"why":"flood"');
  });
});
