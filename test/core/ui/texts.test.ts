import { describe, expect, test } from 'vitest';
import { de } from '../../../src/ui/texts/de';
import { en } from '../../../src/ui/texts/en';

/** Every sentence of a catalogue, functions called with harmless arguments. */
function sentences(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'function') {
    return [0, 1, 2].map((count) => String(value(count, count, count)));
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(sentences) : [];
}

describe('the catalogues', () => {
  test('no sentence calls a relay’s word delivered or read', () => {
    const all = [...sentences(en), ...sentences(de)];
    expect(all.length).toBeGreaterThan(300);
    const claims = all.filter((sentence) =>
      /\b(delivered|delivery|was read|were read|has read|zugestellt|ausgeliefert|gelesen)\b/i.test(sentence),
    );
    expect(claims).toEqual([]);
  });

  test('counting words fit their numbers', () => {
    expect(en.strip.waiting(1)).toBe('1 message waits on this device');
    expect(en.strip.waiting(1_204)).toBe('1,204 messages wait on this device');
    expect(de.strip.waiting(1)).toBe('1 Nachricht wartet auf diesem Gerät');
    expect(de.strip.waiting(2)).toBe('2 Nachrichten warten auf diesem Gerät');
    expect(en.sendOver(1)).toBe('Send, 1 byte over');
    expect(en.sendOver(214)).toBe('Send, 214 bytes over');
  });

  test('names in sentences are isolated from their direction', () => {
    expect(en.messageTo('#harbour')).toBe('Message \u2068#harbour\u2069');
    expect(de.waitBehind('#x')).toContain('\u2068#x\u2069');
  });
});
