import { describe, expect, test } from 'vitest';
import { DecodeError, EncodeError } from '../../../src/core/errors';
import { toHex } from '../../../src/core/ids';
import { BoundError, encodeWith } from '../../../src/core/wire/codec';
import { commands } from '../../../src/core/wire/commands';
import { decodeFrame, encodeFrame } from '../../../src/core/wire/frame';
import { darkirc, holdfast } from '../../../src/core/wire/profile';
import {
  compatible,
  decodePing,
  decodeVerack,
  decodeVersion,
  encodePing,
  encodeVerack,
  encodeVersion,
  featuresOf,
  parseLimits,
  semverOf,
  type Version,
} from '../../../src/core/wire/version';
import { core } from '../../vectors/event-graph';
import { features } from '../../vectors/formats';
import { bytes } from '../hex';

const version: Version = {
  nodeId: '',
  app: 'darkirc',
  version: semverOf(darkirc.version),
  timestamp: 1_767_225_601n,
  connectAddress: 'tcp://127.0.0.1:9600/',
  externalAddresses: [],
  features: [],
};

const url = (length: number) => `ws://h/${'a'.repeat(length - 7)}`;

describe('handshake messages', () => {
  test('vectors of version, without and with a feature', () => {
    expect(toHex(encodeVersion(version))).toBe(core.version);
    expect(decodeVersion(bytes(core.version))).toEqual({ ...version, resolveAddress: undefined });
    const featured = { ...version, features: [{ name: 'swarm-ad-store', value: 1 }] };
    const hex = core.version.slice(0, -2) + core.versionFeature;
    expect(toHex(encodeVersion(featured))).toBe(hex);
    expect(decodeVersion(bytes(hex))).toEqual({ ...featured, resolveAddress: undefined });
  });

  test('vectors of verack and ping', () => {
    const verack = { version: semverOf(darkirc.version), app: 'darkirc' };
    expect(toHex(encodeFrame(darkirc.magic, commands.verack, encodeVerack(verack)))).toBe(core.verackFrame);
    expect(decodeVerack(decodeFrame(darkirc.magic, bytes(core.verackFrame)).payload)).toEqual(verack);
    expect(toHex(encodeFrame(darkirc.magic, commands.ping, encodePing(0x1234)))).toBe(core.pingFrame);
    expect(decodePing(bytes('3412'))).toBe(0x1234);
    expect(() => decodePing(bytes('341200'))).toThrow(DecodeError);
  });

  test('every field of a version comes back', () => {
    const full: Version = {
      nodeId: 'ab'.repeat(16),
      app: 'holdfast',
      version: { major: 1n, minor: 2n, patch: 2n ** 64n - 1n, pre: 'rc.1', build: 'x-9' },
      timestamp: 2n ** 64n - 1n,
      connectAddress: 'ws://127.0.0.1:4181/',
      resolveAddress: 'wss://relay.example/',
      externalAddresses: ['wss://relay.example/', 'tcp+tls://198.51.100.7:25551/'],
      features: featuresOf(),
    };
    expect(decodeVersion(encodeVersion(full))).toEqual(full);
  });

  test('bounds hold on both sides', () => {
    const changes: Partial<Version>[] = [
      { nodeId: 'x'.repeat(65) },
      { app: 'x'.repeat(33) },
      { connectAddress: url(1_025) },
      { resolveAddress: url(1_025) },
      { externalAddresses: Array<string>(11).fill(url(10)) },
      { features: Array(11).fill({ name: 'x', value: 1 }) },
      { features: [{ name: 'x'.repeat(33), value: 1 }] },
      { version: { ...version.version, pre: 'x'.repeat(33) } },
      { version: { ...version.version, build: 'x'.repeat(33) } },
      // Each within its own bound, together over 2,043 bytes.
      { connectAddress: url(1_024), externalAddresses: [url(1_000)] },
    ];
    for (const change of changes) {
      expect(() => encodeVersion({ ...version, ...change })).toThrow(EncodeError);
    }
    expect(decodeVersion(encodeVersion({ ...version, connectAddress: url(1_024) })).connectAddress).toBe(
      url(1_024),
    );
    const elevenFeatures = `${core.version.slice(0, -2)}0b${'017800000000'.repeat(11)}`;
    expect(() => decodeVersion(bytes(elevenFeatures))).toThrow(BoundError);
    const longName = encodeWith((w) => w.string('x'.repeat(65), 99));
    expect(() => decodeVersion(new Uint8Array([...longName, ...bytes(core.version).subarray(1)]))).toThrow(
      BoundError,
    );
    expect(() => decodeVersion(new Uint8Array(2_044))).toThrow(DecodeError);
    expect(() => decodeVerack(new Uint8Array(129))).toThrow(DecodeError);
    expect(() => encodeVerack({ version: version.version, app: 'x'.repeat(33) })).toThrow(EncodeError);
  });

  test('an address that is no URL, or a tag that is none, is refused', () => {
    const broken = core.version.replace('7463703a2f2f', '7463702f2f2f');
    expect(() => decodeVersion(bytes(broken))).toThrow(DecodeError);
    const tagged = encodeVerack({ version: { ...version.version, pre: 'a b' }, app: 'x' });
    expect(() => decodeVerack(tagged)).toThrow(DecodeError);
  });

  test('peers match by application, major and minor, whatever the patch', () => {
    const ours = semverOf(holdfast.version);
    const verack = { version: ours, app: 'holdfast' };
    expect(compatible(holdfast, verack)).toBe(true);
    expect(compatible(holdfast, { ...verack, version: { ...ours, patch: 9n, pre: 'rc' } })).toBe(true);
    expect(compatible(holdfast, { ...verack, version: { ...ours, minor: 1n } })).toBe(false);
    expect(compatible(holdfast, { ...verack, version: { ...ours, major: 2n } })).toBe(false);
    expect(compatible(holdfast, { ...verack, app: 'darkirc' })).toBe(false);
  });
});

