import type { Bytes } from '../../src/core/ids';
import { frameOf, type Message, type Question } from '../../src/core/link/messages';
import { receive } from '../../src/core/link/receive';
import {
  ask,
  nextDeadline,
  openSession,
  type Session,
  type SessionEvent,
  type SessionStep,
  tick,
} from '../../src/core/link/session';
import { featuresOf, type PeerLimits } from '../../src/core/wire/version';
import type { Answer, Asked, Untagged } from '../../src/relay/asked';
import { profile, urlOf } from './names';
import type { Link, Side } from './network';
import { Life, type World } from './world';

/** Whose end of a link a session is. */
export interface SessionHost {
  readonly world: World;
  readonly name: string;
  readonly nodeId: string;
  clock(): number;
}

/** What a session tells besides the answers to its own questions. */
export type Told = Exclude<SessionEvent, { readonly type: 'tips' | 'headers' | 'events' | 'refused' }>;

/** The house's link session at one end of a false link, with its deadlines in the time of the world. */
export abstract class FalseSession implements Asked {
  #session: Session;
  #timer: Life | undefined;
  #tags = 0;
  readonly #asked = new Map<string, (answer: Answer | undefined) => void>();

  constructor(
    private readonly of: SessionHost,
    readonly link: Link,
    readonly side: Side,
    protected readonly life: Life,
    nonce: number,
  ) {
    const { nodeId, name } = of;
    const config = { profile, nodeId, address: urlOf(name), features: featuresOf(), nonce };
    const step = openSession(config, of.clock());
    this.#session = step.session;
    this.#apply(step);
  }

  get isReady(): boolean {
    return this.#session.phase === 'ready';
  }

  get limits(): PeerLimits | undefined {
    return this.#session.limits;
  }

  take(bytes: Bytes): void {
    this.#apply(receive(this.#session, bytes, this.of.clock()));
  }

  say(message: Message): void {
    if (this.isReady) this.link.send(this.side, frameOf(profile, message));
  }

  ask(question: Untagged): Promise<Answer | undefined> {
    this.#tags += 1;
    const tag = String(this.#tags);
    return new Promise((resolve) => {
      this.#asked.set(tag, resolve);
      this.#apply(ask(this.#session, { ...question, tag } as Question, this.of.clock()));
    });
  }

  /** Nothing is said on it any more, and nothing that was asked is answered. */
  end(): void {
    this.#session = { ...this.#session, phase: 'closed' };
    this.#timer?.end();
    for (const resolve of this.#asked.values()) resolve(undefined);
    this.#asked.clear();
  }

  /** Something came that is no answer. */
  protected abstract told(event: Told): void;

  #apply(step: SessionStep): void {
    this.#session = step.session;
    for (const frame of step.out) this.link.send(this.side, frame);
    for (const event of step.events) this.#on(event);
    this.#timer?.end();
    const at = nextDeadline(this.#session);
    if (!Number.isFinite(at)) return;
    this.#timer = new Life(this.of.name, this.life);
    const ticks = (): void => this.#apply(tick(this.#session, this.of.clock()));
    this.of.world.park(this.#timer, 'ticks', at - this.of.clock(), ticks, 1);
  }

  #on(event: SessionEvent): void {
    switch (event.type) {
      case 'tips':
      case 'headers':
      case 'events':
        return this.#settle(event.tag, event);
      case 'refused':
        return this.#settle(event.tag, undefined);
      default:
        return this.told(event);
    }
  }

  #settle(tag: string, answer: Answer | undefined): void {
    this.#asked.get(tag)?.(answer);
    this.#asked.delete(tag);
  }
}
