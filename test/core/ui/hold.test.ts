import { describe, expect, test } from 'vitest';
import { makeFormat } from '../../../src/ui/format';
import { faceOf, markLine, markName, markStory } from '../../../src/ui/mark';
import type { HoldReason, MarkView, Snapshot } from '../../../src/ui/model';
import { stripText } from '../../../src/ui/strip';
import { de } from '../../../src/ui/texts/de';
import { en } from '../../../src/ui/texts/en';

const now = Date.UTC(2026, 10, 30, 14, 3, 20);
const reasons = Object.keys(en.reason) as HoldReason[];
const languages = [
  { texts: en, format: makeFormat('en', 'UTC') },
  { texts: de, format: makeFormat('de', 'UTC') },
];
/** Words that would say, or let one think, that a message is there no more. */
const removal =
  /remov|delet|discard|\bdropped\b|\blost\b|\bgone\b|fail|expire|gave up|cancel|entfern|gelösch|verworfen|verloren|gescheitert|fehlgeschlagen|abgebrochen|aufgegeben|\bist weg\b/i;

function held(reason: HoldReason, more: Partial<MarkView> = {}): MarkView {
  return {
    state: 'on-hold',
    reason,
    acceptedBy: 0,
    handedTo: 0,
    rounds: 0,
    queuedAt: now - 30_000,
    place: 1,
    holds: 3,
    ...more,
  };
}

function queueOf(mark: MarkView): Snapshot {
  return {
    phase: 'ready',
    kept: true,
    conversations: [],
    queue: { waiting: 4, bytes: 1, bytesMax: 2, head: { conversation: 'c', name: '#c', mark, seq: 1 } },
    network: { relays: [], synced: false, engine: 'tab', carrier: 'none', sendsWhenClosed: false },
    updateReady: false,
    now,
  };
}

/** Every sentence a screen says of a message that cannot leave. */
function notices(mark: MarkView, { texts, format }: (typeof languages)[number]): string[] {
  const face = faceOf(mark, now, true);
  return [
    markLine(mark, face, now, texts, format),
    markName(mark, face, now, texts, format),
    stripText('on-hold', queueOf(mark), texts, format),
    ...markStory(mark, true, now, texts, format),
  ];
}

describe('a message that cannot leave', () => {
  test('[OB-29] no notice of a blocked send, in either language, says or lets one think that the message was removed', () => {
    expect(reasons.length).toBe(11);
    for (const language of languages) {
      for (const reason of reasons) {
        for (const more of [
          {},
          { handedTo: 2, rounds: 4, firstHandedAt: now - 90_000, nextAt: now + 90_000 },
        ]) {
          const mark = held(reason, more);
          for (const notice of notices(mark, language)) expect(notice).not.toMatch(removal);
          expect(faceOf(mark, now, true).word).toBe('on-hold');
          expect(markStory(mark, true, now, language.texts, language.format)).toContain(
            language.texts.inspectStays,
          );
        }
      }
    }
    expect(en.inspectStays).toMatch(/stays on this device and keeps its place/);
    expect(en.fact['has-new']('x')).not.toMatch(removal);
    expect('It was removed').toMatch(removal);
    expect('Sie wurde gelöscht').toMatch(removal);
  });

  test('[OB-29] the refusals of a hand on a waiting message, and of a full outbox, leave it where it is', () => {
    for (const { texts } of languages) {
      for (const kind of ['not-before', 'waits', 'exposed', 'too-late', 'timeout'] as const)
        expect(texts.refused[kind]).not.toMatch(removal);
      const full = texts.outboxFull('32 MB', '32 MB').replace(/Nothing was lost|Nichts ging verloren/, '');
      expect(full.length).toBeGreaterThan(20);
      expect(full).not.toMatch(removal);
    }
  });

  test('every reason is in the row, in its name, in the strip and in the details, with what waits behind', () => {
    for (const language of languages) {
      const { texts, format } = language;
      for (const reason of reasons) {
        const mark = held(reason);
        const [row, name, strip] = notices(mark, language);
        for (const words of [row, name, strip]) expect(words).toContain(texts.reason[reason]);
        expect(row).toContain(texts.behindThis(3));
        expect(name).toContain(texts.waitsBehind(3));
        expect(strip).toContain(texts.waitsBehind(3));
        expect(markStory(mark, true, now, texts, format)).toContain(texts.why[reason]);
      }
    }
  });

  test('a hold says when it goes on, where that is known', () => {
    const [english] = languages;
    if (!english) throw new Error('no language');
    const row = (mark: MarkView) => notices(mark, english)[0];
    const at = { nextAt: now + 580_000 };
    expect(row(held('budget', at))).toBe(
      'On hold · sending budget used up, goes on at 14:13 · 3 wait behind this',
    );
    expect(row(held('processing', at))).toBe(
      'On hold · could not be prepared, next try about 14:13 · 3 wait behind this',
    );
    expect(row(held('room', { nextAt: now - 1 }))).toBe(
      'On hold · storage bound reached · 3 wait behind this',
    );
  });

  test('a message behind another is queued, and its name says behind whose', () => {
    const { reason: _, holds: __, place: ___, ...rest } = held('room');
    const mark: MarkView = { ...rest, state: 'queued', behind: '#harbour' };
    const face = faceOf(mark, now, true);
    const [{ format }] = languages as [(typeof languages)[number]];
    expect(markLine(mark, face, now, en, format)).toBe('Queued');
    expect(markName(mark, face, now, en, format)).toBe(
      'Queued on this device, nothing has left yet. Waits behind a message to \u2068#harbour\u2069',
    );
  });

  test('relays that call it invalid are named in the strip, and it goes on being offered', () => {
    const mark: MarkView = {
      ...held('refused'),
      state: 'sent',
      handedTo: 2,
      firstHandedAt: now - 90_000,
      nextAt: now + 580_000,
    };
    const [english] = languages;
    if (!english) throw new Error('no language');
    expect(stripText('unanswered', queueOf(mark), en, english.format)).toBe(
      'A message the relays call invalid so far · next try about 14:13',
    );
  });
});
