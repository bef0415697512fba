import { describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { limits } from '../../src/core/limits';
import { encodeFrame } from '../../src/core/wire/frame';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { encodePing } from '../../src/core/wire/version';
import { type Made, one, slot } from '../fixtures/graph-world';
import { behindProxy, type Closed, RawPeer, type Refused, upgrade } from '../fixtures/raw-peer';
import { rawSocket, rawWebSocket } from '../fixtures/raw-socket';
import { runRelay, type TestRelay } from '../fixtures/running-relay';

const has = (inserted: boolean) => ({ type: 'has', inserted });
const nack = (reason: string) => ({ type: 'nack', reason });
const genesis = genesisOf(holdfast, slot).id;
const now = (): number => slot + 500_000;
const bootstrap = '[peers]\nbootstrap = true\n';
const proxied = { now, relay: 'trusted_proxies = ["127.0.0.1"]' };

function fresh(text: string): Made {
  return one(slot + 1_000, [genesis], 1, text);
}

/** One that breaks a rule of its own: without a parent. */
function broken(text: string): Made {
  return one(slot + 1_000, [], 1, text);
}

/** Puts more new events than the allowance of one admits, from an address. */
async function flood(relay: TestRelay, from: string, name: string): Promise<Closed> {
  const peer = await RawPeer.connect(relay.url, now, behindProxy(from));
  for (let nth = 0; nth < 4; nth++) peer.say(fresh(`${name} ${nth}`));
  return await peer.closed;
}

async function refusal(relay: TestRelay, from: string): Promise<Refused> {
  const answer = await upgrade(relay.url, behindProxy(from));
  if (answer instanceof WebSocket) throw new Error('not refused');
  return answer;
}

async function opens(relay: TestRelay, from?: string): Promise<boolean> {
  const answer = await upgrade(relay.url, from === undefined ? {} : behindProxy(from));
  return answer instanceof WebSocket;
}

describe('the flood window', () => {
  test('[EG-08] (HX-20) takes 200 new events in a minute; the next one is owed no answer, and the end is named', async () => {
    const relay = await runRelay({ now });
    const peer = await RawPeer.connect(relay.url, now);
    const events = Array.from({ length: limits.floodEventsMax + 1 }, (_, nth) => fresh(`${nth}`));
    for (const event of events) peer.say(event);
    expect(await peer.closed).toEqual({ code: 4004, reason: 'flood' });
    const answers = events.map((event) => peer.statuses(event.id));
    expect(answers.slice(0, -1)).toEqual(Array(limits.floodEventsMax).fill([has(true)]));
    expect(answers.at(-1)).toEqual([]);
    const again = await RawPeer.connect(relay.url, now);
    expect(await again.put(events[0] ?? fresh(''))).toEqual(has(false));
    expect(relay.log.join('')).toContain('"why":"flood"');
  });

  test('(HX-20) of what a client has queued: 150 rows at once are no flood, nor is everything it sends again', async () => {
    const relay = await runRelay({ now });
    const peer = await RawPeer.connect(relay.url, now);
    const rows = Array.from({ length: 150 }, (_, nth) => fresh(`${nth}`));
    for (const row of [...rows, ...rows, ...rows]) peer.say(row);
    const [last] = rows.slice(-1);
    await peer.until(() => peer.isClosed || peer.statuses(last?.id ?? '').length === 3);
    expect(
      rows.every(
        ({ id }) => JSON.stringify(peer.statuses(id)) === JSON.stringify([has(true), has(false), has(false)]),
      ),
    ).toBe(true);
    expect(await peer.put(fresh('one more'))).toEqual(has(true));
  });

  test('[EG-07] (HX-20) of one source: eight connections have their full share, and a ninth hears Busy for what is new', async () => {
    const relay = await runRelay({ now, sections: `${bootstrap}[limits]\nevents_per_minute = 2` });
    const said: unknown[] = [];
    for (let nth = 0; nth < limits.sourceAllowances; nth++) {
      const peer = await RawPeer.connect(relay.url, now);
      said.push(await peer.put(fresh(`${nth} a`)), await peer.put(fresh(`${nth} b`)));
    }
    expect(said).toEqual(Array(2 * limits.sourceAllowances).fill(has(true)));
    const ninth = await RawPeer.connect(relay.url, now);
    for (let time = 0; time < 2; time++) expect(await ninth.put(fresh('more'))).toEqual(nack('busy'));
    expect(await ninth.put(fresh('0 a'))).toEqual(has(false));
    ninth.say(fresh('more'));
    expect((await ninth.closed).reason).toBe('flood');
  });
});

describe('strikes', () => {
  test('[EG-08] do not decay, and go with the connection', async () => {
    let time = slot + 20_000;
    const clock = (): number => time;
    const relay = await runRelay({ now: clock });
    const peer = await RawPeer.connect(relay.url, clock);
    for (let nth = 1; nth < limits.strikesMax; nth++) {
      expect(await peer.put(broken(`${nth}`))).toEqual(nack('invalid'));
      time += 10 * 60_000;
    }
    expect(await peer.put(fresh('good'))).toEqual(has(true));
    peer.say(broken('the last'));
    expect(await peer.closed).toEqual({ code: 4000, reason: 'strikes' });
    const again = await RawPeer.connect(relay.url, clock);
    for (let nth = 1; nth < limits.strikesMax; nth++) {
      expect(await again.put(broken(`${nth} again`))).toEqual(nack('invalid'));
    }
    expect(await again.put(fresh('good'))).toEqual(has(false));
  });

  test('[EG-08] come to who gets no answers as to everyone else', async () => {
    const relay = await runRelay({ now });
    const old = await relay.peer({ features: [] });
    for (let nth = 0; nth < limits.strikesMax; nth++) {
      old.say({ say: 'put', event: broken(`${nth}`).bytes, blob: new Uint8Array(0) });
    }
    expect((await old.ended).code).toBe(4000);
    expect(old.of('status')).toEqual([]);
  });
});

describe('metering', () => {
  test('more than 28 control frames in ten seconds end the session, by name', async () => {
    const relay = await runRelay({ now });
    const peer = await RawPeer.connect(relay.url, now);
    for (let nth = 0; nth < limits.controlFramesMax; nth++) {
      peer.send(encodeFrame(holdfast.magic, 'ping', encodePing(nth)));
    }
    expect(await peer.closed).toEqual({ code: 4004, reason: 'flood' });
  });

  test('unsupported message types are counted and dropped; 32 in a minute end the session', async () => {
    const relay = await runRelay({ now });
    const peer = await RawPeer.connect(relay.url, now);
    const unknown = encodeFrame(holdfast.magic, 'EventGraph::RangeReq', new Uint8Array(9));
    for (let nth = 1; nth < limits.unknownCommandsPerMinuteMax; nth++) peer.send(unknown);
    expect(await peer.put(fresh('a'))).toEqual(has(true));
    peer.send(unknown);
    expect(await peer.closed).toEqual({ code: 4004, reason: 'unknown commands' });
  });
});

describe('bans', () => {
  const sections = `${bootstrap}[limits]\nevents_per_minute = 2`;

  test('[EG-08] (HX-20) who floods again and again stays out for ten minutes, and is told so; nobody else is', async () => {
    let time = now();
    const clock = (): number => time;
    const relay = await runRelay({ ...proxied, now: clock, sections });
    const beside = await RawPeer.connect(relay.url, clock, behindProxy('203.0.113.9'));
    for (let nth = 0; nth < limits.banFaults; nth++) {
      expect((await flood(relay, '203.0.113.9', `${nth}`)).reason).toBe('flood');
    }
    const { status, headers, text } = await refusal(relay, '203.0.113.9');
    expect([status, headers['retry-after'], text]).toEqual([429, '600', 'banned\n']);
    expect((await refusal(relay, '::ffff:203.0.113.9')).text).toBe('banned\n');
    expect(await opens(relay, '203.0.113.10')).toBe(true);
    // Who is there already stays; what its source may put in this minute is used up.
    expect(await beside.put(fresh('0 0'))).toEqual(has(false));
    time += limits.floodWindowMs;
    expect(await beside.put(fresh('from one that is there already'))).toEqual(has(true));
    time += limits.banMs - limits.floodWindowMs - 1;
    expect((await refusal(relay, '203.0.113.9')).headers['retry-after']).toBe('1');
    time += 1;
    expect(await opens(relay, '203.0.113.9')).toBe(true);
    expect(relay.log.join('')).toContain('"event":"refused","why":"banned"');
    expect(relay.log.join('')).not.toContain('203.0.113');
  });

  test('hold for a whole /64 of IPv6, and for nobody outside', async () => {
    const relay = await runRelay({ ...proxied, sections });
    for (let nth = 0; nth < limits.banFaults; nth++) await flood(relay, `2001:db8:1:2::${nth + 1}`, `${nth}`);
    expect((await refusal(relay, '2001:db8:1:2:ffff::1')).status).toBe(429);
    expect(await opens(relay, '2001:db8:1:3::1')).toBe(true);
  });

  test('are not given to this machine, nor to a proxy for what it hands on without a name', async () => {
    const relay = await runRelay({ ...proxied, sections });
    for (let nth = 0; nth <= limits.banFaults; nth++) await flood(relay, 'unknown', `${nth}`);
    expect(await opens(relay)).toBe(true);
    const direct = await runRelay({ now, sections });
    // Without a trusted proxy the header says nothing, so all of this is one and the same machine.
    for (let nth = 0; nth <= limits.banFaults; nth++) await flood(direct, '203.0.113.9', `${nth}`);
    expect(await opens(direct, '203.0.113.9')).toBe(true);
  });
});

describe('limits of a source', () => {
  const sections = `${bootstrap}[limits]\nper_source = 2`;

  test('are counted behind proxies we trust, by IPv4 address and by /64', async () => {
    const relay = await runRelay({ ...proxied, sections });
    for (const from of ['203.0.113.9', '::ffff:203.0.113.9', '2001:db8::1', '2001:db8::2']) {
      expect(await opens(relay, from)).toBe(true);
    }
    const full = await refusal(relay, '203.0.113.9');
    expect([full.status, full.text]).toEqual([429, 'source\n']);
    expect((await refusal(relay, '2001:db8::ffff')).status).toBe(429);
    expect(await opens(relay, '203.0.113.10')).toBe(true);
    expect(await opens(relay, '2001:db8:0:1::1')).toBe(true);
  });

  test('are not escaped by a header that a stranger writes, nor by hops he puts before his own', async () => {
    const relay = await runRelay({ now, sections });
    expect([await opens(relay, '203.0.113.1'), await opens(relay, '203.0.113.2')]).toEqual([true, true]);
    expect((await refusal(relay, '203.0.113.3')).status).toBe(429);
    const behind = await runRelay({ ...proxied, sections });
    for (const hop of ['192.0.2.1', '192.0.2.2'])
      expect(await opens(behind, `${hop}, 203.0.113.9`)).toBe(true);
    expect((await refusal(behind, '192.0.2.3, 203.0.113.9')).status).toBe(429);
  });
});

describe('who is sent away', () => {
  test('is not listened to any more, though he goes on until he hears of it', async () => {
    const relay = await runRelay({ now });
    const nodeId = 'ab'.repeat(16);
    const older = await RawPeer.connect(relay.url, now, { nodeId });
    older.socket.pause();
    await RawPeer.connect(relay.url, now, { nodeId });
    const late = fresh('late');
    older.say(late);
    older.socket.resume();
    expect((await older.closed).code).toBe(4001);
    const other = await relay.peer();
    expect(await other.ask({ ask: 'events', ids: [late.id] })).toMatchObject({ events: [] });
  });
});

describe('places for connections', () => {
  test('(inbound slots survive rapid disconnects) are free again, at whatever moment somebody went', async () => {
    const relay = await runRelay({ now, sections: `${bootstrap}[limits]\nper_source = 3` });
    for (let nth = 0; nth < 60; nth++) {
      if (nth % 3 === 0) rawSocket(relay.running.port).end('GET');
      else if (nth % 3 === 1) (await rawWebSocket(relay.running.port)).socket.destroy();
      else (await RawPeer.connect(relay.url, now)).socket.terminate();
      await vi.waitUntil(
        () => relay.log.filter((line) => line.includes('peer gone')).length === peersGone(nth),
        5_000,
      );
    }
    const peers = [];
    for (let nth = 0; nth < 3; nth++) peers.push(await RawPeer.connect(relay.url, now));
    expect((await refusal(relay, '')).status).toBe(429);
    for (const peer of peers) expect(await peer.put(fresh('a'))).toMatchObject({ type: 'has' });
  });

  test('(shutdown drains channels across restarts) are left in order, and a relay that starts again has all of them', async () => {
    let folder: string | undefined;
    for (let round = 0; round < 3; round++) {
      const relay: TestRelay = await runRelay({ now, ...(folder === undefined ? {} : { folder }) });
      folder = relay.folder;
      const peers = await Promise.all(Array.from({ length: 20 }, () => RawPeer.connect(relay.url, now)));
      expect(await peers[0]?.put(fresh(`${round}`))).toEqual(has(true));
      expect(await peers[1]?.put(fresh('0'))).toEqual(has(false));
      await relay.running.stop();
      expect(await Promise.all(peers.map(({ closed }) => closed))).toEqual(
        Array(20).fill({ code: 4006, reason: '5' }),
      );
    }
  });
});

/** Peers that have gone by the nth turn: two of three were one. */
function peersGone(nth: number): number {
  return nth + 1 - Math.ceil((nth + 1) / 3);
}
