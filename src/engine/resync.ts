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
  /** There was no room: to ask again soon would bring nothing. */
  #full = false;

  constructor(
    private readonly clock: Clock,
    private readonly peers: () => Iterable<RelayPeer>,
    private readonly sync: (peer: RelayPeer) => void,
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
    this.#behind.add(peer);
    if (this.#behind.size > 1) return;
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
    for (const peer of peers) if (peer.ready) this.sync(peer);
  }
}
