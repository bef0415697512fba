import { openDB } from 'idb';
import type { CountersRow, MessageRow } from '../../src/core/tables';

const rowsTogether = 2_000;

/** Copies the only message of a database, sealed body and all, until the lane has `count` entries. */
export async function copyHead(database: string, count: number): Promise<void> {
  const connection = await openDB(database);
  const [first] = (await connection.getAll('messages')) as MessageRow[];
  const [counters] = (await connection.getAll('counters')) as CountersRow[];
  if (first?.lane === undefined || counters === undefined) throw new Error('the first message is not queued');
  for (let from = 2; from <= count; from += rowsTogether) {
    const transaction = connection.transaction('messages', 'readwrite', { durability: 'relaxed' });
    for (let seq = from; seq < Math.min(from + rowsTogether, count + 1); seq++) {
      const logical = seq.toString(16).padStart(32, '0');
      void transaction.store.put({ ...first, seq, lane: seq, logical });
    }
    await transaction.done;
  }
  const outboxBytes = counters.outboxBytes * count;
  await connection.put('counters', { ...counters, seq: count, live: count, outboxBytes });
  connection.close();
}
