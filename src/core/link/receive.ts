import { DecodeError } from '../errors';
import type { Bytes } from '../ids';
import { limits } from '../limits';
import { prefixedBytes, Reader } from '../wire/codec';
import { commands } from '../wire/commands';
import { encodeEvent, eventId, safeNumber } from '../wire/event';
import { decodeEventPut, decodeEventPutStatus } from '../wire/event-put';
import { decodeFrame, encodeFrame, type Frame, FrameError } from '../wire/frame';
import {
  decodeEventRep,
  decodeEventReq,
  decodeHeaderRep,
  decodeHeaderReq,
  decodeTipRep,
  decodeTipReq,
  slotOfDag,
  type Tip,
} from '../wire/sync';
import {
  compatible,
  decodePing,
  decodeVerack,
  decodeVersion,
  encodePing,
  encodeVerack,
  parseLimits,
  semverOf,
  type Version,
} from '../wire/version';
import type { NamedTip } from './messages';
import { type AnswerKind, askedEvents, askedOf, settleQuestion } from './questions';
import {
  asked,
  close,
  closeCodes,
  type Session,
  type SessionEvent,
  type SessionStep,
  sendPing,
  still,
  tell,
} from './session';

/** Takes in one WebSocket message. Never throws for what a peer sent. */
export function receive(session: Session, message: Uint8Array, now: number): SessionStep {
  if (session.phase === 'closed') return still(session);
  try {
    return take(session, decodeFrame(session.config.profile.magic, message), now);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return onUndecodable(session, message, error);
  }
}

/** A status that does not decode is dropped whatever it is (EG-11); anything else that does not ends the session. */
function onUndecodable(session: Session, message: Uint8Array, error: DecodeError): SessionStep {
  if (error instanceof FrameError && error.kind === 'wrong-magic') {
    return isFrame(message)
      ? close(session, closeCodes.incompatible, 'other network')
      : close(session, closeCodes.badFrame, 'bad frame');
  }
  if (session.phase === 'ready' && commandOf(message) === commands.eventPutStatus) {
    return tell(session, { type: 'dropped', what: 'status' });
  }
  if (error instanceof FrameError && error.kind === 'too-large') {
    return close(session, closeCodes.tooBig, 'too big');
  }
  return close(session, closeCodes.badFrame, 'bad frame');
}

/** True when the bytes are a frame of some network: then they are of another one and not garbage. */
function isFrame(message: Uint8Array): boolean {
  try {
    const { command } = decodeFrame(new Uint8Array(message.slice(0, 4)), message);
    return (Object.values(commands) as string[]).includes(command);
  } catch (error) {
    if (error instanceof DecodeError) return false;
    throw error;
  }
}

