import type { WebSocket } from 'ws';
import type { Bytes } from '../../core/ids';
import { limits } from '../../core/limits';
import type { LinkEvent, Links } from '../../engine/ports';
import { dial } from './dial';
import { closeSoon, sendBounded } from './outbound';

type Seen = NonNullable<(LinkEvent & { readonly type: 'closed' })['seen']>;

/** The code of a link that ended without one. */
const abnormal = 1006;

/** Links over WebSocket from a Node process: relay to relay, and peers of tests. */
export class NodeLinks implements Links {
  readonly #sockets = new Map<string, WebSocket>();
  #listener: (event: LinkEvent) => void = () => undefined;

  constructor(private readonly outboundBytesMax: number = limits.outboundBufferBytesMax) {}

  listen(listener: (event: LinkEvent) => void): void {
    this.#listener = listener;
  }

  open(relay: string, link: number): void {
    let socket: WebSocket;
    try {
      socket = dial(relay);
    } catch {
      queueMicrotask(() => this.#closed(relay, link, abnormal, 'bad-address'));
      return;
    }
    this.#sockets.set(nameOf(relay, link), socket);
    this.#attend(socket, relay, link);
  }

  send(relay: string, link: number, sequence: number, bytes: Bytes): void {
    const socket = this.#sockets.get(nameOf(relay, link));
    if (socket === undefined) return;
    sendBounded(socket, bytes, this.outboundBytesMax, () =>
      this.#listener({ type: 'written', relay, link, sequence }),
    );
  }

  close(relay: string, link: number, code: number, reason: string): void {
    const socket = this.#sockets.get(nameOf(relay, link));
    if (socket !== undefined) closeSoon(socket, code, reason);
  }

  #attend(socket: WebSocket, relay: string, link: number): void {
    let seen: Seen | undefined = 'unreachable';
    socket.on('open', () => {
      seen = undefined;
      this.#listener({ type: 'opened', relay, link });
    });
    socket.on('message', (data: Buffer, isBinary) => {
      // A text message is no frame; an empty one says so to the session, which ends for it.
      const bytes = new Uint8Array(isBinary ? data : []);
      this.#listener({ type: 'frame', relay, link, bytes });
    });
    socket.on('unexpected-response', (request, response) => {
      seen = 'web-page';
      response.resume();
      request.destroy();
    });
    socket.on('error', (error) => {
      if (seen === 'unreachable') seen = looksLikeGarbage(error) ? 'garbage' : 'unreachable';
    });
    socket.on('close', (code) => this.#closed(relay, link, code, seen));
  }

  #closed(relay: string, link: number, code: number, seen: Seen | undefined): void {
    this.#sockets.delete(nameOf(relay, link));
    this.#listener({ type: 'closed', relay, link, code, ...(seen === undefined ? {} : { seen }) });
  }
}

function nameOf(relay: string, link: number): string {
  return `${link} ${relay}`;
}

/** An answer that is no HTTP at all has a parser's code; one without our subprotocol has no code. */
function looksLikeGarbage(error: Error): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === undefined || (typeof code === 'string' && code.startsWith('HPE_'));
}
