import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { endAll } from '../../src/setup.mjs';
import { isBroken, killRuns } from './run';

const usage = 'Usage: npm run kill -- [--runs N] [--seed TEXT] [--json]';

function commit(): string {
  try {
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
    return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio }).trim();
  } catch {
    return 'unknown';
  }
}

function parse(): { readonly runs: number; readonly seed: string; readonly json: boolean } {
  const { values } = parseArgs({
    options: {
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
  const { runs, seed, json } = parse();
  // The report alone is on standard output, so that it can be read by a program.
  const report = await killRuns({ runs, seed, say: (text) => console.error(text) });
  console.log(json ? JSON.stringify(report) : JSON.stringify(report, undefined, 2));
  for (const { run, seed: drawn, kind, what } of report.breaches) {
    console.error(`run ${run}, seed ${drawn}, commit ${commit()}: ${kind}: ${what}`);
  }
  process.exitCode = isBroken(report) ? 1 : 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endAll();
    process.exit(130);
  });
}
await main();
