import { WebSocket } from 'ws';

/** Bytes a process of Node holds. */
export interface Memory {
  /** Of its JavaScript, after a collection. */
  readonly heapBytes: number;
  /** Beside it: buffers and the like. */
  readonly externalBytes: number;
}

/** The inspector of a Node process that was started with `--inspect`: it collects what is garbage, then counts. */
export class Inspector {
  #last = 0;
  readonly #waiting = new Map<number, (result: Record<string, number>) => void>();

  private constructor(private readonly socket: WebSocket) {
    socket.on('message', (data) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result?: Record<string, number> };
      if (id !== undefined) this.#waiting.get(id)?.(result ?? {});
      if (id !== undefined) this.#waiting.delete(id);
    });
  }

  /** `printed` is what the process wrote: it names the address there. */
  static async of(printed: string): Promise<Inspector> {
    const address = /ws:\/\/127\.0\.0\.1:\d+\/[0-9a-f-]+/.exec(printed)?.[0];
    if (address === undefined) throw new Error('the process names no inspector');
    const socket = new WebSocket(address, { perMessageDeflate: false });
    await new Promise((open, fail) => {
      socket.once('open', open);
      socket.once('error', fail);
    });
    return new Inspector(socket);
  }

  async memory(): Promise<Memory> {
    await this.#call('HeapProfiler.collectGarbage');
    const usage = await this.#call('Runtime.getHeapUsage');
    const external = (usage['embedderHeapUsedSize'] ?? 0) + (usage['backingStorageSize'] ?? 0);
    return { heapBytes: usage['usedSize'] ?? Number.NaN, externalBytes: external };
  }

  close(): void {
    this.socket.terminate();
  }

  #call(method: string): Promise<Record<string, number>> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((settle) => {
      this.#waiting.set(id, settle);
      this.socket.send(JSON.stringify({ id, method }));
    });
  }
}
