import { limits } from '../core/limits';
import { type ClockVerdict, judgeClock } from '../core/trusted-clock';
import type { Clock } from './ports';
import type { RelayPeer } from './relay-peer';

/**
 * Judges our clock by what peers said theirs is when they shook hands, and watches it for steps: a person or the
 * network sets it, or the device slept. What was measured before a step says nothing after it, so every link is made
 * anew before the clock is believed again (OB-35). A timer that comes late is no step: what passed is measured apart.
 */
export class ClockWatch {
  /** How far our clock ran ahead of what passed when peers last measured it. */
  #ahead: number | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly peers: ReadonlyMap<string, RelayPeer>,
    private readonly onStep: () => void,
  ) {}

  /** What our clock is worth now. After a step no peer is ready until it has shaken hands again. */
  verdict(): ClockVerdict {
    const ahead = this.clock.now() - this.clock.elapsed();
    this.#ahead ??= ahead;
    if (Math.abs(ahead - this.#ahead) > limits.clockStepMs) {
      this.#ahead = ahead;
      for (const peer of this.peers.values()) peer.greetAgain();
      this.onStep();
    }
    const offsets = [...this.peers.values()].map((peer) => peer.clockOffset);
    return judgeClock(offsets.filter((offset) => offset !== undefined));
  }

  /** Trusted time, ms. */
  now(): number {
    const { offsetMs } = this.verdict();
    return this.clock.now() + offsetMs;
  }
}
