import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Bytes, fromHex } from '../../../src/core/ids';
import { limits } from '../../../src/core/limits';
import { frameOf, type Question } from '../../../src/core/link/messages';
import { receive } from '../../../src/core/link/receive';
import {
  ask,
  closeCodes,
  nextDeadline,
  openSession,
  type Session,
  type SessionConfig,
  type SessionEvent,
  type SessionStep,
  tick,
} from '../../../src/core/link/session';
import { utf8Bytes } from '../../../src/core/wire/codec';
import { commands } from '../../../src/core/wire/commands';
import { encodeEventPutStatus } from '../../../src/core/wire/event-put';
import { decodeFrame, encodeFrame } from '../../../src/core/wire/frame';
import { darkirc, holdfast } from '../../../src/core/wire/profile';
import { encodeTipRep } from '../../../src/core/wire/sync';
import { decodePing, encodePing, encodeVerack, featuresOf, semverOf } from '../../../src/core/wire/version';
import { make, noBlob, slot } from '../../fixtures/graph-world';

const start = slot + 1_234;

function config(nodeId: string, changes: Partial<SessionConfig> = {}): SessionConfig {
  return {
    profile: holdfast,
    nodeId,
    address: 'ws://127.0.0.1:4181/',
    features: featuresOf(),
    nonce: 7,
    ...changes,
  };
}

/** Two sessions and what travels between them, in order, until nothing does. */
class Pair {
  readonly events: { readonly at: 0 | 1; readonly event: SessionEvent }[] = [];
  readonly sessions: [Session, Session];
  readonly #queue: { readonly to: 0 | 1; readonly bytes: Bytes }[] = [];

  constructor(
    left: SessionConfig,
    right: SessionConfig,
    public now = start,
    rightNow = now,
  ) {
    const steps = [openSession(left, now), openSession(right, rightNow)] as const;
    this.sessions = [steps[0].session, steps[1].session];
    this.take(0, steps[0]);
    this.take(1, steps[1]);
    this.settle();
  }

  take(at: 0 | 1, step: SessionStep): void {
    this.sessions[at] = step.session;
    for (const bytes of step.out) this.#queue.push({ to: at === 0 ? 1 : 0, bytes });
    for (const event of step.events) this.events.push({ at, event });
  }

  send(from: 0 | 1, bytes: Bytes): readonly SessionEvent[] {
    this.#queue.push({ to: from === 0 ? 1 : 0, bytes });
    return this.settle();
  }

  settle(): readonly SessionEvent[] {
    const before = this.events.length;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      this.take(next.to, receive(this.sessions[next.to], next.bytes, this.now));
    }
    return this.events.slice(before).map((one) => one.event);
  }
}

const ready = (): Pair => new Pair(config('aa'), config('bb'));
const frame = (command: string, payload: Uint8Array): Bytes =>
  encodeFrame(holdfast.magic, command, new Uint8Array(payload));

