import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { limits } from '../../src/core/limits';
import { Allowance } from '../../src/core/link/allowance';
import { subprotocol } from '../../src/core/link/session';
import { isLoopback, Proxies, plainAddress, sourceOf } from '../../src/relay/address';
import { Admission } from '../../src/relay/admission';
import { Sources } from '../../src/relay/sources';

describe('who an address is counted as', () => {
  test.each([
    ['an IPv4 address', '203.0.113.7', '203.0.113.7'],
    ['the same, mapped into IPv6', '::ffff:203.0.113.7', '203.0.113.7'],
    ['the same, mapped and in hex', '::FFFF:cb00:7107', '203.0.113.7'],
    ['an IPv6 address', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['another one of the same customer', '2001:0DB8:1:2:ffff::', '2001:db8:1:2::/64'],
    ['one of the next customer', '2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['a short one', '2001:db8::1', '2001:db8:0:0::/64'],
    ['one with a zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['this machine', '::1', '0:0:0:0::/64'],
    ['no address', 'unknown', 'none'],
    ['nothing', '', 'none'],
  ])('%s', (_name, address, source) => {
    expect(sourceOf(address)).toBe(source);
  });

  test('this machine is known by all its spellings', () => {
    expect(['127.0.0.1', '::1', '::ffff:127.0.0.1', '127.9.9.9', 'localhost'].map(isLoopback)).toEqual(
      Array(5).fill(true),
    );
    expect(['10.0.0.1', '::ffff:10.0.0.1', '::2', '1.27.0.0'].map(isLoopback)).toEqual(Array(4).fill(false));
    expect([plainAddress('1.2.3'), plainAddress('::g')]).toEqual([undefined, undefined]);
  });
});

describe('whose word on an address is taken', () => {
  const proxies = new Proxies(['127.0.0.1', '10.0.0.0/8', '2001:db8:ffff::/48']);

  test.each<[string, string, string | undefined, string]>([
    ['nobody asked: the socket', '198.51.100.1', undefined, '198.51.100.1'],
    ['a stranger who says he is someone else', '198.51.100.1', '203.0.113.9', '198.51.100.1'],
    ['a proxy of ours', '127.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['the same, seen by a socket for both', '::ffff:127.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['a proxy, of someone who wrote hops himself', '127.0.0.1', '192.0.2.1, 203.0.113.9', '203.0.113.9'],
    ['a row of proxies of ours', '127.0.0.1', '192.0.2.1, 203.0.113.9, 10.4.5.6', '203.0.113.9'],
    ['an IPv6 network of ours', '2001:db8:ffff::1', '203.0.113.9', '203.0.113.9'],
    ['a hop with a port', '127.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
    ['an IPv6 hop with a port', '127.0.0.1', '[2001:db8::9]:80', '2001:db8::9'],
    ['a hop that is mapped', '127.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
    ['a hop that is no address: the proxy', '127.0.0.1', '192.0.2.1, unknown', '127.0.0.1'],
    ['nothing but ourselves', '127.0.0.1', '10.0.0.1, 127.0.0.1', '127.0.0.1'],
    ['no header', '127.0.0.1', undefined, '127.0.0.1'],
  ])('%s', (_name, direct, forwarded, address) => {
    expect(proxies.addressOf(direct, forwarded)).toBe(address);
  });

  test.each(['localhost', '10.0.0.0/33', '::1/129', '10.0.0.0/x', '', '10.0.0.0/-1'])(
    '%s is none',
    (entry) => {
      expect(() => new Proxies([entry])).toThrow(TypeError);
    },
  );
});

describe('bans', () => {
  const bounds = {
    connectionsPerSourceMax: 2,
    eventsPerMinuteMax: 10,
    bytesPerMinuteMax: 1_000,
    banMs: limits.banMs,
  };
  const world = (known?: number, changes: Partial<typeof bounds> = {}) => {
    const clock = { now: 1_000_000 };
    return { clock, sources: new Sources({ ...bounds, ...changes }, () => clock.now, known) };
  };
  const misbehave = (sources: Sources, name: string, why: 'flood' | 'strikes', times: number): void => {
    for (let time = 0; time < times; time++) {
      const { source, closed } = sources.open(name, false);
      source.left(why);
      closed();
    }
  };

  test('[EG-08] ten sessions within five minutes that end for their fault ban for ten minutes', () => {
    const { clock, sources } = world();
    misbehave(sources, 'a', 'flood', 9);
    expect(sources.bannedForMs('a')).toBe(0);
    misbehave(sources, 'a', 'strikes', 1);
    expect(sources.bannedForMs('a')).toBe(limits.banMs);
    misbehave(sources, 'b', 'flood', 9);
    expect(sources.bannedForMs('b')).toBe(0);
    expect(sources.bannedForMs('c')).toBe(0);
    clock.now += limits.banMs - 1;
    expect(sources.bannedForMs('a')).toBe(1);
    clock.now += 1;
    expect(sources.bannedForMs('a')).toBe(0);
  });

  test('what is long ago counts no more, and ends that are no fault never did', () => {
    const { clock, sources } = world();
    misbehave(sources, 'a', 'flood', 9);
    clock.now += limits.banWindowMs;
    misbehave(sources, 'a', 'flood', 9);
    const { source } = sources.open('a', false);
    for (const why of ['left', 'too slow', 'no pong', 'handshake late', 'other network'] as const) {
      for (let time = 0; time < 20; time++) source.left(why);
    }
    expect(sources.bannedForMs('a')).toBe(0);
  });

  test('none outlasts itself when the clock goes back, and none is given where they are off or somebody is exempt', () => {
    const { clock, sources } = world();
    misbehave(sources, 'a', 'flood', limits.banFaults);
    clock.now -= 1;
    expect(sources.bannedForMs('a')).toBe(0);
    const off = world(undefined, { banMs: 0 }).sources;
    misbehave(off, 'a', 'flood', 99);
    expect(off.bannedForMs('a')).toBe(0);
    const { source } = sources.open('b', true);
    for (let time = 0; time < 99; time++) source.left('flood');
    expect(sources.bannedForMs('b')).toBe(0);
  });

  test('the table is bounded: who has no connection, and was heard of longest ago, is forgotten', () => {
    const { sources } = world(100);
    misbehave(sources, 'banned', 'flood', limits.banFaults);
    const { closed } = sources.open('connected', false);
    for (let nth = 0; nth < 1_000; nth++) {
      misbehave(sources, `other ${nth}`, 'flood', 1);
      // He knocks again and again, and so stays in memory.
      expect(sources.bannedForMs('banned')).toBeGreaterThan(0);
      expect(sources.size).toBeLessThanOrEqual(100);
    }
    sources.open('connected', false);
    expect(sources.isFull('connected')).toBe(true);
    closed();
    expect(sources.isFull('connected')).toBe(false);
  });
});

describe('an allowance', () => {
  test('is of a window, of events and of bytes, and survives a clock that goes back', () => {
    const allowance = new Allowance(3, 100, 1_000);
    for (const at of [0, 100, 200]) {
      expect(allowance.isSpent(at)).toBe(false);
      allowance.spend(at, 10);
    }
    expect(allowance.isSpent(999)).toBe(true);
    expect(allowance.isSpent(1_000)).toBe(false);
    allowance.spend(1_000, 81);
    expect(allowance.isSpent(1_050)).toBe(true);
    expect(allowance.isSpent(1_100)).toBe(false);
    expect(allowance.isSpent(1_100, { events: 1, bytes: 9 })).toBe(true);
    expect(allowance.isSpent(150)).toBe(false);
    allowance.spend(150, 0);
    expect(allowance.isSpent(150, { events: 2, bytes: 0 })).toBe(true);
    expect(allowance.isSpent(1_151)).toBe(false);
  });

  test('costs the same however much was spent', () => {
    const allowance = new Allowance(1e9, 1e15, 60_000);
    const before = performance.now();
    for (let at = 0; at < 300_000; at++) {
      allowance.isSpent(at >> 2);
      allowance.spend(at >> 2, 300);
    }
    expect(performance.now() - before).toBeLessThan(2_000);
    expect(allowance.isSpent(75_000)).toBe(false);
  });
});

describe('a proxy on another machine', () => {
  test('is not banned for those it hands on without a name; one it names is, alone', () => {
    const bounds = {
      connectionsPerSourceMax: 64,
      eventsPerMinuteMax: 10,
      bytesPerMinuteMax: 1_000,
      banMs: limits.banMs,
      origins: [],
      trustedProxies: ['10.0.0.0/8'],
      connectionsMax: 64,
    };
    const admission = new Admission(bounds, () => 1_000_000);
    const request = (forwarded?: string): IncomingMessage =>
      Object.assign(new IncomingMessage(new Socket()), {
        socket: { remoteAddress: '10.0.0.1', remotePort: 1 },
        headers: {
          'sec-websocket-protocol': subprotocol,
          ...(forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }),
        },
      });
    for (const forwarded of [undefined, '203.0.113.7']) {
      const { left } = admission.enter(request(forwarded), new Socket());
      for (let time = 0; time < limits.banFaults; time++) left('flood');
    }
    expect(admission.refusal(request())).toBeUndefined();
    expect(admission.refusal(request('203.0.113.8'))).toBeUndefined();
    expect(admission.refusal(request('203.0.113.7'))?.why).toBe('banned');
  });
});
