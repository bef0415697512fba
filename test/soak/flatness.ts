/** What a process held at a moment. */
export interface Sample {
  /** Since the beginning, s. */
  readonly at: number;
  readonly rssMb: number;
  /** JavaScript after a collection, and what lies beside it. */
  readonly heapMb: number;
  readonly externalMb: number;
}

/** How one kind of memory went in the second half: a straight line through it, and what it may grow by at most. */
export interface Trend {
  readonly firstMb: number;
  readonly lastMb: number;
  readonly slopeMbPerHour: number;
  readonly growthMb: number;
  readonly boundMb: number;
  readonly flat: boolean;
}

/** What an event may leave behind in the heap and still not count as a leak, bytes, and what counts for nothing, MB. */
const heapBytesAnEventMax = 32;
const heapNoiseMb = 1;
/** What the whole process may grow by, as a share of what it holds; allocators give back late. */
const rssShareMax = 0.05;
const rssNoiseMb = 4;

/** The slope of the straight line nearest to these points. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const n = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / n;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / n;
  const over = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const under = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return under === 0 ? 0 : over / under;
}

/** Judges the second half of a run that put `rate` events a second. */
export function trends(
  samples: readonly Sample[],
  rate: number,
): { readonly heap: Trend; readonly rss: Trend } {
  const half = samples.slice(Math.floor(samples.length / 2));
  const seconds = (half.at(-1)?.at ?? 0) - (half[0]?.at ?? 0);
  const rss = half.map((one) => one.rssMb).sort((left, right) => left - right)[half.length >> 1] ?? 0;
  const heapBound = Math.max(heapNoiseMb, (heapBytesAnEventMax * rate * seconds) / 1e6);
  return {
    heap: trend(half, (one) => one.heapMb + one.externalMb, heapBound),
    rss: trend(half, (one) => one.rssMb, Math.max(rssNoiseMb, rssShareMax * rss)),
  };
}

function trend(half: readonly Sample[], of: (one: Sample) => number, boundMb: number): Trend {
  const slope = slopeOf(half.map((one) => [one.at, of(one)]));
  const growthMb = slope * ((half.at(-1)?.at ?? 0) - (half[0]?.at ?? 0));
  const [first, last] = [half[0], half.at(-1)];
  return {
    firstMb: rounded(first === undefined ? Number.NaN : of(first)),
    lastMb: rounded(last === undefined ? Number.NaN : of(last)),
    slopeMbPerHour: rounded(slope * 3_600),
    growthMb: rounded(growthMb),
    boundMb: rounded(boundMb),
    flat: growthMb <= boundMb,
  };
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
