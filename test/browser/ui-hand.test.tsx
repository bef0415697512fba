import { describe, expect, test } from 'vitest';
import type { Commands, MarkView, Refusal } from '../../src/ui/model';
import { emptyTalk, key, mount, painted, part, talkHash, talkOf, type } from './ui-mount';
import { harbour, mark, now, ownMessage, reef } from './ui-states';

const details = `${talkHash}/m/1`;
const waiting = mark('queued', { place: 1, holds: 3 });
const exposedMark = mark('sent', { place: 1, holds: 3, copies: 1, nextAt: now + 580_000 });

/** A snapshot whose one message has this mark. */
function withMark(view: MarkView, text = 'hello') {
  const shown = emptyTalk();
  return { ...shown, timeline: { ...talkOf(shown), messages: [ownMessage(1, text, now, view)] } };
}

const dialog = () => part(document, 'dialog', HTMLDialogElement);
const dialogText = () => document.querySelector('dialog')?.textContent ?? '';
const buttons = () => [...document.querySelectorAll<HTMLButtonElement>('dialog button')];
const button = (words: string) => buttons().find((one) => one.textContent === words);
const editField = () => part(document, '#edit-text', HTMLTextAreaElement);
const heard = () => part(document, 'dialog .said', HTMLElement).textContent;

async function press(words: string): Promise<void> {
  await expect.poll(() => button(words)).toBeDefined();
  button(words)?.click();
  await painted();
}

describe('trying now', () => {
  test('is never turned off; when the rules forbid it, it says until when', async () => {
    const asked: number[] = [];
    const answers: (Refusal | undefined)[] = [
      { refused: 'not-before', at: now + 580_000 },
      { refused: 'waits' },
      undefined,
    ];
    await mount(withMark(exposedMark), details, {
      retryNow: async (_conversation, seq) => {
        asked.push(seq);
        return answers[asked.length - 1];
      },
    });
    await press('Try now');
    await expect
      .poll(() => heard()?.replace(/\d\d:\d\d/, '14:13'))
      .toBe('Not before 14:13: relays ask for pauses between tries.');
    expect(button('Try now')?.disabled).toBe(false);
    await press('Try now');
    await expect.poll(heard).toContain('It waits behind another message');
    key(dialog(), { key: 't' });
    await expect.poll(heard).toBe('The next try is due now.');
    expect(asked).toEqual([1, 1, 1]);
  });
});

describe('editing', () => {
  test('changes a text in its place under a new command, once however often it is pressed', async () => {
    const edits: { seq: number; text: string; command: string; answer: (r?: Refusal) => void }[] = [];
    const editQueued: Commands['editQueued'] = (_conversation, seq, text, command) =>
      new Promise((answer) => {
        edits.push({ seq, text, command, answer });
      });
    await mount(withMark(waiting), details, { editQueued });
    await expect.poll(() => button('Edit')).toBeDefined();
    key(dialog(), { key: 'e' });
    await expect.poll(() => editField().value).toBe('hello');
    type(editField(), 'hello there');
    await painted();
    await press('Change it');
    button('Change it')?.click();
    expect(edits.map(({ seq, text }) => [seq, text])).toEqual([[1, 'hello there']]);
    edits[0]?.answer({ refused: 'timeout' });
    await expect.poll(() => document.querySelector('#edit-problem')?.textContent).toContain('pressing again');
    await press('Change it');
    expect(edits[1]?.command).toBe(edits[0]?.command);
    edits[1]?.answer();
    await expect.poll(heard).toContain('keeps its place');
    expect(document.querySelector('#edit-text')).toBeNull();
  });

  test('a text too long for the frame is not stored, and says by how much', async () => {
    let edits = 0;
    await mount(withMark(waiting), details, {
      bytesOver: (_conversation, text) => text.length - 100,
      editQueued: async () => {
        edits++;
        return undefined;
      },
    });
    await press('Edit');
    type(editField(), 'x'.repeat(314));
    await expect.poll(() => document.querySelector('#edit-problem')?.textContent).toContain('214 bytes over');
    key(editField(), { key: 'Enter', keyCode: 13, ctrlKey: true });
    await painted();
    expect(edits).toBe(0);
    expect(editField().value.length).toBe(314);
  });

  test('once a copy exists the typed text is kept and offered as a message of its own', async () => {
    const { field, snapshot } = await mount(withMark(waiting), details, {
      editQueued: async () => ({ refused: 'exposed' }),
    });
    await press('Edit');
    type(editField(), 'hello there');
    snapshot.value = withMark(exposedMark);
    await expect.poll(() => document.querySelector('#edit-problem')?.textContent).toContain('may have left');
    expect(button('Change it')).toBeUndefined();
    await press('New version');
    await expect.poll(() => document.querySelector('dialog')).toBeNull();
    expect(field().value).toBe('hello there');
  });

  test('closing the details loses nothing of a change under way', async () => {
    const { root } = await mount(withMark(waiting), details);
    await press('Edit');
    type(editField(), 'half a thought');
    dialog().close();
    await expect.poll(() => document.querySelector('dialog')).toBeNull();
    part(root, 'article .mark', HTMLButtonElement).click();
    await expect.poll(() => editField().value).toBe('half a thought');
  });

  test('the arrow up in an empty field edits the last waiting message, and goes to the last row where there is none', async () => {
    const { field, snapshot, root } = await mount(withMark(exposedMark), talkHash);
    field().focus();
    key(field(), { key: 'ArrowUp' });
    expect(document.activeElement).toBe(root.querySelector('article'));
    snapshot.value = withMark(waiting);
    await painted();
    type(field(), 'typed');
    key(field(), { key: 'ArrowUp' });
    await painted();
    expect(document.querySelector('dialog')).toBeNull();
    type(field(), '');
    key(field(), { key: 'ArrowUp' });
    await expect.poll(() => editField().value).toBe('hello');
    expect(location.hash).toBe(details);
  });
});