describe('features', () => {
  test('vectors: the four features in a version message', () => {
    const announced = featuresOf();
    expect(announced).toEqual(features.map(({ name, value }) => ({ name, value })));
    const hex = toHex(encodeVersion({ ...version, features: announced }));
    expect(hex).toBe(`${core.version.slice(0, -2)}04${features.map((feature) => feature.hex).join('')}`);
  });

  test('absent features leave our defaults, without status messages', () => {
    expect(parseLimits([])).toEqual({
      status: false,
      contentBytesMax: 262_144,
      batchEventsMax: 128,
      batchBytesMax: 1_048_576,
    });
    expect(parseLimits(featuresOf())).toEqual({ ...parseLimits([]), status: true });
  });

  test('a peer may lower our limits and never raise them', () => {
    const lower = { status: true, contentBytesMax: 1_000, batchEventsMax: 1, batchBytesMax: 2_000 };
    expect(parseLimits(featuresOf(lower))).toEqual(lower);
    const higher = { ...lower, contentBytesMax: 2 ** 32 - 1, batchEventsMax: 129, batchBytesMax: 2 ** 31 };
    expect(parseLimits(featuresOf(higher))).toEqual(parseLimits(featuresOf()));
    const twice = [...featuresOf(lower), ...featuresOf()];
    expect(parseLimits(twice)).toEqual(lower);
    const none = { status: false, contentBytesMax: 0, batchEventsMax: 0, batchBytesMax: 0 };
    expect(parseLimits(featuresOf(none))).toEqual(parseLimits([]));
  });

  test('status messages are of version 1, and other features say nothing', () => {
    expect(parseLimits([{ name: 'eventput-status', value: 2 }]).status).toBe(false);
    expect(parseLimits([{ name: 'swarm-ad-store', value: 1 }])).toEqual(parseLimits([]));
  });
});
