import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { limits } from '../../src/core/limits';
import { closeCodes } from '../../src/core/link/session';
import { commands } from '../../src/core/wire/commands';
import { encodeFrame } from '../../src/core/wire/frame';
import { holdfast } from '../../src/core/wire/profile';
import { encodeVerack, encodeVersion, featuresOf, semverOf } from '../../src/core/wire/version';
import { systemGround } from '../../src/relay/ground';
import { nameOf, newNodeIds } from '../../src/relay/node-name';
import { freePort } from '../app/kit/relay';
import { Tap } from '../app/kit/tap';
import { slot } from '../fixtures/graph-world';
import { HandTiming } from '../fixtures/hand-timing';
import { runRelay, type TestRelay } from '../fixtures/running-relay';

const now = (): number => slot + 20_000;

/** Longest pause between two tries. */
const anyPauseMs = limits.reconnectMaxMs;
/** The first pauses, and not the deadline of a try that is under way. */
const tryAgainMs = limits.connectMs - 1;

function peersTo(...addresses: readonly string[]): string {
  return `[peers]\nbootstrap = true\noutbound = ${JSON.stringify(addresses)}`;
}

function urlOf(port: number): string {
  return `ws://127.0.0.1:${port}/`;
}

interface Health {
  readonly peers: number;
  readonly ready: number;
  readonly outbound: number;
  readonly reached: number;
}

async function healthOf(relay: TestRelay): Promise<Health> {
  return (await fetch(`http://127.0.0.1:${relay.running.healthPort}/health`)).json();
}

async function settles(relay: TestRelay, wanted: Partial<Health>): Promise<void> {
  await vi.waitFor(async () => expect(await healthOf(relay)).toMatchObject(wanted), 10_000);
}

function said(relay: TestRelay, what: string): number {
  return relay.log.join('').split(what).length - 1;
}

describe('two relays that dial each other', () => {
  test.each([1, 2, 3, 4])('settle on one link, and leave it alone (%i)', async () => {
    const ports = [await freePort(), await freePort()] as const;
    const times = [new HandTiming(), new HandTiming()] as const;
    const [left, right] = await Promise.all([
      runRelay({ now, port: ports[0], timing: times[0], sections: peersTo(urlOf(ports[1])) }),
      runRelay({ now, port: ports[1], timing: times[1], sections: peersTo(urlOf(ports[0])) }),
    ]);
    // One may have dialled before the other listened, so each may need its second try.
    await vi.waitFor(async () => {
      for (const time of times) time.pass(tryAgainMs);
      for (const relay of [left, right]) {
        expect(await healthOf(relay)).toMatchObject({ peers: 1, ready: 1, reached: 1 });
      }
    }, 10_000);
    const before = [left, right].map((relay) => said(relay, '"event":"peer ready"'));
    for (let round = 0; round < 5; round++) {
      for (const time of times) time.pass(anyPauseMs);
      for (const relay of [left, right]) await settles(relay, { peers: 1, ready: 1, reached: 1 });
    }
    expect([left, right].map((relay) => said(relay, '"event":"peer ready"'))).toEqual(before);
  });

  test('dial no more once they have stopped, whichever of them had given its link up', async () => {
    const ports = [await freePort(), await freePort()] as const;
    const times = [new HandTiming(), new HandTiming()] as const;
    const start = (at: 0 | 1): Promise<TestRelay> =>
      runRelay({ now, port: ports[at], timing: times[at], sections: peersTo(urlOf(ports[1 - at] ?? 0)) });
    const relays = [await start(0), await start(1)];
    await vi.waitFor(async () => {
      for (const time of times) time.pass(anyPauseMs);
      for (const relay of relays) expect(await healthOf(relay)).toMatchObject({ peers: 1, reached: 1 });
    }, 10_000);
    for (const time of times) time.pass(anyPauseMs);
    await Promise.all(relays.map((relay) => relay.running.stop()));
    await vi.waitFor(() => {
      for (const relay of relays)
        expect(said(relay, '"event":"peer gone"')).toBe(said(relay, '"event":"peer ready"'));
    }, 10_000);
    for (const time of times) expect(time.waits).toEqual([]);
  });

  test('have a link again when the one they kept has ended', async () => {
    const port = await freePort();
    const time = new HandTiming();
    const left = await runRelay({ now, timing: time, port, sections: peersTo(urlOf(await freePort())) });
    const tap = await Tap.open(left.url);
    onTestFinished(() => tap.close());
    const right = await runRelay({ now, timing: time, sections: peersTo(tap.url) });
    await settles(right, { peers: 1, ready: 1, reached: 1 });
    await tap.cut();
    await settles(right, { peers: 0 });
    await tap.restore();
    time.pass(tryAgainMs);
    await settles(right, { peers: 1, ready: 1, reached: 1 });
    await settles(left, { peers: 1, ready: 1, reached: 0 });
  });
});

