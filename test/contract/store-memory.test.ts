import { MemoryStore } from '../../src/store/memory/memory-store';
import { MemoryTables } from '../../src/store/memory/memory-tables';
import { storeContract } from './store-contract';

const data = { id: 7, bytes: new Uint8Array(32).fill(7) };

storeContract('memory', async (scripts) => {
  const tables = new MemoryTables();
  const open = (): MemoryStore => new MemoryStore(() => ({ data }), tables, scripts);
  // The rows are the tables; a store is only what runs scripts over them.
  return { store: open(), reopen: async () => open(), close: async () => {} };
});
