import type { Bytes, EventId, Slot } from '../ids';
import { limits } from '../limits';
import { commands } from '../wire/commands';
import type { Header } from '../wire/event';
import type { PutResult } from '../wire/event-put';
import { encodeFrame } from '../wire/frame';
import type { NetworkProfile } from '../wire/profile';
import {
  encodePing,
  encodeVersion,
  type Feature,
  type PeerLimits,
  semverOf,
  type Version,
} from '../wire/version';
import { type EventBody, type NamedTip, type Question, questionFrame } from './messages';
import { enqueueQuestion, noQuestions, type Questions, questionsDue } from './questions';

/** WebSocket subprotocol of a link (formats.md 3.1). */
export const subprotocol = 'holdfast.1';

/** Codes a link is closed with (formats.md 3.1). */
export const closeCodes = {
  badFrame: 4000,
  replaced: 4001,
  handshakeLate: 4002,
  incompatible: 4003,
  flood: 4004,
  tooSlow: 4005,
  goingAway: 4006,
  tooBig: 1009,
} as const;

/** Why a session ended itself. */
export type CloseReason =
  /** Not a frame, a frame that does not decode, or one out of turn. */
  | 'bad frame'
  /** A frame of another network. */
  | 'other network'
  /** A network of our magic, but another application or version. */
  | 'incompatible'
  | 'handshake late'
  /** Too many control frames. */
  | 'flood'
  | 'unknown commands'
  /** A question was not answered in time. */
  | 'no answer'
  | 'no pong'
  | 'too big';

/** How a node presents itself on one link. */
export interface SessionConfig {
  readonly profile: NetworkProfile;
  /** 16 random bytes in hex, new at every birth of this node. */
  readonly nodeId: string;
  /** URL by which the other side is, or was, reached. */
  readonly address: string;
  readonly features: readonly Feature[];
  /** First nonce of pings, u16. */
  readonly nonce: number;
  /** How long the handshake may take, ms; by default `limits.handshakeMs`. */
  readonly handshakeMs?: number;
}

/** What a session tells its owner, in the order in which it happened. */
export type SessionEvent =
  /** The handshake is done. The clock offset is the peer's minus ours, ms, exact to a second. */
  | {
      readonly type: 'ready';
      readonly nodeId: string;
      readonly clockOffset: number;
      readonly limits: PeerLimits;
    }
  | {
      readonly type: 'put';
      readonly id: EventId;
      readonly event: Bytes;
      readonly blob: Bytes;
    }
  | {
      readonly type: 'status';
      readonly id: EventId;
      readonly result: PutResult;
    }
  /** Questions of the peer; a slot that is none of any network is `undefined`. */
  | { readonly type: 'tips-asked'; readonly slot: Slot | undefined }
  | {
      readonly type: 'headers-asked';
      readonly slot: Slot | undefined;
      readonly tips: readonly EventId[];
    }
  | { readonly type: 'events-asked'; readonly ids: readonly EventId[] }
  /** Answers to our own questions. */
  | {
      readonly type: 'tips';
      readonly tag: string;
      readonly slot: Slot;
      readonly tips: readonly NamedTip[];
    }
  | {
      readonly type: 'headers';
      readonly tag: string;
      readonly slot: Slot;
      readonly headers: readonly Header[];
    }
  | {
      readonly type: 'events';
      readonly tag: string;
      readonly events: readonly (EventBody & { readonly id: EventId })[];
    }
  /** A question that was not asked: too many wait. */
  | { readonly type: 'refused'; readonly tag: string }
  /** Something was received and means nothing to us. The session goes on. */
  | {
      readonly type: 'dropped';
      readonly what: 'unknown-command' | 'status' | 'answer' | 'control';
    }
  /** The session is over; the owner closes the link with this code. */
  | {
      readonly type: 'closed';
      readonly code: number;
      readonly reason: CloseReason;
    };

/** One session. Plain data; no function changes it. */
export interface Session {
  readonly config: SessionConfig;
  readonly phase: 'handshake' | 'ready' | 'closed';
  readonly openedAt: number;
  readonly version?: Version;
  readonly verackSeen: boolean;
  readonly limits?: PeerLimits;
  readonly nextPingAt: number;
  readonly pings: number;
  readonly ping?: { readonly nonce: number; readonly until: number };
  readonly questions: Questions;
  /** When unknown commands came, newest last. */
  readonly unknownAt: readonly number[];
  readonly unaskedAt: readonly number[];
  /** When version, verack, ping and pong came, newest last. */
  readonly controlAt: readonly number[];
}

