import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Relay } from './kit/relay';
import { Tap } from './kit/tap';
import { joinChannel, Person, say, texts } from './person';

/** True when the page, or the details over it, holds this text. */
function holds(text: string): boolean {
  return document.body.textContent?.includes(text) ?? false;
}

describe('the hand on messages that wait', () => {
  let relay: Relay;
  let tap: Tap;
  let ana: Person;

  beforeAll(async () => {
    relay = await Relay.start();
    tap = await Tap.open(relay.url);
    ana = await Person.arrive('Ana', [tap.url]);
    await joinChannel(ana.tab, 'harbour');
    await tap.cut();
  });

  afterAll(async () => {
    await ana.leave();
    await tap.close();
    await relay.dispose();
  });

  test('edits one in its place, drops one and takes it back, and drops it for good', async () => {
    const { tab } = ana;
    for (const text of ['one', 'two', 'three']) await say(tab, text);
    // The arrow up opens the last; its text is replaced as a person would.
    await tab.press('ArrowUp');
    await tab.waitFor('the field', () => document.querySelector('#edit-text') !== null);
    await tab.type('#edit-text', ' and a half');
    await tab.click('.edit-text button[type=submit]');
    await tab.waitFor('the change', holds, 'three and a half');
    await tab.press('Escape');
    await tab.waitFor('the sheet to be gone', () => document.querySelector('dialog') === null);

    await tab.click('.message[data-own=true]:has(.bubble) .mark');
    await tab.waitFor('the buttons', () => document.querySelector('.acts') !== null);
    await tab.press('d');
    await tab.waitFor('the question', holds, 'Drop it?');
    await tab.click('.acts button:not(.primary)');
    await tab.waitFor('the drop', () => document.querySelector('.message.dropped') !== null);
    await tab.click('.acts button.primary');
    await tab.waitFor('the way back', () => document.querySelector('.message.dropped') === null);
    expect(await texts(tab)).toEqual(['one', 'two', 'three and a half']);

    await tab.press('d');
    await tab.click('.acts button:not(.primary)');
    await tab.waitFor('the drop', () => document.querySelector('.message.dropped') !== null);
    await tab.press('Escape');
    await tab.waitFor('the row to be gone', () => document.querySelectorAll('.message').length === 2);
    expect(await texts(tab)).toEqual(['two', 'three and a half']);
  });
});
