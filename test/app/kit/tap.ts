import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { commands } from '../../../src/core/wire/commands';
import { readContent } from '../../../src/core/wire/content';
import { eventId } from '../../../src/core/wire/event';
import { decodeEventPut } from '../../../src/core/wire/event-put';
import { decodeFrame } from '../../../src/core/wire/frame';
import { holdfast } from '../../../src/core/wire/profile';
import { Lane, type Toward } from './lane';
import { until } from './until';

/** One WebSocket message that passed, or was stopped, between page and relay. */
export interface TapFrame {
  /** Number of the connection it came on, from 1. */
  link: number;
  toward: Toward;
  /** Name of its command; undefined when it is no frame of our network. */
  command: string | undefined;
  /** Of an EventPut. */
  eventId?: string;
  /** Of an EventPut that carries a channel message of ours. */
  logicalId?: string;
  bytes: Uint8Array;
  /** Date.now() when it arrived at the tap. */
  at: number;
}

/** A direction that stands still from a frame on, as when a cable is pulled just before it. */
export interface Hold {
  /** Resolves with the frame that was stopped: the proof that the fault took effect. */
  caught: Promise<TapFrame>;
  /** Lets it and everything behind it go. */
  release(): void;
}

interface Link {
  number: number;
  page: WebSocket;
  relay: WebSocket;
  lanes: Record<Toward, Lane>;
}

const codesThatMayBeSent = (code: number) => code === 1000 || (code >= 3000 && code <= 4999) || code === 1009;

/**
 * A WebSocket proxy between page and relay: it counts what passes, and it is the network's faults. Because it stands
 * outside the browser its cuts hit every realm's sockets alike.
 */
