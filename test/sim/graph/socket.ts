import type { Bytes } from '../../../src/core/ids';
import type { DialledSocket } from '../../../src/relay/socket';
import type { EndOwner, Link, Side } from '../network';
import type { Life, World } from '../world';

interface Listeners {
  message(data: Buffer, isBinary: boolean): void;
  error(error: Error & { readonly code?: string }): void;
  close(code: number, reason: string): void;
  open(): void;
}

const states = { connecting: 0, open: 1, closing: 2, closed: 3 } as const;
const abnormal = 1_006;

/** One end of a false link, as the WebSocket that a relay's peer holds. */
export class FalseSocket implements DialledSocket {
  readonly OPEN = states.open;
  readonly CLOSED = states.closed;
  readyState: number = states.connecting;
  isPaused = false;
  readonly #held: Bytes[] = [];
  readonly #unwritten: (() => void)[] = [];
  #message: Listeners['message'] = () => undefined;
  #opened: Listeners['open'] = () => undefined;
  readonly #closed: Listeners['close'][] = [];
  #link: Link | undefined;

  constructor(
    private readonly world: World,
    private readonly life: Life,
    private readonly side: Side,
  ) {}

  /** Its link, known as soon as somebody dials or is dialled. */
  over(link: Link): this {
    this.#link = link;
    return this;
  }

  get bufferedAmount(): number {
    const end = this.#link?.[this.side];
    return end === undefined ? 0 : (this.#link?.other(end)?.waitingBytes ?? 0);
  }

  on<E extends keyof Listeners>(event: E, listener: Listeners[E]): void {
    if (event === 'message') this.#message = listener as Listeners['message'];
    if (event === 'open') this.#opened = listener as Listeners['open'];
    if (event === 'close') this.#closed.push(listener as Listeners['close']);
  }

  once<E extends 'open' | 'close'>(event: E, listener: Listeners[E]): void {
    this.on(event, listener);
  }

  send(bytes: Uint8Array, _options: unknown, written: () => void): void {
    if (this.readyState !== this.OPEN) return;
    this.#unwritten.push(written);
    this.#link?.send(this.side, new Uint8Array(bytes));
  }

  close(code: number): void {
    if (this.readyState >= states.closing) return;
    this.readyState = states.closing;
    this.#link?.close(this.side, code);
    // The other side answers a close, or the socket is cut by whoever asked for it.
    if (this.#link?.silent === true) return;
    this.world.park(this.life, 'has closed', this.world.delay(60, 1_500), () => this.#end(code));
  }

  terminate(): void {
    if (this.readyState < states.closing) this.#link?.close(this.side, abnormal);
    this.#end(abnormal);
  }

  pause(): void {
    if (!this.isPaused) this.world.count('socket-paused');
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    for (let bytes = this.#held.shift(); bytes !== undefined; bytes = this.#held.shift()) {
      this.#hear(bytes);
      if (this.isPaused) return;
    }
  }

  /** What the link tells this end. */
  readonly owner: EndOwner = {
    opened: () => {
      if (this.readyState !== states.connecting) return;
      this.readyState = states.open;
      this.#opened();
    },
    frame: (bytes) => {
      if (this.isPaused) this.#held.push(bytes);
      else this.#hear(bytes);
    },
    drained: () => this.#unwritten.shift()?.(),
    closed: (code) => this.#end(code),
  };

  #hear(bytes: Bytes): void {
    if (this.readyState === this.OPEN) this.#message(Buffer.from(bytes), true);
  }

  #end(code: number): void {
    if (this.readyState === this.CLOSED) return;
    this.readyState = this.CLOSED;
    for (const listener of this.#closed.splice(0)) listener(code, '');
  }
}
