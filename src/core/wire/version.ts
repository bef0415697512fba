import { DecodeError, EncodeError } from '../errors';
import type { Bytes } from '../ids';
import { limits } from '../limits';
import { decodeAll, encodeWith, type Reader, type Writer } from './codec';
import type { NetworkProfile, Release } from './profile';

/** A semantic version as it travels. */
export interface Semver {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly pre: string;
  readonly build: string;
}

/** A named number a peer announces in its version message. */
export interface Feature {
  readonly name: string;
  readonly value: number;
}

/** The first message of either side (event-graph.md 7.4). */
export interface Version {
  /** 16 random bytes in hex, new at every birth of the sender; upstream sends an empty text. */
  readonly nodeId: string;
  readonly app: string;
  readonly version: Semver;
  /** The sender's clock, unix seconds. */
  readonly timestamp: bigint;
  /** URL by which the receiver was reached. */
  readonly connectAddress: string;
  readonly resolveAddress?: string | undefined;
  readonly externalAddresses: readonly string[];
  readonly features: readonly Feature[];
}

/** The answer to a version message; the two sides match by it. */
export interface Verack {
  readonly version: Semver;
  readonly app: string;
}

/** Bytes of a version message. Throws `EncodeError` when a bound is broken (event-graph.md 8.8). */
export function encodeVersion(version: Version): Bytes {
  return within(
    limits.versionBytesMax,
    encodeWith((writer) => {
      writer.string(version.nodeId, limits.nodeIdBytesMax).string(version.app, limits.appNameBytesMax);
      writeSemver(writer, version.version);
      writer
        .u64(version.timestamp)
        .string(version.connectAddress, limits.urlBytesMax)
        .option(version.resolveAddress, writeUrl)
        .vec(version.externalAddresses, limits.externalAddressesMax, writeUrl)
        .vec(version.features, limits.featuresMax, writeFeature);
    }),
  );
}

/** Reads a version message. Throws `DecodeError`. */
export function decodeVersion(payload: Uint8Array): Version {
  if (payload.length > limits.versionBytesMax) throw new DecodeError('version too long');
  return decodeAll(payload, (reader) => ({
    nodeId: reader.string(limits.nodeIdBytesMax),
    app: reader.string(limits.appNameBytesMax),
    version: readSemver(reader),
    timestamp: reader.u64(),
    connectAddress: readUrl(reader),
    resolveAddress: reader.option(readUrl),
    externalAddresses: reader.vec(1, limits.externalAddressesMax, readUrl),
    features: reader.vec(featureBytesMin, limits.featuresMax, readFeature),
  }));
}

/** Bytes of a verack. Throws `EncodeError` when a bound is broken. */
export function encodeVerack(verack: Verack): Bytes {
  return within(
    limits.verackBytesMax,
    encodeWith((writer) => {
      writeSemver(writer, verack.version);
      writer.string(verack.app, limits.appNameBytesMax);
    }),
  );
}

/** Reads a verack. Throws `DecodeError`. */
export function decodeVerack(payload: Uint8Array): Verack {
  if (payload.length > limits.verackBytesMax) throw new DecodeError('verack too long');
  return decodeAll(payload, (reader) => ({
    version: readSemver(reader),
    app: reader.string(limits.appNameBytesMax),
  }));
}

/** Bytes of a ping or pong, whose nonce is a u16. */
export function encodePing(nonce: number): Bytes {
  return encodeWith((writer) => writer.u16(nonce));
}

/** The nonce of a ping or pong. Throws `DecodeError`. */
export function decodePing(payload: Uint8Array): number {
  return decodeAll(payload, (reader) => reader.u16());
}

/** A profile's version as it travels. */
export function semverOf(release: Release): Semver {
  const { major, minor, patch } = release;
  return { major: BigInt(major), minor: BigInt(minor), patch: BigInt(patch), pre: '', build: '' };
}

