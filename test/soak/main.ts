import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { limits } from '../../src/core/limits';
import { endAll } from '../../src/setup.mjs';
import { Relay } from '../app/kit/relay';
import { type Sample, type Trend, trends } from './flatness';
import { Inspector } from './inspector';
import { Writers } from './writers';

const usage = 'Usage: npm run soak -- [--minutes N] [--rate N] [--json]';

/** What a long run showed: whether the relay's memory stays flat under load. */
interface SoakReport {
  readonly commit: string;
  readonly minutes: number;
  readonly rate: number;
  readonly connections: number;
  readonly sent: number;
  readonly accepted: number;
  readonly refused: number;
  readonly heard: number;
  readonly linksEnded: number;
  readonly answerMs: { readonly p50: number; readonly p99: number };
  /** Of the second half; `flat` where both lie within their bounds and the load was really taken. */
  readonly heap: Trend;
  readonly rss: Trend;
  readonly flat: boolean;
  readonly samples: readonly Sample[];
}

/** Share of its allowance that a writer uses; the rest is for what a busy machine makes it catch up with. */
const allowanceUsed = 0.5;

function commit(): string {
  try {
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio }).trim();
  } catch {
    return 'unknown';
  }
}

function parse(): { readonly minutes: number; readonly rate: number; readonly json: boolean } {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '30' },
      rate: { type: 'string', default: '50' },
      json: { type: 'boolean', default: false },
    },
  });
  const [minutes, rate] = [Number(values.minutes), Number(values.rate)];
  if (!(minutes > 0 && minutes <= 24 * 60 && rate >= 1 && rate <= 1_000)) {
    console.error(usage);
    process.exit(2);
  }
  return { minutes, rate, json: values.json };
}

/** Resident bytes of a process, as the system counts them. */
function rssOf(pid: number): number {
  const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb) * 1_024;
}

const inMb = (bytes: number): number => Math.round(bytes / 10_000) / 100;

async function soak(minutes: number, rate: number): Promise<SoakReport> {
  const connections = Math.ceil((rate * 60) / (limits.floodEventsMax * allowanceUsed));
  const more = `[limits]\nper_source = ${connections}`;
  const relay = await Relay.start({ log: 'error', node: ['--inspect=127.0.0.1:0'], more });
  try {
    const inspector = await Inspector.of(relay.log.join(''));
    const writers = await Writers.connect(relay.url, connections);
    const samples: Sample[] = [];
    const [begunAt, wholeMs] = [Date.now(), minutes * 60_000];
    const everyMs = Math.max(1_000, wholeMs / 120);
    writers.begin(rate);
    for (let nth = 1; nth * everyMs <= wholeMs; nth++) {
      await new Promise((over) => setTimeout(over, Math.max(0, begunAt + nth * everyMs - Date.now())));
      const { heapBytes, externalBytes } = await inspector.memory();
      const at = Math.round((Date.now() - begunAt) / 100) / 10;
      const rssMb = inMb(rssOf(relay.pid));
      samples.push({ at, rssMb, heapMb: inMb(heapBytes), externalMb: inMb(externalBytes) });
      if (nth % 10 === 0)
        console.error(JSON.stringify({ ...samples.at(-1), accepted: writers.count.accepted }));
    }
    await writers.end();
    inspector.close();
    return reportOf({ minutes, rate, connections, writers, samples });
  } finally {
    await relay.dispose();
  }
}

function reportOf(run: {
  readonly minutes: number;
  readonly rate: number;
  readonly connections: number;
  readonly writers: Writers;
  readonly samples: readonly Sample[];
}): SoakReport {
  const { minutes, rate, connections, samples } = run;
  const { sent, accepted, refused, heard, ended, answerMs } = run.writers.count;
  const { heap, rss } = trends(samples, rate);
  const taken = refused === 0 && accepted === sent && sent >= 0.98 * rate * minutes * 60;
  const quantile = (q: number): number => {
    let left = q * (accepted + refused);
    for (const [tenth, count] of [...answerMs].sort(([one], [other]) => one - other)) {
      left -= count;
      if (left <= 0) return tenth / 10;
    }
    return Number.NaN;
  };
  const figures = { sent, accepted, refused, heard, linksEnded: ended };
  const times = { answerMs: { p50: quantile(0.5), p99: quantile(0.99) } };
  const flat = heap.flat && rss.flat && taken;
  return { commit: commit(), minutes, rate, connections, ...figures, ...times, heap, rss, flat, samples };
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endAll();
    process.exit(130);
  });
}
const { minutes, rate, json } = parse();
const report = await soak(minutes, rate);
const { samples, ...short } = report;
console.log(
  json ? JSON.stringify(report) : JSON.stringify({ ...short, samples: samples.length }, undefined, 2),
);
process.exitCode = report.flat ? 0 : 1;
