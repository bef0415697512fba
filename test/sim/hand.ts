import type { AccountId } from '../../src/core/ids';
import type { MessageRow } from '../../src/core/tables';
import type { Args } from '../../src/core/transactions/registry';
import type { MemoryTables } from '../../src/store/memory/memory-tables';

/** What a person does to a message that waits. */
export type HandDeed = 'retry' | 'edit' | 'drop' | 'drop-undo';

/** Deeds, for plans to choose from. */
export const handDeeds: readonly HandDeed[] = ['retry', 'edit', 'edit', 'drop', 'drop-undo', 'drop-undo'];

type Named = Args<'drop'>;

const rowsMax = 200;

/** The waiting message a person points at: the nth as the screen shows them. */
export function pointedAt(
  tables: MemoryTables,
  account: AccountId,
  nth: number,
): Omit<Named, 'now'> | undefined {
  const range = { prefix: [account] };
  const lane = tables.answer([{ ask: 'rows', table: 'messages', index: 'lane', range, limit: rowsMax }])[0];
  const rows = (lane ?? []) as readonly MessageRow[];
  const row = rows[rows.length === 0 ? 0 : nth % rows.length];
  if (row === undefined) return undefined;
  return { account, conversation: row.conversation, seq: row.seq, command: row.logical };
}
