import { describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { emptyTalk, key, mount, painted, talkHash, type } from './ui-mount';

const enter = { key: 'Enter', keyCode: 13 };

describe('the message field', () => {
  test('Enter and a click in one frame send one message', async () => {
    const { field, sendButton, sends } = await mount(emptyTalk(), talkHash);
    type(field(), 'hello');
    key(field(), enter);
    sendButton().click();
    key(field(), enter);
    await painted();
    expect(sends.map(({ text }) => text)).toEqual(['hello']);
  });

  test('real keys: typed text, Shift+Enter makes a line, Enter sends both lines', async () => {
    const { field, sends } = await mount(emptyTalk(), talkHash);
    await userEvent.click(field());
    await userEvent.keyboard('one{Shift>}{Enter}{/Shift}two{Enter}');
    await expect.poll(() => sends.map(({ text }) => text)).toEqual(['one\ntwo']);
  });

  test('a held Enter sends once', async () => {
    const { field, sends } = await mount(emptyTalk(), talkHash);
    type(field(), 'hello');
    key(field(), enter);
    sends[0]?.answer();
    await expect.poll(() => field().value).toBe('');
    type(field(), 'next');
    for (let repeat = 0; repeat < 20; repeat++) key(field(), { ...enter, repeat: true });
    await painted();
    expect(sends.length).toBe(1);
    expect(field().value).toBe('next');
  });

  test('the same text later is a second message with another command', async () => {
    const { field, sends } = await mount(emptyTalk(), talkHash);
    type(field(), 'yes');
    key(field(), enter);
    sends[0]?.answer();
    await expect.poll(() => field().value).toBe('');
    type(field(), 'yes');
    key(field(), enter);
    expect(sends.map(({ text }) => text)).toEqual(['yes', 'yes']);
    expect(sends[0]?.command).not.toBe(sends[1]?.command);
  });

  test('an Enter that belongs to an input method does not send', async () => {
    const { field, sends } = await mount(emptyTalk(), talkHash);
    type(field(), 'にほんご');
    key(field(), { ...enter, isComposing: true });
    key(field(), { key: 'Enter', keyCode: 229 });
    key(field(), { key: 'Process', keyCode: 229 });
    await painted();
    expect(sends.length).toBe(0);
    key(field(), enter);
    expect(sends.length).toBe(1);
  });

  test('the text stays until the commit, with a ring on the button, and what was typed meanwhile stays after it', async () => {
    const { field, root, sendButton, sends } = await mount(emptyTalk(), talkHash);
    type(field(), 'hello');
    key(field(), enter);
    await painted();
    expect(field().value).toBe('hello');
    expect(sendButton().getAttribute('aria-busy')).toBe('true');
    expect(root.querySelector('.send-ring')).not.toBeNull();
    type(field(), 'hello and more');
    sends[0]?.answer();
    await expect.poll(() => field().value).toBe('and more');
    expect(sendButton().getAttribute('aria-busy')).toBe('false');
  });

  test('a refusal is told in words, keeps the text, and a second press asks for the same message', async () => {
    const { field, root, sends } = await mount(emptyTalk(), talkHash);
    type(field(), 'hello');
    key(field(), enter);
    sends[0]?.answer({ refused: 'outbox-full', held: 32_000_000, max: 32_000_000 });
    await expect
      .poll(() => root.querySelector('#composer-refusal')?.textContent)
      .toContain('32 MB of 32 MB wait');
    expect(field().value).toBe('hello');
    key(field(), enter);
    expect(sends[1]?.command).toBe(sends[0]?.command);
    expect(sends[1]?.text).toBe('hello');
  });

  test('too long for the frame: not sent, the bytes over in words and in the name of the button, text kept', async () => {
    const { field, root, sendButton, sends } = await mount(emptyTalk(), talkHash, {
      bytesOver: (_conversation, text) => text.length * 2 - 100,
    });
    type(field(), 'x'.repeat(157));
    key(field(), enter);
    await expect.poll(() => sendButton().getAttribute('aria-label')).toBe('Send, 214 bytes over');
    expect(root.querySelector('#composer-refusal')?.textContent).toContain('214 bytes over');
    expect(field().value.length).toBe(157);
    expect(sends.length).toBe(0);
    type(field(), 'x'.repeat(45));
    await expect.poll(() => root.querySelector('.bytes')?.textContent).toBe('10 bytes left');
  });

  test('a draft is stored when the page is hidden or left, and told when it cannot be', async () => {
    const saved: string[] = [];
    let refuse = false;
    const { field, root } = await mount(emptyTalk(), talkHash, {
      saveDraft: async (_conversation, text) => {
        saved.push(text);
        return refuse ? { refused: 'storage' } : undefined;
      },
    });
    type(field(), 'half a');
    window.dispatchEvent(new PageTransitionEvent('pagehide'));
    await expect.poll(() => saved).toEqual(['half a']);
    refuse = true;
    type(field(), 'half a thought');
    window.dispatchEvent(new PageTransitionEvent('pagehide'));
    await expect
      .poll(() => root.querySelector('#composer-refusal')?.textContent)
      .toContain('could not be stored');
    expect(field().value).toBe('half a thought');
    refuse = false;
    type(field(), 'half a thought.');
    window.dispatchEvent(new PageTransitionEvent('pagehide'));
    await expect.poll(() => root.querySelector('#composer-refusal')?.textContent).toBe('');
    expect(saved).toEqual(['half a', 'half a thought', 'half a thought.']);
  });

  test('a page that is left while a message is being stored has stored its draft before the message, not behind it', async () => {
    const calls: string[] = [];
    const { field } = await mount(emptyTalk(), talkHash, {
      saveDraft: async (_conversation, text) => {
        calls.push(`draft ${text}`);
        return undefined;
      },
      send: (_conversation, text) => {
        calls.push(`message ${text}`);
        return new Promise(() => undefined);
      },
    });
    type(field(), 'hello');
    key(field(), enter);
    window.dispatchEvent(new PageTransitionEvent('pagehide'));
    await painted();
    expect(calls).toEqual(['draft hello', 'message hello']);
  });

  test('a stored draft is put in the field, and no network state ever disables it', async () => {
    const shown = emptyTalk();
    const timeline = shown.timeline && { ...shown.timeline, draft: 'from before' };
    const network = { ...shown.network, relays: [], silentSince: 0 };
    const { field, sendButton, sends } = await mount(
      { ...shown, ...(timeline && { timeline }), network },
      talkHash,
    );
    await expect.poll(() => field().value).toBe('from before');
    expect(field().disabled).toBe(false);
    sendButton().click();
    expect(sends.map(({ text }) => text)).toEqual(['from before']);
  });
});
