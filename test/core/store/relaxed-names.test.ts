import { expect, test } from 'vitest';
import { reads, registered, relaxedWrites, writes } from '../../../src/core/transactions/registry';

/** Drafts and read marks; a cache or a mirror joins them when there is one (formats.md 2.6). Nothing that was promised. */
const pinned = ['markRead', 'putDraft'];

test('only the pinned names may be committed without waiting for the disk', () => {
  expect([...relaxedWrites].sort()).toEqual(pinned);
  const relaxed = Object.keys(writes).filter((name) => registered.isRelaxed(name));
  expect(relaxed.sort()).toEqual(pinned);
});

test('a name is a write or a read, never both', () => {
  expect(Object.keys(writes).filter((name) => Object.hasOwn(reads, name))).toEqual([]);
});
