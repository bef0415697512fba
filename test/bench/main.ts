import { endAll } from '../../src/setup.mjs';
import { catchUpRows } from './catch-up-row';
import { drainRows } from './drain-row';
import { drainedRows, restartRows } from './engine-rows';
import { builtApp, Room } from './room';
import { type Row, tableOf } from './rows';
import { sizeRows } from './sizes';
import { enqueueRows, queuedRows } from './store-rows';

/** Parts of the bench, in the order of their rows. */
const parts: Readonly<Record<string, (room: Room) => Promise<Row[]>>> = {
  enqueue: enqueueRows,
  queued: queuedRows,
  drain: drainRows,
  drained: drainedRows,
  restart: restartRows,
  'catch-up': catchUpRows,
  sizes: async () => sizeRows(builtApp),
};

const usage = `Usage: npm run bench [-- [--json] [${Object.keys(parts).join('|')}] …]`;

async function measure(names: readonly string[], say: (text: string) => void): Promise<Row[]> {
  const room = await Room.open();
  try {
    const rows: Row[] = [];
    for (const [name, part] of Object.entries(parts)) {
      if (names.length > 0 && !names.includes(name)) continue;
      say(`${name} …`);
      rows.push(...(await part(room)));
    }
    return rows;
  } finally {
    await room.close();
  }
}

async function main(args: readonly string[]): Promise<number> {
  const json = args.includes('--json');
  const names = args.filter((arg) => arg !== '--json');
  if (names.some((name) => !Object.hasOwn(parts, name))) {
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
