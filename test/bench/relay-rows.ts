import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { SqliteStore } from '../../src/store/sqlite/sqlite-store';
import { Relay } from '../app/kit/relay';
import { NostrPeer, nostrEvents, nostrSocket } from './nostr-peer';
import { chains, type Loaded, onDisk, RelayLoader, textOf } from './relay-load';
import { comparisonRow, type Row } from './rows';
import { inTurn, pairsMin, type Run } from './statistics';

/** What members may is not what is measured. */
const roomy = '[limits]\nevents_per_minute = 1000000\nbytes_per_minute = 100000000000';

/** Events of a run, connections they come over, and how many of each are in flight. */
const events = 1_500;
const connections = 4;
const inFlight = 60;
/** Theirs are fewer: each has to be signed and its signature checked. */
const theirEvents = 300;

/** Share of raw inserts that the relay has to reach. */
const rawShare = 0.6;

/** Events a relay process takes and makes durable, a second, beside raw inserts and beside another relay. */
export async function acceptedRows(): Promise<Row[]> {
  return [await besideRaw(), await besideNostr()];
}

async function besideRaw(): Promise<Row> {
  const relay = await Relay.start({ log: 'error', more: roomy, place: onDisk });
  const raw = new RawInserts(relay.store);
  const loader = await RelayLoader.connect(relay.url, connections);
  try {
    const run = runsOf(loader, (load) => raw.take(load));
    await run();
    const pairs = await inTurn(pairsMin, run, async () => raw.run());
    return comparisonRow({
      row: `relay: accepted events over ${connections} sockets; baseline: raw inserts, one a transaction`,
      unit: '/s',
      pairs,
      target: rawShare,
      durability: 'strict',
    });
  } finally {
    loader.close();
    raw.dispose();
    await relay.dispose();
  }
}

async function besideNostr(): Promise<Row> {
  const [relay, other] = [
    await Relay.start({ log: 'error', more: roomy, place: onDisk }),
    await NostrPeer.start(),
  ];
  const loader = await RelayLoader.connect(relay.url, connections);
  try {
    const run = runsOf(loader, () => undefined);
    let nth = 0;
    const theirs = async (): Promise<Run> => {
      nth += 1;
      const [tag, signed] = [`run ${nth}`, theirEvents];
      return nostrRun(
        other.url,
        nostrEvents(signed, (at) => textOf(at, tag)).map((one) => one.frame),
      );
    };
    for (const warm of [run, theirs]) await warm();
    const pairs = await inTurn(pairsMin, run, theirs);
    return comparisonRow({
      row: 'relay: accepted events; baseline: @nostr-relay/core with its SQLite repository',
      unit: '/s',
      pairs,
      target: null,
      durability: 'strict',
    });
  } finally {
    loader.close();
    await relay.dispose();
    await other.dispose();
  }
}

function runsOf(
  loader: RelayLoader,
  after: (load: readonly (readonly Loaded[])[]) => void,
): () => Promise<Run> {
  let nth = 0;
  return async () => {
    nth += 1;
    const load = await chains(events, connections, `run ${nth}`);
    const figure = await loader.rate(load, inFlight);
    after(load);
    return { figure, samples: [] };
  };
}

/** Their events over as many sockets, all of them in flight; the events a second. */
async function nostrRun(url: string, frames: readonly string[]): Promise<Run> {
  let answered = 0;
  let done: () => void = () => undefined;
  const all = new Promise<void>((settle) => {
    done = settle;
  });
  const listener = {
    ok: () => {
      answered += 1;
      if (answered === frames.length) done();
    },
  };
  const sockets = await Promise.all(Array.from({ length: connections }, () => nostrSocket(url, listener)));
  const begunAt = performance.now();
  for (const [at, frame] of frames.entries()) sockets[at % connections]?.send(frame);
  await all;
  const figure = (frames.length * 1_000) / (performance.now() - begunAt);
  for (const socket of sockets) socket.terminate();
  return { figure, samples: [] };
}

type RawRow = Record<string, Buffer | null>;

/**
 * The very rows a relay wrote for its events, written again: into a store of the same tables and indexes, one statement
 * and one transaction each, flushed as the relay's are. The rows of slot and counters, which the relay writes too, are
 * left out; they would only make this slower.
 */
class RawInserts {
  readonly #folder = mkdtempSync(join(onDisk, 'holdfast-raw-'));
  readonly #source: Database.Database;
  readonly #database: Database.Database;
  readonly #insert: Database.Statement<(Buffer | null)[]>;
  readonly #columns: readonly string[];
  readonly #waiting: (readonly (Buffer | null)[][])[] = [];
  #seen = new Set<string>();

  constructor(store: string) {
    const file = join(this.#folder, 'raw.sqlite');
    new SqliteStore({ file });
    this.#database = new Database(file);
    this.#database.pragma('journal_mode = WAL');
    this.#database.pragma('synchronous = FULL');
    this.#source = new Database(store, { readonly: true });
    const columns = this.#database.pragma('table_info("events")') as readonly { readonly name: string }[];
    this.#columns = columns.map((column) => column.name);
    const names = this.#columns.map((name) => `"${name}"`).join(', ');
    const places = this.#columns.map(() => '?').join(', ');
    this.#insert = this.#database.prepare(`INSERT INTO events (${names}) VALUES (${places})`);
  }

  /** Keeps the rows of what the relay has just taken, for a later run. */
  take(load: readonly (readonly Loaded[])[]): void {
    const all = this.#source.prepare<[], RawRow>('SELECT * FROM events').all();
    const fresh = all.filter((row) => !this.#seen.has(keyOf(row)));
    this.#seen = new Set(all.map(keyOf));
    if (fresh.length !== load.reduce((sum, chain) => sum + chain.length, 0)) {
      throw new Error('the relay has not just what it answered for');
    }
    this.#waiting.push(fresh.map((row) => this.#columns.map((name) => row[name] ?? null)));
  }

  run(): Run {
    const rows = this.#waiting.shift();
    if (rows === undefined) throw new Error('no rows to write');
    const begunAt = performance.now();
    for (const row of rows) this.#insert.run(...row);
    return { figure: (rows.length * 1_000) / (performance.now() - begunAt), samples: [] };
  }

  dispose(): void {
    this.#source.close();
    this.#database.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function keyOf(row: RawRow): string {
  return row['key']?.toString('latin1') ?? '';
}
