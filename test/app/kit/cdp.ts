import { WebSocket } from 'ws';

/** What the browser answered instead of a result. */
class CdpError extends Error {
  constructor(
    readonly method: string,
    message: string,
  ) {
    super(`${method}: ${message}`);
  }
}

/** Parameters of one event. */
export type CdpEvent = Record<string, unknown>;
type Listener = (params: CdpEvent) => void;
interface Waiting {
  method: string;
  settle: (result: Record<string, unknown>) => void;
  fail: (error: CdpError) => void;
}

/**
 * The DevTools protocol without a library between, because a library that attaches to every service worker keeps it
 * from stopping by itself. Sessions are flat: one socket for the browser and all its tabs.
 */
export class Cdp {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, Set<Listener>>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#take(JSON.parse(String(data))));
    socket.on('close', () => {
      for (const { method, fail } of this.#waiting.values())
        fail(new CdpError(method, 'the browser is gone'));
      this.#waiting.clear();
    });
    socket.on('error', () => socket.terminate());
  }

  /** Connects to the address a browser printed. */
  static connect(url: string): Promise<Cdp> {
    return new Promise((settle, fail) => {
      const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 0 });
      socket.once('error', fail);
      socket.once('open', () => settle(new Cdp(socket)));
    });
  }

  /** Sends a command to the browser, or to the tab of `session`. Rejects with `CdpError`. */
  send(method: string, params: object = {}, session?: string): Promise<Record<string, unknown>> {
    const id = ++this.#last;
    return new Promise((settle, fail) => {
      if (this.#socket.readyState !== WebSocket.OPEN)
        return fail(new CdpError(method, 'the browser is gone'));
      this.#waiting.set(id, { method, settle, fail });
      this.#socket.send(JSON.stringify({ id, method, params, ...(session ? { sessionId: session } : {}) }));
    });
  }

  /** Calls `listener` at every event of that name, of the browser or of one session. Returns what ends it. */
  on(name: string, listener: Listener, session = ''): () => void {
    const key = `${session} ${name}`;
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  close(): void {
    this.#socket.terminate();
  }

  #take(message: Record<string, unknown>): void {
    const id = message['id'];
    if (typeof id !== 'number') {
      const key = `${message['sessionId'] ?? ''} ${message['method']}`;
      for (const listener of this.#listeners.get(key) ?? []) listener((message['params'] ?? {}) as CdpEvent);
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    const error = message['error'] as { message: string } | undefined;
    if (error) waiting?.fail(new CdpError(waiting.method, error.message));
    else waiting?.settle((message['result'] ?? {}) as Record<string, unknown>);
  }
}
