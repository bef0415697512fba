import { constants, deflateRawSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { limits } from '../../src/core/limits';
import { frameOf } from '../../src/core/link/messages';
import { openSession } from '../../src/core/link/session';
import { prefixedBytes, utf8Bytes } from '../../src/core/wire/codec';
import { encodeFrame } from '../../src/core/wire/frame';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { decodeVersion, encodeVersion, featuresOf } from '../../src/core/wire/version';
import { make, one, slot } from '../fixtures/graph-world';
import { heldBytes } from '../fixtures/memory';
import { RawPeer, upgrade } from '../fixtures/raw-peer';
import {
  clientFrame,
  closeCodeIn,
  ended,
  rawSocket,
  rawWebSocket,
  upgradeHead,
} from '../fixtures/raw-socket';
import { runRelay, type TestRelay } from '../fixtures/running-relay';

const now = (): number => slot + 500_000;
const bootstrap = '[peers]\nbootstrap = true\n';
const unknown = 'EventGraph::RangeReq';

async function stillServes(relay: TestRelay): Promise<void> {
  const peer = await relay.peer();
  const a = make('a').get('a');
  expect(a && (await peer.put(a)).type).toBe('has');
}

/** A frame of a command nobody speaks, of so many bytes as a message. */
function unknownFrame(bytes: number): Uint8Array {
  const head = 4 + prefixedBytes(unknown.length) + 5;
  return encodeFrame(holdfast.magic, unknown, new Uint8Array(bytes - head));
}

function milliseconds(since: number): number {
  return performance.now() - since;
}

describe('slow and silent connections (HX-06)', () => {
  const slow = (relay: TestRelay) => {
    const { port } = relay.running;
    const silent = Array.from({ length: 500 }, () => rawSocket(port));
    const trickling = Array.from({ length: 100 }, () => rawSocket(port));
    const timers = trickling.map((socket, nth) => {
      let at = 0;
      const write = (): void => {
        socket.write(upgradeHead.charAt(at));
        at += 1;
      };
      write();
      return setInterval(write, 1_000 + nth);
    });
    const gone = Promise.all([...silent, ...trickling].map(ended));
    return { all: [...silent, ...trickling], gone: gone.finally(() => timers.forEach(clearInterval)) };
  };
  const opened = (sockets: readonly { readonly connecting: boolean }[]) =>
    vi.waitUntil(() => sockets.every((socket) => !socket.connecting), 10_000);

  test('500 that say nothing and 100 that trickle their request: a good client connects within a second, and they are cut by their deadline', async () => {
    const sections = `${bootstrap}[limits]\nhandshake_s = 1\nper_source = 1000`;
    const relay = await runRelay({ now, sections });
    const { all, gone } = slow(relay);
    await opened(all);
    const before = performance.now();
    const good = await RawPeer.connect(relay.url, now);
    expect(milliseconds(before)).toBeLessThan(1_000);
    await gone;
    expect(milliseconds(before)).toBeLessThan(8_000);
    expect(await good.put(one(slot + 1, [genesisOf(holdfast, slot).id], 1, 'a'))).toEqual({
      type: 'has',
      inserted: true,
    });
  });

  test('where more of one source wait than may connect, the oldest give way; who is connected stays', async () => {
    const relay = await runRelay({ now });
    const early = await RawPeer.connect(relay.url, now);
    const { all, gone } = slow(relay);
    await opened(all);
    await vi.waitUntil(() => all.filter((socket) => !socket.destroyed).length <= 64, 5_000);
    const before = performance.now();
    await RawPeer.connect(relay.url, now);
    expect(milliseconds(before)).toBeLessThan(1_000);
    expect(early.isClosed).toBe(false);
    for (const socket of all) socket.destroy();
    await gone;
  });

  test('WebSockets that say nothing, or send the parts of a first message and never its end, are late by name', async () => {
    const relay = await runRelay({ sections: `${bootstrap}[limits]\nhandshake_s = 1` });
    const sockets = await Promise.all([upgrade(relay.url), upgrade(relay.url)]);
    const [silent, parted] = sockets as [WebSocket, WebSocket];
    const ends = sockets.map((socket) => new Promise((end) => (socket as WebSocket).on('close', end)));
    parted.send(holdfast.magic, { fin: false });
    const timer = setInterval(() => parted.send(new Uint8Array(1), { fin: false }), 20);
    expect(await Promise.all(ends)).toEqual([4002, 4002]);
    clearInterval(timer);
    expect(silent.readyState).toBe(WebSocket.CLOSED);
  });

  test('the parts of a later message without an end leave a ping without its pong: too slow, by name', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let time = now();
      const clock = (): number => time;
      const relay = await runRelay({ now: clock });
      const peer = await RawPeer.connect(relay.url, clock);
      await peer.put(one(slot + 1, [genesisOf(holdfast, slot).id], 1, 'a'));
      const pings = (): number => peer.pinged;
      peer.answers = false;
      peer.socket.send(holdfast.magic, { fin: false });
      const before = pings();
      time += limits.heartbeatMs;
      vi.advanceTimersByTime(limits.heartbeatMs);
      await peer.until(() => pings() > before);
      peer.socket.send(new Uint8Array(1), { fin: false });
      time += limits.pongMs;
      vi.advanceTimersByTime(limits.pongMs);
      expect(await peer.closed).toEqual({ code: 4005, reason: 'no pong' });
    } finally {
      vi.useRealTimers();
    }
  });

  test('who was refused and does not go is cut all the same', async () => {
    const relay = await runRelay({ now, sections: `${bootstrap}[limits]\nconnections = 1` });
    await RawPeer.connect(relay.url, now);
    const socket = rawSocket(relay.running.port, true);
    socket.write(`${upgradeHead}\r\n\r\n`);
    let said = '';
    socket.on('data', (data) => {
      said += String(data);
    });
    await ended(socket);
    // It has heard that nothing more comes, and goes on to talk: only a socket that is gone ends that.
    const timer = setInterval(() => socket.write('x'), 10);
    await new Promise((closed) => socket.on('close', closed));
    clearInterval(timer);
    expect(said).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
    expect(said).toMatch(/\r\n\r\nroom\n$/);
  });
});

