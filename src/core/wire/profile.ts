import { assert, present } from '../assert';
import { type Bytes, type EventId, fromHex, type Slot } from '../ids';
import { limits } from '../limits';
import { utf8Bytes } from './codec';
import { type Event, eventId, makeEvent } from './event';

/** Major, minor and patch of a network's protocol. Peers meet when major and minor are equal. */
export interface Release {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** Everything all nodes of one network must share, and the bounds that go with it (formats.md 1). */
export interface NetworkProfile {
  readonly name: string;
  readonly app: string;
  readonly version: Release;
  /** First 4 bytes of every frame. */
  readonly magic: Bytes;
  /** Start of the first slot, unix ms. */
  readonly initialGenesisMs: number;
  /** Length of a slot, ms. */
  readonly rotationMs: number;
  /** Content of every genesis event. */
  readonly genesisContents: string;
  /** Ready sessions wanted before an event is made, where that many relays are known. */
  readonly minPeers: number;
  readonly clientSlotsRetained: number;
  readonly relaySlotsRetained: number;
  /** Every event proves that its author has spent a ticket. A network is uniform in this. */
  readonly rateLimit: boolean;
  /** Longest text of a message, UTF-8 bytes. */
  readonly textBytesMax: number;
  /** A channel message ends with the 16 bytes of its logical id (formats.md 4.1). */
  readonly logicalIds: boolean;
}

const hourMs = 3_600_000;

const shared = {
  rotationMs: hourMs,
  minPeers: 2,
  clientSlotsRetained: limits.clientSlotsRetained,
  relaySlotsRetained: limits.relaySlotsRetained,
  rateLimit: false,
} as const;

/** Our own network. */
export const holdfast: NetworkProfile = {
  ...shared,
  name: 'holdfast',
  app: 'holdfast',
  version: { major: 1, minor: 0, patch: 0 },
  magic: constant('11c014e5'),
  initialGenesisMs: 1_767_225_600_000,
  genesisContents: 'holdfast-v1',
  textBytesMax: limits.textBytesMax,
  logicalIds: true,
};

/** Upstream's network, with the constants of its daemon; here to prove the formats. */
export const darkirc: NetworkProfile = {
  ...shared,
  name: 'darkirc',
  app: 'darkirc',
  version: { major: 0, minor: 5, patch: 1 },
  magic: constant('fbe5c7b5'),
  initialGenesisMs: 1_740_787_200_000,
  genesisContents: 'darkirc-v1',
  textBytesMax: 512,
  logicalIds: false,
};

/** Our own network with its rates limited: its nodes speak the same, and ask every event for a proof. */
export const holdfastLimited: NetworkProfile = { ...holdfast, name: 'holdfast-limited', rateLimit: true };

/** The profile of a stored or configured name; `undefined` when this build has none of that name. */
export function profileOf(name: string): NetworkProfile | undefined {
  return [holdfast, holdfastLimited, darkirc].find((profile) => profile.name === name);
}

/** The same network with its rates limited or not; `undefined` when this build has no limiter for it. */
export function withRateLimit(profile: NetworkProfile, limited: boolean): NetworkProfile | undefined {
  if (profile.rateLimit === limited) return profile;
  const pair = [holdfast, holdfastLimited];
  return pair.includes(profile) ? pair.find((one) => one.rateLimit === limited) : undefined;
}

/** Start of the slot that `timeMs` lies in. A time before the network began belongs to the first slot. */
export function slotOf(profile: NetworkProfile, timeMs: number): Slot {
  assert(Number.isFinite(timeMs), 'a time is a number of ms');
  const since = Math.max(0, timeMs - profile.initialGenesisMs);
  return profile.initialGenesisMs + Math.floor(since / profile.rotationMs) * profile.rotationMs;
}

/** True when `slot` is the start of a slot of this network. */
export function isSlot(profile: NetworkProfile, slot: number): boolean {
  return Number.isSafeInteger(slot) && slotOf(profile, slot) === slot;
}

/** An event that everyone derives. */
type Genesis = Event & { readonly id: EventId };

/** The genesis derived last: every event of a slot asks for the same. */
const derived = new WeakMap<NetworkProfile, { readonly slot: Slot; readonly genesis: Genesis }>();

/** The genesis event of a slot and its id. Everyone derives the same; it is never transmitted for insertion. */
export function genesisOf(profile: NetworkProfile, slot: Slot): Genesis {
  const last = derived.get(profile);
  if (last?.slot === slot) return last.genesis;
  assert(isSlot(profile, slot), 'a slot starts at a rotation boundary');
  const event = makeEvent(BigInt(slot), [], 0n, utf8Bytes(profile.genesisContents));
  const genesis = { ...event, id: eventId(event.header) };
  derived.set(profile, { slot, genesis });
  return genesis;
}

/** Ready sessions wanted before an event is made, with so many relays known (formats.md 1.6). */
export function minPeersOf(profile: NetworkProfile, relaysKnown: number): number {
  return Math.max(1, Math.min(profile.minPeers, relaysKnown));
}

function constant(hex: string): Bytes {
  return present(fromHex(hex), 'a constant of this file is hex');
}
