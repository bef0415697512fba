import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../src/setup.mjs';
import { Relay } from '../app/kit/relay';
import type { Room } from './room';
import { measuredRow, type Row } from './rows';

const messages = 180;
const patienceMs = 60_000;

/** Drains a queue through a real relay process on this machine, by the app's own engine; reported, without a bound. */
export async function drainRows(room: Room): Promise<Row[]> {
  const name = `drain of ${messages} through a relay on this machine`;
  const times = await drained(room);
  const spent = times.at(-1);
  const complete = times.length === messages && spent !== undefined;
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
  const rate = complete
    ? [{ figure: ((messages - 1) * 1_000) / (spent - (times[0] ?? 0)), samples: [] }]
    : [];
  return [
    measuredRow(`${name}: messages`, '/s', rate, 'strict'),
    measuredRow(`${name}: between two acknowledgements`, 'ms', gaps.map(runOf), 'strict'),
    measuredRow(
      `${name}: first message after the relay is named`,
      'ms',
      times.slice(0, 1).map(runOf),
      'strict',
    ),
  ];
}

const runOf = (figure: number) => ({ figure, samples: [] });

async function drained(room: Room): Promise<number[]> {
  if (!existsSync(join(root, 'dist/node/relay.js'))) return [];
  const relay = await Relay.start();
  try {
    const tab = await room.appTab();
    await tab.waitFor('control by the service worker', () => navigator.serviceWorker.controller !== null);
    await tab.evaluate((count) => bench.queue(count), messages);
    const times = await tab.evaluate((url, ms) => bench.drain(url, ms), relay.url, patienceMs);
    await tab.close();
    return times;
  } catch (error) {
    // The row says that nothing was measured; the other rows stand.
    console.error(error);
    return [];
  } finally {
    await relay.dispose();
  }
}