describe('the size of a message (HX-04)', () => {
  test('no compression is agreed on, whoever offers it, and a compressed frame ends the connection', async () => {
    const relay = await runRelay({ now });
    const offer = 'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits';
    const { socket, heard, head } = await rawWebSocket(relay.running.port, [offer]);
    expect(head).toMatch(/^HTTP\/1\.1 101 /);
    expect(head.toLowerCase()).not.toContain('sec-websocket-extensions');
    // A block ends at a byte, so that it can stand there a thousand times.
    const block = deflateRawSync(new Uint8Array(limits.messageBytesMax), {
      finishFlush: constants.Z_SYNC_FLUSH,
    });
    const bomb = Buffer.concat(Array<Buffer>(1_000).fill(block));
    expect(bomb.length).toBeLessThan(2 * limits.messageBytesMax);
    const before = heldBytes();
    socket.write(clientFrame(0xc2, bomb));
    await ended(socket);
    expect(closeCodeIn(heard())).toBe(1002);
    expect(heldBytes() - before).toBeLessThan(20_000_000);
    await stillServes(relay);
  });

  test.each([1, 2, 16, limits.messageFragmentsMax])(
    'exactly the limit passes in %i parts, and a byte more is too big, by name',
    async (parts) => {
      const relay = await runRelay({ now });
      const peer = await RawPeer.connect(relay.url, now);
      const sendIn = (message: Uint8Array): void => {
        const size = Math.ceil(message.length / parts);
        for (let from = 0; from < message.length; from += size) {
          const part = message.subarray(from, from + size);
          peer.socket.send(part, { fin: from + size >= message.length });
        }
      };
      sendIn(unknownFrame(limits.messageBytesMax));
      expect(await peer.put(one(slot + 1, [genesisOf(holdfast, slot).id], 1, 'a'))).toMatchObject({
        type: 'has',
      });
      sendIn(new Uint8Array([...unknownFrame(limits.messageBytesMax), 0]));
      expect((await peer.closed).code).toBe(1009);
      await vi.waitFor(() => expect(relay.log.join('')).toContain('"why":"too big"'));
      await stillServes(relay);
    },
  );

  test('a thousand limits are refused when they are announced, before a byte of them has come', async () => {
    const relay = await runRelay({ now });
    const { socket, heard } = await rawWebSocket(relay.running.port);
    socket.write(clientFrame(0x82, new Uint8Array(0), 1_000 * limits.messageBytesMax));
    await ended(socket);
    expect(closeCodeIn(heard())).toBe(1009);
    await stillServes(relay);
  });

  test('a message in more parts than anyone needs ends the connection', async () => {
    const relay = await runRelay({ now });
    const peer = await RawPeer.connect(relay.url, now);
    for (let part = 0; part <= limits.messageFragmentsMax; part++) {
      peer.socket.send(new Uint8Array(1), { fin: false });
    }
    expect((await peer.closed).code).toBe(1008);
    await stillServes(relay);
  });
});

