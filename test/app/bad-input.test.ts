import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/core/limits';
import { Relay } from './kit/relay';
import { Tap } from './kit/tap';
import { addRelay, allMarked, goTo, joinChannel, Person, retype, sees } from './person';

/** What stands under the composer, and in it. */
interface Refused {
  readonly text: string;
  readonly problem: string;
  readonly bubbles: number;
}

describe('what a person may not do', () => {
  let relay: Relay;
  let tap: Tap;
  let ana: Person;

  beforeAll(async () => {
    relay = await Relay.start();
    tap = await Tap.open(relay.url);
    ana = await Person.arrive('Ana', [tap.url]);
    await joinChannel(ana.tab, 'harbour');
  });

  afterAll(async () => {
    await ana.leave();
    await tap.close();
    await relay.dispose();
  });

  const composer = (): Promise<Refused> =>
    ana.tab.evaluate(() => ({
      text: document.querySelector<HTMLTextAreaElement>('#composer')?.value ?? '',
      problem: document.querySelector('#composer-refusal')?.textContent?.trim() ?? '',
      bubbles: document.querySelectorAll('.message').length,
    }));

  test('a text of too many bytes is refused with the bytes over, kept, and goes once it is shortened', async () => {
    // 3 bytes a sign: far fewer characters than the bound, and more bytes.
    const sign = '水';
    const long = sign.repeat(5_462);
    const over = new TextEncoder().encode(long).length - limits.textBytesMax;
    expect(over).toBe(2);
    expect(long.length).toBeLessThan(limits.textBytesMax);
    await ana.tab.type('#composer', long);
    await ana.tab.waitFor('the refusal', () => document.querySelector('#composer-refusal')?.textContent);
    for (const width of [1440, 360]) {
      await ana.tab.look({ width, height: 800, scheme: 'light' });
      if (process.env['PICTURES']) await ana.tab.picture(`${process.env['PICTURES']}/too-long-${width}.png`);
    }
    await ana.tab.press('Enter');
    await ana.tab.click('.composer .send');
    const refused = await composer();
    expect(refused.text).toBe(long);
    expect(refused.problem).toMatch(/^2 bytes over\b/);
    expect(refused.bubbles).toBe(0);
    expect(tap.puts().size).toBe(0);

    await ana.tab.click('#composer');
    await ana.tab.press('Backspace');
    await ana.tab.waitFor(
      'no refusal',
      () => document.querySelector('#composer-refusal')?.textContent?.trim() === '',
    );
    await ana.tab.press('Enter');
    await allMarked(ana.tab, 1, 'accepted');
    const sent = await composer();
    expect(sent.text).toBe('');
    expect(tap.puts().size).toBe(1);
    const bubble = await ana.tab.evaluate(
      () => document.querySelector('.message .bubble')?.textContent?.length,
    );
    expect(bubble).toBeGreaterThan(0);
  });

  test('an empty message makes nothing', async () => {
    await ana.tab.type('#composer', '  \n\u200b ');
    await ana.tab.press('Enter');
    expect((await composer()).bubbles).toBe(1);
    expect(tap.puts().size).toBe(1);
  });

  test('an address no relay can have is refused at its field, which keeps it', async () => {
    await goTo(ana.tab, '#/net');
    const cases: [string, RegExp][] = [
      ['not an address', /looks like wss/],
      ['wss://', /looks like wss/],
      ['http://relay.example', /begins with wss/],
      ['https://relay.example', /begins with wss/],
      ['javascript://alert(1)', /begins with wss/],
      ['ws://relay.example', /Without encryption/],
      ['ws://127.0.0.1.example', /Without encryption/],
      ['wss://ana:secret@relay.example', /looks like wss/],
      ['wss://relay.example/?room=1', /looks like wss/],
      ['wss://relay.example/#x', /looks like wss/],
      [tap.url, /in the list already/],
    ];
    for (const [typed, message] of cases) {
      await addRelay(ana.tab, typed);
      const said = await ana.tab.waitFor(
        `a refusal of ${typed}`,
        () => document.querySelector('.add-relay .problem')?.textContent,
      );
      expect(said, typed).toMatch(message);
      const field = await ana.tab.evaluate(() => {
        const input = document.querySelector<HTMLInputElement>('.add-relay input');
        return [input?.value, input?.getAttribute('aria-invalid'), document.activeElement === input];
      });
      expect(field).toEqual([typed, 'true', true]);
    }
    if (process.env['PICTURES']) await ana.tab.picture(`${process.env['PICTURES']}/bad-address-360.png`);
    expect(await ana.tab.evaluate(() => document.querySelectorAll('.relay').length)).toBe(1);
    expect(ana.tab.problems.filter((text) => !/WebSocket|ERR_/.test(text))).toEqual([]);
  });

  test('a name or secret that cannot be is refused where it was typed', async () => {
    await ana.tab.look({ width: 1440, height: 800, scheme: 'light' });
    await goTo(ana.tab, '#/new');
    await ana.tab.type('dialog input', 'with space');
    await ana.tab.press('Enter');
    const said = (field: number) =>
      document.querySelector(`dialog .field:nth-of-type(${field}) .problem`)?.textContent;
    expect(await ana.tab.waitFor('a refusal', said, 1)).toMatch(/no space/);
    await retype(ana.tab, 'dialog input', 'pier');
    await ana.tab.type('dialog .field:nth-of-type(2) input', 'tooshort');
    await ana.tab.press('Enter');
    expect(await ana.tab.waitFor('a refusal', said, 2)).toMatch(/not a channel secret/);
    await ana.tab.click('dialog .actions button[type=button]');
    await ana.tab.waitFor('the dialog to be gone', () => document.querySelector('dialog') === null);
    expect(await ana.tab.evaluate(() => document.body.textContent?.includes('#pier'))).toBe(false);
  });

  test('a channel is not more than its name: the same name joined twice is one conversation', async () => {
    const first = await ana.tab.evaluate(() => location.hash);
    await joinChannel(ana.tab, 'harbour');
    const again = await ana.tab.evaluate(() => location.hash);
    expect(again).not.toBe(first);
    await joinChannel(ana.tab, '#harbour');
    expect(await ana.tab.evaluate(() => location.hash)).toBe(again);
    await sees(ana.tab, [
      await ana.tab.evaluate(() => document.querySelector('.message .bubble')?.textContent ?? ''),
    ]);
  });
});