describe('handshake', () => {
  test('makes both sides ready, with the limits and the clock of the other', () => {
    const low = featuresOf({ status: false, contentBytesMax: 999, batchEventsMax: 5, batchBytesMax: 4_000 });
    const pair = new Pair(config('aa'), config('bb', { features: low }), start, start + 90_000);
    expect(pair.sessions.map((session) => session.phase)).toEqual(['ready', 'ready']);
    expect(pair.events.map((one) => one.event.type)).toEqual(['ready', 'ready']);
    expect(pair.events.find((one) => one.at === 0)?.event).toMatchObject({
      nodeId: 'bb',
      limits: { status: false, contentBytesMax: 999, batchEventsMax: 5, batchBytesMax: 4_000 },
    });
    const offset = pair.events.find((one) => one.at === 0)?.event;
    expect(offset?.type === 'ready' && Math.abs(offset.clockOffset - 90_000)).toBeLessThanOrEqual(500);
  });

  test('that does not end in time ends the session', () => {
    const { session } = openSession(config('aa'), start);
    expect(nextDeadline(session)).toBe(start + limits.handshakeMs);
    expect(tick(session, start + limits.handshakeMs - 1).events).toEqual([]);
    const { events, session: after } = tick(session, start + limits.handshakeMs);
    expect(events).toEqual([{ type: 'closed', code: closeCodes.handshakeLate, reason: 'handshake late' }]);
    expect(nextDeadline(after)).toBe(Number.POSITIVE_INFINITY);
  });

  test.each([
    ['another application', { app: 'other', version: semverOf(holdfast.version) }],
    ['another minor version', { app: 'holdfast', version: semverOf({ major: 1, minor: 1, patch: 0 }) }],
  ])('with %s is incompatible', (_name, verack) => {
    const { session } = openSession(config('aa'), start);
    const step = receive(session, frame(commands.verack, encodeVerack(verack)), start);
    expect(step.events).toEqual([{ type: 'closed', code: closeCodes.incompatible, reason: 'incompatible' }]);
  });

  test('a patch apart is compatible', () => {
    const verack = { app: 'holdfast', version: semverOf({ major: 1, minor: 0, patch: 9 }) };
    const { session } = openSession(config('aa'), start);
    expect(receive(session, frame(commands.verack, encodeVerack(verack)), start).events).toEqual([]);
  });

  test('of another network is told from garbage', () => {
    const { session } = openSession(config('aa'), start);
    const [foreign] = openSession(config('bb', { profile: darkirc }), start).out;
    expect(receive(session, foreign ?? noBlob, start).events).toEqual([
      { type: 'closed', code: closeCodes.incompatible, reason: 'other network' },
    ]);
    for (const text of ['<!doctype html><html></html>', 'HTTP/1.1 400 Bad Request\r\n\r\n', '', '\0']) {
      expect(receive(session, utf8Bytes(text), start).events, text).toEqual([
        { type: 'closed', code: closeCodes.badFrame, reason: 'bad frame' },
      ]);
    }
  });

  test('comes before anything else', () => {
    const { session } = openSession(config('aa'), start);
    const early = frameOf(holdfast, { say: 'tips', tips: [] });
    expect(receive(session, early, start).events).toMatchObject([{ type: 'closed', reason: 'bad frame' }]);
  });
});

describe('what a ready session says arrives as it was said', () => {
  const made = make('a - b');
  const [a, b] = [made.get('a'), made.get('b')];

  test('puts and statuses', () => {
    const pair = ready();
    const put = frameOf(holdfast, { say: 'put', event: a?.bytes ?? noBlob, blob: new Uint8Array([1, 2]) });
    expect(pair.send(0, put)).toEqual([
      { type: 'put', id: a?.id, event: a?.bytes, blob: new Uint8Array([1, 2]) },
    ]);
    const status = { id: a?.id ?? '', result: { type: 'has', inserted: true } as const };
    expect(pair.send(1, frameOf(holdfast, { say: 'status', status }))).toEqual([
      { type: 'status', ...status },
    ]);
  });

  test('questions and their answers', () => {
    const pair = ready();
    const tips = [{ id: a?.id ?? '', layer: 1 }];
    const questions: Question[] = [
      { ask: 'tips', tag: 'one', slot },
      { ask: 'headers', tag: 'two', slot, tips },
      { ask: 'events', tag: 'three', ids: [a?.id ?? '', b?.id ?? ''] },
    ];
    for (const question of questions) pair.take(0, ask(pair.sessions[0], question, start));
    expect(pair.settle()).toEqual([
      { type: 'tips-asked', slot },
      { type: 'headers-asked', slot, tips: [a?.id] },
      { type: 'events-asked', ids: [a?.id, b?.id] },
    ]);
    expect(pair.send(1, frameOf(holdfast, { say: 'tips', tips }))).toEqual([
      { type: 'tips', tag: 'one', slot, tips },
    ]);
    const headers = a === undefined ? [] : [a.event.header];
    expect(pair.send(1, frameOf(holdfast, { say: 'headers', headers }))).toEqual([
      { type: 'headers', tag: 'two', slot, headers },
    ]);
    const events = [{ event: b?.bytes ?? noBlob, blob: noBlob }];
    expect(pair.send(1, frameOf(holdfast, { say: 'events', events }))).toEqual([
      { type: 'events', tag: 'three', events: [{ id: b?.id, event: b?.bytes, blob: noBlob }] },
    ]);
  });
});

