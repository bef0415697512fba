import { endAll } from '../../src/setup.mjs';
import { drainRows } from './drain-row';
import { builtApp, Room } from './room';
import { type Row, tableOf } from './rows';
import { sizeRows } from './sizes';
import { enqueueRows, headRow } from './store-rows';

const usage = 'Usage: npm run bench [-- --json]';

/** All rows, in the order of the issue. */
async function measure(say: (text: string) => void): Promise<Row[]> {
  const room = await Room.open();
  try {
    const tab = await room.benchTab();
    await tab.evaluate(() => bench.connect());
    say('enqueue …');
    const enqueue = await enqueueRows(tab);
    say('head …');
    const head = await headRow(tab);
    await tab.close();
    say('drain …');
    const drain = await drainRows(room);
    return [...enqueue, head, ...drain, ...sizeRows(builtApp)];
  } finally {
    await room.close();
  }
}

async function main(args: readonly string[]): Promise<number> {
  const json = args.includes('--json');
  if (args.some((arg) => arg !== '--json')) {
    console.error(usage);
    return 2;
  }
  // What is measured is on standard output alone, so that it can be read by a program.
  const rows = await measure((text) => console.error(text));
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
