import { describe, expect, test } from 'vitest';
import type { MarkView } from '../../src/ui/model';
import { emptyTalk, key, mount, painted, talkHash, talkOf, type } from './ui-mount';
import { mark, now, ownMessage, ready } from './ui-states';

const enter = { key: 'Enter', keyCode: 13 };

/** A snapshot whose one message has this mark. */
function withMark(view: MarkView) {
  const shown = emptyTalk();
  return { ...shown, timeline: { ...talkOf(shown), messages: [ownMessage(1, 'hello', now, view)] } };
}

const markOf = (root: Element) => root.querySelector('article .mark');
const dialogText = () => document.querySelector('dialog')?.textContent ?? '';

describe('what the screen claims', () => {
  test('[RD-17] no bubble stands before the snapshot has its row, whatever was pressed or answered', async () => {
    const { field, root, sends, snapshot } = await mount(emptyTalk(), talkHash);
    type(field(), 'hello');
    key(field(), enter);
    await painted();
    expect(root.querySelectorAll('article').length).toBe(0);
    sends[0]?.answer();
    await expect.poll(() => field().value).toBe('');
    expect(root.querySelectorAll('article').length).toBe(0);
    snapshot.value = withMark(mark('queued'));
    await expect.poll(() => markOf(root)?.textContent).toContain('Queued');
  });

  test('[RD-17] every mark shown is the state of its row, and changes only with the row', async () => {
    const { root, snapshot } = await mount(withMark(mark('queued')), talkHash);
    const word = () => markOf(root)?.getAttribute('data-word');
    const steps: readonly (readonly [MarkView, string])[] = [
      [mark('going'), 'going'],
      [mark('sent'), 'sent'],
      [mark('on-hold', { reason: 'room' }), 'on-hold'],
      [mark('accepted'), 'accepted'],
      [mark('dropped'), 'dropped'],
    ];
    expect(word()).toBe('queued');
    window.dispatchEvent(new Event('online'));
    window.dispatchEvent(new Event('offline'));
    await painted();
    expect(word()).toBe('queued');
    for (const [view, expected] of steps) {
      snapshot.value = withMark(view);
      await expect.poll(word).toBe(expected);
    }
    snapshot.value = { ...withMark(mark('sent')), network: { ...ready().network, synced: true } };
    await expect.poll(word).toBe('sent');
  });

  test('[RD-05] each state has a button with its own name, and none claims that a person got or saw anything', async () => {
    const { root, snapshot } = await mount(withMark(mark('queued')), talkHash);
    const name = () => markOf(root)?.getAttribute('aria-label');
    const names: readonly (readonly [MarkView, string])[] = [
      [mark('queued'), 'Queued on this device, nothing has left yet. Details'],
      [mark('going'), 'Going out. Details'],
      [
        mark('sent', { nextAt: now + 580_000 }),
        'Sent to 2 connections, no answer yet, next try about 14:13. Details',
      ],
      [mark('accepted'), 'Accepted by 2 relays. Details'],
      [mark('accepted', { acceptedBy: 0 }), 'Accepted, seen in the network. Details'],
      [mark('on-hold', { reason: 'budget' }), 'On hold: sending budget used up. Details'],
    ];
    for (const [view, expected] of names) {
      snapshot.value = withMark(view);
      await expect.poll(() => name()?.replace(/\d\d:\d\d/, '14:13')).toBe(expected);
      expect(markOf(root)?.tagName).toBe('BUTTON');
      expect(root.textContent).not.toMatch(/delivered|received|was read|seen by/i);
    }
  });

  test('[RD-05] the details of an accepted message keep the relay’s word apart from delivery, display and reading', async () => {
    await mount(withMark(mark('accepted')), `${talkHash}/m/1`);
    await expect.poll(dialogText).toContain('Accepted by 2 of 3 relays');
    expect(dialogText()).toContain('cannot be checked from here');
    expect(dialogText()).toContain(
      'does not say that the message was passed on, or that a person got, saw or opened it',
    );
    expect(dialogText()).not.toMatch(/delivered|was read/i);
  });

  test('[OB-34] details and settings say: local sending order, unverified word, no recall', async () => {
    const { root } = await mount(withMark(mark('accepted')), `${talkHash}/m/1`);
    const says = (text: string) => {
      expect(text).toContain('in the order you sent them');
      expect(text).toContain('an order of sending only');
      expect(text).toContain('cannot be checked from here');
      expect(text).toContain('nothing here can call it back');
    };
    await expect.poll(dialogText).toContain('What this tells you');
    says(dialogText());
    location.hash = '#/set';
    await expect.poll(() => root.querySelector('main')?.textContent).toContain('What Holdfast promises');
    says(root.querySelector('main')?.textContent ?? '');
  });

  test('the details list every fact in order, with times to the second', async () => {
    await mount(withMark(mark('accepted')), `${talkHash}/m/1`);
    await expect.poll(() => document.querySelectorAll('.fact-list li').length).toBe(5);
    const lines = [...document.querySelectorAll('.fact-list li')].map((line) => line.textContent ?? '');
    expect(lines.every((line) => /^\d\d:\d\d:\d\d/.test(line))).toBe(true);
    expect(lines.map((line) => line.replace(/[\u2068\u2069]/g, '').slice(8))).toEqual([
      'Stored on this device',
      'Copy 1 made',
      'Handed to wss://harbour.example',
      'wss://north.example: busy',
      'wss://harbour.example: has it, it was new there',
    ]);
  });

  test('a history that cannot be read says so and leaves the state standing', async () => {
    await mount(withMark(mark('sent')), `${talkHash}/m/1`, { inspect: async () => ({ refused: 'storage' }) });
    await expect.poll(dialogText).toContain('Its place in the line is not affected');
    expect(document.querySelector('dialog .mark')?.getAttribute('data-word')).toBe('sent');
  });

  test('list and timeline show the same mark for the same message', async () => {
    const view = mark('on-hold', { reason: 'room' });
    const shown = withMark(view);
    const first = shown.conversations[0];
    const { root } = await mount(
      { ...shown, conversations: first ? [{ ...first, mark: view }] : [] },
      talkHash,
    );
    const names = [...root.querySelectorAll('.mark')].map((one) =>
      one.getAttribute('aria-label')?.replace('. Details', ''),
    );
    expect(names).toEqual(['On hold: storage bound reached', 'On hold: storage bound reached']);
  });

  test('where nothing is kept, nothing is called queued', async () => {
    const { root } = await mount({ ...withMark(mark('queued')), kept: false }, talkHash);
    expect(markOf(root)?.textContent).toBe('Only in this tab');
    expect(root.querySelector('main')?.textContent).not.toContain('Queued');
    expect(root.querySelector('.strip')?.textContent).toContain('keeps nothing');
  });
});
