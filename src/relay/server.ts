import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { limits } from '../core/limits';
import { subprotocol } from '../core/link/session';
import { type Address, namesLoopback } from './address';
import { ConfigError, type RelayConfig } from './config';
import { systemGround } from './ground';
import type { Log, LogWord } from './log';
import { Relay } from './relay';

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
): Promise<RunningRelay> {
  const server = serverOf(config);
  const relay = new Relay(config, log, now, systemGround);
  try {
    attendUpgrades(server, relay, config, log);
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

function serverOf(config: RelayConfig): Server {
  const options = { headersTimeout: config.handshakeMs, requestTimeout: config.handshakeMs };
  const plain = (request: IncomingMessage, response: ServerResponse): void => {
    request.resume();
    response.writeHead(426, { 'content-type': 'text/plain', upgrade: 'websocket', connection: 'close' });
    response.end('This is a Holdfast relay. It speaks WebSocket only.\n');
  };
  if (config.tls === undefined) return createServer(options, plain);
  try {
    const [cert, key] = [config.tls.certificate, config.tls.key].map((file) => readFileSync(file));
    return createSecureServer({ ...options, cert, key }, plain);
  } catch {
    throw new ConfigError('invalid', 'relay.tls_cert', 'certificate or key cannot be used');
  }
}

function attendUpgrades(server: Server, relay: Relay, config: RelayConfig, log: Log): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.messageBytesMax,
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols: () => subprotocol,
  });
  const sources = new Map<string, number>();
  let open = 0;
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const source = sourceOf(request, config.trustedProxies);
    const held = sources.get(source) ?? 0;
    const refused = refusal(request, config, open, held);
    if (refused !== undefined) {
      log('info', 'refused', { why: refused.why });
      socket.end(`HTTP/1.1 ${refused.status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    open += 1;
    sources.set(source, held + 1);
    socket.once('close', () => {
      open -= 1;
      const left = (sources.get(source) ?? 1) - 1;
      if (left > 0) sources.set(source, left);
      else sources.delete(source);
    });
    sockets.handleUpgrade(request, socket, head, (accepted) => relay.accept(accepted));
  });
}

function refusal(
  request: IncomingMessage,
  config: RelayConfig,
  open: number,
  held: number,
): { readonly status: string; readonly why: LogWord } | undefined {
  const { origin } = request.headers;
  // A program sends no Origin; a page always does, and cannot choose it.
  if (origin !== undefined && !config.origins.includes('*') && !config.origins.includes(origin)) {
    return { status: '403 Forbidden', why: 'origin' };
  }
  const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
  if (!protocols.includes(subprotocol)) return { status: '400 Bad Request', why: 'protocol' };
  if (open >= config.connectionsMax) return { status: '503 Service Unavailable', why: 'room' };
  if (held >= config.connectionsPerSourceMax) return { status: '429 Too Many Requests', why: 'source' };
  return undefined;
}

/** Who a connection is counted for: the last hop that a proxy of ours vouches for, else the socket's own address. */
function sourceOf(request: IncomingMessage, trustedProxies: readonly string[]): string {
  const direct = request.socket.remoteAddress ?? '';
  if (!trustedProxies.includes(direct)) return direct;
  const hops = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((hop) => hop.trim());
  return hops.findLast((hop) => hop !== '' && !trustedProxies.includes(hop)) ?? direct;
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

function listen(server: Server, address: Address): Promise<number> {
  return new Promise((listening, failed) => {
    server.once('error', failed);
    server.listen(address.port, address.host, () => {
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
