import {
  lameness,
  median,
  medianInterval,
  type Pairs,
  pairsMin,
  quantile,
  type Run,
  ratios,
} from './statistics';

/** One line of the report (formats.md 10). What a row does not have is null. */
export interface Row {
  readonly row: string;
  readonly unit: string;
  /** Runs, or things counted. */
  readonly n: number;
  readonly p50: number;
  /** Of hundred measurements at most one was worse. */
  readonly p99: number;
  /** p50 of what it was compared with in the same run. */
  readonly baseline: number | null;
  /** Median of the ratios of paired runs; of a size, its share of the target. */
  readonly ratio: number | null;
  /** 90 % interval of that median. */
  readonly ci: readonly [number, number] | null;
  /** Bound of the ratio: at most for a time, at least for a rate. Bound of the value for a size. */
  readonly target: number | null;
  /** False too where the row is not valid; null without a target. */
  readonly met: boolean | null;
  readonly durability: 'strict' | 'relaxed' | null;
  /** False when the baseline is lame, or nothing could be measured. */
  readonly valid: boolean;
}

/** What a comparison is called and held against. */
export interface Comparison {
  readonly row: string;
  readonly unit: Unit;
  readonly pairs: Pairs;
  readonly target: number | null;
  readonly durability: 'strict' | null;
  /** What the parts of the baseline take together, ms: see `lameness`. */
  readonly parts?: number;
}

/** Milliseconds, a rate, or memory. */
type Unit = 'ms' | '/s' | 'kB';

/** A row that compares. A rate (`/s`) has to be high, anything else low. */
export function comparisonRow({ row, unit, pairs, target, durability, parts }: Comparison): Row {
  const found = ratios(pairs);
  const ratio = median(found);
  const valid = found.length === pairs.ours.length && lameness(pairs.baseline, parts) === undefined;
  const reached = target === null ? null : unit === '/s' ? ratio >= target : ratio <= target;
  return {
    ...measuredRow(row, unit, pairs.ours, durability),
    baseline: rounded(median(samplesOf(pairs.baseline))),
    ratio: rounded(ratio),
    ci: interval(found),
    target,
    met: reached === null ? null : reached && valid,
    valid,
  };
}

/** A row that only reports. */
export function measuredRow(
  row: string,
  unit: Unit,
  runs: readonly Run[],
  durability: Row['durability'],
): Row {
  const samples = samplesOf(runs);
  const worst =
    unit === '/s'
      ? -quantile(
          samples.map((one) => -one),
          0.99,
        )
      : quantile(samples, 0.99);
  return {
    row,
    unit,
    n: runs.length,
    p50: rounded(median(samples)),
    p99: rounded(worst),
    baseline: null,
    ratio: null,
    ci: null,
    target: null,
    met: null,
    durability,
    valid: samples.length > 0,
  };
}

/** A row of a size in bytes; in kB of 1,000 bytes where it is held against a target. */
export function sizeRow(row: string, files: number, bytes: number, targetKb?: number): Row {
  const value = targetKb === undefined ? bytes : bytes / 1_000;
  return {
    row,
    unit: targetKb === undefined ? 'B gzip' : 'kB gzip',
    n: files,
    p50: value,
    p99: value,
    baseline: null,
    ratio: targetKb === undefined ? null : rounded(value / targetKb),
    ci: null,
    target: targetKb ?? null,
    met: targetKb === undefined ? null : value <= targetKb,
    durability: null,
    valid: files > 0,
  };
}

/** What a heap may grow by its share, and beside it, MB. */
const heapGrowth = { share: 1.1, mb: 0.5 };

/** A row of a heap against that of less work, bytes; held against `heapGrowth`. */
export function heapRow(row: string, bytes: readonly number[], baseline: readonly number[]): Row {
  const inMb = (values: readonly number[]) => values.map((value) => value / 1_000_000);
  const before = median(inMb(baseline));
  const target = rounded(heapGrowth.share * before + heapGrowth.mb);
  const p50 = rounded(median(inMb(bytes)));
  const found = bytes.map((value, at) => value / (baseline[at] ?? Number.NaN));
  const valid = bytes.length >= pairsMin && baseline.length === bytes.length;
  return {
    row,
    unit: 'MB',
    n: bytes.length,
    p50,
    p99: rounded(quantile(inMb(bytes), 0.99)),
    baseline: rounded(before),
    ratio: rounded(median(found)),
    ci: interval(found),
    target,
    met: valid && p50 <= target,
    durability: null,
    valid,
  };
}

const columns = [
  'row',
  'unit',
  'n',
  'p50',
  'p99',
  'baseline',
  'ratio',
  'ci',
  'target',
  'met',
  'durability',
  'valid',
] as const satisfies readonly (keyof Row)[];

/** The rows as a table of aligned columns; what a row does not have is a dash. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [[...columns], ...rows.map((row) => columns.map((column) => cell(row[column])))];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)));
  const align = (text: string, at: number) => {
    const width = widths[at] ?? 0;
    return at < 2 ? text.padEnd(width) : text.padStart(width);
  };
  return lines.map((line) => line.map(align).join('  ').trimEnd()).join('\n');
}

function cell(value: Row[keyof Row]): string {
  if (value === null) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join('–') : String(value);
}

function samplesOf(runs: readonly Run[]): number[] {
  return runs.flatMap(({ figure, samples }) => (samples.length > 0 ? [...samples] : [figure]));
}

function interval(values: readonly number[]): readonly [number, number] {
  const [low, high] = medianInterval(values);
  return [rounded(low), rounded(high)];
}

/** Three digits are more than a measurement is worth. */
function rounded(value: number): number {
  return value === 0 ? 0 : Number(value.toPrecision(3));
}