export class Tap {
  readonly frames: TapFrame[] = [];
  /** Connections that were turned away while the tap was cut. */
  refused = 0;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    handleProtocols: first,
  });
  readonly #upstream: string;
  readonly #links = new Map<number, Link>();
  readonly #holds = new Set<{
    toward: Toward;
    match: (frame: TapFrame) => boolean;
    settle: (frame: TapFrame) => void;
  }>();
  readonly #held = new Map<object, Lane>();
  #mode: 'open' | 'cut' | 'silent' = 'open';
  #delayMs = 0;
  #last = 0;

  private constructor(server: Server, upstream: string) {
    this.#server = server;
    this.#upstream = upstream;
    server.on('upgrade', (request, socket, head) => this.#connect(request, socket, head));
  }

  /** Listens on a free port of loopback and passes on to `upstream`, a `ws:` address. */
  static open(upstream: string): Promise<Tap> {
    const server = createServer((_request, response) => response.writeHead(426).end());
    return new Promise((settle, fail) => {
      server.once('error', fail);
      server.listen(0, '127.0.0.1', () => settle(new Tap(server, upstream)));
    });
  }

  /** The address to give to the app in place of the relay's. */
  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections that stand now. */
  get links(): number {
    return this.#links.size;
  }

  /** How often each logical id was sent towards the relay in an EventPut, whatever the event it stood in. */
  puts(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { toward, logicalId } of this.frames) {
      if (toward === 'relay' && logicalId) counts.set(logicalId, (counts.get(logicalId) ?? 0) + 1);
    }
    return counts;
  }

  /** The first frame, seen already or to come, that matches. */
  frame(what: string, match: (frame: TapFrame) => boolean): Promise<TapFrame> {
    return until(what, () => this.frames.find(match));
  }

  /** Cuts the network: every connection ends at once, new ones are turned away. Resolves when none is left. */
  async cut(): Promise<void> {
    this.#mode = 'cut';
    await this.#endLinks();
  }

  /** Loses everything in both directions while connections seem to stand, as a network does that died quietly. */
  silence(): void {
    this.#mode = 'silent';
  }

  /** Ends cut or silence. Connections that lost frames to the silence are ended: their streams have a hole. */
  async restore(): Promise<void> {
    if (this.#mode === 'silent') await this.#endLinks();
    this.#mode = 'open';
  }

  /** Every frame from now on arrives this much later, in order; 0 ends it. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Stops one direction at the next frame that matches, until it is released. */
  hold(toward: Toward, match: (frame: TapFrame) => boolean): Hold {
    let settle: (frame: TapFrame) => void = () => undefined;
    const caught = new Promise<TapFrame>((done) => {
      settle = done;
    });
    const hold = { toward, match, settle };
    this.#holds.add(hold);
    const release = () => {
      this.#holds.delete(hold);
      this.#held.get(hold)?.open();
      this.#held.delete(hold);
    };
    return { caught, release };
  }

  /** Ends every connection and the tap itself. */
  async close(): Promise<void> {
    await this.cut();
    await new Promise((done) => {
      this.#server.close(done);
      this.#server.closeAllConnections();
    });
  }

  async #endLinks(): Promise<void> {
    for (const { page, relay } of this.#links.values()) {
      page.terminate();
      relay.terminate();
    }
    await until('every connection to end', () => this.#links.size === 0);
  }

  #connect(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.#mode === 'cut') {
      this.refused += 1;
      socket.destroy();
      return;
    }
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    const origin = request.headers.origin;
    const relay = new WebSocket(
      this.#upstream + (request.url ?? ''),
      offered.filter((name) => name !== ''),
      {
        perMessageDeflate: false,
        ...(origin ? { headers: { origin } } : {}),
      },
    );
    // What the relay says before the page's side stands is kept in order.
    const early: Buffer[] = [];
    const keep = (data: Buffer) => early.push(data);
    relay.on('message', keep);
    relay.once('error', () => socket.destroy());
    relay.once('open', () => {
      this.#sockets.handleUpgrade(request, socket, head, (page) => {
        relay.off('message', keep);
        this.#join(page, relay, early);
      });
    });
  }

  #join(page: WebSocket, relay: WebSocket, early: Buffer[]): void {
    const number = ++this.#last;
    const lanes = { page: new Lane(page), relay: new Lane(relay) };
    const link: Link = { number, page, relay, lanes };
    this.#links.set(number, link);
    const ways = [
      ['relay', page, relay],
      ['page', relay, page],
    ] as const;
    for (const [toward, from, to] of ways) {
      from.on('message', (data: Buffer, isBinary: boolean) => this.#pass(link, toward, data, isBinary));
      from.on('error', () => from.terminate());
      from.on('close', (code, reason) => {
        this.#links.delete(number);
        if (this.#mode === 'open' && codesThatMayBeSent(code))
          lanes[toward].end(() => to.close(code, reason));
        else to.terminate();
      });
    }
    for (const data of early) this.#pass(link, 'page', data, true);
    if (this.#mode === 'cut') page.terminate();
  }

  #pass(link: Link, toward: Toward, data: Buffer, isBinary: boolean): void {
    const bytes = new Uint8Array(data);
    const frame: TapFrame = { link: link.number, toward, bytes, at: Date.now(), ...namesOf(bytes, isBinary) };
    this.frames.push(frame);
    if (this.#mode === 'silent') return;
    const lane = link.lanes[toward];
    for (const hold of this.#holds) {
      if (hold.toward !== toward || this.#held.has(hold) || !hold.match(frame)) continue;
      this.#held.set(hold, lane);
      lane.shut();
      hold.settle(frame);
    }
    lane.push(data, isBinary, this.#delayMs);
  }
}

function first(protocols: Set<string>): string | false {
  return [...protocols][0] ?? false;
}

/** What the tap can read of a message. A foreign or broken one has no names and passes all the same. */
function namesOf(bytes: Uint8Array, isBinary: boolean): Pick<TapFrame, 'command' | 'eventId' | 'logicalId'> {
  if (!isBinary) return { command: undefined };
  try {
    const { command, payload } = decodeFrame(holdfast.magic, bytes);
    if (command !== commands.eventPut) return { command };
    const { event } = decodeEventPut(payload);
    const content = readContent(holdfast, event.content);
    const logical = content.kind === 'privmsg' ? content.privmsg.logical : undefined;
    return { command, eventId: eventId(event.header), ...(logical ? { logicalId: logical } : {}) };
  } catch {
    return { command: undefined };
  }
}
