import { request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Bytes } from '../../src/core/ids';
import { frameOf } from '../../src/core/link/messages';
import { utf8Bytes } from '../../src/core/wire/codec';
import { darkirc, genesisOf, holdfast } from '../../src/core/wire/profile';
import { make, one, slot } from '../fixtures/graph-world';
import { type PeerOptions, TestPeer } from '../fixtures/peer';
import { runRelay, type TestRelay } from '../fixtures/running-relay';

const now = (): number => slot + 20_000;

/** The relay still does its work: what every test here ends with. */
async function stillServes(relay: TestRelay, options: PeerOptions = {}): Promise<void> {
  const peer = await relay.peer(options);
  const a = make('a').get('a');
  expect(a && (await peer.put(a)).type).toBe('has');
}

/** Opens a WebSocket by hand; what becomes of it before it is open. */
function upgrade(
  url: string,
  origin?: string,
  protocol: string | string[] = 'holdfast.1',
): Promise<number | WebSocket> {
  const socket = new WebSocket(url, protocol, origin === undefined ? {} : { origin });
  return new Promise((settle) => {
    socket.on('unexpected-response', (asked, response) => {
      asked.destroy();
      settle(response.statusCode ?? 0);
    });
    socket.on('open', () => settle(socket));
    socket.on('error', () => undefined);
  });
}

function closed(socket: WebSocket): Promise<{ readonly code: number; readonly reason: string }> {
  return new Promise((settle) => {
    socket.on('close', (code, reason) => settle({ code, reason: String(reason) }));
  });
}

describe('who speaks something else', () => {
  test.each([
    ['HTML', '<!doctype html>\n<html></html>\r\n\r\n'],
    ['another protocol', 'EHLO there\r\n'],
    ['bytes without sense', '\0\u0001\u0002ÿ\r\n\r\n'],
  ])('over TCP, %s, is cut off', async (_name, text) => {
    const relay = await runRelay({ now });
    await new Promise<void>((ended) => {
      const socket = connect(relay.running.port, '127.0.0.1', () => socket.write(text, 'latin1'));
      socket.on('error', () => undefined);
      socket.on('close', () => ended());
      socket.resume();
    });
    await stillServes(relay);
  });

  test('a browser that opens the address reads what it is', async () => {
    const relay = await runRelay({ now });
    const answer = await fetch(relay.url.replace('ws:', 'http:'));
    expect(answer.status).toBe(426);
    expect(answer.headers.get('content-type')).toBe('text/plain');
    await stillServes(relay);
  });

  test.each<[string, Bytes | string, number]>([
    ['HTML in a frame', utf8Bytes('<html></html>'), 4000],
    ['a text message', 'hello', 4000],
    ['nothing at all', new Uint8Array(0), 4000],
    ['a frame before the handshake', frameOf(holdfast, { say: 'tips', tips: [] }), 4000],
    ['a frame of another network', frameOf(darkirc, { say: 'tips', tips: [] }), 4003],
    ['a message beyond the bound', new Uint8Array(1_100_000), 1009],
  ])('over WebSocket, %s, is closed by name', async (_name, message, code) => {
    const relay = await runRelay({ now });
    const socket = await upgrade(relay.url);
    if (typeof socket === 'number') throw new Error(`not open: ${socket}`);
    const end = closed(socket);
    socket.send(message);
    expect((await end).code).toBe(code);
    await stillServes(relay);
  });

  test('a node of another network is told so, not called broken', async () => {
    const relay = await runRelay({ now });
    const peer = TestPeer.dial(relay.url, { profile: darkirc });
    expect((await peer.ended).code).toBe(4003);
  });
});

describe('who may connect', () => {
  test('pages of the configured origins, and programs', async () => {
    const relay = await runRelay({ now, relay: 'origins = ["https://app.example"]' });
    expect(await upgrade(relay.url, 'https://evil.example')).toBe(403);
    expect(await upgrade(relay.url, 'null')).toBe(403);
    expect(await upgrade(relay.url, 'https://app.example')).toBeInstanceOf(WebSocket);
    expect(await upgrade(relay.url)).toBeInstanceOf(WebSocket);
  });

  test('only with our subprotocol', async () => {
    const relay = await runRelay({ now });
    expect(await upgrade(relay.url, undefined, ['other.1'])).toBe(400);
    expect(await upgrade(relay.url, undefined, [])).toBe(400);
  });

  test('as many as there is room for, in all and from one source', async () => {
    const sections = '[peers]\nbootstrap = true\n[limits]\nper_source = 1';
    const relay = await runRelay({ now, sections });
    const first = await upgrade(relay.url);
    expect(await upgrade(relay.url)).toBe(429);
    if (typeof first === 'number') throw new Error('not open');
    const end = closed(first);
    first.close();
    await end;
    const small = await runRelay({ now, sections: '[limits]\nconnections = 1' });
    await small.peer();
    expect(await upgrade(small.url)).toBe(503);
  });

  test('a node that comes again replaces its older connection', async () => {
    const relay = await runRelay({ now });
    const older = await relay.peer({ nodeId: 'ab'.repeat(16) });
    const other = await relay.peer();
    const newer = await relay.peer({ nodeId: 'ab'.repeat(16) });
    expect((await older.ended).code).toBe(4001);
    await newer.settle();
    await other.settle();
  });
});

describe('who is late', () => {
  test('with the handshake', async () => {
    const relay = await runRelay({ sections: '[limits]\nhandshake_s = 1' });
    const socket = await upgrade(relay.url);
    if (typeof socket === 'number') throw new Error('not open');
    expect(await closed(socket)).toEqual({ code: 4002, reason: 'handshake late' });
  });
});

describe('health', () => {
  function ask(
    port: number,
    path: string,
    headers: Record<string, string>,
  ): Promise<{ status: number; body: string }> {
    return new Promise((settle, fail) => {
      const asked = request({ host: '127.0.0.1', port, path, headers }, (response) => {
        let body = '';
        response.on('data', (text) => {
          body += String(text);
        });
        response.on('end', () => settle({ status: response.statusCode ?? 0, body }));
      });
      asked.on('error', fail);
      asked.end();
    });
  }

  test('tells programs of this machine counts and states, and nobody else anything', async () => {
    const relay = await runRelay({ now });
    await relay.peer();
    const port = relay.running.healthPort ?? 0;
    const good = await ask(port, '/health', {});
    expect(good.status).toBe(200);
    expect(JSON.parse(good.body)).toEqual({
      status: 'ok',
      synced: true,
      peers: 1,
      ready: 1,
      outbound: 0,
      reached: 0,
      dropped: 0,
    });
    expect((await ask(port, '/health', { host: `localhost:${port}` })).status).toBe(200);
    expect((await ask(port, '/health', { host: 'evil.example' })).status).toBe(403);
    expect((await ask(port, '/health', { origin: 'https://evil.example' })).status).toBe(403);
    expect((await ask(port, '/', {})).status).toBe(404);
  });

  test('and the log hold nothing of who speaks or what', async () => {
    const relay = await runRelay({ now });
    const peer = await relay.peer({ nodeId: 'ef'.repeat(16) });
    const event = one(slot + 1, [genesisOf(holdfast, slot).id], 1, 'secret words');
    await peer.put(event);
    peer.close();
    await peer.ended;
    await stillServes(relay);
    const log = relay.log.join('');
    expect(log).toContain('"event":"peer ready"');
    for (const word of ['secret', event.id, 'ef'.repeat(16), '127.0.0.1']) expect(log).not.toContain(word);
  });
});