describe('questions and answers', () => {
  const tipQuestion = (tag: string): Question => ({ ask: 'tips', tag, slot });
  const tipAnswer = frameOf(holdfast, { say: 'tips', tips: [] });

  test('one of a kind is outstanding, the others wait their turn', () => {
    const pair = ready();
    for (const tag of ['one', 'two', 'three']) pair.take(0, ask(pair.sessions[0], tipQuestion(tag), start));
    expect(pair.settle()).toEqual([{ type: 'tips-asked', slot }]);
    const seen = [1, 2, 3].map(() => pair.send(1, tipAnswer));
    expect(
      seen
        .flat()
        .filter((event) => event.type === 'tips')
        .map((event) => event.tag),
    ).toEqual(['one', 'two', 'three']);
    expect(seen.flat().filter((event) => event.type === 'tips-asked')).toHaveLength(2);
  });

  test('beyond 32 waiting a question is refused, and before the handshake too', () => {
    const pair = ready();
    for (let at = 0; at <= limits.waitingRequestsMax; at++) {
      const step = ask(pair.sessions[0], tipQuestion(`${at}`), start);
      expect(step.events).toEqual([]);
      pair.take(0, step);
    }
    expect(ask(pair.sessions[0], tipQuestion('late'), start).events).toEqual([
      { type: 'refused', tag: 'late' },
    ]);
    const early = openSession(config('aa'), start).session;
    expect(ask(early, tipQuestion('early'), start).events).toEqual([{ type: 'refused', tag: 'early' }]);
  });

  test('an answer nobody asked for is dropped', () => {
    expect(ready().send(1, tipAnswer)).toEqual([{ type: 'dropped', what: 'answer' }]);
  });

  test.each(['an id not asked for', 'one id twice'])(
    'an answer with %s is none, and the question stays',
    (how) => {
      const made = make('a - b');
      const body = (name: string) => ({ event: made.get(name)?.bytes ?? noBlob, blob: noBlob });
      const pair = ready();
      const question: Question = { ask: 'events', tag: 'q', ids: [made.get('a')?.id ?? ''] };
      pair.take(0, ask(pair.sessions[0], question, start));
      pair.settle();
      const wrong = how === 'one id twice' ? [body('a'), body('a')] : [body('a'), body('b')];
      expect(pair.send(1, frameOf(holdfast, { say: 'events', events: wrong }))).toEqual([
        { type: 'dropped', what: 'answer' },
      ]);
      expect(pair.send(1, frameOf(holdfast, { say: 'events', events: [body('a')] }))).toMatchObject([
        { type: 'events', tag: 'q' },
      ]);
    },
  );

  test('a question without an answer ends the session, so that no late answer meets a later question', () => {
    const pair = ready();
    pair.take(0, ask(pair.sessions[0], tipQuestion('q'), start));
    pair.take(0, receive(pair.sessions[0], frame(commands.pong, encodePing(7)), start));
    const due = start + limits.requestMs;
    expect(nextDeadline(pair.sessions[0])).toBe(due);
    const { session, events } = tick(pair.sessions[0], due);
    expect(events).toEqual([{ type: 'closed', code: closeCodes.tooSlow, reason: 'no answer' }]);
    expect(receive(session, tipAnswer, due).events).toEqual([]);
  });
});

describe('heartbeat', () => {
  test('pings at once and every half minute, and a pong is enough', () => {
    const pair = ready();
    const [session] = pair.sessions;
    expect(session.ping).toBeUndefined();
    expect(nextDeadline(session)).toBe(start + limits.heartbeatMs);
    const step = tick(session, start + limits.heartbeatMs);
    const pings = step.out.map((bytes) => decodeFrame(holdfast.magic, bytes));
    expect(pings.map((one) => one.command)).toEqual([commands.ping]);
    expect(decodePing(pings[0]?.payload ?? noBlob)).toBe(8);
    const wrong = receive(step.session, frame(commands.pong, encodePing(99)), start + limits.heartbeatMs);
    expect(wrong.events).toEqual([{ type: 'dropped', what: 'control' }]);
    const late = start + limits.heartbeatMs + limits.pongMs;
    expect(tick(wrong.session, late - 1).events).toEqual([]);
    expect(tick(wrong.session, late).events).toEqual([
      { type: 'closed', code: closeCodes.tooSlow, reason: 'no pong' },
    ]);
    const right = receive(step.session, frame(commands.pong, encodePing(8)), late);
    expect(tick(right.session, late).events).toEqual([]);
  });

  test('a clock that went back makes it due rather than never', () => {
    const { sessions } = ready();
    const step = tick(sessions[0], start - 3_600_000);
    expect(step.out).toHaveLength(1);
    expect(nextDeadline(step.session)).toBe(start - 3_600_000 + limits.pongMs);
  });
});

