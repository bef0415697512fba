import type { Bytes } from '../../../src/core/ids';
import type { PeerSocket } from '../../../src/relay/socket';
import type { EndOwner, Link, Side } from '../network';
import type { Life, World } from '../world';

interface Listeners {
  message(data: Buffer, isBinary: boolean): void;
  error(): void;
  close(): void;
}

const closing = 2;

/** One end of a false link, as the WebSocket that a relay's peer holds. */
export class FalseSocket implements PeerSocket {
  readonly OPEN = 1;
  readonly CLOSED = 3;
  readyState = 1;
  isPaused = false;
  readonly #held: Bytes[] = [];
  #message: Listeners['message'] = () => undefined;
  readonly #closed: (() => void)[] = [];

  constructor(
    private readonly world: World,
    private readonly life: Life,
    private readonly link: Link,
    private readonly side: Side,
  ) {}

  get bufferedAmount(): number {
    const end = this.link[this.side];
    return end === undefined ? 0 : (this.link.other(end)?.waitingBytes ?? 0);
  }

  on<E extends keyof Listeners>(event: E, listener: Listeners[E]): void {
    if (event === 'message') this.#message = listener;
    if (event === 'close') this.#closed.push(listener as () => void);
  }

  once(_event: 'close', listener: () => void): void {
    this.#closed.push(listener);
  }

  send(bytes: Uint8Array, _options: unknown, _written: () => void): void {
    if (this.readyState === this.OPEN) this.link.send(this.side, new Uint8Array(bytes));
  }

  close(code: number): void {
    if (this.readyState >= closing) return;
    this.readyState = closing;
    this.link.close(this.side, code);
    // The other side answers a close, or the socket is cut by whoever asked for it.
    if (!this.link.silent)
      this.world.park(this.life, 'has closed', this.world.delay(60, 1_500), () => this.#end());
  }

  terminate(): void {
    if (this.readyState < closing) this.link.close(this.side, 1_006);
    this.#end();
  }

  pause(): void {
    if (!this.isPaused) this.world.count('socket-paused');
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    for (let bytes = this.#held.shift(); bytes !== undefined && !this.isPaused; bytes = this.#held.shift()) {
      this.#hear(bytes);
    }
  }

  /** What the link tells this end. */
  readonly owner: Omit<EndOwner, 'opened'> = {
    frame: (bytes) => {
      if (this.isPaused) this.#held.push(bytes);
      else this.#hear(bytes);
    },
    closed: () => this.#end(),
  };

  #hear(bytes: Bytes): void {
    if (this.readyState === this.OPEN) this.#message(Buffer.from(bytes), true);
  }

  #end(): void {
    if (this.readyState === this.CLOSED) return;
    this.readyState = this.CLOSED;
    for (const listener of this.#closed.splice(0)) listener();
  }
}