describe('a new version', () => {
  test('[OB-34] of an exposed message is a new one in the field, and the old one is said to stay', async () => {
    const { field, root, sends } = await mount(withMark(exposedMark), details);
    await expect.poll(() => button('New version')).toBeDefined();
    expect(button('Edit')).toBeUndefined();
    key(dialog(), { key: 'E' });
    await expect.poll(() => document.querySelector('dialog')).toBeNull();
    expect(field().value).toBe('hello');
    expect(root.querySelector('.taken-note')?.textContent).toContain('The old one stays in the line');
    await expect.poll(() => document.activeElement === field()).toBe(true);
    key(field(), { key: 'Enter', keyCode: 13 });
    await expect.poll(() => sends.map(({ text }) => text)).toEqual(['hello']);
    expect(root.querySelector('.taken-note')).toBeNull();
  });
});

describe('dropping', () => {
  test('asks first, says what it sets free, and keeps the message when told so', async () => {
    let drops = 0;
    const drop = async () => {
      drops++;
      return { exposed: false };
    };
    await mount(withMark(waiting), details, { drop });
    await expect.poll(() => button('Drop')).toBeDefined();
    key(dialog(), { key: 'd' });
    await expect.poll(dialogText).toContain('Drop it? 3 messages behind it can then leave.');
    expect(document.activeElement?.textContent).toBe('Keep');
    expect(dialogText()).not.toContain('A copy may have left');
    await press('Keep');
    expect(drops).toBe(0);
    await press('Drop');
    await press('Drop');
    expect(drops).toBe(1);
  });

  test('[OB-34] of an exposed message says that a copy cannot be called back', async () => {
    await mount(withMark(exposedMark), details);
    await press('Drop');
    expect(dialogText()).toContain('A copy may have left already: that one cannot be called back.');
  });

  test('leaves one line with a way back for ten seconds, then nothing, and has it forgotten', async () => {
    const undone: number[] = [];
    const forgotten: number[] = [];
    const dropped = withMark({ ...waiting, state: 'dropped', droppedAt: now });
    const { root, snapshot } = await mount(dropped, talkHash, {
      undoDrop: async (_conversation, seq) => {
        undone.push(seq);
        return undefined;
      },
      forgetDropped: (_conversation, seq) => void forgotten.push(seq),
    });
    const row = () => root.querySelector('article');
    expect(row()?.textContent).toMatch(/^You dropped it at \d\d:\d\d\.Undo$/);
    expect(row()?.textContent).not.toContain('hello');
    part(root, 'article .link', HTMLButtonElement).click();
    await expect.poll(() => undone).toEqual([1]);
    expect(forgotten).toEqual([]);
    snapshot.value = { ...dropped, now: now + 10_000 };
    await expect.poll(row).toBeNull();
    expect(forgotten).toEqual([1]);
    snapshot.value = { ...dropped, now: now + 11_000 };
    await painted();
    expect(forgotten).toEqual([1]);
  });

  test('[OB-34] stays a line for good where a copy had left, and is never forgotten', async () => {
    const forgotten: number[] = [];
    const gone = mark('dropped', { copies: 1, droppedAt: now - 60_000 });
    const { root } = await mount(withMark(gone), talkHash, {
      forgetDropped: (_conversation, seq) => void forgotten.push(seq),
    });
    const row = root.querySelector('article')?.textContent;
    expect(row).toContain('1 copy had already left and cannot be called back.');
    expect(row).not.toContain('Undo');
    expect(forgotten).toEqual([]);
  });

  test('an undo that comes too late offers the text in the field and says why', async () => {
    const dropped = withMark({ ...waiting, state: 'dropped', droppedAt: now });
    const { field, root } = await mount(dropped, talkHash, {
      undoDrop: async () => ({ refused: 'too-late' }),
    });
    part(root, 'article .link', HTMLButtonElement).click();
    await expect.poll(() => field().value).toBe('hello');
    expect(root.querySelector('.taken-note')?.textContent).toContain('cannot go back to its place');
  });
});

describe('waiting behind another', () => {
  test('a conversation whose messages wait behind another one says so above the field and leads there', async () => {
    const shown = withMark(mark('queued', { behind: '#secret-reef' }));
    const held = mark('on-hold', { reason: 'budget', place: 1, holds: 1 });
    const head = { conversation: reef, name: '#secret-reef', mark: held, seq: 40 };
    const { root } = await mount({ ...shown, queue: { ...shown.queue, waiting: 2, head } }, talkHash);
    const line = part(root, '.wait-line', HTMLElement);
    expect(line.textContent).toMatch(/wait behind one to .#secret-reef. that is on hold/u);
    expect(root.querySelector('.strip')?.textContent).toContain('sending budget used up');
    part(line, 'button', HTMLButtonElement).click();
    await expect.poll(() => location.hash).toBe(`#/c/${reef}/m/40`);
  });

  test('the details lead to the head, and the head says how many wait behind it', async () => {
    const shown = withMark(mark('queued', { behind: '#secret-reef' }));
    const head = { conversation: harbour, name: '#harbour', mark: exposedMark, seq: 7 };
    await mount({ ...shown, queue: { ...shown.queue, head } }, details);
    await expect.poll(dialogText).toContain('has to be accepted before it');
    await press('Show it');
    await expect.poll(() => location.hash).toBe(`${talkHash}/m/7`);
  });
});
