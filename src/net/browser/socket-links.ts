import type { Bytes } from '../../core/ids';
import { limits } from '../../core/limits';
import { closeCodes, subprotocol } from '../../core/link/session';
import type { LinkEvent, Links } from '../../engine/ports';

interface Socket {
  readonly link: number;
  readonly socket: WebSocket;
  opened: boolean;
}

type Seen = Extract<LinkEvent, { readonly type: 'closed' }>['seen'];

/**
 * Links over this realm's own WebSockets: a page's when it is the carrier, the engine's when no page can carry. One
 * socket a relay; opening a newer link closes the older one's.
 */
export class SocketLinks implements Links {
  readonly #sockets = new Map<string, Socket>();
  #listener: (event: LinkEvent) => void = () => undefined;

  listen(listener: (event: LinkEvent) => void): void {
    this.#listener = listener;
  }

  open(relay: string, link: number): void {
    this.#discard(relay, closeCodes.replaced, '');
    let socket: WebSocket;
    try {
      socket = new WebSocket(relay, subprotocol);
    } catch {
      // A URL this browser does not take, or a scheme its page may not dial.
      this.#listener({ type: 'closed', relay, link, code: 1006, seen: 'bad-address' });
      return;
    }
    socket.binaryType = 'arraybuffer';
    const entry: Socket = { link, socket, opened: false };
    this.#sockets.set(relay, entry);
    socket.onopen = () => {
      if (socket.protocol !== subprotocol) return this.#end(relay, entry, closeCodes.badFrame, 'garbage');
      entry.opened = true;
      this.#listener({ type: 'opened', relay, link });
    };
    socket.onmessage = ({ data }: MessageEvent<unknown>) => this.#onMessage(relay, entry, data);
    socket.onclose = ({ code }) => this.#onClose(relay, entry, code);
  }

  send(relay: string, link: number, sequence: number, bytes: Bytes): void {
    const entry = this.#sockets.get(relay);
    if (entry?.link !== link || entry.socket.readyState !== WebSocket.OPEN) return;
    if (entry.socket.bufferedAmount > limits.outboundBufferBytesMax) {
      return this.#end(relay, entry, closeCodes.tooSlow, undefined);
    }
    entry.socket.send(bytes);
    this.#listener({ type: 'written', relay, link, sequence });
  }

  close(relay: string, link: number, code: number, reason: string): void {
    if (this.#sockets.get(relay)?.link === link) this.#discard(relay, code, reason);
  }

  /** Closes every socket at once: the page is about to be frozen, or its engine is gone. */
  closeAll(code: number): void {
    for (const [relay, { link }] of [...this.#sockets]) {
      this.#discard(relay, code, '');
      this.#listener({ type: 'closed', relay, link, code });
    }
  }

  #onMessage(relay: string, entry: Socket, data: unknown): void {
    if (data instanceof ArrayBuffer) {
      this.#listener({ type: 'frame', relay, link: entry.link, bytes: new Uint8Array(data) });
      return;
    }
    // A relay speaks binary only. Text that looks like a page is told apart for the person who typed the address.
    const page = typeof data === 'string' && /^\s*</.test(data);
    this.#end(relay, entry, closeCodes.badFrame, page ? 'web-page' : 'garbage');
  }

  #onClose(relay: string, entry: Socket, code: number): void {
    if (this.#sockets.get(relay) !== entry) return;
    this.#sockets.delete(relay);
    const base = { type: 'closed', relay, link: entry.link, code } as const;
    this.#listener(entry.opened ? base : { ...base, seen: 'unreachable' });
  }

  #end(relay: string, entry: Socket, code: number, seen: Seen): void {
    if (this.#sockets.get(relay) !== entry) return;
    this.#discard(relay, code, '');
    const base = { type: 'closed', relay, link: entry.link, code } as const;
    this.#listener(seen === undefined ? base : { ...base, seen });
  }

  #discard(relay: string, code: number, reason: string): void {
    const entry = this.#sockets.get(relay);
    if (entry === undefined) return;
    this.#sockets.delete(relay);
    const { socket } = entry;
    socket.onopen = null;
    socket.onmessage = null;
    socket.onclose = null;
    // 1009 and the like are the protocol's own; a script may only send 1000 and 3000 to 4999.
    socket.close(code >= 3_000 && code <= 4_999 ? code : 1_000, reason);
  }
}
