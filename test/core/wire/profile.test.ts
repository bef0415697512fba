import { blake3 } from '@noble/hashes/blake3.js';
import { describe, expect, test } from 'vitest';
import { AssertionError } from '../../../src/core/assert';
import { toHex } from '../../../src/core/ids';
import {
  darkirc,
  genesisOf,
  holdfast,
  isSlot,
  minPeersOf,
  profileOf,
  slotOf,
} from '../../../src/core/wire/profile';
import { geneses } from '../../vectors/event-graph';
import { profile } from '../../vectors/formats';

const hour = 3_600_000;

describe('network profile', () => {
  test('vectors of holdfast', () => {
    expect(toHex(holdfast.magic)).toBe(profile.magic);
    expect(toHex(blake3(new TextEncoder().encode(profile.magicSource))).slice(0, 8)).toBe(profile.magic);
    expect(genesisOf(holdfast, holdfast.initialGenesisMs).id).toBe(profile.staticGenesisId);
    expect(holdfast.initialGenesisMs).toBe(profile.initialGenesisMs);
    expect([holdfast.app, holdfast.version]).toEqual(['holdfast', { major: 1, minor: 0, patch: 0 }]);
    expect([holdfast.textBytesMax, darkirc.textBytesMax]).toEqual([16_384, 512]);
  });

  test('the public SwarmId of holdfast follows from its name, magic and version', () => {
    const u64 = (value: number) => [0, 0, 0, 0, 0, 0, 0, value];
    const name = new TextEncoder().encode(holdfast.app);
    const { major, minor } = holdfast.version;
    const hashed = [...new TextEncoder().encode('darkfi-swarm-id-v1'), 0, 0, name.length, ...name];
    const input = new Uint8Array([...hashed, ...holdfast.magic, ...u64(major), ...u64(minor), 0]);
    expect(toHex(blake3(input))).toBe(profile.swarmId);
  });

  test('darkirc has the constants of upstream', () => {
    expect(toHex(darkirc.magic)).toBe('fbe5c7b5');
    expect(genesisOf(darkirc, darkirc.initialGenesisMs).id).toBe(geneses.static.id);
    expect(darkirc.version).toEqual({ major: 0, minor: 5, patch: 1 });
  });

  test('slots follow each other without gap, and what is before them belongs to the first', () => {
    const first = holdfast.initialGenesisMs;
    expect(slotOf(holdfast, first)).toBe(first);
    expect(slotOf(holdfast, first + hour - 1)).toBe(first);
    expect(slotOf(holdfast, first + hour)).toBe(first + hour);
    expect(slotOf(holdfast, first + 1_000 * hour + 0.5)).toBe(first + 1_000 * hour);
    expect(slotOf(holdfast, 0)).toBe(first);
    expect(() => slotOf(holdfast, Number.NaN)).toThrow(AssertionError);
    expect([first, first + hour].every((slot) => isSlot(holdfast, slot))).toBe(true);
    expect([first + 1, first - hour, 0, 2 ** 60, Number.NaN].some((slot) => isSlot(holdfast, slot))).toBe(
      false,
    );
    expect(() => genesisOf(holdfast, first + 1)).toThrow(AssertionError);
  });

  test('every slot has a genesis of its own', () => {
    const ids = [0, 1, 2].map((n) => genesisOf(holdfast, holdfast.initialGenesisMs + n * hour).id);
    expect(new Set(ids).size).toBe(3);
    expect(genesisOf(holdfast, holdfast.initialGenesisMs).header.layer).toBe(0n);
  });

  test('two peers are wanted where two relays are known, else one', () => {
    expect([0, 1, 2, 9].map((known) => minPeersOf(holdfast, known))).toEqual([1, 1, 2, 2]);
  });

  test('a profile is found by name', () => {
    expect(profileOf('holdfast')).toBe(holdfast);
    expect(profileOf('darkirc')).toBe(darkirc);
    expect(profileOf('toString')).toBeUndefined();
  });
});
