import { describe, expect, test } from 'vitest';
import { makeFormat } from '../../../src/ui/format';
import { faceOf, markLine, markName, markStory, wordShown } from '../../../src/ui/mark';
import type { MarkView } from '../../../src/ui/model';
import { de } from '../../../src/ui/texts/de';
import { en } from '../../../src/ui/texts/en';

const now = Date.UTC(2026, 10, 30, 14, 3, 20);
const format = makeFormat('en', 'UTC');

function mark(state: MarkView['state'], more: Partial<MarkView> = {}): MarkView {
  return {
    state,
    acceptedBy: 0,
    handedTo: state === 'queued' ? 0 : 1,
    rounds: 0,
    queuedAt: now - 30_000,
    ...more,
  };
}

const line = (view: MarkView) => markLine(view, faceOf(view, now, true), now, en, format);
const name = (view: MarkView) => markName(view, faceOf(view, now, true), now, en, format);

describe('marks', () => {
  test('every state has its own shape and word; shapes alone tell them apart', () => {
    const states = ['queued', 'sent', 'accepted', 'on-hold', 'dropped'] as const;
    const faces = states.map((state) => faceOf(mark(state), now, true));
    expect(new Set(faces.map(({ shape }) => shape)).size).toBe(states.length);
    expect(faces.map(({ word }) => en.mark[word])).toEqual([
      'Queued',
      'Sent · no answer yet',
      'Accepted',
      'On hold',
      'Dropped',
    ]);
  });

  test('for one second after the hand-over it is going out, with the shape of the clock', () => {
    const fresh = mark('sent', { firstHandedAt: now - 999 });
    expect(faceOf(fresh, now, true)).toEqual({ shape: 'clock', word: 'going' });
    expect(faceOf(fresh, now + 1, true)).toEqual({ shape: 'arrow', word: 'sent' });
    expect(faceOf(mark('going'), now, true)).toEqual({ shape: 'clock', word: 'going' });
  });

  test('a message of which no hand-over is on record is never called sent', () => {
    const made = mark('sent', { handedTo: 0, firstHandedAt: now - 60_000 });
    expect(faceOf(made, now, true)).toEqual({ shape: 'clock', word: 'going' });
    expect(markStory(made, true, now, en, format).join(' ')).not.toContain('Handed to');
  });

  test('no passing of time ever makes a mark accepted', () => {
    for (const state of ['queued', 'going', 'sent', 'on-hold', 'dropped'] as const) {
      const seen = faceOf(mark(state, { firstHandedAt: now, acceptedBy: 0 }), now + 1e9, true);
      expect(seen.word).not.toBe('accepted');
    }
  });

  test('where nothing is kept, nothing is called queued', () => {
    const queued = mark('queued', { place: 1 });
    const face = faceOf(queued, now, false);
    expect(face).toEqual({ shape: 'dashed', word: 'not-kept' });
    expect(markLine(queued, face, now, en, format)).toBe('Only in this tab');
    expect(markStory(queued, false, now, en, format).join(' ')).not.toMatch(/stored|queued/i);
  });

  test('the word stands at the end of a run, at a hold, and at what is unanswered for ten seconds', () => {
    expect(wordShown(mark('accepted'), now, false)).toBe(false);
    expect(wordShown(mark('accepted'), now, true)).toBe(true);
    expect(wordShown(mark('on-hold'), now, false)).toBe(true);
    expect(wordShown(mark('sent', { firstHandedAt: now - 9_000 }), now, false)).toBe(false);
    expect(wordShown(mark('sent', { firstHandedAt: now - 11_000 }), now, false)).toBe(true);
  });

  test('a row says what waits before it, why it is on hold, and when the next try is due', () => {
    expect(line(mark('queued', { place: 4 }))).toBe('Queued · 3 ahead');
    expect(line(mark('queued', { place: 1, reason: 'no-relay' }))).toBe('Queued · no relay in reach');
    expect(line(mark('on-hold', { reason: 'room' }))).toBe('On hold · storage bound reached');
    const late = mark('sent', { firstHandedAt: now - 61_000, nextAt: now + 600_000 });
    expect(line(late)).toBe('Sent · no answer yet · next try about 14:13');
    expect(line({ ...late, nextAt: now + 5_000 })).toBe('Sent · no answer yet · next try in a moment');
    expect(line(mark('sent', { reason: 'refused' }))).toBe('Sent · refused as invalid so far');
  });

  test('the row shows no number of relays; name and inspector do', () => {
    const accepted = mark('accepted', { acceptedBy: 2, required: 3, acceptedAt: now });
    expect(line(accepted)).toBe('Accepted');
    expect(name(accepted)).toBe('Accepted by 2 relays');
    expect(markStory(accepted, true, now, en, format)[0]).toBe(
      'Accepted by 2 of 3 relays, first at 14:03:20.',
    );
    // More may answer than were asked for: no number of a smaller number then.
    for (const required of [1, 2, undefined]) {
      const enough = mark('accepted', { acceptedBy: 2, ...(required && { required }), acceptedAt: now });
      expect(markStory(enough, true, now, en, format)[0]).toBe('Accepted by 2 relays, first at 14:03:20.');
    }
    expect(name(mark('accepted', { acceptedBy: 1 }))).toBe('Accepted by 1 relay');
    expect(name(mark('accepted'))).toBe('Accepted, seen in the network');
  });

  test('"nothing has left" is said of queued messages alone', () => {
    const says = (state: MarkView['state']) =>
      markStory(mark(state, { handedTo: 1 }), true, now, en, format).join(' ');
    expect(says('queued')).toContain('No part of it has left');
    for (const state of ['going', 'sent', 'accepted', 'on-hold'] as const)
      expect(says(state)).not.toContain('No part');
    expect(says('going')).toContain('may have left');
  });

  test('both languages word every state and reason', () => {
    for (const texts of [en, de]) {
      for (const words of [texts.mark, texts.reason, texts.why]) {
        for (const word of Object.values(words)) expect(word.length).toBeGreaterThan(3);
      }
    }
  });
});
