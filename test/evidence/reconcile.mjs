/**
 * @typedef {import('./reporter.ts').TestLine} TestLine
 * @typedef {{ id: string, source: string, places: string[], text: string }} Requirement
 * @typedef {{ id: string, place: string }} Claim
 * @typedef {{ id: string, place: string, state: 'passed' | 'failed' | 'missing', counted: TestLine[],
 *   failed: TestLine[], discounted: TestLine[] }} Standing one requirement in one place it must be shown in
 * @typedef {{ standings: Standing[], unknown: { id: string, test: string }[] }} Reconciliation
 */

const idPattern = /\b[A-Z]{2}-\d{2}\b/g;

/**
 * Reads requirements.tsv: a header line, then id, source, where (comma separated places) and what must hold.
 * @param {string} text
 * @returns {Requirement[]}
 * @throws {Error} when a row has not four columns, names no place, or repeats an id
 */
export function parseRequirements(text) {
  /** @type {Map<string, Requirement>} */
  const byId = new Map();
  for (const row of text.split('\n').slice(1)) {
    if (row.trim() === '') continue;
    const columns = row.split('\t');
    const [id = '', source = '', where = '', must = ''] = columns;
    const places = where.split(',').filter((place) => place !== '');
    if (columns.length !== 4 || places.length === 0) throw new Error(`requirements: unreadable row: ${row}`);
    if (byId.has(id)) throw new Error(`requirements: ${id} stands twice`);
    byId.set(id, { id, source, places, text: must });
  }
  return [...byId.values()];
}

/**
 * Reads test-results/tests.jsonl, one JSON object a line.
 * @param {string} text
 * @returns {TestLine[]}
 */
export function parseLines(text) {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));
}

/**
 * Reads claimed.txt: `ID place,place` a line, `#` starts a comment.
 * @param {string} text
 * @returns {Claim[]}
 */
export function parseClaims(text) {
  return text.split('\n').flatMap((row) => {
    const [id = '', where = ''] = row.replace(/#.*/, '').trim().split(/\s+/);
    return where
      .split(',')
      .filter((place) => place !== '')
      .map((place) => ({ id, place }));
  });
}

/**
 * Requirement ids a test claims: those inside square brackets of its full title, so a suite's id counts for its tests.
 * @param {string} title
 * @returns {string[]}
 */
export function idsOf(title) {
  const bracketed = title.match(/\[[^\]]*\]/g) ?? [];
  return [...new Set(bracketed.flatMap((part) => part.match(idPattern) ?? []))];
}

/**
 * Whether a line proves anything: it ran, passed at the first try, and was not expected to fail.
 * @param {TestLine} line
 */
function counts(line) {
  return line.state === 'passed' && !line.fails && line.retries === 0 && line.mode === 'run';
}

/**
 * What each requirement can show in each place it names (RD-18): a line that did not run, was skipped, retried or
 * marked `fails` is kept as discounted and leaves the place missing; one failure outweighs any number of passes.
 * @param {readonly Requirement[]} requirements
 * @param {readonly TestLine[]} lines
 * @returns {Reconciliation}
 */
export function reconcile(requirements, lines) {
  /** @type {Map<string, TestLine[]>} */
  const byStanding = new Map();
  const known = new Set(requirements.map((requirement) => requirement.id));
  const unknown = [];
  for (const line of lines) {
    for (const id of idsOf(line.title)) {
      if (!known.has(id)) unknown.push({ id, test: `${line.file}: ${line.title}` });
      const key = `${id} ${line.place}`;
      byStanding.set(key, [...(byStanding.get(key) ?? []), line]);
    }
  }
  const standings = requirements.flatMap(({ id, places }) =>
    places.map((place) => standing(id, place, byStanding.get(`${id} ${place}`) ?? [])),
  );
  return { standings, unknown };
}

/**
 * @param {string} id
 * @param {string} place
 * @param {TestLine[]} lines
 * @returns {Standing}
 */
function standing(id, place, lines) {
  const failed = lines.filter((line) => line.state === 'failed');
  const counted = lines.filter(counts);
  const discounted = lines.filter((line) => line.state !== 'failed' && !counts(line));
  const state = failed.length > 0 ? 'failed' : counted.length > 0 ? 'passed' : 'missing';
  return { id, place, state, counted, failed, discounted };
}

/**
 * Claims that the run does not bear out, each with the reason.
 * @param {Reconciliation} result
 * @param {readonly Claim[]} claims
 * @returns {string[]}
 */
export function brokenClaims(result, claims) {
  return claims.flatMap(({ id, place }) => {
    const found = result.standings.find((one) => one.id === id && one.place === place);
    if (!found) return [`${id} ${place}: claimed, but the requirements name no such id and place`];
    return found.state === 'passed' ? [] : [`${id} ${place}: claimed, but ${found.state}`];
  });
}

/**
 * The report of formats.md 10; `total` and `passed` count pairs of id and place.
 * @param {Reconciliation} result
 * @param {{ commit: string, date: string }} run
 */
export function report({ standings }, { commit, date }) {
  return {
    commit,
    date,
    total: standings.length,
    passed: standings.filter((one) => one.state === 'passed').length,
    failed: standings.flatMap(({ id, failed }) => failed.map((line) => ({ id, test: nameOf(line) }))),
    missing: standings
      .filter((one) => one.state === 'missing')
      .map(({ id, place }) => ({ id, where: place })),
    tests: standings.flatMap(({ id, place, counted }) =>
      counted.map(({ file, title, ms }) => ({ id, where: place, file, title, ms })),
    ),
  };
}

/**
 * The same for people: a row an id, with its places marked, and below what failed and what was not counted.
 * @param {Reconciliation} result
 */
export function textOf({ standings }) {
  const marks = { passed: 'ok', failed: 'FAILED', missing: '-' };
  const ids = [...new Set(standings.map((one) => one.id))];
  const rows = ids.map((id) => {
    const places = standings.filter((one) => one.id === id);
    return `${id}  ${places.map((one) => `${one.place}: ${marks[one.state]} (${one.counted.length})`).join('  ')}`;
  });
  const notes = standings.flatMap(({ id, place, failed, discounted }) => [
    ...failed.map((line) => `failed       ${id} ${place}  ${nameOf(line)}`),
    ...discounted.map((line) => `not counted  ${id} ${place}  ${nameOf(line)} (${reason(line)})`),
  ]);
  return [...rows, '', ...notes, summaryOf({ standings })].join('\n');
}

/**
 * How many places of ids passed, failed and are missing.
 * @param {Pick<Reconciliation, 'standings'>} result
 */
export function summaryOf({ standings }) {
  const sum = ['passed', 'failed', 'missing'].map(
    (state) => `${standings.filter((one) => one.state === state).length} ${state}`,
  );
  return `${standings.length} places of ids: ${sum.join(', ')}`;
}

/** @param {TestLine} line */
function nameOf(line) {
  return `${line.file}: ${line.title}`;
}

/** @param {TestLine} line */
function reason(line) {
  if (line.fails) return 'marked as expected to fail';
  return line.retries > 0 ? 'retried' : `${line.state}, mode ${line.mode}`;
}
