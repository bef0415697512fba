import type { Bytes, EventId } from '../core/ids';
import { limits } from '../core/limits';
import { Allowance } from '../core/link/allowance';
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
import { type PeerLimits, parseLimits } from '../core/wire/version';
import { closeSoon, sendBounded } from '../net/node/outbound';
import type { Answer, Untagged } from './asked';
import type { MeshPeer } from './dialler';
import type { LogWord } from './log';
import { nameOf } from './node-name';
import { MemberPace, type Pace } from './pace';
import { type PutHost, type PutSource, Puts } from './puts';
import { RelayQueue, type RelaySink } from './relay-queue';
import type { PeerSocket } from './socket';
import type { Source } from './sources';
import type { Timing } from './timing';

/** What a peer needs of the relay around it. */
export interface PeerHost extends PutHost {
  readonly session: SessionConfig;
  readonly outboundBytesMax: number;
  readonly timing: Timing;
  readonly pauses: Timing;
  ready(peer: Peer): void;
  /** It turned out to be a relay that this one was told to know. */
  admitted(peer: Peer): void;
  gone(peer: Peer, why: LogWord): void;
  /** An event of this peer is durable: the others are to have it. */
  relay(from: Peer, body: EventBody): void;
  /** An event of this relay was not taken through no fault of its own. */
  leftOut(peer: Peer): void;
  /** More came through this peer than is handed on one by one: the others may lack some of it. */
  heldBack(peer: Peer): void;
  /** An event for this peer found no room. */
  dropped(): void;
  /** This peer may lack events: brings it what lets it ask for them. */
  repair(peer: Peer): Promise<void>;
}

/** Frames a peer may have waiting for an answer of ours; beyond it its socket is not read. */
const answersWaitingMax = 32;

/** Bytes that may wait in a peer's socket when an answer is made for it: who does not read what it asked for waits. */
const unreadBytesMax = limits.messageBytesMax;

/** With an answer on top it must still fit what may wait at most. */
function unreadMaxOf(outboundBytesMax: number): number {
  return Math.max(0, Math.min(unreadBytesMax, outboundBytesMax - limits.messageBytesMax));
}

/** One connection: its session, what it puts, what it asks, and what we ask it. */
export class Peer implements PutSource, MeshPeer {
  name = '';
  isAdmitted = false;
  /** Where it comes from, if it was not us who dialled. */
  source: Source | undefined;
  readonly #queue: RelayQueue;
  #session: Session;
  readonly #questions = new Map<string, (answer: Answer | undefined) => void>();
  readonly #puts: Puts;
  #tags = 0;
  #cancelTick: () => void = () => undefined;
  #answers: Promise<void> = Promise.resolve();
  #answering = 0;
  /** Something that waited in the socket has left it, or never will. */
  #written: () => void = () => undefined;
  #why: LogWord = 'left';
  #closing = false;
  #gone = false;