describe('a relay', () => {
  test('is one peer by whatever address it is reached', async () => {
    const time = new HandTiming();
    const left = await runRelay({ now });
    const addresses = [left.url, `${left.url}again`, left.url.replace('127.0.0.1', 'localhost')];
    const right = await runRelay({ now, timing: time, sections: peersTo(...addresses) });
    await vi.waitFor(() => expect(said(left, '"why":"replaced"')).toBe(2), 10_000);
    await settles(right, { peers: 1, ready: 1 });
    time.pass(anyPauseMs);
    await settles(right, { peers: 1, outbound: 3, reached: 3 });
    await settles(left, { peers: 1, ready: 1 });
    expect(time.waits).toEqual([]);
    expect(said(left, '"event":"peer ready"')).toBe(3);
  });

  test('that dials itself gives that address up, and the others not', async () => {
    const port = await freePort();
    const time = new HandTiming();
    const other = await runRelay({ now });
    const sections = peersTo(urlOf(port), `ws://localhost:${port}/x`, other.url);
    const relay = await runRelay({ now, port, timing: time, sections });
    // It dials before it listens, so its own address answers at the second try.
    await vi.waitFor(async () => {
      time.pass(tryAgainMs);
      expect(said(relay, '"why":"self"')).toBe(4);
    }, 10_000);
    await settles(relay, { peers: 1, ready: 1, outbound: 3, reached: 1 });
    expect(time.waits).toEqual([]);
  });

  test('knows a node that dialled by a name that nobody can dial in under who only knows the name', async () => {
    const ids = newNodeIds(systemGround.random);
    expect(nameOf(ids.secret)).toBe(ids.name);
    const relay = await runRelay({ now });
    const node = await relay.peer({ nodeId: ids.secret });
    const thief = await relay.peer({ nodeId: ids.name });
    await node.settle();
    await thief.settle();
    expect(await healthOf(relay)).toMatchObject({ peers: 2, ready: 2 });
    const ready = [node.of('ready')[0]?.nodeId, thief.of('ready')[0]?.nodeId];
    expect(ready[0]).toBe(ready[1]);
    expect(ready[0]).toMatch(/^[0-9a-f]{32}$/);
  });

  test('never dials an address that a peer tells it', async () => {
    const trap = createServer();
    const caught: unknown[] = [];
    trap.on('connection', (socket) => {
      caught.push(socket.remotePort);
      socket.destroy();
    });
    await new Promise<void>((listening) => trap.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void trap.close());
    const advertised = urlOf((trap.address() as AddressInfo).port);
    const target = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'holdfast.1' });
    onTestFinished(() => target.close());
    const ended = new Promise<number>((settle) => {
      target.on('connection', (socket) => {
        for (const frame of greeting(advertised)) socket.send(frame);
        socket.on('close', settle);
        // Whatever it does with the address it does before it answers this.
        socket.on('message', (data: Buffer) => {
          if (data.includes(commands.pong)) socket.close(1000);
        });
        socket.send(encodeFrame(holdfast.magic, commands.ping, new Uint8Array([1, 0])));
      });
    });
    await new Promise<void>((listening) => target.once('listening', listening));
    const time = new HandTiming();
    const relay = await runRelay({
      now,
      timing: time,
      sections: peersTo(urlOf((target.address() as AddressInfo).port)),
    });
    expect(await ended).toBe(1000);
    await settles(relay, { peers: 0, outbound: 1, reached: 0 });
    expect(said(relay, '"event":"peer ready"')).toBe(1);
    time.pass(0);
    expect(caught).toEqual([]);
    // The trap works.
    await fetch(advertised.replace('ws:', 'http:')).catch(() => undefined);
    expect(caught).toHaveLength(1);
  });
});

