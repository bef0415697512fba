import { reconnectMs } from '../core/backoff';
import { DecodeError } from '../core/errors';
import type { Bytes, EventId } from '../core/ids';
import { limits } from '../core/limits';
import { Allowance } from '../core/link/allowance';
import { type EventBody, frameOf, type Message, type Question } from '../core/link/messages';
import { receive } from '../core/link/receive';
import {
  ask,
  closeCodes,
  nextDeadline,
  openSession,
  type Session,
  type SessionConfig,
  type SessionEvent,
  type SessionStep,
  sendPing,
  tick,
} from '../core/link/session';
import { commands } from '../core/wire/commands';
import { decodeEventPutStatus, type PutResult } from '../core/wire/event-put';
import { decodeFrame } from '../core/wire/frame';
import { ourLimits, type PeerLimits } from '../core/wire/version';
import type { LinkEvent, Ports } from './ports';

/** What a relay seems to be at the moment, for the screen. */
export type RelayState =
  | 'connecting'
  | 'handshake'
  | 'answering'
  | 'not-now'
  | 'other-network'
  | 'garbage'
  | 'web-page'
  | 'refused'
  | 'bad-address';

/** What a relay peer tells the engine. */
export interface PeerOwner {
  /** The handshake is done on this link. */
  onReady(peer: RelayPeer, event: SessionEvent & { readonly type: 'ready' }): void;
  /** Questions, events and answers of a ready session. */
  onMessage(peer: RelayPeer, event: SessionEvent): void;
  /** A status, from whichever link it came (formats.md 3.4). */
  onStatus(peer: RelayPeer, id: EventId, result: PutResult): void;
  /** A link that was ready is dead. */
  onLinkDied(peer: RelayPeer): void;
  /** Whether a link to this node stands. */
  isReached(node: string): boolean;
  /** Something the screen shows has changed. */
  onChange(): void;
}

/** An answer to a question, or `undefined` when the session refused it or ended first. */
export type Answer = Extract<SessionEvent, { readonly type: 'tips' | 'headers' | 'events' }> | undefined;

/** Failures in a row, after which a relay is not waited for: some ten seconds. */
const failuresHopeless = 4;

const noRelay: ReadonlySet<RelayState> = new Set(['other-network', 'garbage', 'web-page', 'bad-address']);

/** A going-away relay comes back: not asked sooner. */
const goingAwayMs = 5_000;

/** A link that said nothing for this long may be dead. */
const silentMs = 5_000;

/**
 * One relay: opens its link, keeps its session, comes back after failures with growing pauses. What it knows is
 * transport only; nothing of it says that a message was accepted.
 */
export class RelayPeer {
  #link = 0;
  #sequence = 0;
  #session: Session | undefined;
  #failures = 0;
  /** Sessions in a row that ended for what one side did and would do again: begun again ever more rarely. */
  #faults = 0;
  /** The node that ended our link for another one of ours to it: this is one more address of the same relay. */
  #double: string | undefined;
  #stopped = false;
  readonly #asked = new Map<string, (answer: Answer) => void>();
  /** What may still be put on this link. */
  #allowance = allowanceOf(ourLimits);
  #tags = 0;
  state: RelayState = 'connecting';
  nextTryAt: number | undefined;
  lastEventAt: number | undefined;
  clockOffset: number | undefined;
  latencyMs: number | undefined;
  #pingedAt: number | undefined;

  constructor(
    private readonly ports: Ports,
    readonly url: string,
    private readonly config: Omit<SessionConfig, 'address' | 'nonce'>,
    private readonly owner: PeerOwner,
    private readonly nextLink: () => number,
  ) {}

  /** A session that has shaken hands. */
  get ready(): boolean {
    return this.#session?.phase === 'ready';
  }

  /**
   * Ready, or likely to be soon: worth waiting for before an event is made. What answers as something else, or has
   * failed several times in a row, must not hold up the lane of those who have another relay.
   */
  get isHopeful(): boolean {
    const hopeful = this.#double === undefined && this.#failures < failuresHopeless;
    return this.ready || (hopeful && !noRelay.has(this.state));
  }

  /** What the peer announced and speaks; `undefined` until ready. */
  get session(): Session | undefined {
    return this.#session;
  }

