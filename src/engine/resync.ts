import { limits } from '../core/limits';
import type { Clock } from './ports';
import type { RelayPeer } from './relay-peer';

/** Pause before a peer is asked again for what we could not take in from it. */
const soonMs = 5_000;

/**
 * When peers are asked again for what they have: all of them every 15 minutes, since gaps in mid-history are no news to
 * anybody; and one soon, when something of it could not be taken in. Only that one: what one peer sends, however much
 * and however strange, must not make us a burden to the others.
 */
export class Resync {
  readonly #behind = new Set<RelayPeer>();
  /** On a slow link a sync takes longer than it is until the next one is due: one at a time, or each slows the others. */
  readonly #under = new Set<RelayPeer>();
  /** There was no room: to ask again soon would bring nothing. */
  #full = false;

  constructor(
    private readonly clock: Clock,
    private readonly peers: () => Iterable<RelayPeer>,
    private readonly sync: (peer: RelayPeer) => Promise<void>,
  ) {}

  start(): void {
    this.clock.set('resync', this.clock.now() + limits.resyncMs, () => {
      this.#full = false;
      this.#ask(this.peers());
      this.start();
    });
  }

  stop(): void {
    this.clock.clear('resync');
    this.clock.clear('resync soon');
  }

  /** However often it is asked for, the first time stands: a stream of late events must not put it off. */
  soon(peer: RelayPeer): void {
    if (this.#full) return;
    const isDue = this.#behind.size > 0;
    this.#behind.add(peer);
    if (isDue) return;
    this.clock.set('resync soon', this.clock.now() + soonMs, () => {
      const behind = [...this.#behind];
      this.#behind.clear();
      this.#ask(behind);
    });
  }

  /** With no room, what is missing is asked for when it would be anyway. */
  noRoom(): void {
    this.#full = true;
  }

  #ask(peers: Iterable<RelayPeer>): void {
    for (const peer of peers) {
      if (!peer.ready) continue;
      if (this.#under.has(peer)) this.soon(peer);
      else void this.#sync(peer);
    }
  }

  async #sync(peer: RelayPeer): Promise<void> {
    this.#under.add(peer);
    try {
      await this.sync(peer);
    } finally {
      this.#under.delete(peer);
    }
  }
}
