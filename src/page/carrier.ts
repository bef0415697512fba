import { SocketLinks } from '../net/browser/socket-links';
import type { FromTab, ToTab } from '../worker/contract';

/** What a carrier needs of its page. */
export interface CarrierParts {
  readonly port: MessagePort;
  /** A port to the service worker for the engine. */
  lane(): Promise<MessagePort>;
  /** Has the service worker take control of what loaded without it. */
  claim(): void;
  onStatus(message: ToTab & { readonly type: 'status' }): void;
}

/**
 * This tab's side of its port to the engine: it carries the WebSockets when it is asked to (CD-08) and decides
 * nothing. It refuses an engine of an older term than the newest it knows.
 */
export class Carrier {
  readonly #links = new SocketLinks();
  #term = 0;
  #ended = false;

  constructor(private readonly parts: CarrierParts) {
    this.#links.listen((event) => this.#say({ type: 'link', event }));
    parts.port.onmessage = ({ data }: MessageEvent<ToTab>) => this.#onMessage(data);
  }

  /** Tells the engine whether this tab is seen. */
  visible(visible: boolean): void {
    this.#say({ type: 'visible', visible });
  }

  /**
   * The page is about to be frozen or put aside, or its engine is gone. Sockets are closed by us: left open they
   * would look alive to relays and be dead (measured: platform.md 4).
   */
  end(): void {
    if (this.#ended) return;
    this.#links.closeAll(1_000);
    this.#say({ type: 'bye' });
    this.#ended = true;
    this.parts.port.close();
  }

  #onMessage(message: ToTab): void {
    if (this.#ended) return;
    if ('term' in message) {
      if (message.term < this.#term) return;
      this.#term = message.term;
    }
    switch (message.type) {
      case 'open':
        return this.#links.open(message.relay, message.link);
      case 'send':
        return this.#links.send(message.relay, message.link, message.sequence, message.bytes);
      case 'close':
        return this.#links.close(message.relay, message.link, message.code, message.reason);
      case 'release':
        return this.#links.closeAll(1_000);
      case 'heartbeat':
        return this.#say({ type: 'heartbeat', beat: message.beat });
      case 'lane':
        return void this.#bringLane();
      case 'claim':
        return this.parts.claim();
      case 'status':
        return this.parts.onStatus(message);
    }
  }

  async #bringLane(): Promise<void> {
    const lane = await this.parts.lane();
    if (!this.#ended) this.parts.port.postMessage({ type: 'lane' } satisfies FromTab, [lane]);
  }

  #say(message: FromTab): void {
    if (!this.#ended) this.parts.port.postMessage(message);
  }
}
