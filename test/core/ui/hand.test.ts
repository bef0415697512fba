import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/core/limits';
import { edited, emptyCompose, pressed, taken } from '../../../src/ui/compose';
import { makeFormat } from '../../../src/ui/format';
import {
  droppedWords,
  dropQuestion,
  exposed,
  handRefusal,
  lastEditable,
  stillShown,
  undoable,
} from '../../../src/ui/hand';
import type { MarkView, MessageView } from '../../../src/ui/model';
import { en } from '../../../src/ui/texts/en';

const now = Date.UTC(2026, 10, 30, 14, 3, 20);
const format = makeFormat('en', 'UTC');

function mark(state: MarkView['state'], more: Partial<MarkView> = {}): MarkView {
  return { state, acceptedBy: 0, handedTo: 0, rounds: 0, queuedAt: now - 30_000, ...more };
}

function own(seq: number, view: MarkView): MessageView {
  return { seq, logical: `${seq}`, own: true, nick: 'Mo', text: `text ${seq}`, at: now, mark: view };
}

const copied = { firstHandedAt: now - 20_000, copies: 1, handedTo: 1 };

describe('what may be done to a waiting message', () => {
  test('the text can be changed only while no copy exists, whatever the state is called', () => {
    const states = ['queued', 'on-hold', 'sent', 'going'] as const;
    for (const state of states) {
      expect(lastEditable([own(1, mark(state))])?.seq).toBe(1);
      expect(exposed(mark(state, copied))).toBe(true);
      expect(lastEditable([own(1, mark(state, copied))])).toBeUndefined();
    }
    for (const state of ['accepted', 'dropped'] as const)
      expect(lastEditable([own(1, mark(state))])).toBeUndefined();
  });

  test('the last that can be changed is found behind one that cannot', () => {
    const rows = [own(1, mark('sent', copied)), own(2, mark('queued')), own(3, mark('accepted', copied))];
    expect(lastEditable(rows)?.seq).toBe(2);
    const { text: _, ...unreadable } = own(4, mark('queued'));
    expect(lastEditable([...rows, unreadable])?.seq).toBe(2);
  });

  test('a drop is undone for ten seconds, only where nothing had left, and never across a jump of the clock', () => {
    const dropped = mark('dropped', { droppedAt: now });
    expect(undoable(dropped, now)).toBe(true);
    expect(undoable(dropped, now + limits.undoMs - 1)).toBe(true);
    expect(undoable(dropped, now + limits.undoMs)).toBe(false);
    expect(undoable(dropped, now - limits.undoMs)).toBe(false);
    expect(undoable(mark('dropped', { ...copied, droppedAt: now }), now)).toBe(false);
    expect(undoable(mark('queued'), now)).toBe(false);
  });

  test('a final drop leaves no row, unless a copy had left; all others stay', () => {
    const rows = [
      own(1, mark('queued')),
      own(2, mark('dropped', { droppedAt: now })),
      own(3, mark('dropped', { ...copied, droppedAt: now })),
    ];
    expect(stillShown(rows, now + 1)).toBe(rows);
    expect(stillShown(rows, now + limits.undoMs).map(({ seq }) => seq)).toEqual([1, 3]);
  });

  test('the question before a drop says what it sets free and that a copy is out of reach', () => {
    expect(dropQuestion(mark('sent', { ...copied, holds: 3 }), en)).toBe(
      'Drop it? 3 messages behind it can then leave. A copy may have left already: that one cannot be called back.',
    );
    const fresh = dropQuestion(mark('queued'), en);
    expect(fresh).not.toContain('called back');
    expect(fresh).toContain('Nothing of it has left');
  });

  test('[OB-34] a dropped message names its copies, and claims of none that it is gone', () => {
    const dropped = mark('dropped', { droppedAt: now });
    expect(droppedWords(dropped, en, format)).toBe('You dropped it at 14:03.');
    expect(droppedWords({ ...dropped, ...copied }, en, format)).toBe(
      'You dropped it at 14:03. 1 copy had already left and cannot be called back.',
    );
    expect(droppedWords({ ...dropped, ...copied, copies: 2 }, en, format)).toContain(
      '2 copies had already left',
    );
    expect(droppedWords({ ...dropped, ...copied, handedTo: 0 }, en, format)).toContain(
      '1 copy may have left and cannot be called back',
    );
  });

  test('a try that is too early says when; within the minute to the second', () => {
    expect(handRefusal({ refused: 'not-before', at: now + 580_000 }, now, en, format)).toBe(
      'Not before 14:13: relays ask for pauses between tries.',
    );
    expect(handRefusal({ refused: 'not-before', at: now + 5_000 }, now, en, format)).toBe(
      'Not before 14:03:25: relays ask for pauses between tries.',
    );
    expect(handRefusal({ refused: 'gone' }, now, en, format)).toBe(en.handGone);
    expect(handRefusal({ refused: 'storage' }, now, en, format)).toBeUndefined();
  });

  test('a text taken over is a message of its own under what was typed, once however often it is taken', () => {
    let made = 0;
    const next = () => `${++made}`;
    const typed = edited(emptyCompose, 'half a ', next);
    const once = taken(typed, 'old', 'version', next);
    expect(once).toMatchObject({ text: 'half a\nold', from: 'version', command: '1' });
    expect(taken(once, 'old', 'version', next).text).toBe('half a\nold');
    expect(taken(emptyCompose, 'old', 'again', next)).toMatchObject({ text: 'old', from: 'again' });
    expect(edited(once, '', next).from).toBeUndefined();
    expect(pressed(once, next).state.from).toBeUndefined();
  });
});
