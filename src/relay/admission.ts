import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { subprotocol } from '../core/link/session';
import { isLoopback, Proxies, sourceOf } from './address';
import type { LogWord } from './log';
import { type Source, type SourceBounds, Sources } from './sources';
import { Waiting } from './waiting';

/** Why a connection is not taken: what is answered, and what is logged. */
export interface Refusal {
  /** Status line of the answer, without the protocol. */
  readonly status: string;
  readonly why: LogWord;
  /** When to come again, s. */
  readonly retryAfter?: number;
}

/** What decides who may connect. */
export interface AdmissionBounds extends SourceBounds {
  /** Origins of pages that may connect; `*` admits every page. */
  readonly origins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly connectionsMax: number;
}

/**
 * Decides who may connect, and counts who does. Neither an address nor a cookie gives anyone more than others have: an
 * address only says together with whom a connection is counted.
 */
export class Admission {
  readonly #proxies: Proxies;
  readonly #sources: Sources;
  readonly #waiting: Waiting;
  #open = 0;

  constructor(
    private readonly bounds: AdmissionBounds,
    now: () => number,
  ) {
    this.#proxies = new Proxies(bounds.trustedProxies);
    this.#sources = new Sources(bounds, now);
    this.#waiting = new Waiting(bounds.connectionsMax, bounds.connectionsPerSourceMax);
  }

  /** A socket was accepted and has said nothing yet. */
  onSocket(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    this.#waiting.add(socket, this.#proxies.has(address) ? undefined : sourceOf(address));
  }

  /** What an upgrade is refused with; `undefined` when it may go on. */
  refusal(request: IncomingMessage): Refusal | undefined {
    this.#waiting.end(request.socket);
    const { origin } = request.headers;
    const { origins, connectionsMax } = this.bounds;
    // A program sends no Origin; a page always does, and cannot choose it.
    if (origin !== undefined && !origins.includes('*') && !origins.includes(origin)) {
      return { status: '403 Forbidden', why: 'origin' };
    }
    const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
    if (!protocols.includes(subprotocol)) return { status: '400 Bad Request', why: 'protocol' };
    const name = sourceOf(this.#addressOf(request));
    const bannedMs = this.#sources.bannedForMs(name);
    const tooMany = '429 Too Many Requests';
    if (bannedMs > 0) return { status: tooMany, why: 'banned', retryAfter: Math.ceil(bannedMs / 1_000) };
    if (this.#open >= connectionsMax) return { status: '503 Service Unavailable', why: 'room' };
    if (this.#sources.isFull(name)) return { status: tooMany, why: 'source' };
    return undefined;
  }

  /** Counts a connection until its socket closes. */
  enter(request: IncomingMessage, socket: Duplex): Source {
    const address = this.#addressOf(request);
    // Whoever shares this machine, or a proxy that names nobody, may be anyone: a ban would be of all of them.
    const exempt = isLoopback(address) || this.#proxies.has(address);
    const { source, closed } = this.#sources.open(sourceOf(address), exempt);
    this.#open += 1;
    socket.once('close', () => {
      this.#open -= 1;
      closed();
    });
    return source;
  }

  #addressOf(request: IncomingMessage): string {
    return this.#proxies.addressOf(request.socket.remoteAddress ?? '', request.headers['x-forwarded-for']);
  }
}