describe('messages that are none (HX-01)', () => {
  const valid = openSession(
    { profile: holdfast, nodeId: 'aa', address: 'ws://a/', features: featuresOf(), nonce: 1 },
    slot,
  ).out[0] as Uint8Array;
  const badName = encodeFrame(holdfast.magic, 'xy', new Uint8Array(0));
  badName.set([0xc0, 0x80], 5);
  const longName = new Uint8Array([...holdfast.magic, 0xfd, 0, 1, ...new Uint8Array(256).fill(97), 0]);

  test.each<[string, Uint8Array | string]>([
    ['an empty text', ''],
    ['null', 'null'],
    ['an empty list', '[]'],
    ['a list of a number', '[7]'],
    ['JSON cut short', '["SUB","a",{"max:3}]'],
    ['an empty message', new Uint8Array(0)],
    ['JSON in a binary message', utf8Bytes('["SUB","a",{}]')],
    ['zeros', new Uint8Array(64)],
    ['a command that is no UTF-8', badName],
    ['a command beyond 255 bytes (over-long command)', longName],
    ['a mark of byte order before what is valid', new Uint8Array([0xef, 0xbb, 0xbf, ...valid])],
    ['a space after what is valid', new Uint8Array([...valid, 0x20])],
    ['what is valid, cut short', valid.slice(0, -1)],
  ])('%s: one bad frame, by name, and the process lives', async (_name, message) => {
    const relay = await runRelay({ now });
    const socket = await upgrade(relay.url);
    if (!(socket instanceof WebSocket)) throw new Error('not open');
    const end = new Promise((settle) => {
      socket.on('close', (code, reason) => settle([code, String(reason)]));
    });
    socket.send(message);
    expect(await end).toEqual([4000, 'bad frame']);
    await stillServes(relay);
  });

  test('a text that is no UTF-8 ends the connection', async () => {
    const relay = await runRelay({ now });
    const { socket, heard } = await rawWebSocket(relay.running.port);
    socket.write(clientFrame(0x81, new Uint8Array([0xc3, 0x28])));
    await ended(socket);
    expect(closeCodeIn(heard())).toBe(1007);
    await vi.waitFor(() => expect(relay.log.join('')).toContain('"why":"bad frame"'));
    await stillServes(relay);
  });

  test('(over-long payload) a payload longer than its command may have is too big, though the message is small', async () => {
    const relay = await runRelay({ now });
    const peer = await RawPeer.connect(relay.url, now);
    const ping = encodeFrame(holdfast.magic, 'ping', new Uint8Array(2));
    peer.send(new Uint8Array([...ping.slice(0, -3), 3, 0, 0, 0]));
    expect(await peer.closed).toEqual({ code: 1009, reason: 'too big' });
    await stillServes(relay);
  });
});

describe('what is valid and unusual (HX-03)', () => {
  test('empty lists, features nobody knows and statuses of a later version cost nothing, and the link stays', async () => {
    const relay = await runRelay({ now });
    const socket = await upgrade(relay.url);
    if (!(socket instanceof WebSocket)) throw new Error('not open');
    socket.close();
    const features = [...featuresOf(), { name: 'of-a-later-version', value: 7 }, { name: '', value: 0 }];
    const peer = await relay.peer({ features });
    peer.say({ say: 'tips', tips: [] });
    peer.say({ say: 'headers', headers: [] });
    peer.say({ say: 'events', events: [] });
    expect(await peer.ask({ ask: 'events', ids: [] })).toMatchObject({ events: [] });
    expect(await peer.ask({ ask: 'headers', slot, tips: [] })).toMatchObject({ type: 'headers' });
    const later = encodeFrame(holdfast.magic, 'EventGraph::EventPutStatus', new Uint8Array(34).fill(9));
    for (let nth = 0; nth < 40; nth++) peer.send(later);
    const a = make('a').get('a');
    expect(a && (await peer.put(a))).toEqual({ type: 'has', inserted: true });
  });

  test('a version with nothing but what it must have is enough', async () => {
    const relay = await runRelay({ now });
    const peer = await relay.peer({ nodeId: '', features: [] });
    expect(peer.of('ready')).toHaveLength(1);
    const bare = decodeVersion(
      encodeVersion({
        nodeId: '',
        app: 'holdfast',
        version: { major: 1n, minor: 0n, patch: 0n, pre: '', build: '' },
        timestamp: 0n,
        connectAddress: 'ws://a/',
        externalAddresses: [],
        features: [],
      }),
    );
    expect(bare.features).toEqual([]);
    await peer.settle();
  });
});

