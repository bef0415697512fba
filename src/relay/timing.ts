/** What a relay waits by and draws from; given to it, so that a test decides both. */
export interface Timing {
  /** A number in [0, 1). */
  jitter(): number;
  /** Calls `act` once, after `ms`; what it returns calls that off. */
  after(ms: number, act: () => void): () => void;
}

/** Time and chance of this machine. */
export const systemTiming: Timing = {
  jitter: Math.random,
  after: (ms, act) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};