function commandOf(message: Uint8Array): string | undefined {
  try {
    const reader = new Reader(message);
    reader.bytes(4);
    return reader.string(limits.commandBytesMax);
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

const controls: ReadonlySet<string> = new Set([
  commands.version,
  commands.verack,
  commands.ping,
  commands.pong,
]);

function take(session: Session, frame: Frame, now: number): SessionStep {
  if (controls.has(frame.command)) {
    const controlAt = within(session.controlAt, now, limits.controlWindowMs);
    const counted = { ...session, controlAt };
    if (controlAt.length > limits.controlFramesMax) return close(counted, closeCodes.flood, 'flood');
    return takeControl(counted, frame, now);
  }
  if (session.phase === 'handshake') return close(session, closeCodes.badFrame, 'bad frame');
  return takeQuestion(session, frame) ?? takeAnswer(session, frame, now) ?? takeUnknown(session, now);
}

/** The times of the last `window` ms, `now` added. */
function within(times: readonly number[], now: number, window: number): readonly number[] {
  return [...times.filter((at) => at > now - window && at <= now), now];
}

function takeControl(session: Session, frame: Frame, now: number): SessionStep {
  const { magic } = session.config.profile;
  switch (frame.command) {
    case commands.version:
      return takeVersion(session, decodeVersion(frame.payload), now);
    case commands.verack: {
      if (session.verackSeen) return tell(session, { type: 'dropped', what: 'control' });
      if (!compatible(session.config.profile, decodeVerack(frame.payload))) {
        return close(session, closeCodes.incompatible, 'incompatible');
      }
      return whenReady({ ...session, verackSeen: true }, [], now);
    }
    case commands.ping:
      return {
        session,
        out: [encodeFrame(magic, commands.pong, encodePing(decodePing(frame.payload)))],
        events: [],
      };
    default:
      return takePong(session, decodePing(frame.payload));
  }
}

/** Only the first version counts; like upstream, app and version are judged by the verack alone. */
function takeVersion(session: Session, version: Version, now: number): SessionStep {
  if (session.version !== undefined) return tell(session, { type: 'dropped', what: 'control' });
  const { profile } = session.config;
  const verack = encodeVerack({
    version: semverOf(profile.version),
    app: profile.app,
  });
  return whenReady({ ...session, version }, [encodeFrame(profile.magic, commands.verack, verack)], now);
}

function whenReady(session: Session, out: readonly Bytes[], now: number): SessionStep {
  const { version } = session;
  if (version === undefined || !session.verackSeen) return { session, out, events: [] };
  const peerLimits = parseLimits(version.features);
  const pinged = sendPing({ ...session, phase: 'ready', limits: peerLimits }, now);
  // The peer cut its clock to seconds: the middle of that second is the best guess.
  const clockOffset = Number(version.timestamp) * 1_000 + 500 - now;
  const ready: SessionEvent = {
    type: 'ready',
    nodeId: version.nodeId,
    clockOffset,
    limits: peerLimits,
  };
  return {
    session: pinged.session,
    out: [...out, ...pinged.out],
    events: [ready],
  };
}

function takePong(session: Session, nonce: number): SessionStep {
  if (session.ping?.nonce !== nonce) return tell(session, { type: 'dropped', what: 'control' });
  const { ping: _, ...rest } = session;
  return still(rest);
}

function takeQuestion(session: Session, frame: Frame): SessionStep | undefined {
  switch (frame.command) {
    case commands.eventPut: {
      const { event, blob } = decodeEventPut(frame.payload);
      const bytes = frame.payload.slice(0, frame.payload.length - prefixedBytes(blob.length));
      return tell(session, {
        type: 'put',
        id: eventId(event.header),
        event: bytes,
        blob,
      });
    }
    case commands.eventPutStatus:
      return tell(session, {
        type: 'status',
        ...decodeEventPutStatus(frame.payload),
      });
    case commands.tipReq:
      return tell(session, {
        type: 'tips-asked',
        slot: slotOfDag(decodeTipReq(frame.payload)),
      });
    case commands.headerReq: {
      const { dag, tips } = decodeHeaderReq(frame.payload);
      return tell(session, {
        type: 'headers-asked',
        slot: slotOfDag(dag),
        tips: tips.map((tip) => tip.id),
      });
    }
    case commands.eventReq:
      return tell(session, {
        type: 'events-asked',
        ids: decodeEventReq(frame.payload),
      });
    default:
      return undefined;
  }
}

/** An answer nobody asked for, or that does not fit the question, is no answer: the question stays open. */
function takeAnswer(session: Session, frame: Frame, now: number): SessionStep | undefined {
  const { questions } = session;
  switch (frame.command) {
    case commands.tipRep: {
      const tips = decodeTipRep(frame.payload).map(namedTip);
      const of = askedOf(questions, 'tips');
      return answered(session, 'tips', of && { type: 'tips', tag: of.tag, slot: of.slot, tips }, now);
    }
    case commands.headerRep: {
      const headers = decodeHeaderRep(frame.payload);
      const of = askedOf(questions, 'headers');
      return answered(
        session,
        'headers',
        of && { type: 'headers', tag: of.tag, slot: of.slot, headers },
        now,
      );
    }
    case commands.eventRep: {
      const { events, blobs } = decodeEventRep(frame.payload);
      const bodies = events.map((event, at) => ({
        id: eventId(event.header),
        event: encodeEvent(event),
        blob: blobs[at] ?? new Uint8Array(0),
      }));
      const tag = askedEvents(
        questions,
        bodies.map((body) => body.id),
      );
      return answered(
        session,
        'events',
        tag === undefined ? undefined : { type: 'events', tag, events: bodies },
        now,
      );
    }
    default:
      return undefined;
  }
}

function answered(
  session: Session,
  kind: AnswerKind,
  answer: SessionEvent | undefined,
  now: number,
): SessionStep {
  if (answer === undefined) return takeUnasked(session, now);
  return asked(session, settleQuestion(session.questions, kind, now), [answer]);
}

/** It costs as much to read as an answer that was asked for, so a stream of them ends the session. */
function takeUnasked(session: Session, now: number): SessionStep {
  const unaskedAt = within(session.unaskedAt, now, limits.unknownCommandsWindowMs);
  const counted = { ...session, unaskedAt };
  if (unaskedAt.length >= limits.unaskedAnswersMax) return close(counted, closeCodes.flood, 'flood');
  return tell(counted, { type: 'dropped', what: 'answer' });
}

/** A layer no number holds is beyond any graph; it decodes as a bad frame. */
function namedTip(tip: Tip): NamedTip {
  return { id: tip.id, layer: safeNumber(tip.layer) };
}

/** A command of a later version is counted and dropped; only a stream of them ends the session (formats.md 1.7). */
function takeUnknown(session: Session, now: number): SessionStep {
  const unknownAt = within(session.unknownAt, now, limits.unknownCommandsWindowMs);
  const counted = { ...session, unknownAt };
  if (unknownAt.length >= limits.unknownCommandsPerMinuteMax) {
    return close(counted, closeCodes.flood, 'unknown commands');
  }
  return tell(counted, { type: 'dropped', what: 'unknown-command' });
}