/** A session after a step, frames to send in order, and what happened. */
export interface SessionStep {
  readonly session: Session;
  readonly out: readonly Bytes[];
  readonly events: readonly SessionEvent[];
}

/** Begins a session on an open link: our version goes out at once, whichever side dialled (event-graph.md 7.5). */
export function openSession(config: SessionConfig, now: number): SessionStep {
  const version = encodeVersion({
    nodeId: config.nodeId,
    app: config.profile.app,
    version: semverOf(config.profile.version),
    timestamp: BigInt(Math.max(0, Math.floor(now / 1_000))),
    connectAddress: config.address,
    externalAddresses: [],
    features: config.features,
  });
  const session: Session = {
    config,
    phase: 'handshake',
    openedAt: now,
    verackSeen: false,
    nextPingAt: now,
    pings: 0,
    questions: noQuestions,
    unknownAt: [],
    unaskedAt: [],
    controlAt: [],
  };
  return {
    session,
    out: [encodeFrame(config.profile.magic, commands.version, version)],
    events: [],
  };
}

/** Lets time pass: pings when due, and ends what is overdue. */
export function tick(session: Session, now: number): SessionStep {
  if (session.phase === 'closed') return still(session);
  if (session.phase === 'handshake') {
    const late = isDue(nextDeadline(session), handshakeMsOf(session), now);
    return late ? close(session, closeCodes.handshakeLate, 'handshake late') : still(session);
  }
  if (isDue(questionsDue(session.questions), limits.requestMs, now)) {
    return close(session, closeCodes.tooSlow, 'no answer');
  }
  if (session.ping !== undefined) {
    const late = isDue(session.ping.until, limits.pongMs, now);
    return late ? close(session, closeCodes.tooSlow, 'no pong') : still(session);
  }
  return isDue(session.nextPingAt, limits.heartbeatMs, now) ? sendPing(session, now) : still(session);
}

/** When `tick` has something to do next; infinity when never. */
export function nextDeadline(session: Session): number {
  if (session.phase === 'closed') return Number.POSITIVE_INFINITY;
  if (session.phase === 'handshake') return session.openedAt + handshakeMsOf(session);
  return Math.min(session.ping?.until ?? session.nextPingAt, questionsDue(session.questions));
}

function handshakeMsOf(session: Session): number {
  return session.config.handshakeMs ?? limits.handshakeMs;
}

/** Asks the peer, now or when its turn comes. A session that is not ready, or is asked too much, refuses. */
export function ask(session: Session, question: Question, now: number): SessionStep {
  const step = session.phase === 'ready' ? enqueueQuestion(session.questions, question, now) : undefined;
  if (step === undefined)
    return {
      session,
      out: [],
      events: [{ type: 'refused', tag: question.tag }],
    };
  return asked(session, step, []);
}

/**
 * A deadline that is further away than it can ever have been set means that the clock went back: it counts as due
 * rather than as never.
 */
function isDue(at: number, longest: number, now: number): boolean {
  return now >= at || (Number.isFinite(at) && at - now > longest);
}

/** Nothing happened. */
export function still(session: Session): SessionStep {
  return { session, out: [], events: [] };
}

/** One thing happened. */
export function tell(session: Session, event: SessionEvent): SessionStep {
  return { session, out: [], events: [event] };
}

/** The session is over. */
export function close(session: Session, code: number, reason: CloseReason): SessionStep {
  return {
    session: { ...session, phase: 'closed' },
    out: [],
    events: [{ type: 'closed', code, reason }],
  };
}

/** The questions of a session have changed; what is asked now goes out. */
export function asked(
  session: Session,
  step: { readonly questions: Questions; readonly ask?: Question },
  events: readonly SessionEvent[],
): SessionStep {
  const out = step.ask === undefined ? [] : [questionFrame(session.config.profile, step.ask)];
  return { session: { ...session, questions: step.questions }, out, events };
}

/** Pings, and expects the pong in time. */
export function sendPing(session: Session, now: number): SessionStep {
  const nonce = (session.config.nonce + session.pings) % 0x1_0000;
  const next: Session = {
    ...session,
    pings: session.pings + 1,
    nextPingAt: now + limits.heartbeatMs,
    ping: { nonce, until: now + limits.pongMs },
  };
  return {
    session: next,
    out: [encodeFrame(session.config.profile.magic, commands.ping, encodePing(nonce))],
    events: [],
  };
}
