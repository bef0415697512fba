/** What one run of a measurement gave. */
export interface Run {
  /** The figure of the run: a median of its calls, or a rate. */
  readonly figure: number;
  /** Single measurements, where the run has several. */
  readonly samples: readonly number[];
}

/** Runs of what is measured and of its baseline, made in turn. */
export interface Pairs {
  readonly ours: readonly Run[];
  readonly baseline: readonly Run[];
}

/** Fewest pairs that say something (formats.md 10). */
export const pairsMin = 15;

/** A baseline that spreads wider than this share of its median between its quartiles did not stand still. */
const spreadMax = 0.75;
/** A baseline slower than this many times the sum of its parts is held up by something else than what it measures. */
const partsMax = 2;

/** The smallest of `values` that at least the share `q` of them does not exceed. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((left, right) => left - right);
  const at = Math.min(sorted.length - 1, Math.max(0, Math.ceil(q * sorted.length) - 1));
  return sorted[at] ?? Number.NaN;
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  return (
    (quantile(values, 0.5) +
      -quantile(
        values.map((value) => -value),
        0.5,
      )) /
    2
  );
}

/**
 * An interval that holds the median of what `values` are drawn from with at least this confidence, whatever its
 * distribution: two of the values themselves, by the binomial law of how many lie below it. All values when there are
 * too few of them.
 */
export function medianInterval(values: readonly number[], confidence = 0.9): readonly [number, number] {
  const sorted = [...values].sort((left, right) => left - right);
  const n = sorted.length;
  const tail = (1 - confidence) / 2;
  let chance = 2 ** -n;
  let below = chance;
  let skip = 0;
  while (below <= tail && skip < n / 2 - 1) {
    skip += 1;
    chance = (chance * (n - skip + 1)) / skip;
    below += chance;
  }
  return [sorted[skip] ?? Number.NaN, sorted[n - 1 - skip] ?? Number.NaN];
}

/** Each run of ours by the baseline run beside it. */
export function ratios({ ours, baseline }: Pairs): number[] {
  return ours.flatMap(({ figure }, at) => {
    const beside = baseline[at]?.figure;
    return beside === undefined || beside <= 0 ? [] : [figure / beside];
  });
}

/** Why a baseline is not worth comparing with; `undefined` when it is. */
export type Lameness = 'too few' | 'unsteady' | 'held up';

/**
 * Looks at the baseline alone, because a lame one makes everything beside it look good. `parts` is what the sum of
 * its measured parts takes, in the same unit, where lower is better; without it that is not looked at.
 */
export function lameness(baseline: readonly Run[], parts?: number): Lameness | undefined {
  const figures = baseline.map(({ figure }) => figure);
  if (figures.length < pairsMin || figures.some((figure) => !(figure > 0))) return 'too few';
  const middle = median(figures);
  if (quantile(figures, 0.75) - quantile(figures, 0.25) > spreadMax * middle) return 'unsteady';
  return parts !== undefined && middle > partsMax * parts ? 'held up' : undefined;
}

/** Runs both `n` times, each first in every second pair, so that what drifts or warms up hits both alike. */
export async function inTurn(
  n: number,
  ours: () => Promise<Run>,
  baseline: () => Promise<Run>,
): Promise<Pairs> {
  const pairs = { ours: [] as Run[], baseline: [] as Run[] };
  for (let at = 0; at < n; at++) {
    if (at % 2 === 0) pairs.baseline.push(await baseline());
    pairs.ours.push(await ours());
    if (at % 2 === 1) pairs.baseline.push(await baseline());
  }
  return pairs;
}