/** What a node says that has another address for whoever cares. */
function greeting(address: string): Uint8Array[] {
  const version = encodeVersion({
    nodeId: 'ab'.repeat(16),
    app: holdfast.app,
    version: semverOf(holdfast.version),
    timestamp: BigInt(Math.floor(now() / 1_000)),
    connectAddress: address,
    externalAddresses: [address],
    features: featuresOf(),
  });
  const verack = encodeVerack({ version: semverOf(holdfast.version), app: holdfast.app });
  return [
    encodeFrame(holdfast.magic, commands.version, version),
    encodeFrame(holdfast.magic, commands.verack, verack),
  ];
}

describe('an address that is not reached', () => {
  test('is dialled again for ever, ever more seldom, and at once no more when the relay stops', async () => {
    const time = new HandTiming(0.5);
    const relay = await runRelay({ now, timing: time, sections: peersTo(urlOf(await freePort())) });
    const pauses: number[] = [];
    for (let failures = 1; failures <= 12; failures++) {
      await vi.waitFor(() => expect(said(relay, '"event":"link ended"')).toBe(failures), 10_000);
      pauses.push(...time.waits);
      time.pass(anyPauseMs);
    }
    expect(pauses).toEqual([1_500, 3_000, 6_000, 12_000, 24_000, ...Array(7).fill(45_000)]);
    await relay.running.stop();
    expect(time.waits).toEqual([]);
    expect(said(relay, '"event":"link ended"')).toBeLessThanOrEqual(13);
  });

  test('because it takes connections and says nothing is given up after the deadline', async () => {
    const mute = createServer();
    const held = new Promise<void>((settle) => {
      mute.on('upgrade', () => settle());
    });
    await new Promise<void>((listening) => mute.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void mute.closeAllConnections());
    onTestFinished(() => void mute.close());
    const time = new HandTiming();
    const port = (mute.address() as AddressInfo).port;
    const relay = await runRelay({ now, timing: time, sections: peersTo(urlOf(port)) });
    await held;
    expect(time.waits).toEqual([limits.connectMs]);
    time.pass(limits.connectMs);
    await vi.waitFor(() => expect(said(relay, '"event":"link ended"')).toBe(1), 10_000);
    expect(time.waits).toEqual([1_000]);
  });

  test('because it asks to wait is left alone for as long, and not much longer', async () => {
    const busy = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'holdfast.1' });
    onTestFinished(() => busy.close());
    const reasons = ['5', '5000', 'nonsense'];
    busy.on('connection', (socket) => socket.close(closeCodes.goingAway, reasons.shift()));
    await new Promise<void>((listening) => busy.once('listening', listening));
    const time = new HandTiming();
    const sections = peersTo(urlOf((busy.address() as AddressInfo).port));
    const relay = await runRelay({ now, timing: time, sections });
    const pauses: number[] = [];
    for (let count = 1; count <= 3; count++) {
      await vi.waitFor(() => expect(said(relay, '"event":"link ended"')).toBe(count), 10_000);
      pauses.push(...time.waits);
      time.pass(anyPauseMs);
    }
    expect(pauses).toEqual([5_000, anyPauseMs, 4_000]);
  });
});
