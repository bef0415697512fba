import fc, { type Arbitrary } from 'fast-check';
import { type Bytes, type EventId, toHex } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { encodeWith } from '../../src/core/wire/codec';
import { commands, payloadBytesMax } from '../../src/core/wire/commands';
import { type Event, type Header, makeEvent, nullId } from '../../src/core/wire/event';
import type { EventPut, EventPutStatus } from '../../src/core/wire/event-put';
import type { Frame } from '../../src/core/wire/frame';
import { encodePrivmsg, type Privmsg } from '../../src/core/wire/privmsg';
import { dagOf, type EventRep, type HeaderReq, type Tip } from '../../src/core/wire/sync';
import type { Feature, Semver, Verack, Version } from '../../src/core/wire/version';

/** Any bytes of a length up to `max`, as ours: over no shared memory. */
export function someBytes(max: number, min = 0): Arbitrary<Bytes> {
  return fc.uint8Array({ minLength: min, maxLength: max }).map((bytes) => new Uint8Array(bytes));
}

const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const layer = fc.oneof(fc.bigInt({ min: 0n, max: 5n }), u64);
export const ids: Arbitrary<EventId> = someBytes(32, 32).map(toHex);

/** A text of at most `max` UTF-8 bytes, whatever its characters take. */
function texts(max: number): Arbitrary<string> {
  return fc.string({ unit: 'grapheme', maxLength: max }).map((text) => cut(text, max));
}

function cut(text: string, max: number): string {
  let kept = text;
  while (new TextEncoder().encode(kept).length > max) kept = [...kept].slice(0, -1).join('');
  return kept;
}

export const headers: Arbitrary<Header> = fc.record({
  timestamp: u64,
  parents: fc.array(fc.oneof(ids, fc.constant(nullId)), { minLength: 5, maxLength: 5 }),
  layer,
  contentHash: someBytes(32, 32),
});

/** Events whose hash matches, and events whose hash does not: a decoder does not look. */
export const events: Arbitrary<Event> = fc.oneof(
  fc.record({ header: headers, content: someBytes(300) }),
  fc
    .tuple(u64, fc.array(ids, { maxLength: limits.eventParents }), layer, someBytes(300, 1))
    .map(([time, parents, at, content]) => makeEvent(time, parents, at, content)),
);

export const puts: Arbitrary<EventPut> = fc.record({ event: events, blob: someBytes(120) });

export const statuses: Arbitrary<EventPutStatus> = fc.record({
  id: ids,
  result: fc.oneof(
    fc.boolean().map((inserted) => ({ type: 'has', inserted }) as const),
    fc
      .constantFrom('too-old', 'not-synced', 'invalid', 'busy')
      .map((reason) => ({ type: 'nack', reason }) as const),
  ),
});

export const requests: Arbitrary<EventId[]> = fc.array(ids, { maxLength: limits.eventRequestIdsMax });

export const replies: Arbitrary<EventRep> = fc
  .array(fc.tuple(events, someBytes(40)), { maxLength: 4 })
  .map((pairs) => ({ events: pairs.map(([event]) => event), blobs: pairs.map(([, blob]) => blob) }));

export const dags: Arbitrary<string> = fc.oneof(
  fc.integer({ min: 1 }).map(dagOf),
  fc.constant('static-dag'),
  texts(limits.dagNameBytesMax),
);

/** Tips as an encoder of ours writes them: layers and ids ascend, none twice. */
export const tips: Arbitrary<Tip[]> = fc
  .uniqueArray(fc.record({ layer, id: ids }), { maxLength: 12, selector: (tip) => tip.id })
  .map((some) => some.sort(byLayer));

function byLayer(left: Tip, right: Tip): number {
  if (left.layer !== right.layer) return left.layer < right.layer ? -1 : 1;
  return left.id < right.id ? -1 : 1;
}

export const headerRequests: Arbitrary<HeaderReq> = fc.record({ dag: dags, tips });
export const headerLists: Arbitrary<Header[]> = fc.array(headers, { maxLength: 6 });