/** True when a peer of this verack speaks our protocol: same application, major and minor. */
export function compatible(profile: NetworkProfile, verack: Verack): boolean {
  const ours = semverOf(profile.version);
  return (
    verack.app === profile.app && verack.version.major === ours.major && verack.version.minor === ours.minor
  );
}

/** Names of the features we announce or look for (formats.md 1.2). */
const featureNames = {
  status: 'eventput-status',
  content: 'content-bytes-max',
  batchEvents: 'batch-events-max',
  batchBytes: 'batch-bytes-max',
} as const;

/** What a peer takes of us. */
export interface PeerLimits {
  /** It understands, and sends, EventPutStatus. */
  readonly status: boolean;
  readonly contentBytesMax: number;
  readonly batchEventsMax: number;
  readonly batchBytesMax: number;
}

/** What this build takes, and what a peer that announces nothing is taken to take. */
export const ourLimits: PeerLimits = {
  status: true,
  contentBytesMax: limits.contentBytesMax,
  batchEventsMax: limits.eventReplyEventsMax,
  batchBytesMax: limits.batchBytesMax,
};

/** The features that announce what a node takes; by default what this build takes. */
export function featuresOf(taken: PeerLimits = ourLimits): Feature[] {
  return [
    ...(taken.status ? [{ name: featureNames.status, value: 1 }] : []),
    { name: featureNames.content, value: taken.contentBytesMax },
    { name: featureNames.batchEvents, value: taken.batchEventsMax },
    { name: featureNames.batchBytes, value: taken.batchBytesMax },
  ];
}

/**
 * What a peer of these features takes. It may only lower our defaults. Of a name that comes twice the lowest value
 * counts; 0 says nothing, since a peer that takes nothing at all would have no reason to connect.
 */
export function parseLimits(features: readonly Feature[]): PeerLimits {
  const lowest = (name: string, ours: number) =>
    features.reduce((least, f) => (f.name === name && f.value > 0 ? Math.min(least, f.value) : least), ours);
  return {
    status: features.some((feature) => feature.name === featureNames.status && feature.value === 1),
    contentBytesMax: lowest(featureNames.content, ourLimits.contentBytesMax),
    batchEventsMax: lowest(featureNames.batchEvents, ourLimits.batchEventsMax),
    batchBytesMax: lowest(featureNames.batchBytes, ourLimits.batchBytesMax),
  };
}

/** Least bytes of a feature: an empty name and its u32. */
const featureBytesMin = 5;

/** Reads one feature. */
function readFeature(reader: Reader): Feature {
  return { name: reader.string(limits.featureNameBytesMax), value: reader.u32() };
}

/** Writes one feature. */
function writeFeature(writer: Writer, feature: Feature): void {
  writer.string(feature.name, limits.featureNameBytesMax).u32(feature.value);
}

function readSemver(reader: Reader): Semver {
  return {
    major: reader.u64(),
    minor: reader.u64(),
    patch: reader.u64(),
    pre: readTag(reader),
    build: readTag(reader),
  };
}

function writeSemver(writer: Writer, version: Semver): void {
  writer.u64(version.major).u64(version.minor).u64(version.patch);
  writer.string(version.pre, limits.preReleaseBytesMax).string(version.build, limits.preReleaseBytesMax);
}

function readTag(reader: Reader): string {
  const tag = reader.string(limits.preReleaseBytesMax);
  if (!/^[0-9A-Za-z.-]*$/.test(tag)) throw new DecodeError('not a semantic version');
  return tag;
}

/** Upstream parses every URL it reads and refuses the message when one is none; the text itself is kept as sent. */
function readUrl(reader: Reader): string {
  const text = reader.string(limits.urlBytesMax);
  try {
    new URL(text);
  } catch {
    throw new DecodeError('not a URL');
  }
  return text;
}

function writeUrl(writer: Writer, url: string): void {
  writer.string(url, limits.urlBytesMax);
}

function within(max: number, bytes: Bytes): Bytes {
  if (bytes.length > max) throw new EncodeError(`longer than ${max} bytes`);
  return bytes;
}
