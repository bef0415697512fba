import { describe, expect, test } from 'vitest';
import type { Bytes } from '../../../src/core/ids';
import { limits } from '../../../src/core/limits';
import { frameOf, type Question } from '../../../src/core/link/messages';
import { receive } from '../../../src/core/link/receive';
import { ask, openSession, type Session, type SessionConfig } from '../../../src/core/link/session';
import { commands } from '../../../src/core/wire/commands';
import { encodeFrame } from '../../../src/core/wire/frame';
import { holdfast } from '../../../src/core/wire/profile';
import { encodePing, encodeVerack, featuresOf, semverOf } from '../../../src/core/wire/version';
import { slot } from '../../fixtures/graph-world';

const config: SessionConfig = {
  profile: holdfast,
  nodeId: 'aa',
  address: 'wss://relay.example/',
  features: featuresOf(),
  nonce: 7,
};

const versionFrame = openSession({ ...config, nodeId: 'bb' }, slot).out[0] as Bytes;
const verackFrame = frame(
  commands.verack,
  encodeVerack({ app: holdfast.app, version: semverOf(holdfast.version) }),
);

function frame(command: string, payload: Uint8Array): Bytes {
  return encodeFrame(holdfast.magic, command, new Uint8Array(payload));
}

function ready(): Session {
  return [versionFrame, verackFrame].reduce(
    (session, bytes) => receive(session, bytes, slot).session,
    openSession(config, slot).session,
  );
}

/** What a session is left with, and what it said, when so many of these come, each so much later. */
function left(
  bytes: (nth: number) => Bytes,
  count: number,
  apartMs = 0,
): { readonly session: Session; readonly said: number; readonly happened: ReadonlyMap<string, number> } {
  let session = ready();
  let said = 0;
  const happened = new Map<string, number>();
  for (let nth = 0; nth < count; nth++) {
    const step = receive(session, bytes(nth), slot + 1 + nth * apartMs);
    session = step.session;
    said += step.out.length;
    for (const event of step.events) {
      const name = event.type === 'dropped' ? event.what : event.type;
      happened.set(name, (happened.get(name) ?? 0) + 1);
    }
  }
  return { session, said, happened };
}

/** A session is plain data: what it holds on to is as long as its text. */
function sizeOf(session: Session): number {
  return JSON.stringify(session, (_, value) => (typeof value === 'bigint' ? String(value) : value)).length;
}

const many = 100_000;
const most = sizeOf(ready()) + 1_000;

describe('a relay that says the same without end (HX-18)', () => {
  test('versions and veracks: none is answered, and the session ends as flooded, by its own count', () => {
    for (const bytes of [versionFrame, verackFrame]) {
      const { session, said, happened } = left(() => bytes, many);
      expect(session.phase).toBe('closed');
      expect(said).toBe(0);
      expect(happened.get('control')).toBeLessThan(limits.controlFramesMax);
      expect(sizeOf(session)).toBeLessThan(most);
    }
  });

  test('the same, slowly: nothing is said and nothing kept', () => {
    const { session, said, happened } = left(() => versionFrame, 5_000, 1_000);
    expect([session.phase, said, happened.get('control')]).toEqual(['ready', 0, 5_000]);
    expect(sizeOf(session)).toBeLessThan(most);
  });

  test('pings: some answers, and then the end', () => {
    const { session, said } = left((nth) => frame(commands.ping, encodePing(nth % 65_536)), many);
    expect(session.phase).toBe('closed');
    expect(said).toBeLessThan(limits.controlFramesMax);
  });

  test('statuses it cannot read: each is dropped, the session goes on and holds on to nothing', () => {
    const later = frame(commands.eventPutStatus, new Uint8Array(34).fill(9));
    const { session, said, happened } = left(() => later, many);
    expect([session.phase, said, happened.get('status')]).toEqual(['ready', 0, many]);
    expect(sizeOf(session)).toBeLessThan(most);
  });

  test('answers nobody asked for: each is dropped, none of them settles anything, and a stream of them ends it', () => {
    const answer = frameOf(holdfast, { say: 'events', events: [] });
    const { session, happened } = left(() => answer, many);
    expect([session.phase, happened.get('answer')]).toEqual(['closed', limits.unaskedAnswersMax - 1]);
    expect(sizeOf(session)).toBeLessThan(most);
  });

  test('commands nobody speaks, as slowly as is borne: nothing is kept of them', () => {
    const apart = limits.unknownCommandsWindowMs / (limits.unknownCommandsPerMinuteMax - 2);
    const { session, happened } = left(() => frame('login-challenge', new Uint8Array(32)), 5_000, apart);
    expect([session.phase, happened.get('unknown-command')]).toEqual(['ready', 5_000]);
    expect(sizeOf(session)).toBeLessThan(most);
  });
});

describe('a client that asks much (HX-07)', () => {
  test('10,000 questions at once: one of a kind is on its way, 32 wait, the rest are told so, and each answer sends one', () => {
    let session = ready();
    let said = 0;
    let refused = 0;
    const take = (step: ReturnType<typeof ask>): void => {
      session = step.session;
      said += step.out.length;
      refused += step.events.filter(({ type }) => type === 'refused').length;
    };
    for (let nth = 0; nth < 10_000; nth++) {
      const question: Question = { ask: 'tips', tag: `${nth}`, slot };
      take(ask(session, question, slot));
    }
    expect([said, refused]).toEqual([1, 10_000 - 1 - limits.waitingRequestsMax]);
    const answer = frameOf(holdfast, { say: 'tips', tips: [] });
    for (let nth = 1; nth <= limits.waitingRequestsMax + 1; nth++) {
      take(receive(session, answer, slot));
      expect(said).toBe(Math.min(nth + 1, limits.waitingRequestsMax + 1));
    }
    expect(session.questions.waiting).toEqual([]);
  });
});
