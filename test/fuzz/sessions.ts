import fc, { type Arbitrary } from 'fast-check';
import type { Bytes } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import type { Question } from '../../src/core/link/messages';
import { receive } from '../../src/core/link/receive';
import {
  ask,
  openSession,
  type Session,
  type SessionConfig,
  type SessionStep,
} from '../../src/core/link/session';
import { type Command, commands } from '../../src/core/wire/commands';
import { eventId, makeEvent } from '../../src/core/wire/event';
import { encodeEventPut, encodeEventPutStatus } from '../../src/core/wire/event-put';
import { decodeFrame, encodeFrame } from '../../src/core/wire/frame';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import * as sync from '../../src/core/wire/sync';
import { encodePing, encodeVerack, encodeVersion, featuresOf, semverOf } from '../../src/core/wire/version';
import { Fault, type Target, type Verdict } from './target';
import * as values from './values';

const slot = holdfast.initialGenesisMs;
const now = slot + 5_000;

const config: SessionConfig = {
  profile: holdfast,
  nodeId: 'aa',
  address: 'ws://127.0.0.1:4181/',
  features: featuresOf(),
  nonce: 7,
};

/** Events the ready session has asked for. */
const asked = [1, 2, 3].map((nth) =>
  makeEvent(BigInt(slot + nth), [genesisOf(holdfast, slot).id], 1n, new Uint8Array([nth])),
);

const questions: readonly Question[] = [
  { ask: 'tips', tag: 'tips', slot },
  { ask: 'headers', tag: 'headers', slot, tips: [] },
  { ask: 'events', tag: 'events', ids: asked.map((event) => eventId(event.header)) },
];

/** Payloads of each command that its decoder takes. */
const payloads: Readonly<Record<Command, Arbitrary<Bytes>>> = {
  version: values.versions.map(encodeVersion),
  verack: fc.oneof(
    values.veracks.map(encodeVerack),
    fc.constant(encodeVerack({ app: holdfast.app, version: semverOf(holdfast.version) })),
  ),
  ping: values.nonces.map(encodePing),
  pong: fc.oneof(values.nonces, fc.constant(7)).map(encodePing),
  'EventGraph::EventPut': values.puts.map(encodeEventPut),
  'EventGraph::EventPutStatus': values.statuses.map(encodeEventPutStatus),
  'EventGraph::EventReq': values.requests.map(sync.encodeEventReq),
  'EventGraph::EventRep': fc
    .oneof(
      values.replies,
      fc.subarray(asked).map((events) => ({ events, blobs: events.map(() => new Uint8Array(0)) })),
    )
    .map(sync.encodeEventRep),
  'EventGraph::HeaderReq': values.headerRequests.map(sync.encodeHeaderReq),
  'EventGraph::HeaderRep': values.headerLists.map(sync.encodeHeaderRep),
  'EventGraph::TipReq': values.dags.map(sync.encodeTipReq),
  'EventGraph::TipRep': values.tips.map(sync.encodeTipRep),
};

function messagesOf(names: readonly Command[]): Arbitrary<Bytes> {
  return fc.oneof(
    ...names.map((name) => payloads[name].map((payload) => encodeFrame(holdfast.magic, name, payload))),
  );
}

const controls: readonly Command[] = [commands.version, commands.verack, commands.ping, commands.pong];

/** The session of a link, before and after its handshake, with a question of every kind open. */
export const sessions: readonly Target[] = [
  {
    name: 'session in its handshake',
    valid: messagesOf(controls),
    judge: (input) => judge(openSession(config, now).session, input),
  },
  {
    name: 'ready session',
    valid: fc.oneof(messagesOf(Object.values(commands)), unknownMessages()),
    judge: (input) => judge(readySession, input),
  },
];

function unknownMessages(): Arbitrary<Bytes> {
  return values.someBytes(60).map((payload) => encodeFrame(holdfast.magic, 'EventGraph::RangeReq', payload));
}

const readySession = questions.reduce(
  (session, question) => ask(session, question, now).session,
  shakenHands(),
);

function shakenHands(): Session {
  const other = openSession({ ...config, nodeId: 'bb' }, now).out;
  const verack = encodeVerack({ app: holdfast.app, version: semverOf(holdfast.version) });
  const frames = [...other, encodeFrame(holdfast.magic, commands.verack, verack)];
  return frames.reduce(
    (session, frame) => receive(session, frame, now).session,
    openSession(config, now).session,
  );
}

/** Takes an input in three times: what is right once may be wrong when it comes again. */
function judge(from: Session, input: Bytes): Verdict {
  let session = from;
  let verdict: Verdict = 'refused';
  for (let time = 0; time < 3; time++) {
    const step = receive(session, input, now + time);
    check(session, step);
    const taken = step.session.phase !== 'closed' && step.events.every((event) => event.type !== 'dropped');
    if (time === 0 && taken) verdict = 'read';
    session = step.session;
  }
  return verdict;
}

/** Longest thing a session may say to one message: a pong, or its verack and first ping, or its next question. */
const saidBytesMax = 2_048;

/** What holds after every step, whatever came. */
function check(before: Session, { session, out, events }: SessionStep): void {
  const closed = events.filter((event) => event.type === 'closed').length;
  const ended = session.phase === 'closed' && before.phase !== 'closed';
  if (closed !== (ended ? 1 : 0)) throw new Fault('an end that is not told, or told of none');
  if (events.length > 1) throw new Fault('more than one thing happened by one message');
  if (session.unknownAt.length > limits.unknownCommandsPerMinuteMax) throw new Fault('unknown without end');
  if (session.controlAt.length > limits.controlFramesMax + 1) throw new Fault('controls without end');
  if (session.questions.waiting.length > limits.waitingRequestsMax) throw new Fault('questions without end');
  for (const frame of out) decodeFrame(holdfast.magic, frame);
  if (out.reduce((sum, frame) => sum + frame.length, 0) > saidBytesMax) throw new Fault('said too much');
}
