import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { limits } from '../core/limits';
import { subprotocol } from '../core/link/session';
import { type Address, namesLoopback } from './address';
import { Admission, type Refusal } from './admission';
import { ConfigError, type RelayConfig } from './config';
import { systemGround } from './ground';
import type { Log } from './log';
import { Relay } from './relay';
import { systemTiming, type Timing } from './timing';

/** A relay that listens. */
export interface RunningRelay {
  /** Port it listens on, also when the system chose it. */
  readonly port: number;
  readonly healthPort: number | undefined;
  /** Reads again what may change while it runs: the registered identities. */
  reload(): void;
  /** Stops listening, sends peers away, writes everything down. */
  stop(): Promise<void>;
}

/**
 * Starts a relay. Rejects with a `StoreError` when the store does not open, a `ConfigError` when certificate files or
 * the list of identities do not, and the system's error when the port is taken.
 */
export async function startRelay(
  config: RelayConfig,
  log: Log,
  now: () => number = Date.now,
  pauses: Timing = systemTiming,
): Promise<RunningRelay> {
  const server = serverOf(config);
  const relay = new Relay(config, log, now, { ...systemGround, pauses });
  try {
    attendUpgrades(server, relay, new Admission(config, now), log);
    await relay.start();
    const port = await listen(server, config.listen);
    const health = config.health === undefined ? undefined : healthServer(relay);
    const healthPort = health && config.health ? await listen(health, config.health) : undefined;
    log('info', 'listening', { port });
    let stopped: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      const closed = [server, ...(health ? [health] : [])].map(closeServer);
      await relay.stop();
      await Promise.all(closed);
      log('info', 'stopped');
    };
    const stop = (): Promise<void> => {
      stopped ??= end();
      return stopped;
    };
    return { port, healthPort, reload: () => relay.reload(), stop };
  } catch (error) {
    server.close();
    await relay.stop();
    throw error;
  }
}

/** How often what is late with its request is looked for, ms. */
const lookForLateMs = 1_000;

function serverOf(config: RelayConfig): Server {
  const options = {
    headersTimeout: config.handshakeMs,
    requestTimeout: config.handshakeMs,
    connectionsCheckingInterval: lookForLateMs,
  };
  const plain = (request: IncomingMessage, response: ServerResponse): void => {
    request.resume();
    response.writeHead(426, { 'content-type': 'text/plain', upgrade: 'websocket', connection: 'close' });
    response.end('This is a Holdfast relay. It speaks WebSocket only.\n');
  };
  if (config.tls === undefined) return createServer(options, plain);
  try {
    const [cert, key] = [config.tls.certificate, config.tls.key].map((file) => readFileSync(file));
    return createSecureServer({ ...options, cert, key, handshakeTimeout: config.handshakeMs }, plain);
  } catch {
    throw new ConfigError('invalid', 'relay.tls_cert', 'certificate or key cannot be used');
  }
}

function attendUpgrades(server: Server, relay: Relay, admission: Admission, log: Log): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.messageBytesMax,
    maxFragments: limits.messageFragmentsMax,
    maxBufferedChunks: limits.messageChunksMax,
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols: () => subprotocol,
  });
  server.on('connection', (socket: Socket) => admission.onSocket(socket));
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const refused = admission.refusal(request);
    if (refused !== undefined) {
      log('info', 'refused', { why: refused.why });
      return refuse(socket, refused);
    }
    const source = admission.enter(request, socket);
    sockets.handleUpgrade(request, socket, head, (accepted) => relay.accept(accepted, source));
  });
}

/** Says why, and waits for no answer: whoever was refused could otherwise keep the socket for as long as he likes. */
function refuse(socket: Duplex, { status, why, retryAfter }: Refusal): void {
  const later = retryAfter === undefined ? '' : `Retry-After: ${retryAfter}\r\n`;
  const head = `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain\r\n${later}`;
  socket.once('finish', () => socket.destroy());
  socket.end(`${head}Content-Length: ${why.length + 1}\r\n\r\n${why}\n`);
}

/** Tells whether the relay is well, to programs of this machine; a page of another site has another Host. */
function healthServer(relay: Relay): Server {
  return createServer((request, response) => {
    const allowed = namesLoopback(request.headers.host) && request.headers.origin === undefined;
    const found = request.method === 'GET' && request.url === '/health';
    const status = allowed ? (found ? 200 : 404) : 403;
    response.writeHead(status, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    response.end(status === 200 ? `${JSON.stringify({ status: 'ok', ...relay.health() })}\n` : '');
  });
}

/** Connections the system may hold until they are accepted; beyond them one waits a second for its next try. */
const backlog = 4_096;

function listen(server: Server, address: Address): Promise<number> {
  return new Promise((listening, failed) => {
    server.once('error', failed);
    server.listen({ ...address, backlog }, () => {
      server.off('error', failed);
      listening((server.address() as AddressInfo).port);
    });
  });
}

/** Upgraded sockets are the relay's to close; what only asked and stayed is cut. */
function closeServer(server: Server): Promise<void> {
  return new Promise((closed) => {
    server.close(() => closed());
    server.closeAllConnections();
  });
}