  /** `dialled` is how we present ourselves where it was us who dialled. */
  constructor(
    private readonly host: PeerHost,
    private readonly socket: PeerSocket,
    private readonly dialled?: SessionConfig,
  ) {
    const opened = openSession(dialled ?? host.session, host.now());
    this.#session = opened.session;
    this.#puts = new Puts(this, host);
    this.#queue = new RelayQueue(this.#sink(), host.outboundBytesMax, host.now, host.pauses);
    socket.on('message', (data: Buffer, isBinary) => this.#onMessage(data, isBinary));
    socket.on('error', (error) => this.#onError(error));
    socket.on('close', () => this.#onClose());
    this.#take(opened);
  }

  get isReady(): boolean {
    return this.#session.phase === 'ready' && !this.#closing && !this.#gone;
  }

  get isDialled(): boolean {
    return this.dialled !== undefined;
  }

  /** The bounds the peer announced; ours where it announced none. */
  get limits(): PeerLimits | undefined {
    return this.#session.limits;
  }

  /** Sends a message, if the peer is ready and reads fast enough. */
  say(message: Message): void {
    if (this.isReady) this.#send(frameOf(this.host.session.profile, message));
  }

  /** Hands an event of others on, in a frame made for several peers, as fast as this one reads. */
  handOn(frame: Bytes): void {
    if (this.isReady) this.#queue.push(frame);
  }

  /** It may lack events of others. */
  markBehind(): void {
    if (this.isReady) this.#queue.markBehind();
  }

  /** Resolves when what it was handed has gone, or it has. */
  drained(): Promise<void> {
    return this.#queue.drained();
  }

  admit(): void {
    if (this.isAdmitted) return;
    this.isAdmitted = true;
    if (!this.isDialled) this.#queue.pace(undefined);
    this.host.admitted(this);
  }

  unpace(): void {
    this.#queue.pace(undefined);
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
    this.#end(why);
    closeSoon(this.socket, code, reason, this.host.timing.after);
  }

  /** Tells what became of an event, if the peer understands it. */
  report(id: EventId, result: PutResult): void {
    if (this.limits?.status === true) this.say({ say: 'status', status: { id, result } });
  }

  leftOut(): void {
    this.host.leftOut(this);
  }

  heldBack(): void {
    this.host.heldBack(this);
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

  /** What still comes of a peer that is sent away is work nobody would hear of. */
  #end(why: LogWord): void {
    if (!this.#closing) this.#why = why;
    this.#closing = true;
    this.#written();
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#closing) return;
    // A text message is no frame; an empty one is none either and ends the session by its own rule.
    const bytes = isBinary ? new Uint8Array(data) : new Uint8Array(0);
    this.#take(receive(this.#session, bytes, this.host.now()));
  }

  /** The socket ends itself for what is no WebSocket message, or none within the bounds. */
  #onError(error: Error & { readonly code?: string }): void {
    if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') this.#why = 'too big';
    else if (error.code?.startsWith('WS_ERR_') === true) this.#why = 'bad frame';
  }

  #take(step: SessionStep): void {
    this.#session = step.session;
    for (const frame of step.out) this.#send(frame);
    for (const event of step.events) this.#on(event);
    this.#schedule();
  }

  #on(event: SessionEvent): void {
    if (event.type === 'ready') this.#onReady(event);
    else if (event.type === 'put') this.#puts.push(event);
    else if (event.type === 'closed') this.close(event.code, event.reason satisfies CloseReason);
    else if (event.type === 'refused') this.#settle(event.tag, undefined);
    else if (event.type === 'tips' || event.type === 'headers' || event.type === 'events') {
      this.#settle(event.tag, event);
    } else this.#onAsked(event);
  }

  #onReady(event: SessionEvent & { readonly type: 'ready' }): void {
    this.name = event.nodeId === '' || this.isDialled ? event.nodeId : nameOf(event.nodeId);
    this.#queue.pace(this.isDialled ? paceOf(event.limits) : new MemberPace());
    this.host.ready(this);
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

  /** What was announced holds for what is asked of us too, and what the peer announced as well. */
  #bodies(ids: readonly EventId[]): Promise<readonly EventBody[]> {
    const own = parseLimits(this.host.session.features);
    const { batchEventsMax, batchBytesMax, contentBytesMax } = this.limits ?? own;
    return this.host.graph.bodies(
      ids,
      Math.min(own.batchEventsMax, batchEventsMax),
      Math.min(own.batchBytesMax, batchBytesMax),
      contentBytesMax,
    );
  }

  /** Answers go out in the order of the questions: the wire matches them by nothing else. */
  #answer(make: () => Promise<Message>): void {
    this.#answering += 1;
    this.balance();
    this.#answers = this.#answers.then(async () => {
      try {
        await this.#reads();
        if (this.isReady) this.say(await make());
      } catch {
        this.close(closeCodes.goingAway, 'store', '5');
      } finally {
        this.#answering -= 1;
        this.balance();
      }
    });
  }

  /** Resolves when the peer has read most of what it was sent, or is gone. */
  async #reads(): Promise<void> {
    const most = unreadMaxOf(this.host.outboundBytesMax);
    while (this.isReady && this.socket.bufferedAmount > most) {
      await new Promise<void>((written) => {
        this.#written = written;
      });
    }
  }

  #send(frame: Bytes): void {
    const { outboundBytesMax, timing } = this.host;
    const sent = sendBounded(this.socket, frame, outboundBytesMax, () => this.#onWritten(), timing.after);
    if (sent === 'too slow') this.#end(sent);
  }

  #onWritten(): void {
    this.#written();
    this.#queue.resume();
  }

  #sink(): RelaySink {
    const { socket, host } = this;
    return {
      get waitingBytes() {
        return socket.bufferedAmount;
      },
      send: (frame) => this.#send(frame),
      onDropped: () => host.dropped(),
      onStalled: () => this.close(closeCodes.tooSlow, 'too slow'),
      repair: () => host.repair(this),
    };
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
    this.#written();
    this.#queue.close();
    for (const tag of [...this.#questions.keys()]) this.#settle(tag, undefined);
    this.host.gone(this, this.#why);
  }
}

/**
 * To a relay that was not told to know this one it is a member like any other. What a member may put in a minute is
 * never less than the batch that relay announced; more could end the link again and again. This and the pace of members
 * are the brakes on handing on: the one upstream has (event-graph.md 4.4) slows every event by how many there were, also on links that
 * have room, and what it is against, events that go in circles, ends here at whoever knows them.
 */
function paceOf({ batchEventsMax, batchBytesMax }: PeerLimits): Pace {
  return new Allowance(batchEventsMax, batchBytesMax, limits.floodWindowMs);
}
