import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  brokenClaims,
  parseClaims,
  parseLines,
  parseRequirements,
  reconcile,
  report,
  textOf,
} from './reconcile.mjs';

const usage = `npm run evidence -- [--json] [--require ID,ID] [--results FILE] [--claims FILE]
Holds the last test run against test/requirements.tsv. Fails when a test of a requirement failed, when a title names
an unknown id, or when something claimed in test/evidence/claimed.txt or by --require was not shown.`;

/** @param {string} path path from this file */
const beside = (path) => fileURLToPath(new URL(path, import.meta.url));

/** @returns {string} the commit of the tree, or 'unknown' outside a repository */
function commit() {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: beside('.'),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
      .toString()
      .trim();
  } catch {
    return 'unknown';
  }
}

const { values } = parseArgs({
  options: {
    json: { type: 'boolean' },
    help: { type: 'boolean' },
    require: { type: 'string' },
    results: { type: 'string', default: beside('../../test-results/tests.jsonl') },
    claims: { type: 'string', default: beside('claimed.txt') },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
if (!existsSync(values.results)) {
  console.error(`No test run to read: ${values.results} is missing. Run npm test first.`);
  process.exit(1);
}
const requirements = parseRequirements(readFileSync(beside('../requirements.tsv'), 'utf8'));
const result = reconcile(requirements, parseLines(readFileSync(values.results, 'utf8')));
const required = (values.require ?? '').split(',').flatMap((id) => {
  if (id === '') return [];
  return (requirements.find((one) => one.id === id)?.places ?? ['any place']).map((place) => ({ id, place }));
});
const broken = brokenClaims(result, [...parseClaims(readFileSync(values.claims, 'utf8')), ...required]);
const date = statSync(values.results).mtime.toISOString();
console.log(values.json ? JSON.stringify(report(result, { commit: commit(), date })) : textOf(result));
for (const line of broken) console.error(line);
for (const { id, test } of result.unknown) console.error(`unknown id ${id} in the title of ${test}`);
const failed = result.standings.some((one) => one.state === 'failed');
process.exit(failed || broken.length > 0 || result.unknown.length > 0 ? 1 : 0);