describe('[EG-11] a status that is not one', () => {
  const id = 'ab'.repeat(32);
  const good = encodeEventPutStatus({ id, result: { type: 'has', inserted: false } });
  const at = (place: number, value: number): Uint8Array =>
    good.map((byte, index) => (index === place ? value : byte));
  const stillUsable = (pair: Pair): void => {
    expect(pair.sessions[0].phase).toBe('ready');
    expect(pair.send(1, frame(commands.eventPutStatus, good))).toEqual([
      { type: 'status', id, result: { type: 'has', inserted: false } },
    ]);
  };

  test.each([
    ['an unknown result', at(32, 2)],
    ['an unknown reason', at(32, 1).map((byte, index) => (index === 33 ? 9 : byte))],
    ['a bool of neither 0 nor 1', at(33, 2)],
    ['bytes beyond its end', new Uint8Array([...good, 0])],
    ['a long body', new Uint8Array(5_000)],
  ])('%s is dropped, and the session goes on', (_name, payload) => {
    const pair = ready();
    expect(pair.send(1, statusFrame(payload))).toEqual([{ type: 'dropped', what: 'status' }]);
    stillUsable(pair);
  });

  test('cut at every byte it is dropped, and random bytes never throw', () => {
    const pair = ready();
    for (let length = 0; length < good.length; length++) {
      expect(pair.send(1, statusFrame(good.slice(0, length)))).toEqual([{ type: 'dropped', what: 'status' }]);
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (payload) => {
        const [event] = pair.send(1, statusFrame(payload));
        expect(['dropped', 'status']).toContain(event?.type);
      }),
    );
    stillUsable(pair);
  });

  /** By hand: our own encoder refuses a status that is too long. */
  function statusFrame(payload: Uint8Array): Bytes {
    const head = frame('EventGraph::EventPutStatuS', payload);
    const name = utf8Bytes(commands.eventPutStatus);
    head.set(name, 5);
    return head;
  }
});

describe('what a peer may not do', () => {
  test('unknown commands are dropped, until there are 32 within a minute', () => {
    const pair = ready();
    const unknown = frame('EventGraph::RangeReq', new Uint8Array(9));
    for (let count = 1; count < limits.unknownCommandsPerMinuteMax; count++) {
      expect(pair.send(1, unknown)).toEqual([{ type: 'dropped', what: 'unknown-command' }]);
    }
    pair.now += limits.unknownCommandsWindowMs;
    expect(pair.send(1, unknown)).toEqual([{ type: 'dropped', what: 'unknown-command' }]);
    const answers = Array.from({ length: limits.unknownCommandsPerMinuteMax }, () =>
      pair.send(1, unknown),
    ).flat();
    expect(answers.at(-1)).toEqual({ type: 'closed', code: closeCodes.flood, reason: 'unknown commands' });
  });

  test('a flood of pings ends the session', () => {
    const pair = ready();
    const pings = Array.from({ length: limits.controlFramesMax }, (_, at) =>
      pair.send(1, frame(commands.ping, encodePing(at))),
    );
    expect(pings.flat()).toContainEqual({ type: 'closed', code: closeCodes.flood, reason: 'flood' });
  });

  test.each([
    ['a payload that does not decode', frame(commands.tipReq, new Uint8Array([9])), closeCodes.badFrame],
    [
      'bytes after the frame',
      new Uint8Array([...frame(commands.tipReq, new Uint8Array([0])), 1]),
      closeCodes.badFrame,
    ],
    ['a frame cut short', frame(commands.tipReq, new Uint8Array([1, 65])).slice(0, -1), closeCodes.badFrame],
    ['a payload beyond its bound', fromHex('11c014e50470696e6703123456') ?? noBlob, closeCodes.tooBig],
    ['a message beyond every bound', new Uint8Array(limits.messageBytesMax + 1), closeCodes.tooBig],
    [
      'a tip of a layer beyond any number',
      frame(commands.tipRep, encodeTipRep([{ layer: 1n << 60n, id: 'ab'.repeat(32) }])),
      closeCodes.badFrame,
    ],
  ])('%s ends the session', (_name, bytes, code) => {
    expect(ready().send(1, bytes)).toMatchObject([{ type: 'closed', code }]);
  });

  test('whatever it sends, nothing is thrown and every step is well formed', () => {
    const names = Object.values(commands);
    const message = fc.oneof(
      fc.uint8Array({ maxLength: 120 }),
      fc
        .tuple(fc.constantFrom(...names), fc.uint8Array({ maxLength: 300 }))
        .filter(([command, payload]) => command !== commands.eventPutStatus || payload.length <= 34)
        .map(([command, payload]) => frame(command, payload.slice(0, command.startsWith('p') ? 2 : 100))),
    );
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
        let session = ready().sessions[0];
        for (const bytes of messages) session = receive(session, new Uint8Array(bytes), start).session;
        expect(['ready', 'closed']).toContain(session.phase);
      }),
    );
  });
});
