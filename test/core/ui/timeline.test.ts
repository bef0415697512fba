import { describe, expect, test } from 'vitest';
import { saidNothing, saying } from '../../../src/ui/announcements';
import { dayWord, makeFormat } from '../../../src/ui/format';
import type { MessageView, TimelineView } from '../../../src/ui/model';
import { formatRoute, parseRoute, pathTo } from '../../../src/ui/route';
import { en } from '../../../src/ui/texts/en';
import { rowsMax, rowsOf, windowOf } from '../../../src/ui/timeline/rows';

const noon = Date.UTC(2026, 10, 30, 12);
const minute = 60_000;
const format = makeFormat('en', 'UTC');

function message(seq: number, at: number, more: Partial<MessageView> = {}): MessageView {
  return { seq, logical: `${seq}`, own: false, nick: 'Ana', text: `m${seq}`, at, ...more };
}

const sketch = (messages: readonly MessageView[], unread?: number) =>
  rowsOf(messages, unread, format.dayKey).map((row) =>
    row.kind === 'message'
      ? `${row.message.seq}${row.first ? ' first' : ''}${row.last ? ' last' : ''}`
      : row.kind === 'unread'
        ? `${row.count} new`
        : 'day',
  );

describe('rows of the timeline', () => {
  test('one author within five minutes and one day is one group', () => {
    expect(
      sketch([
        message(1, noon),
        message(2, noon + 4 * minute),
        message(3, noon + 9 * minute),
        message(4, noon + 10 * minute, { nick: 'Bo' }),
        message(5, noon + 11 * minute, { nick: 'Bo', own: true }),
      ]),
    ).toEqual(['day', '1 first', '2 last', '3 first last', '4 first last', '5 first last']);
  });

  test('a day line stands before the first message of each local day and parts a group', () => {
    const midnight = Date.UTC(2026, 10, 30, 23, 59);
    expect(sketch([message(1, midnight), message(2, midnight + 2 * minute)])).toEqual([
      'day',
      '1 first last',
      'day',
      '2 first last',
    ]);
  });

  test('the unread line parts a group and counts what others wrote', () => {
    expect(
      sketch([message(1, noon), message(2, noon), message(3, noon, { own: true }), message(4, noon)], 2),
    ).toEqual(['day', '1 first last', '2 new', '2 first last', '3 first last', '4 first last']);
    expect(sketch([message(1, noon)], 2)).toEqual(['day', '1 first last']);
  });

  test('an unreadable message stands alone', () => {
    const unreadable = { ...message(2, noon), text: undefined } as unknown as MessageView;
    expect(sketch([message(1, noon), unreadable, message(3, noon)])).toEqual([
      'day',
      '1 first last',
      '2 first last',
      '3 first last',
    ]);
  });

  test('at most two hundred are in the document, wherever the window stands', () => {
    const all = Array.from({ length: 500 }, (_, at) => message(at + 1, noon + at));
    expect(windowOf(all, undefined)).toMatchObject({ older: 300, newer: 0 });
    const middle = windowOf(all, 350);
    expect(middle.shown.length).toBe(rowsMax);
    expect([middle.shown[0]?.seq, middle.shown.at(-1)?.seq]).toEqual([151, 350]);
    expect([middle.older, middle.newer]).toEqual([150, 150]);
    expect(windowOf(all.slice(0, 3), 0).shown.length).toBe(3);
  });
});

describe('days, times and bytes', () => {
  test('today and yesterday are words, other days are named', () => {
    expect(dayWord(format, noon, noon, en)).toBe('Today');
    expect(dayWord(format, noon - 86_400_000, noon, en)).toBe('Yesterday');
    expect(dayWord(format, noon - 3 * 86_400_000, noon, en)).toContain('Friday');
    expect(format.short(noon - minute, noon)).toBe('11:59');
    expect(format.short(noon - 3 * 86_400_000, noon)).toBe('Fri');
    expect(format.short(noon - 20 * 86_400_000, noon)).toBe('Nov 10');
  });

  test('bytes have a unit that fits', () => {
    expect([0, 999, 1_000, 18_240, 32_000_000, 999_600].map(format.bytes)).toEqual([
      '0 B',
      '999 B',
      '1 kB',
      '18 kB',
      '32 MB',
      '1 MB',
    ]);
    expect(makeFormat('de', 'UTC').bytes(1_500)).toBe('1,5 kB');
  });
});

describe('routes', () => {
  test('every place has an address and comes back from it', () => {
    const places = [
      { at: 'list' },
      { at: 'network' },
      { at: 'settings' },
      { at: 'join' },
      { at: 'conversation', conversation: 'ab' },
      { at: 'message', conversation: 'ab', seq: 12 },
    ] as const;
    for (const place of places) expect(parseRoute(formatRoute(place))).toEqual(place);
    expect(pathTo(places[5]).map(({ at }) => at)).toEqual(['list', 'conversation', 'message']);
  });

  test('anything else is the list, or the part that can be understood', () => {
    for (const hash of ['', '#', '#/x', '#/c', '#/c/<b>', '#/c/ZZ'])
      expect(parseRoute(hash)).toEqual({ at: 'list' });
    expect(parseRoute('#/c/ab/m/x')).toEqual({ at: 'conversation', conversation: 'ab' });
  });
});

describe('what is said aloud', () => {
  const view = (messages: readonly MessageView[]): TimelineView => ({
    conversation: 'ab',
    name: '#harbour',
    secret: false,
    messages,
    older: 'end',
    draft: '',
  });
  const queued = (seq: number, at: number) =>
    message(seq, at, {
      own: true,
      mark: { state: 'queued', acceptedBy: 0, handedTo: 0, rounds: 0, queuedAt: at },
    });

  test('a new message once, older rows and the opening never', () => {
    let step = saying(saidNothing(noon), view([message(5, noon)]), false, noon, en);
    expect(step.say).toEqual([]);
    step = saying(step.state, view([message(1, noon), message(5, noon), message(6, noon)]), false, noon, en);
    expect(step.say).toEqual(['Ana: m6']);
    step = saying(step.state, view([message(5, noon), message(6, noon)]), false, noon + 9_000, en);
    expect(step.say).toEqual([]);
  });

  test('five or more within three seconds are told as a number', () => {
    const opened = saying(saidNothing(noon), view([]), false, noon, en);
    const many = [1, 2, 3, 4, 5, 6, 7].map((seq) => message(seq, noon));
    const burst = saying(opened.state, view(many), false, noon + 100, en);
    expect(burst.say).toEqual([]);
    expect(saying(burst.state, view(many), false, noon + 3_200, en).say).toEqual(['7 new messages']);
  });

  test('an own message is told once, after five seconds without acceptance', () => {
    let step = saying(saidNothing(noon), view([]), true, noon, en);
    const messages = [queued(1, noon)];
    step = saying(step.state, view(messages), true, noon + 4_000, en);
    expect(step.say).toEqual([]);
    step = saying(step.state, view(messages), true, noon + 5_000, en);
    expect(step.say).toEqual(['Queued. No relay in reach.']);
    expect(saying(step.state, view(messages), true, noon + 20_000, en).say).toEqual([]);
  });
});
