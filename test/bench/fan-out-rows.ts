import { readFileSync } from 'node:fs';
import { Relay } from '../app/kit/relay';
import { LoadPeer } from '../fixtures/load-peer';
import { Inspector } from '../soak/inspector';
import { NostrPeer, nostrEvents, nostrSocket } from './nostr-peer';
import { chains, onDisk, textOf } from './relay-load';
import { comparisonRow, type Row } from './rows';
import { inTurn, pairsMin, quantile, type Run } from './statistics';

/** Sockets that hear of an event. */
const sockets = 1_000;
/** Events of one run, one after the other. */
const events = 50;

const roomy = `[limits]\nconnections = ${2 * sockets}\nper_source = ${2 * sockets}
events_per_minute = 1000000\nbytes_per_minute = 100000000000`;

/** A relay with many listeners, whatever it speaks. */
interface Audience {
  /** Puts an event and resolves with the time until each listener had it, ms. */
  tell(nth: number): Promise<readonly number[]>;
  /** Resident bytes a connection that does nothing takes. */
  readonly bytesEach: number;
  close(): Promise<void>;
}

/** How long until the last of many hears of an event, and what a listener costs, beside another relay. */
export async function fanOutRows(): Promise<Row[]> {
  return [await latencyRow(), await memoryRow()];
}

async function latencyRow(): Promise<Row> {
  const [ours, theirs] = [await ourAudience(), await theirAudience()];
  try {
    const runOf = (audience: Audience): (() => Promise<Run>) => {
      let nth = 0;
      return async () => {
        const samples: number[] = [];
        for (let count = 0; count < events; count++) samples.push(...(await audience.tell(nth++)));
        return { figure: quantile(samples, 0.99), samples };
      };
    };
    const [our, their] = [runOf(ours), runOf(theirs)];
    for (const warm of [our, their]) await warm();
    return comparisonRow({
      row: `relay: an event to ${sockets} sockets; ratio of 99th percentiles to @nostr-relay/core`,
      unit: 'ms',
      pairs: await inTurn(pairsMin, our, their),
      target: null,
      durability: 'strict',
    });
  } finally {
    await ours.close();
    await theirs.close();
  }
}

async function memoryRow(): Promise<Row> {
  const measure = (open: () => Promise<Audience>) => async (): Promise<Run> => {
    const audience = await open();
    await audience.close();
    return { figure: audience.bytesEach / 1_000, samples: [] };
  };
  return comparisonRow({
    row: `relay: memory of one of ${sockets} idle connections; baseline: @nostr-relay/core`,
    unit: 'kB',
    pairs: await inTurn(pairsMin, measure(ourAudience), measure(theirAudience)),
    target: null,
    durability: null,
  });
}

/** What is waited for at every listener. */
class Hearing {
  #begunAt = 0;
  #times: number[] = [];
  #done: () => void = () => undefined;

  heard(): void {
    this.#times.push(performance.now() - this.#begunAt);
    if (this.#times.length === sockets) this.#done();
  }

  async of(put: () => void): Promise<readonly number[]> {
    this.#times = [];
    const all = new Promise<void>((settle) => {
      this.#done = settle;
    });
    this.#begunAt = performance.now();
    put();
    await all;
    return this.#times;
  }
}

async function ourAudience(): Promise<Audience> {
  const node = ['--inspect=127.0.0.1:0'];
  const relay = await Relay.start({ log: 'error', more: roomy, place: onDisk, node });
  const memory = await Memory.of(relay);
  const hearing = new Hearing();
  const source = await LoadPeer.connect(relay.url, { answered: () => undefined });
  const before = await memory.bytes();
  const listeners = await openMany(() =>
    LoadPeer.connect(relay.url, { answered: () => undefined, put: () => hearing.heard() }),
  );
  const bytesEach = ((await memory.bytes()) - before) / sockets;
  const [chain = []] = await chains((pairsMin + 1) * events, 1, 'fan-out');
  return {
    bytesEach,
    tell: (nth) => hearing.of(() => source.send(chain[nth]?.frame ?? new Uint8Array(0))),
    close: async () => {
      for (const peer of listeners) peer.close();
      await relay.dispose();
    },
  };
}

async function theirAudience(): Promise<Audience> {
  const relay = await NostrPeer.start();
  const memory = await Memory.of(relay);
  const hearing = new Hearing();
  const source = await nostrSocket(relay.url, {});
  const before = await memory.bytes();
  const listeners = await openMany(() => nostrSocket(relay.url, { event: () => hearing.heard() }));
  const bytesEach = ((await memory.bytes()) - before) / sockets;
  const signed = nostrEvents((pairsMin + 1) * events, (at) => textOf(at, 'fan-out'));
  return {
    bytesEach,
    tell: (nth) => hearing.of(() => source.send(signed[nth]?.frame ?? '')),
    close: async () => {
      for (const socket of listeners) socket.terminate();
      await relay.dispose();
    },
  };
}

/** Opens as many connections as there are listeners, some at a time. */
async function openMany<T>(open: () => Promise<T>): Promise<readonly T[]> {
  const opened: T[] = [];
  const atOnce = 50;
  for (let at = 0; at < sockets; at += atOnce) {
    opened.push(...(await Promise.all(Array.from({ length: atOnce }, open))));
  }
  return opened;
}

/** Resident bytes of a process of Node once it has collected what is garbage: what making connections left behind. */
class Memory {
  private constructor(
    private readonly pid: number,
    private readonly inspector: Inspector,
  ) {}

  static async of(relay: { readonly pid: number; readonly log: readonly string[] }): Promise<Memory> {
    return new Memory(relay.pid, await Inspector.of(relay.log.join('')));
  }

  async bytes(): Promise<number> {
    await this.inspector.memory();
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1]) * 1_024;
  }
}
