import { limits } from './limits';

/** What our clock is worth, told by what peers say theirs is. */
export interface ClockVerdict {
  /** To be added to our own clock, ms; 0 while peers agree with it. */
  readonly offsetMs: number;
  /** False: nothing may be materialised, since nobody knows which clock is right (OB-35). */
  readonly trusted: boolean;
  /** Median of what peers say, for people to see. */
  readonly seenMs: number;
}

/**
 * Judges our clock by the offsets of connected peers (their clock minus ours, ms). Within 30 s it is right. Beyond,
 * the median is applied when two or more peers agree within 10 s; one peer alone never moves our clock, so then the
 * lane parks and goes on by itself when the clocks agree again.
 */
export function judgeClock(offsets: readonly number[]): ClockVerdict {
  const seenMs = median(offsets);
  if (Math.abs(seenMs) <= limits.clockSkewAppliedMs) return { offsetMs: 0, trusted: true, seenMs };
  const agreeing = offsets.filter((offset) => Math.abs(offset - seenMs) <= limits.clockAgreementMs);
  if (agreeing.length < 2) return { offsetMs: 0, trusted: false, seenMs };
  return { offsetMs: seenMs, trusted: true, seenMs };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? 0;
  // Times are whole ms everywhere: half a one has no place in an event.
  return sorted.length % 2 === 1 ? high : Math.round(((sorted[middle - 1] ?? high) + high) / 2);
}
