import { describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { key, longTalk, mount, painted, part, talkHash, talkOf, type } from './ui-mount';
import { firstRun, harbour, mark, message, now, ownMessage, ready, reef } from './ui-states';

const scroller = (root: Element) => part(root, '.scroller', HTMLElement);
const top = (root: Element, seq: number) =>
  part(root, `[data-seq="${seq}"]`, HTMLElement).getBoundingClientRect().top;

describe('the timeline', () => {
  test('older messages come without a jump, and are asked for once', async () => {
    let asked = 0;
    const shown = longTalk(200, 320);
    const { root, snapshot } = await mount(shown, talkHash, {
      loadOlder: () => {
        asked += 1;
      },
    });
    scroller(root).scrollTop = -(scroller(root).scrollHeight - scroller(root).clientHeight - 120);
    await expect.poll(() => asked).toBe(1);
    scroller(root).scrollTop -= 40;
    await painted();
    expect(asked).toBe(1);
    const before = top(root, 205);
    snapshot.value = longTalk(140, 320);
    await expect.poll(() => root.querySelector('[data-seq="140"]')).not.toBeNull();
    expect(Math.abs(top(root, 205) - before)).toBeLessThan(2);
  });

  test('new messages below leave what is read in its place and are counted on the pill', async () => {
    const { root, snapshot } = await mount(longTalk(1, 80), talkHash);
    scroller(root).scrollTop = -600;
    await expect.poll(() => root.querySelector('.pill')).not.toBeNull();
    const visible = [...root.querySelectorAll('article')].find(
      (one) => one.getBoundingClientRect().top > 150,
    );
    const before = visible?.getBoundingClientRect().top ?? 0;
    snapshot.value = longTalk(1, 83);
    await expect.poll(() => root.querySelector('.pill')?.textContent).toBe('3 new below');
    expect(Math.abs((visible?.getBoundingClientRect().top ?? 0) - before)).toBeLessThan(2);
    const longer = longTalk(1, 83);
    const own = ownMessage(84, 'mine', now, mark('queued'));
    snapshot.value = {
      ...longer,
      timeline: { ...talkOf(longer), messages: [...talkOf(longer).messages, own] },
    };
    await expect.poll(() => root.querySelector('.pill')?.textContent).toBe('Yours is below');
    part(root, '.pill', HTMLButtonElement).click();
    await expect.poll(() => root.querySelector('.pill')).toBeNull();
    expect(Math.abs(scroller(root).scrollTop)).toBeLessThan(2);
  });

  test('at most two hundred messages are in the document, and all can be reached by scrolling', async () => {
    const { root } = await mount(longTalk(1, 600), talkHash);
    const seen = new Set<string>();
    for (let step = 0; step < 200 && !seen.has('1'); step++) {
      const articles = [...root.querySelectorAll<HTMLElement>('article')];
      expect(articles.length).toBeLessThanOrEqual(200);
      for (const one of articles) seen.add(one.dataset['seq'] ?? '');
      scroller(root).scrollTop -= 900;
      await painted();
    }
    expect(seen.size).toBe(600);
  });

  test('what was read is told to the store only when it is in view', async () => {
    const reads: number[] = [];
    const { root, snapshot } = await mount(longTalk(1, 80), talkHash, {
      read: (_conversation, seq) => reads.push(seq),
    });
    window.dispatchEvent(new Event('focus'));
    await expect.poll(() => reads.at(-1)).toBe(80);
    scroller(root).scrollTop = -600;
    await painted();
    snapshot.value = longTalk(1, 81);
    await expect.poll(() => root.querySelector('[data-seq="81"]')).not.toBeNull();
    expect(reads.at(-1)).toBe(80);
  });

  test('names and texts are data: no markup, no script link, isolated direction', async () => {
    const shown = ready();
    const text = '<img src=x onerror=alert(1)> javascript:alert(1) https://a.example/x';
    const { root } = await mount(
      {
        ...shown,
        timeline: { ...talkOf(shown), messages: [message(1, { nick: '<b>Eve</b>\u202e', text })] },
      },
      talkHash,
    );
    expect(root.querySelector('article img, article b')).toBeNull();
    const links = [...root.querySelectorAll<HTMLAnchorElement>('article a')];
    expect(links.map((link) => link.href)).toEqual(['https://a.example/x']);
    expect(links[0]?.rel).toContain('noopener');
    expect(root.querySelector('.author bdi')?.textContent).toBe('<b>Eve</b>\u202e');
    expect(root.querySelector('.text')?.getAttribute('dir')).toBe('auto');
    expect(root.querySelector('[style]')).toBeNull();
  });

  test('arrow keys move among messages and Enter opens the details of an own one', async () => {
    const { root } = await mount(ready(), talkHash);
    const last = part(root, 'article[tabindex="0"]', HTMLElement);
    last.focus();
    key(last, { key: 'ArrowUp' });
    expect(document.activeElement?.getAttribute('data-seq')).toBe('11');
    key(document.activeElement as HTMLElement, { key: 'Enter' });
    await expect.poll(() => location.hash).toBe(`${talkHash}/m/11`);
    await expect.poll(() => document.querySelector('dialog[open]')).not.toBeNull();
    await userEvent.keyboard('{Escape}');
    await expect.poll(() => location.hash).toBe(talkHash);
    await expect.poll(() => document.querySelector('dialog')).toBeNull();
  });
});

describe('the first screen', () => {
  test('Start needs a name that can be seen, and nothing else', async () => {
    const started: string[] = [];
    const { root } = await mount(firstRun(), '#/', {
      start: async (nick) => {
        started.push(nick);
        return undefined;
      },
    });
    const button = part(root, 'button[type="submit"]', HTMLButtonElement);
    expect(button.disabled).toBe(false);
    button.click();
    await expect
      .poll(() => root.querySelector('.problem')?.textContent)
      .toContain('Type a name that can be seen.');
    type(part(root, 'input', HTMLInputElement), ' Mo ');
    await painted();
    button.click();
    await expect.poll(() => started).toEqual(['Mo']);
  });

  test('a relay address that cannot be used does not stop the start; it waits on the network screen with its reason', async () => {
    const added: string[] = [];
    const { root, snapshot } = await mount(firstRun(), '#/', {
      start: async () => {
        snapshot.value = { ...ready(), conversations: [] };
        return undefined;
      },
      addRelay: async (url) => {
        added.push(url);
        return undefined;
      },
    });
    type(part(root, 'input', HTMLInputElement), 'Mo');
    type(part(root, 'details input', HTMLInputElement), 'https://relay.example');
    await painted();
    part(root, 'button[type="submit"]', HTMLButtonElement).click();
    await expect.poll(() => root.querySelector('main h1')?.textContent).toBe('Network');
    await expect
      .poll(() => root.querySelector('.add-relay .problem')?.textContent)
      .toContain('begins with wss://');
    expect(part(root, '.add-relay input', HTMLInputElement).value).toBe('https://relay.example');
    expect(added).toEqual([]);
  });

  test('a relay typed at the start is added once the account is there, and Start works once', async () => {
    const calls: string[] = [];
    const { root, snapshot } = await mount(firstRun(), '#/', {
      start: async (nick) => {
        calls.push(`start ${nick}`);
        return undefined;
      },
      addRelay: async (url) => {
        calls.push(`${url} in ${snapshot.peek().phase}`);
        return undefined;
      },
    });
    type(part(root, 'input', HTMLInputElement), 'Mo');
    type(part(root, 'details input', HTMLInputElement), 'ws://127.0.0.1:4181/');
    await painted();
    part(root, 'button[type="submit"]', HTMLButtonElement).click();
    await painted();
    part(root, 'button[type="submit"]', HTMLButtonElement).click();
    await painted();
    expect(calls).toEqual(['start Mo']);
    snapshot.value = ready({ network: { ...ready().network, relays: [] } });
    await expect.poll(() => calls).toEqual(['start Mo', 'ws://127.0.0.1:4181 in ready']);
    expect(location.hash).toBe('#/');
  });

  test('without a store it says what happened, what is safe and what to do', async () => {
    const { root } = await mount(ready({ phase: 'unavailable', trouble: 'SecurityError' }), '#/');
    const said = root.textContent ?? '';
    expect(said).toContain('cannot keep anything here');
    expect(said).toContain('SecurityError');
    expect(said).toContain('Nothing was deleted');
    expect(root.querySelector('textarea')).toBeNull();
  });
});

describe('network and list', () => {
  test('a bad relay address is refused in words, kept in the field, and nothing is called', async () => {
    const added: string[] = [];
    const { root } = await mount(ready(), '#/net', {
      addRelay: async (url) => {
        added.push(url);
        return url.includes('refused') ? { refused: 'bad-address' } : undefined;
      },
    });
    const input = part(root, '.add-relay input', HTMLInputElement);
    const problem = () => root.querySelector('.add-relay .problem')?.textContent ?? '';
    const attempt = async (text: string) => {
      type(input, text);
      await painted();
      part(root, '.add-relay button', HTMLButtonElement).click();
      await painted();
    };
    await attempt('nonsense');
    await expect.poll(problem).toContain('This is not an address');
    expect(input.value).toBe('nonsense');
    await attempt('ws://far.example');
    await expect.poll(problem).toContain('only a relay on this computer');
    await attempt('wss://harbour.example');
    await expect.poll(problem).toContain('in the list already');
    expect(added).toEqual([]);
    await attempt('wss://refused.example');
    await expect.poll(problem).toContain('cannot be used for a relay');
    await attempt('new.example');
    await expect.poll(() => added).toEqual(['wss://refused.example', 'wss://new.example']);
    await expect.poll(() => input.value).toBe('');
  });

  test('each state of a relay has its words', async () => {
    const { root } = await mount(ready(), '#/net');
    const words = [...root.querySelectorAll('.relay .quiet')].map((one) => one.textContent ?? '');
    expect(words[0]).toContain('answering · 42 ms');
    expect(words[2]).toContain('belongs to another network');
    expect(words[4]).toContain('answers like a web page');
  });

  test('joining checks name and secret, then opens the channel', async () => {
    const joined: string[] = [];
    const before = ready();
    const unknown = before.conversations.filter((one) => one.conversation !== reef);
    const { root, snapshot } = await mount({ ...before, conversations: unknown }, '#/', {
      join: async (name, secret) => {
        joined.push(`${name} ${secret}`);
        return { conversation: reef };
      },
    });
    part(root, '[aria-label="Join a channel"]', HTMLButtonElement).click();
    await expect.poll(() => document.querySelector('dialog[open]')).not.toBeNull();
    const [name, secret] = [...document.querySelectorAll<HTMLInputElement>('dialog input')];
    if (!name || !secret) throw new Error('no fields');
    expect(document.activeElement).toBe(name);
    type(name, 'reef');
    type(secret, 'short');
    await painted();
    part(document, 'dialog .primary', HTMLButtonElement).click();
    await expect.poll(() => document.querySelector('dialog')?.textContent).toContain('not a channel secret');
    expect(joined).toEqual([]);
    type(secret, '1'.repeat(32));
    await painted();
    part(document, 'dialog .primary', HTMLButtonElement).click();
    await expect.poll(() => joined).toEqual([`#reef ${'1'.repeat(32)}`]);
    await expect.poll(() => location.hash).toBe(`#/c/${reef}`);
    expect(document.querySelector('dialog')).toBeNull();
    // Its rows come a moment later; then the focus is in its field, ready to write.
    expect(root.querySelector('#composer')).toBeNull();
    snapshot.value = ready();
    await expect.poll(() => document.activeElement?.id).toBe('composer');
  });

  test('while its rows are being read a conversation claims nothing about them, and opens at the unread line', async () => {
    const shown = longTalk(1, 80);
    const reading = { ...shown, timeline: { ...talkOf(shown), messages: [], older: 'loading' as const } };
    const { root, snapshot } = await mount(reading, talkHash);
    expect(root.querySelector('.timeline')?.getAttribute('aria-busy')).toBe('true');
    expect(root.textContent).not.toContain('Nothing here');
    expect(root.querySelector('#composer')).not.toBeNull();
    snapshot.value = { ...shown, timeline: { ...talkOf(shown), firstUnreadSeq: 41 } };
    await expect.poll(() => root.querySelector('.row-unread')?.textContent).toBe('40 new');
    const view = scroller(root).getBoundingClientRect();
    const line = part(root, '.row-unread', HTMLElement).getBoundingClientRect();
    expect(line.top - view.top).toBeGreaterThan(0);
    expect(line.top - view.top).toBeLessThan(view.height / 2);
    expect(root.querySelector('.fresh')).toBeNull();
  });

  test('a row is one sentence; keys walk conversations and parts of the window; the title counts', async () => {
    const opened: (string | undefined)[] = [];
    const { root } = await mount(ready(), '#/', { open: (conversation) => opened.push(conversation) });
    expect(document.title).toBe('(131) Conversations · Holdfast');
    const row = part(root, `[data-conversation="${reef}"]`, HTMLElement);
    expect(row.getAttribute('aria-label')).toMatch(
      /^#secret-reef, with secret, 3 unread, Ana: The tide turns/,
    );
    key(document.body, { key: 'ArrowDown', altKey: true });
    await expect.poll(() => location.hash).toBe(`#/c/${harbour}`);
    key(document.body, { key: 'ArrowDown', altKey: true, shiftKey: true });
    await expect.poll(() => location.hash).toBe(`#/c/${reef}`);
    expect(opened).toEqual([harbour, reef]);
    history.back();
    await expect.poll(() => location.hash).toBe('#/');
    await expect.poll(() => opened.at(-1)).toBeUndefined();
  });

  test('the strip leads to the head that is on hold', async () => {
    const shown = ready({
      queue: {
        waiting: 4,
        bytes: 1,
        bytesMax: 2,
        head: { conversation: harbour, name: '#harbour', mark: mark('on-hold', { reason: 'room' }), seq: 11 },
      },
    });
    const { root } = await mount(shown, '#/');
    await expect
      .poll(() => root.querySelector('nav .strip')?.textContent)
      .toBe('On hold: storage bound reached · 3 messages wait behind it');
    await painted();
    part(root, 'nav .strip', HTMLButtonElement).click();
    await expect.poll(() => location.hash).toBe(`${talkHash}/m/11`);
    history.back();
    await expect.poll(() => location.hash).toBe(talkHash);
  });
});
