import type { Bytes, EventId } from '../core/ids';
import { type EventBody, frameOf, type Message, type Question } from '../core/link/messages';
import { receive } from '../core/link/receive';
import {
  ask,
  type CloseReason,
  closeCodes,
  nextDeadline,
  openSession,
  type Session,
  type SessionConfig,
  type SessionEvent,
  type SessionStep,
  tick,
} from '../core/link/session';
import type { PutResult } from '../core/wire/event-put';
import { ourLimits, type PeerLimits } from '../core/wire/version';
import { closeSoon, type OutboundSocket, sendBounded } from '../net/node/outbound';
import type { Answer, Untagged } from './asked';
import type { LogWord } from './log';
import { type PutHost, type PutSource, Puts } from './puts';
import type { Timing } from './timing';

/** What a peer uses of its WebSocket. */
export interface PeerSocket extends OutboundSocket {
  readonly isPaused: boolean;
  pause(): void;
  resume(): void;
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): unknown;
  on(event: 'error' | 'close', listener: () => void): unknown;
}

/** What a peer needs of the relay around it. */
export interface PeerHost extends PutHost {
  readonly session: SessionConfig;
  readonly outboundBytesMax: number;
  readonly timing: Timing;
  ready(peer: Peer): void;
  gone(peer: Peer, why: LogWord): void;
  /** An event of this peer is durable: the others are to have it. */
  relay(from: Peer, body: EventBody): void;
}

/** Frames a peer may have waiting for an answer of ours; beyond it its socket is not read. */
const answersWaitingMax = 32;

/** One connection: its session, what it puts, what it asks, and what we ask it. */
export class Peer implements PutSource {
  nodeId = '';
  #session: Session;
  readonly #questions = new Map<string, (answer: Answer | undefined) => void>();
  readonly #puts: Puts;
  #tags = 0;
  #cancelTick: () => void = () => undefined;
  #answers: Promise<void> = Promise.resolve();
  #answering = 0;
  #why: LogWord = 'left';
  #gone = false;

  constructor(
    private readonly host: PeerHost,
    private readonly socket: PeerSocket,
  ) {
    const opened = openSession(host.session, host.now());
    this.#session = opened.session;
    this.#puts = new Puts(this, host);
    socket.on('message', (data: Buffer, isBinary) => this.#onMessage(data, isBinary));
    socket.on('error', () => undefined);
    socket.on('close', () => this.#onClose());
    this.#take(opened);
  }

  get isReady(): boolean {
    return this.#session.phase === 'ready' && !this.#gone;
  }

  /** The bounds the peer announced; ours where it announced none. */
  get limits(): PeerLimits | undefined {
    return this.#session.limits;
  }

  /** Sends a message, if the peer is ready and reads fast enough. */
  say(message: Message): void {
    if (this.isReady) this.sendFrame(frameOf(this.host.session.profile, message));
  }

  /** Sends a frame made for several peers. */
  sendFrame(frame: Bytes): void {
    const { outboundBytesMax, timing } = this.host;
    const sent = sendBounded(this.socket, frame, outboundBytesMax, undefined, timing.after);
    if (sent === 'too slow') this.#why = sent;
  }

  /** Asks the peer; `undefined` when it goes before it answers, or is asked too much. */
  ask(question: Untagged): Promise<Answer | undefined> {
    // Whoever is gone answers nothing, and no deadline of its session comes any more.
    if (this.#gone) return Promise.resolve(undefined);
    this.#tags += 1;
    const tag = String(this.#tags);
    return new Promise((settle) => {
      this.#questions.set(tag, settle);
      this.balance();
      this.#take(ask(this.#session, { ...question, tag } as Question, this.host.now()));
    });
  }

  /** Ends the connection; what was sent before still goes out. */
  close(code: number, why: LogWord, reason: string = why): void {
    this.#why = why;
    closeSoon(this.socket, code, reason, this.host.timing.after);
  }

  /** Tells what became of an event, if the peer understands it. */
  report(id: EventId, result: PutResult): void {
    if (this.limits?.status === true) this.say({ say: 'status', status: { id, result } });
  }

  /** Hands a durable event on to the other peers. */
  relay(body: EventBody): void {
    this.host.relay(this, body);
  }

  /**
   * Reads no further while there is enough to do for what was read; but whoever is asked must be heard, or its answer
   * would wait behind its own events.
   */
  balance(): void {
    const full = this.#puts.isFull || this.#answering >= answersWaitingMax;
    if (full && this.#questions.size === 0) this.socket.pause();
    else if (this.socket.isPaused) this.socket.resume();
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    // A text message is no frame; an empty one is none either and ends the session by its own rule.
    const bytes = isBinary ? new Uint8Array(data) : new Uint8Array(0);
    this.#take(receive(this.#session, bytes, this.host.now()));
  }

  #take(step: SessionStep): void {
    this.#session = step.session;
    for (const frame of step.out) this.sendFrame(frame);
    for (const event of step.events) this.#on(event);
    this.#schedule();
  }

  #on(event: SessionEvent): void {
    if (event.type === 'ready') {
      this.nodeId = event.nodeId;
      this.host.ready(this);
    } else if (event.type === 'put') this.#puts.push(event);
    else if (event.type === 'closed') this.close(event.code, event.reason satisfies CloseReason);
    else if (event.type === 'refused') this.#settle(event.tag, undefined);
    else if (event.type === 'tips' || event.type === 'headers' || event.type === 'events') {
      this.#settle(event.tag, event);
    } else this.#onAsked(event);
  }

  #onAsked(event: SessionEvent): void {
    const { graph } = this.host;
    if (event.type === 'tips-asked') {
      this.#answer(async () => ({ say: 'tips', tips: await graph.tips(event.slot) }));
    } else if (event.type === 'headers-asked') {
      this.#answer(async () => ({ say: 'headers', headers: await graph.headers(event.slot, event.tips) }));
    } else if (event.type === 'events-asked') {
      this.#answer(async () => ({ say: 'events', events: await this.#bodies(event.ids) }));
    }
  }

  #bodies(ids: readonly EventId[]): Promise<readonly EventBody[]> {
    const { batchEventsMax, batchBytesMax, contentBytesMax } = this.limits ?? ourLimits;
    return this.host.graph.bodies(ids, batchEventsMax, batchBytesMax, contentBytesMax);
  }

  /** Answers go out in the order of the questions: the wire matches them by nothing else. */
  #answer(make: () => Promise<Message>): void {
    this.#answering += 1;
    this.balance();
    this.#answers = this.#answers.then(async () => {
      try {
        this.say(await make());
      } catch {
        this.close(closeCodes.goingAway, 'store', '5');
      } finally {
        this.#answering -= 1;
        this.balance();
      }
    });
  }

  #settle(tag: string, answer: Answer | undefined): void {
    const settle = this.#questions.get(tag);
    this.#questions.delete(tag);
    settle?.(answer);
  }

  #schedule(): void {
    this.#cancelTick();
    if (this.#gone) return;
    const wait = nextDeadline(this.#session) - this.host.now();
    if (!Number.isFinite(wait)) return;
    const ticks = (): void => this.#take(tick(this.#session, this.host.now()));
    this.#cancelTick = this.host.timing.after(Math.max(0, wait), ticks);
  }

  #onClose(): void {
    this.#gone = true;
    this.#cancelTick();
    for (const tag of [...this.#questions.keys()]) this.#settle(tag, undefined);
    this.host.gone(this, this.#why);
  }
}