const tag = fc.stringMatching(/^[0-9A-Za-z.-]{0,32}$/);
const semvers: Arbitrary<Semver> = fc.record({ major: u64, minor: u64, patch: u64, pre: tag, build: tag });
const urls = fc.oneof(
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.constantFrom('ws://127.0.0.1:4181/', 'wss://relay.example/', 'tcp+tls://lilith0.dark.fi:9600/'),
);
const features: Arbitrary<Feature[]> = fc.array(
  fc.record({
    name: fc.oneof(
      texts(limits.featureNameBytesMax),
      fc.constantFrom('eventput-status', 'content-bytes-max', 'batch-events-max', 'batch-bytes-max'),
    ),
    value: fc.integer({ min: 0, max: 0xffff_ffff }),
  }),
  { maxLength: 5 },
);

export const versions: Arbitrary<Version> = fc.record({
  nodeId: fc.oneof(
    texts(limits.nodeIdBytesMax),
    ids.map((id) => id.slice(32)),
  ),
  app: texts(limits.appNameBytesMax),
  version: semvers,
  timestamp: u64,
  connectAddress: urls,
  resolveAddress: fc.option(urls, { nil: undefined }),
  externalAddresses: fc.array(urls, { maxLength: 2 }),
  features,
});

export const veracks: Arbitrary<Verack> = fc.record({ version: semvers, app: texts(limits.appNameBytesMax) });
export const nonces: Arbitrary<number> = fc.integer({ min: 0, max: 0xffff });

export const privmsgs: Arbitrary<Privmsg> = fc.record({
  channel: texts(24),
  nick: texts(24),
  text: fc.oneof(texts(400), fc.constant('hello')),
  type: fc.integer({ min: 0, max: 255 }),
  logical: fc.option(
    someBytes(16, 16).map((bytes) => toHex(bytes)),
    { nil: undefined },
  ),
});

/** What a call may carry: JSON and byte arrays, without what its encoder refuses. */
export const callValues: Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), texts(20), someBytes(40)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      texts(8).filter((key) => key !== '$' && key !== '__proto__'),
      tie('value'),
      { maxKeys: 4, noNullPrototype: true },
    ),
  ),
})).value;

const callIds = someBytes(16, 16).map((bytes) => Buffer.from(bytes).toString('base64url'));
const names = fc.stringMatching(/^[a-zA-Z]{1,20}$/);

/** A call to the store, as its door takes it. */
export const calls: Arbitrary<unknown> = fc.record(
  {
    v: fc.constant(1),
    build: names,
    call: callIds,
    name: names,
    term: fc.nat(),
    args: callValues,
  },
  { requiredKeys: ['v', 'build', 'call', 'name', 'args'], noNullPrototype: true },
);

/** What a store answers. */
export const answers: Arbitrary<unknown> = fc.oneof(
  fc.record({
    v: fc.constant(1),
    sw: names,
    build: names,
    rev: fc.nat(),
    outcome: callValues,
    effects: fc.array(callValues, { maxLength: 2 }),
  }),
  fc.record({
    v: fc.nat(),
    sw: names,
    build: names,
    err: fc.constantFrom('fenced', 'outdated', 'locked', 'upgrading', 'busy', 'storage', 'refused'),
  }),
);

/** Frames of every command and of commands nobody speaks, their payloads of no format. */
export const frames: Arbitrary<Frame> = fc
  .tuple(fc.oneof(fc.constantFrom(...Object.values(commands)), texts(40)), someBytes(200))
  .map(([command, payload]) => ({ command, payload: payload.slice(0, payloadBytesMax(command)) }));

/** Content of events: channel messages and envelopes. */
export const contents: Arbitrary<Bytes> = fc.oneof(
  privmsgs.map(encodePrivmsg),
  someBytes(80).map((bytes) => new Uint8Array([1, ...bytes])),
);

/** Blobs in the form of a rate proof: version, identity, rate epoch, ticket, signature. */
export const proofs: Arbitrary<Bytes> = fc
  .tuple(someBytes(32, 32), fc.nat(200_000), fc.nat(limits.rateTicketsPerEpoch - 1), someBytes(64, 64))
  .map(([identity, epoch, ticket, signature]) =>
    encodeWith((writer) => writer.u8(1).bytes(identity).u64(BigInt(epoch)).u16(ticket).bytes(signature)),
  );
