import '../../src/core/limits-relations';
import { parseArgs } from 'node:util';
import { Coverage } from './coverage';
import { decoders } from './formats';
import { type FuzzReport, fuzz } from './run';
import { sessions } from './sessions';

const usage = 'usage: fuzz [--inputs N] [--seed TEXT] [--only NAME] [--json]';
const defaultInputs = 1_000_000;
/** Each decoder reads at least this share of what it is given, or it is hardly tried. */
const readShareMin = 0.01;

interface Options {
  readonly inputs: number;
  readonly seed: string;
  readonly only: string | undefined;
  readonly json: boolean;
}

function options(args: readonly string[]): Options | undefined {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        inputs: { type: 'string' },
        seed: { type: 'string' },
        only: { type: 'string' },
        json: { type: 'boolean' },
      },
    });
    const inputs = Number(values.inputs ?? defaultInputs);
    if (!Number.isSafeInteger(inputs) || inputs < 1) return undefined;
    return { inputs, seed: values.seed ?? '1', only: values.only, json: values.json ?? false };
  } catch {
    return undefined;
  }
}

function print(report: FuzzReport, seed: string, seconds: number, characters: number): void {
  for (const { name, inputs, read, kept, slowestMs } of report.targets) {
    const share = ((100 * read) / inputs).toFixed(1);
    console.log(
      `${name.padEnd(26)}${String(inputs).padStart(10)} inputs${share.padStart(7)} % read` +
        `${String(kept).padStart(6)} kept  slowest ${slowestMs.toFixed(1)} ms`,
    );
  }
  for (const { target, error, hex } of report.crashes) console.log(`CRASH ${target}: ${error}\n  ${hex}`);
  const inputs = report.targets.reduce((sum, one) => sum + one.inputs, 0);
  const crashes = report.targets.reduce((sum, one) => sum + one.crashes, 0);
  console.log(
    `seed ${seed}: ${inputs} inputs in ${seconds.toFixed(0)} s, ${characters} characters of code reached, ${crashes} crashes`,
  );
}

function main(): number {
  const chosen = options(process.argv.slice(2));
  const all = [...decoders, ...sessions];
  const targets = chosen?.only === undefined ? all : all.filter(({ name }) => name === chosen.only);
  if (chosen === undefined || targets.length === 0) {
    console.error(usage);
    return 2;
  }
  const { inputs, seed, json } = chosen;
  const folder = new URL('.', import.meta.url).href;
  const coverage = new Coverage((url) => url.startsWith(folder));
  const started = performance.now();
  const report = fuzz({ targets, inputs, seed, coverage, every: 5_000 });
  const seconds = (performance.now() - started) / 1_000;
  const { characters } = coverage;
  coverage.end();
  if (json) console.log(JSON.stringify({ seed, seconds, characters, ...report }));
  else print(report, seed, seconds, characters);
  const dull = report.targets.filter(({ read, inputs: of }) => read < of * readShareMin);
  for (const { name } of dull)
    console.error(`${name}: reads less than ${100 * readShareMin} % of its inputs`);
  return report.crashes.length + dull.length > 0 ? 1 : 0;
}

// Millions of refusals are thrown, and nobody reads where.
Error.stackTraceLimit = 0;
process.exitCode = main();