describe('pages and cookies (HX-17)', () => {
  test('a page of another origin is refused; an address, a cookie or a login opens nothing to it, and gives nobody more', async () => {
    const relay = await runRelay({ now });
    const papers = { cookie: 'session=admin', authorization: 'Basic YTpi', 'x-forwarded-for': '127.0.0.1' };
    for (const origin of [
      'https://evil.example',
      'null',
      'http://127.0.0.1:4180.evil.example',
      'http://localhost:4180',
    ]) {
      expect(await upgrade(relay.url, { origin, headers: papers })).toMatchObject({
        status: 403,
        text: 'origin\n',
      });
    }
    const with1 = await rawWebSocket(relay.running.port, [
      'Origin: http://127.0.0.1:4180',
      'Cookie: session=admin',
    ]);
    const without = await rawWebSocket(relay.running.port, ['Origin: http://127.0.0.1:4180']);
    expect(with1.head).toBe(without.head);
    expect(with1.head.toLowerCase()).not.toContain('set-cookie');
    const peer = await RawPeer.connect(relay.url, now, { headers: papers });
    for (let nth = 0; nth < limits.strikesMax; nth++) peer.say(one(slot + 1, [], 1, `${nth}`));
    expect((await peer.closed).reason).toBe('strikes');
  });
});

describe('what is announced and what holds (HX-21)', () => {
  test.each([
    ['by default', ''],
    ['where an operator set less', '[limits]\nevents_per_minute = 20\nbytes_per_minute = 1100000'],
  ])('%s is one and the same', async (_name, own) => {
    const relay = await runRelay({ now, sections: `${bootstrap}${own}` });
    const peer = await RawPeer.connect(relay.url, now);
    const ready = peer.events.find((event) => event.type === 'ready');
    if (ready?.type !== 'ready') throw new Error('not ready');
    const { batchEventsMax, batchBytesMax, contentBytesMax } = ready.limits;
    const give = await relay.peer();
    const ids: string[] = [];
    let parent = genesisOf(holdfast, slot).id;
    for (let layer = 1; layer <= Math.min(15, batchEventsMax + 3); layer++) {
      const event = one(slot + layer, [parent], layer, 'x'.repeat(40_000));
      expect((await give.put(event)).type).toBe('has');
      ids.push(event.id);
      parent = event.id;
    }
    const answer = await (await relay.peer()).ask({ ask: 'events', ids });
    if (answer?.type !== 'events') throw new Error('no answer');
    const bytes = answer.events.reduce((sum, event) => sum + event.event.length + event.blob.length, 0);
    expect(answer.events.length).toBe(
      Math.min(ids.length, batchEventsMax, Math.floor(batchBytesMax / 40_212)),
    );
    expect(bytes).toBeLessThanOrEqual(batchBytesMax);
    const most = await relay.peer();
    const exact = one(slot + 1, [genesisOf(holdfast, slot).id], 1, 'y'.repeat(contentBytesMax));
    expect(await most.put(exact)).toEqual({ type: 'has', inserted: true });
    const bytesOfLonger = new Uint8Array(exact.bytes.length + 1);
    bytesOfLonger.set(exact.bytes);
    bytesOfLonger[208] = 0xfe;
    new DataView(bytesOfLonger.buffer).setUint32(209, contentBytesMax + 1, true);
    most.say({ say: 'put', event: bytesOfLonger, blob: new Uint8Array(0) });
    expect((await most.ended).code).toBe(4000);
  });

  test('who asks for more than a request may name is refused by name', async () => {
    const relay = await runRelay({ now });
    const peer = await RawPeer.connect(relay.url, now);
    const tooMany = new Uint8Array(1 + 129 * 32);
    tooMany[0] = 129;
    peer.send(encodeFrame(holdfast.magic, 'EventGraph::EventReq', tooMany));
    expect(await peer.closed).toEqual({ code: 4000, reason: 'bad frame' });
    const headers = await RawPeer.connect(relay.url, now);
    headers.send(frameOf(holdfast, { say: 'headers', headers: [] }));
    expect(headers.isClosed).toBe(false);
  });
});
