import type { Socket } from 'node:net';

/** How two ends of a connection name it, also where TLS wraps one in another object. */
type End = Pick<Socket, 'remoteAddress' | 'remotePort'>;

interface Entry {
  readonly socket: Socket;
  readonly source: string | undefined;
}

/**
 * Sockets that were accepted and have not asked for anything yet. Where too many wait, in all or from one source, the
 * oldest gives way: who means it asks within moments, so whoever fills the room drives out only his own.
 */
export class Waiting {
  /** Oldest first. */
  readonly #all = new Map<string, Entry>();
  readonly #bySource = new Map<string, Set<string>>();

  constructor(
    private readonly max: number,
    private readonly perSourceMax: number,
  ) {}

  get size(): number {
    return this.#all.size;
  }

  /** One more waits; `source` is undefined where it is not known yet, as behind a proxy. */
  add(socket: Socket, source: string | undefined): void {
    const name = nameOf(socket);
    const own = source === undefined ? undefined : (this.#bySource.get(source) ?? new Set());
    if (own !== undefined && own.size >= this.perSourceMax) this.#giveWay(own.values());
    if (this.#all.size >= this.max) this.#giveWay(this.#all.keys());
    this.#all.set(name, { socket, source });
    if (source !== undefined && own !== undefined) this.#bySource.set(source, own.add(name));
    socket.once('close', () => {
      if (this.#all.get(name)?.socket === socket) this.#remove(name);
    });
  }

  /** It has asked, and waits no longer. */
  end(of: End): void {
    this.#remove(nameOf(of));
  }

  #giveWay(oldestFirst: Iterator<string>): void {
    const { value } = oldestFirst.next();
    if (value === undefined) return;
    this.#all.get(value)?.socket.destroy();
    this.#remove(value);
  }

  #remove(name: string): void {
    const source = this.#all.get(name)?.source;
    this.#all.delete(name);
    if (source === undefined) return;
    const own = this.#bySource.get(source);
    own?.delete(name);
    if (own?.size === 0) this.#bySource.delete(source);
  }
}

function nameOf({ remoteAddress, remotePort }: End): string {
  return `${remoteAddress} ${remotePort}`;
}
