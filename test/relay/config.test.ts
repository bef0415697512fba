import { describe, expect, test } from 'vitest';
import { limits } from '../../src/core/limits';
import { holdfast, holdfastLimited } from '../../src/core/wire/profile';
import { ConfigError, parseConfig } from '../../src/relay/config';

const least = '[relay]\nlisten = "127.0.0.1:4181"\nstore = "relay.sqlite"\n';

const badPeers = ['invalid', 'peers.outbound'] as const;
const manyRelays = JSON.stringify(Array.from({ length: 65 }, (_, at) => `ws://relay-${at}.example/`));

function refused(text: string): { readonly kind: string; readonly key: string } {
  try {
    parseConfig(text, '/etc/holdfast/relay.toml');
  } catch (error) {
    if (error instanceof ConfigError) return { kind: error.kind, key: error.key };
    throw error;
  }
  throw new Error('it was taken');
}

describe('configuration', () => {
  test('the least has a sensible value for everything else', () => {
    expect(parseConfig(least, '/etc/holdfast/relay.toml')).toEqual({
      listen: { host: '127.0.0.1', port: 4181 },
      publicUrl: 'ws://127.0.0.1:4181/',
      store: '/etc/holdfast/relay.sqlite',
      storeBytesMax: 8 * 2 ** 30,
      origins: ['http://127.0.0.1:4180'],
      trustedProxies: [],
      log: 'info',
      profile: holdfast,
      slotsRetained: 720,
      slotsSynced: 24,
      outbound: [],
      bootstrap: false,
      connectionsMax: 1_024,
      connectionsPerSourceMax: 64,
      eventsPerMinuteMax: limits.floodEventsMax,
      bytesPerMinuteMax: 8_388_608,
      outboundBytesMax: 8_388_608,
      handshakeMs: 10_000,
      banMs: 600_000,
    });
  });

  test('every key is read', () => {
    const text = `[relay]
listen = "[::1]:9"
public_url = "wss://relay.example/x"
store = "/var/lib/r.sqlite"
store_bytes_max = 5
origins = ["https://app.example", "*"]
trusted_proxies = ["127.0.0.1"]
tls_cert = "c.pem"
tls_key = "k.pem"
health = "localhost:8"
log = "error"
[profile]
name = "darkirc"
retained_slots = 30
sync_slots = 3
rate_limit = false
[peers]
outbound = ["wss://Other.example:443", "ws://127.0.0.1:9/a?b"]
bootstrap = true
[limits]
connections = 1
per_source = 2
events_per_minute = 3
bytes_per_minute = 2000000
outbound_buffer_bytes = 3000000
handshake_s = 4
ban_s = 0
`;
    expect(parseConfig(text, '/etc/relay.toml')).toMatchObject({
      listen: { host: '::1', port: 9 },
      publicUrl: 'wss://relay.example/x',
      store: '/var/lib/r.sqlite',
      storeBytesMax: 5,
      origins: ['https://app.example', '*'],
      trustedProxies: ['127.0.0.1'],
      tls: { certificate: '/etc/c.pem', key: '/etc/k.pem' },
      health: { host: 'localhost', port: 8 },
      log: 'error',
      profile: { name: 'darkirc' },
      slotsRetained: 30,
      slotsSynced: 3,
      outbound: ['wss://other.example/', 'ws://127.0.0.1:9/a?b'],
      bootstrap: true,
      connectionsMax: 1,
      connectionsPerSourceMax: 2,
      eventsPerMinuteMax: 3,
      bytesPerMinuteMax: 2_000_000,
      outboundBytesMax: 3_000_000,
      handshakeMs: 4_000,
      banMs: 0,
    });
  });

  test('a limiter makes another profile of the network, and its list lies beside the file', () => {
    const text = `${least}[profile]\nrate_limit = true\nidentities = "people.txt"\n`;
    const config = parseConfig(text, '/etc/holdfast/relay.toml');
    expect(config).toMatchObject({ profile: holdfastLimited, identities: '/etc/holdfast/people.txt' });
    const off = parseConfig(text.replace('true', 'false'), '/etc/holdfast/relay.toml');
    expect([off.profile, off.identities]).toEqual([holdfast, undefined]);
  });

  test.each([
    ['no TOML', '[relay\n', 'syntax', ''],
    ['a section nobody knows', `${least}[reley]\n`, 'unknown-key', 'reley'],
    ['a key nobody knows', `${least}lisen = "x"\n`, 'unknown-key', 'relay.lisen'],
    ['a section that is none', 'relay = 1\n', 'invalid', 'relay'],
    ['nowhere to listen', '[relay]\nstore = "x"\n', 'missing', 'relay.listen'],
    ['no store', '[relay]\nlisten = "127.0.0.1:1"\n', 'missing', 'relay.store'],
    ['no port', '[relay]\nlisten = "127.0.0.1"\nstore = "x"\n', 'invalid', 'relay.listen'],
    ['a port beyond any', '[relay]\nlisten = "127.0.0.1:70000"\nstore = "x"\n', 'invalid', 'relay.listen'],
    ['a number for a text', '[relay]\nlisten = 4181\nstore = "x"\n', 'invalid', 'relay.listen'],
    [
      'open to the world without origins',
      '[relay]\nlisten = "0.0.0.0:1"\nstore = "x"\n',
      'missing',
      'relay.origins',
    ],
    ['an origin with a path', `${least}origins = ["https://a.example/"]\n`, 'invalid', 'relay.origins'],
    ['origins that are no list', `${least}origins = "*"\n`, 'invalid', 'relay.origins'],
    ['a key without its certificate', `${least}tls_key = "k"\n`, 'missing', 'relay.tls_cert'],
    [
      'a public address that is no WebSocket',
      `${least}public_url = "https://a.example"\n`,
      'invalid',
      'relay.public_url',
    ],
    [
      'a proxy that is no address',
      `${least}trusted_proxies = ["proxy"]\n`,
      'invalid',
      'relay.trusted_proxies',
    ],
    ['a ban for ever', `${least}[limits]\nban_s = 1e9\n`, 'invalid', 'limits.ban_s'],
    ['health for the world', `${least}health = "0.0.0.0:1"\n`, 'invalid', 'relay.health'],
    ['a log level nobody knows', `${least}log = "loud"\n`, 'invalid', 'relay.log'],
    ['bytes below any', `${least}store_bytes_max = 0\n`, 'invalid', 'relay.store_bytes_max'],
    ['half a byte', `${least}store_bytes_max = 1.5\n`, 'invalid', 'relay.store_bytes_max'],
    ['a profile nobody knows', `${least}[profile]\nname = "x"\n`, 'invalid', 'profile.name'],
    [
      'more synced than kept',
      `${least}[profile]\nretained_slots = 2\nsync_slots = 3\n`,
      'invalid',
      'profile.sync_slots',
    ],
    [
      'a limiter this build has not for that network',
      `${least}[profile]\nname = "darkirc"\nrate_limit = true\nidentities = "x"\n`,
      'invalid',
      'profile.rate_limit',
    ],
    ['a limiter without a list', `${least}[profile]\nrate_limit = true\n`, 'missing', 'profile.identities'],
    [
      'a limited network by a name of its own',
      `${least}[profile]\nname = "holdfast-limited"\n`,
      'invalid',
      'profile.name',
    ],
    ['a relay to dial that is no WebSocket', `${least}[peers]\noutbound = ["https://a/"]\n`, ...badPeers],
    ['one with a password', `${least}[peers]\noutbound = ["wss://a:b@c.example/"]\n`, ...badPeers],
    ['one that stands there twice', `${least}[peers]\noutbound = ["ws://a/", "ws://A:80"]\n`, ...badPeers],
    ['more of them than are dialled', `${least}[peers]\noutbound = ${manyRelays}\n`, ...badPeers],
    ['a flag that is a text', `${least}[peers]\nbootstrap = "yes"\n`, 'invalid', 'peers.bootstrap'],
    [
      'a buffer no frame fits',
      `${least}[limits]\noutbound_buffer_bytes = 10\n`,
      'invalid',
      'limits.outbound_buffer_bytes',
    ],
  ])('%s is a start error', (_name, text, kind, key) => {
    expect(refused(text)).toEqual({ kind, key });
  });
});