  /** How many events it may be put now, and when there is room for more: over its allowance it would end the link. */
  get room(): { readonly events: number; readonly freeAt: number } {
    const now = this.ports.clock.now();
    return { events: this.#allowance.eventsLeft(now), freeAt: this.#allowance.freeAt(now) };
  }

  /** What it takes at once, and now. */
  get bounds(): PeerLimits {
    const announced = this.#session?.limits ?? ourLimits;
    return { ...announced, batchEventsMax: Math.min(announced.batchEventsMax, this.room.events) };
  }

  /** Opens a link now. */
  connect(): void {
    if (this.#stopped) return;
    this.ports.clock.clear(this.#timer);
    if (this.#double !== undefined && this.owner.isReached(this.#double))
      return this.#wait(limits.reconnectMaxMs);
    this.#double = undefined;
    this.#link = this.nextLink();
    this.#session = undefined;
    this.nextTryAt = undefined;
    if (this.state === 'not-now') this.state = 'connecting';
    this.ports.links.open(this.url, this.#link);
    this.ports.clock.set(this.#timer, this.ports.clock.now() + limits.connectMs, () => this.#giveUp());
    this.owner.onChange();
  }

  /** Ends it for good. */
  stop(code: number = closeCodes.goingAway): void {
    this.#stopped = true;
    this.ports.clock.clear(this.#timer);
    this.ports.links.close(this.url, this.#link, code, '');
    this.#endSession();
  }

  /** It broke the rules too often: the link ends, and the next try comes after the longest pause. */
  drop(): void {
    if (this.#session === undefined) return;
    this.ports.links.close(this.url, this.#link, closeCodes.flood, '');
    this.state = 'not-now';
    this.#lost(limits.reconnectMaxMs);
  }

  /** Our clock was moved: what this link measured of it says nothing any more, and a new handshake measures again. */
  greetAgain(): void {
    if (this.#session === undefined) return;
    this.ports.links.close(this.url, this.#link, closeCodes.goingAway, '');
    this.state = 'not-now';
    const failures = this.#failures;
    this.#lost(0);
    this.#failures = failures;
  }

  /**
   * The carrier changed or the network came back: try at once, without waiting out the pause. A link that stands may
   * only look alive, so a silent one is asked for a sign of life.
   */
  retryNow(): void {
    if (this.#stopped) return;
    const session = this.#session;
    const now = this.ports.clock.now();
    if (session === undefined) {
      if (this.nextTryAt !== undefined) this.connect();
    } else if (this.ready && session.ping === undefined && now - (this.lastEventAt ?? 0) > silentMs) {
      this.#apply(sendPing(session, now));
    }
  }

  /** Says something on a ready session; what cannot be said is dropped, for everything said is said again in time. */
  say(message: Message): boolean {
    const session = this.#session;
    if (session?.phase !== 'ready') return false;
    if (message.say === 'status' && session.limits?.status !== true) return false;
    this.#send(frameOf(session.config.profile, message));
    return true;
  }

  /** Puts an event. */
  put(body: EventBody): void {
    if (!this.say({ say: 'put', ...body })) return;
    this.#allowance.spend(this.ports.clock.now(), body.event.length + body.blob.length);
  }

  /** Asks, and waits for the answer, the refusal or the end of the session. */
  ask(question: (tag: string) => Question): Promise<Answer> {
    const session = this.#session;
    if (session === undefined) return Promise.resolve(undefined);
    this.#tags += 1;
    const tag = `${this.#link}.${this.#tags}`;
    return new Promise((resolve) => {
      this.#asked.set(tag, resolve);
      this.#apply(ask(session, question(tag), this.ports.clock.now()));
    });
  }

  /** An event of this relay's links. */
  onLink(event: LinkEvent): void {
    if (this.#stopped) return;
    if (event.link !== this.#link) return this.#onOlderLink(event);
    switch (event.type) {
      case 'opened':
        return this.#onOpened();
      case 'frame':
        return this.#onFrame(event.bytes);
      case 'written':
        return;
      case 'closed':
        return this.#onClosed(event);
    }
  }

  /** Nothing of an older link counts but a status: what a relay said stays said. */
  #onOlderLink(event: LinkEvent): void {
    if (event.type !== 'frame') return;
    const profile = this.config.profile;
    try {
      const frame = decodeFrame(profile.magic, event.bytes);
      if (frame.command !== commands.eventPutStatus) return;
      const { id, result } = decodeEventPutStatus(frame.payload);
      this.owner.onStatus(this, id, result);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
    }
  }

  #onOpened(): void {
    this.state = 'handshake';
    const [high = 0, low = 0] = this.ports.random.bytes(2);
    const config = { ...this.config, address: this.url, nonce: high * 256 + low };
    this.#apply(openSession(config, this.ports.clock.now()));
    this.owner.onChange();
  }

  #onFrame(bytes: Bytes): void {
    const session = this.#session;
    if (session === undefined) return;
    this.lastEventAt = this.ports.clock.now();
    this.#apply(receive(session, bytes, this.ports.clock.now()));
  }

  #apply(step: SessionStep): void {
    this.#session = step.session;
    for (const frame of step.out) this.#send(frame);
    this.#measure(step.session);
    for (const event of step.events) this.#onEvent(event);
    this.#setTimer();
  }

  /** Round trip of a ping, for people to see. */
  #measure(session: Session): void {
    const now = this.ports.clock.now();
    if (session.ping !== undefined) this.#pingedAt ??= now;
    else if (this.#pingedAt !== undefined) {
      this.latencyMs = now - this.#pingedAt;
      this.#pingedAt = undefined;
    }
  }

  #onEvent(event: SessionEvent): void {
    switch (event.type) {
      case 'ready':
        this.#failures = 0;
        this.#allowance = allowanceOf(event.limits);
        this.state = 'answering';
        this.clockOffset = event.clockOffset;
        this.owner.onReady(this, event);
        return this.owner.onChange();
      case 'status':
        return this.owner.onStatus(this, event.id, event.result);
      case 'tips':
      case 'headers':
      case 'events':
        return this.#settle(event.tag, event);
      case 'refused':
        return this.#settle(event.tag, undefined);
      case 'closed':
        return this.#onSessionClosed(event);
      case 'dropped':
        return this.ports.observer.note('dropped', { what: event.what });
      default:
        return this.owner.onMessage(this, event);
    }
  }

  #settle(tag: string, answer: Answer): void {
    const resolve = this.#asked.get(tag);
    this.#asked.delete(tag);
    resolve?.(answer);
  }

  #onSessionClosed(event: SessionEvent & { readonly type: 'closed' }): void {
    this.ports.links.close(this.url, this.#link, event.code, event.reason);
    if (event.reason === 'other network' || event.reason === 'incompatible') this.state = 'other-network';
    else if (event.reason === 'bad frame' || event.reason === 'too big') this.state = 'garbage';
    else this.state = 'not-now';
    this.#count(event.reason !== 'handshake late' && event.reason !== 'no pong');
    // Whoever floods is set aside.
    this.#lost(event.code === closeCodes.flood ? limits.reconnectMaxMs : 0);
  }

  #onClosed(event: LinkEvent & { readonly type: 'closed' }): void {
    if (event.seen !== undefined && event.seen !== 'unreachable') this.state = event.seen;
    else if (event.code === closeCodes.incompatible) this.state = 'other-network';
    else if (event.code === closeCodes.flood || event.code === closeCodes.badFrame) this.state = 'refused';
    else this.state = 'not-now';
    this.#count(this.state === 'refused');
    if (event.code === closeCodes.replaced) this.#double = this.#session?.version?.nodeId || undefined;
    this.#lost(event.code === closeCodes.goingAway ? goingAwayMs : 0);
  }

  #count(fault: boolean): void {
    this.#faults = fault ? this.#faults + 1 : 0;
  }

  #giveUp(): void {
    this.ports.links.close(this.url, this.#link, closeCodes.tooSlow, 'no connection');
    this.state = 'not-now';
    this.#lost(0);
  }

  #lost(atLeastMs: number): void {
    this.#link = this.nextLink();
    const was = this.#session?.phase !== undefined && this.clockOffset !== undefined;
    this.#endSession();
    this.#failures += 1;
    const [byte = 0] = this.ports.random.bytes(1);
    // Whoever is sent away at once must not come back at once.
    const spread = Math.round(atLeastMs * (1 + byte / 256));
    const pause = Math.max(spread, reconnectMs(this.#failures + this.#faults, byte / 256));
    this.#wait(pause);
    if (was) this.owner.onLinkDied(this);
    this.owner.onChange();
  }

  #wait(ms: number): void {
    this.nextTryAt = this.ports.clock.now() + ms;
    this.ports.clock.set(this.#timer, this.nextTryAt, () => this.connect());
  }

  #endSession(): void {
    this.#session = undefined;
    this.clockOffset = undefined;
    this.#pingedAt = undefined;
    for (const resolve of this.#asked.values()) resolve(undefined);
    this.#asked.clear();
  }

  #send(bytes: Bytes): void {
    this.#sequence += 1;
    this.ports.links.send(this.url, this.#link, this.#sequence, bytes);
  }

  get #timer(): string {
    return `relay ${this.url}`;
  }

  #setTimer(): void {
    const session = this.#session;
    if (session === undefined || session.phase === 'closed') return;
    const at = nextDeadline(session);
    this.ports.clock.set(this.#timer, at, () => {
      if (this.#session !== undefined) this.#apply(tick(this.#session, this.ports.clock.now()));
    });
  }
}

/**
 * What an app puts in a minute so as never to be a flood, however much is queued: a little less than a connection is
 * allowed (formats.md 1.5). A relay that allows less announces smaller batches in proportion.
 */
function allowanceOf({ batchEventsMax }: PeerLimits): Allowance {
  const share = limits.pacedShare * Math.min(1, batchEventsMax / ourLimits.batchEventsMax);
  return new Allowance(
    Math.max(limits.pacedEventsMin, Math.floor(share * limits.floodEventsMax)),
    limits.pacedShare * limits.connectionBytesPerMinuteMax,
    limits.floodWindowMs + limits.pacedMarginMs,
  );
}
