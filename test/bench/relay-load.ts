import { join } from 'node:path';
import type { EventId } from '../../src/core/ids';
import { frameOf } from '../../src/core/link/messages';
import { genesisOf, holdfast, slotOf } from '../../src/core/wire/profile';
import { root } from '../../src/setup.mjs';
import { type Made, noBlob, one } from '../fixtures/graph-world';
import { LoadPeer } from '../fixtures/load-peer';

/** An event as it is put, and its id. */
export interface Loaded {
  readonly id: EventId;
  readonly frame: Uint8Array;
}

/** Where stores lie that are measured: temporary files may be kept in memory, where a flush costs nothing. */
export const onDisk = join(root, 'dist');

/** Bytes of a text people write, with what tells the events apart before it. */
const words = 'some words of a message as people write them, '.repeat(4);

/** The text of the nth event. */
export const textOf = (nth: number, tag: string): string => `${tag} ${nth} ${words}`;

/** Time a slot has to have left before events are made for it, ms. */
const roomMs = 20_000;

/** So many chains of events, to be put over so many connections; what making them takes is not measured. */
export async function chains(count: number, connections: number, tag: string): Promise<readonly Loaded[][]> {
  const left = slotOf(holdfast, Date.now()) + holdfast.rotationMs - Date.now();
  if (left < roomMs) await new Promise((over) => setTimeout(over, left + 10));
  const now = Date.now();
  const slot = slotOf(holdfast, now);
  const begin = Math.max(slot, now - 1_000);
  return Array.from({ length: connections }, (_, chain) => {
    const made: Made[] = [];
    for (let at = 0; at < count / connections; at++) {
      const parent = made.at(-1)?.id ?? genesisOf(holdfast, slot).id;
      made.push(one(begin + at, [parent], at + 1, textOf(at, `${tag} ${chain}`)));
    }
    return made.map(({ id, bytes }) => ({
      id,
      frame: frameOf(holdfast, { say: 'put', event: bytes, blob: noBlob }),
    }));
  });
}

/** Puts chains over connections that stand, so many of each in flight; the events a second, once all are answered. */
export class RelayLoader {
  readonly #peers: LoadPeer[] = [];
  #answered: (at: number) => void = () => undefined;

  static async connect(url: string, connections: number): Promise<RelayLoader> {
    const loader = new RelayLoader();
    for (let at = 0; at < connections; at++) {
      loader.#peers.push(
        await LoadPeer.connect(url, {
          answered: (_id, answer) => {
            if (answer !== 'inserted') throw new Error(`the relay answered ${answer}`);
            loader.#answered(at);
          },
        }),
      );
    }
    return loader;
  }

  async rate(load: readonly (readonly Loaded[])[], inFlight: number): Promise<number> {
    const next = load.map(() => 0);
    const total = load.reduce((sum, chain) => sum + chain.length, 0);
    let answered = 0;
    const put = (at: number): void => {
      const frame = load[at]?.[next[at] ?? 0]?.frame;
      next[at] = (next[at] ?? 0) + 1;
      if (frame !== undefined) this.#peers[at]?.send(frame);
    };
    const begunAt = performance.now();
    await new Promise<void>((done) => {
      this.#answered = (at) => {
        answered += 1;
        if (answered === total) done();
        else put(at);
      };
      for (let count = 0; count < inFlight; count++) for (let at = 0; at < load.length; at++) put(at);
    });
    return (total * 1_000) / (performance.now() - begunAt);
  }

  close(): void {
    for (const peer of this.#peers) peer.close();
  }
}
