import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { endAll } from '../../src/setup.mjs';
import { relayKillRuns } from './relay-run';
import { isBroken, killRuns } from './run';

const usage = 'Usage: npm run kill -- [--relay] [--runs N] [--seed TEXT] [--json]';

function commit(): string {
  try {
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio }).trim();
  } catch {
    return 'unknown';
  }
}

interface Wanted {
  readonly relay: boolean;
  readonly runs: number;
  readonly seed: string;
  readonly json: boolean;
}

function parse(): Wanted {
  const { values } = parseArgs({
    options: {
      relay: { type: 'boolean', default: false },
      runs: { type: 'string', default: '10' },
      seed: { type: 'string', default: 'holdfast' },
      json: { type: 'boolean', default: false },
    },
  });
  const runs = Number(values.runs);
  if (!Number.isSafeInteger(runs) || runs < 1) {
    console.error(usage);
    process.exit(2);
  }
  return { ...values, runs };
}

async function main(): Promise<void> {
  const { relay, runs, seed, json } = parse();
  // The report alone is on standard output, so that it can be read by a program.
  const options = { runs, seed, say: (text: string) => console.error(text) };
  if (relay) return killRelay(options, json);
  const report = await killRuns(options);
  print(report, json);
  for (const { run, seed: drawn, kind, what } of report.breaches) {
    console.error(`run ${run}, seed ${drawn}, commit ${commit()}: ${kind}: ${what}`);
  }
  process.exitCode = isBroken(report) ? 1 : 0;
}

async function killRelay(options: Parameters<typeof relayKillRuns>[0], json: boolean): Promise<void> {
  const report = await relayKillRuns(options);
  print(report, json);
  for (const { run, kind, what } of report.breaches) {
    console.error(`run ${run}, seed ${options.seed}.${run}, commit ${commit()}: ${kind}: ${what}`);
  }
  process.exitCode = report.breaches.length > 0 ? 1 : 0;
}

function print(report: object, json: boolean): void {
  console.log(json ? JSON.stringify(report) : JSON.stringify(report, undefined, 2));
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endAll();
    process.exit(130);
  });
}
await main();
