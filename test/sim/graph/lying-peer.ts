import type { SessionEvent } from '../../../src/core/link/session';
import type { EndOwner, Link, Side } from '../network';
import { FalseSession, type SessionHost, type Told } from '../session';
import type { Life } from '../world';

/** The liar a session is of. */
interface LyingHost extends SessionHost {
  onReady(peer: LyingPeer): void;
  left(peer: LyingPeer): void;
  answer(peer: LyingPeer, event: SessionEvent): Promise<void>;
}

/** One session of a liar. It keeps to the frames and breaks what they mean. */
export class LyingPeer extends FalseSession {
  #answers: Promise<void> = Promise.resolve();

  constructor(
    private readonly host: LyingHost,
    link: Link,
    side: Side,
    life: Life,
  ) {
    super(host, link, side, life, 7);
  }

  readonly owner: Omit<EndOwner, 'opened'> = {
    frame: (bytes) => this.take(bytes),
    closed: () => this.end(),
  };

  override end(): void {
    super.end();
    this.host.left(this);
  }

  protected override told(event: Told): void {
    if (event.type === 'closed') {
      this.link.close(this.side, event.code);
      this.end();
    } else if (event.type === 'ready') this.host.onReady(this);
    else this.#answers = this.#answers.then(() => this.host.answer(this, event));
  }
}
