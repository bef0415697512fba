import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { SqliteStore } from '../../src/store/sqlite/sqlite-store';
import { storeContract } from '../contract/store-contract';

const data = { id: 7, bytes: new Uint8Array(32).fill(7) };

storeContract('sqlite', async (scripts) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'));
  const open = (): SqliteStore =>
    new SqliteStore({ file: join(folder, 'store.sqlite'), keys: () => ({ data }), scripts });
  let store = open();
  const reopen = async (): Promise<SqliteStore> => {
    await store.close();
    store = open();
    return store;
  };
  const close = async (): Promise<void> => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { store, reopen, close };
});

test('a file of a later schema, and one that is no database, are refused by name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'));
  const later = join(folder, 'later.sqlite');
  const database = new Database(later);
  database.pragma('user_version = 999');
  database.close();
  expect(() => new SqliteStore({ file: later })).toThrow(expect.objectContaining({ kind: 'outdated' }));
  expect(() => new SqliteStore({ file: folder })).toThrow(expect.objectContaining({ kind: 'storage' }));
  rmSync(folder, { recursive: true, force: true });
});

test('the file is flushed at every commit, and one file is left at the end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'));
  const file = join(folder, 'store.sqlite');
  const store = new SqliteStore({ file });
  const reader = new Database(file);
  expect(reader.pragma('journal_mode', { simple: true })).toBe('wal');
  reader.close();
  await store.close();
  expect(readdirSync(folder)).toEqual(['store.sqlite']);
  rmSync(folder, { recursive: true, force: true });
});
