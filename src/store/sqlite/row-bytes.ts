import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';

/** Ends every row since rows are checked; what was written before has no such end and is read as it is. */
const mark = Buffer.from('HFc1', 'latin1');
const endBytes = mark.length + 4;

/**
 * The bytes a row is kept as, with a sum at their end: SQLite does not notice when a page has changed on the disk, and
 * what is read then may look like a row. Builds that know of no sum read no further than the row.
 */
export function rowBytes(row: unknown): Buffer {
  const bytes = serialize(row);
  const end = Buffer.alloc(endBytes);
  mark.copy(end);
  end.writeUInt32LE(crc32(bytes), mark.length);
  return Buffer.concat([bytes, end]);
}

/** The row that was kept; `undefined` when it is damaged. */
export function readRow(kept: Buffer): unknown {
  const length = Math.max(0, kept.length - endBytes);
  const isSummed = kept.subarray(length, length + mark.length).equals(mark);
  const bytes = isSummed ? kept.subarray(0, length) : kept;
  if (isSummed && kept.readUInt32LE(length + mark.length) !== crc32(bytes)) return undefined;
  try {
    const row: unknown = deserialize(bytes);
    return typeof row === 'object' && row !== null ? owned(row) : undefined;
  } catch {
    // Whatever else the bytes are, they are no row.
    return undefined;
  }
}

/**
 * Byte arrays come back from `deserialize` as views into the buffer it read. What scripts hand on must own its bytes,
 * or it would keep that buffer alive and could not be passed to another realm.
 */
function owned(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map(owned);
  if (typeof value !== 'object' || value === null) return value;
  const row = value as Record<string, unknown>;
  for (const name of Object.keys(row)) {
    if (typeof row[name] === 'object') row[name] = owned(row[name]);
  }
  return row;
}
