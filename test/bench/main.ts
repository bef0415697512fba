import { endAll } from '../../src/setup.mjs';
import { catchUpRows } from './catch-up-row';
import { drainRows } from './drain-row';
import { drainedRows, restartRows } from './engine-rows';
import { fanOutRows } from './fan-out-rows';
import { acceptedRows } from './relay-rows';
import { builtApp, Room } from './room';
import { type Row, tableOf } from './rows';
import { sizeRows } from './sizes';
import { enqueueRows, queuedRows } from './store-rows';

/** Parts of the bench, in the order of their rows: those of the browser, and those of the relay. */
const browserParts: Readonly<Record<string, (room: Room) => Promise<Row[]>>> = {
  enqueue: enqueueRows,
  queued: queuedRows,
  drain: drainRows,
  drained: drainedRows,
  restart: restartRows,
  'catch-up': catchUpRows,
  sizes: async () => sizeRows(builtApp),
};
const relayParts: Readonly<Record<string, () => Promise<Row[]>>> = {
  accepted: acceptedRows,
  'fan-out': fanOutRows,
};
const parts = [...Object.keys(browserParts), ...Object.keys(relayParts)];

const usage = `Usage: npm run bench [-- [--json] [${parts.join('|')}] …]`;

async function measure(names: readonly string[], say: (text: string) => void): Promise<Row[]> {
  const wanted = parts.filter((name) => names.length === 0 || names.includes(name));
  const rows: Row[] = [];
  // Nothing of a browser runs beside what the relay's rows measure.
  const room = wanted.some((name) => Object.hasOwn(browserParts, name)) ? await Room.open() : undefined;
  try {
    for (const name of wanted) {
      const part = browserParts[name];
      if (part === undefined || room === undefined) continue;
      say(`${name} …`);
      rows.push(...(await part(room)));
    }
  } finally {
    await room?.close();
  }
  for (const name of wanted) {
    const part = relayParts[name];
    if (part === undefined) continue;
    say(`${name} …`);
    rows.push(...(await part()));
  }
  return rows;
}

async function main(args: readonly string[]): Promise<number> {
  const json = args.includes('--json');
  const names = args.filter((arg) => arg !== '--json');
  if (names.some((name) => !parts.includes(name))) {
    console.error(usage);
    return 2;
  }
  // What is measured is on standard output alone, so that it can be read by a program.
  const rows = await measure(names, (text) => console.error(text));
  console.log(json ? JSON.stringify(rows, null, 1) : tableOf(rows));
  return 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endAll();
    process.exit(130);
  });
}
process.exitCode = await main(process.argv.slice(2));
