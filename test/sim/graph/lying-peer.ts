import type { Bytes } from '../../../src/core/ids';
import { frameOf, type Message, type Question } from '../../../src/core/link/messages';
import { receive } from '../../../src/core/link/receive';
import {
  ask,
  nextDeadline,
  openSession,
  type Session,
  type SessionEvent,
  type SessionStep,
  tick,
} from '../../../src/core/link/session';
import { featuresOf, type PeerLimits } from '../../../src/core/wire/version';
import type { Answer, Asked, Untagged } from '../../../src/relay/asked';
import { profile, urlOf } from '../names';
import type { EndOwner, Link, Side } from '../network';
import { Life, type World } from '../world';

/** The liar a session is of. */
interface LyingHost {
  readonly world: World;
  readonly name: string;
  readonly nodeId: string;
  clock(): number;
  onReady(peer: LyingPeer): void;
  left(peer: LyingPeer): void;
  answer(peer: LyingPeer, event: SessionEvent): Promise<void>;
}

/** One session of a liar. It keeps to the frames and breaks what they mean. */
export class LyingPeer implements Asked {
  #session: Session;
  #timer: Life | undefined;
  #tags = 0;
  readonly #asked = new Map<string, (answer: Answer | undefined) => void>();
  #answers: Promise<void> = Promise.resolve();

  constructor(
    private readonly host: LyingHost,
    readonly link: Link,
    private readonly side: Side,
    private readonly life: Life,
  ) {
    const config = {
      profile,
      nodeId: host.nodeId,
      address: urlOf(host.name),
      features: featuresOf(),
      nonce: 7,
    };
    const step = openSession(config, host.clock());
    this.#session = step.session;
    this.#apply(step);
  }

  get isReady(): boolean {
    return this.#session.phase === 'ready';
  }

  get limits(): PeerLimits | undefined {
    return this.#session.limits;
  }

  readonly owner: Omit<EndOwner, 'opened'> = {
    frame: (bytes: Bytes) => this.#apply(receive(this.#session, bytes, this.host.clock())),
    closed: () => this.end(),
  };

  say(message: Message): void {
    if (this.isReady) this.link.send(this.side, frameOf(profile, message));
  }

  ask(question: Untagged): Promise<Answer | undefined> {
    this.#tags += 1;
    const tag = String(this.#tags);
    return new Promise((resolve) => {
      this.#asked.set(tag, resolve);
      this.#apply(ask(this.#session, { ...question, tag } as Question, this.host.clock()));
    });
  }

  end(): void {
    this.#session = { ...this.#session, phase: 'closed' };
    this.#timer?.end();
    for (const resolve of this.#asked.values()) resolve(undefined);
    this.#asked.clear();
    this.host.left(this);
  }

  #apply(step: SessionStep): void {
    this.#session = step.session;
    for (const frame of step.out) this.link.send(this.side, frame);
    for (const event of step.events) this.#on(event);
    this.#timer?.end();
    const at = nextDeadline(this.#session);
    if (!Number.isFinite(at)) return;
    this.#timer = new Life(this.host.name, this.life);
    const ticks = (): void => this.#apply(tick(this.#session, this.host.clock()));
    this.host.world.park(this.#timer, 'ticks', at - this.host.clock(), ticks, 1);
  }

  #on(event: SessionEvent): void {
    switch (event.type) {
      case 'tips':
      case 'headers':
      case 'events':
        return this.#settle(event.tag, event);
      case 'refused':
        return this.#settle(event.tag, undefined);
      case 'closed':
        this.link.close(this.side, event.code);
        return this.end();
      case 'ready':
        return this.host.onReady(this);
      default:
        this.#answers = this.#answers.then(() => this.host.answer(this, event));
    }
  }

  #settle(tag: string, answer: Answer | undefined): void {
    this.#asked.get(tag)?.(answer);
    this.#asked.delete(tag);
  }
}
