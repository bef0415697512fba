import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deserialize } from 'node:v8';
import Database from 'better-sqlite3';
import type { EventRow } from '../../src/core/tables';
import { ensureBuilt } from '../../src/setup.mjs';
import { Browser } from './kit/browser';
import { Site } from './kit/site';
import type { Tab } from './kit/tab';

/** What a person sees of one message. */
export interface Bubble {
  readonly text: string;
  readonly own: boolean;
  /** Word of the mark, as in the catalogue's keys; of own messages only. */
  readonly word?: string;
}

/** The built app on an origin of its own, whose new accounts begin with these relays; `change` may alter its files. */
export async function appFor(
  relays: readonly string[],
  change: (folder: string) => void = () => undefined,
): Promise<{ site: Site; dispose: () => Promise<void> }> {
  if (!(await ensureBuilt())) throw new Error('the app could not be built');
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-app-'));
  cpSync(fileURLToPath(new URL('../../dist/app', import.meta.url)), folder, { recursive: true });
  writeFileSync(join(folder, 'relays.json'), JSON.stringify(relays));
  change(folder);
  const site = await Site.open(folder);
  const dispose = async () => {
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { site, dispose };
}

/** First run: types a name and starts. */
export async function start(tab: Tab, nick: string): Promise<void> {
  await tab.type('.first input', nick);
  await tab.press('Enter');
  await tab.waitFor('the list', () => document.querySelector('.first') === null);
}

/** Joins a channel, with a secret for a closed one, and has it open. */
export async function joinChannel(tab: Tab, channel: string, secret = ''): Promise<void> {
  await tab.evaluate(() => {
    location.hash = '#/new';
  });
  await tab.type('dialog input', channel);
  if (secret !== '')
    await tab.type('dialog input[type=password], dialog .field:nth-of-type(2) input', secret);
  await tab.click('dialog button[type=submit]');
  const isOpen = () => location.hash.startsWith('#/c/') && document.querySelector('#composer') !== null;
  await tab.waitFor('the composer', isOpen);
}

/** Writes a message and waits for its bubble: from then on the app has promised to keep it. */
export async function say(tab: Tab, text: string): Promise<void> {
  await tab.type('#composer', text);
  await tab.press('Enter');
  await tab.waitFor(`the bubble of ${text}`, bubbleShown, text);
}

function bubbleShown(text: string): boolean {
  const bubbles = [...document.querySelectorAll('.message[data-own=true] .bubble')];
  return bubbles.some((one) => one.textContent === text);
}

/** Every bubble on the screen, from top to bottom. */
export function bubbles(tab: Tab): Promise<Bubble[]> {
  return tab.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('.message')].map((one) => {
      const word = one.querySelector<HTMLElement>('.mark')?.dataset['word'];
      return {
        text: one.querySelector('.bubble')?.textContent ?? '',
        own: one.dataset['own'] === 'true',
        ...(word === undefined ? {} : { word }),
      };
    }),
  );
}

/** Texts of the bubbles alone. */
export async function texts(tab: Tab): Promise<string[]> {
  return (await bubbles(tab)).map((one) => one.text);
}

/** Events a relay's store holds, by layer: its own rows, read from its file. */
export function eventsOf(store: string): readonly EventRow[] {
  const database = new Database(store, { readonly: true });
  try {
    const found = database.prepare('select row from events').all() as { readonly row: Buffer }[];
    return found
      .map(({ row }) => deserialize(row) as EventRow)
      .sort((left, right) => left.layer - right.layer);
  } finally {
    database.close();
  }
}

/** A mark as it was shown, and when. */
export interface Shown {
  readonly at: number;
  readonly text: string;
  readonly word: string;
}

/** Notes every mark this page shows from now on, so that a test can hold it against what was true then. */
export function watchMarks(tab: Tab): Promise<void> {
  return tab.evaluate(() => {
    const seen: { at: number; text: string; word: string }[] = [];
    const look = () => {
      for (const one of document.querySelectorAll<HTMLElement>('.message[data-own=true]')) {
        const text = one.querySelector('.bubble')?.textContent ?? '';
        const word = one.querySelector<HTMLElement>('.mark')?.dataset['word'] ?? '';
        if (seen.findLast((mark) => mark.text === text)?.word !== word)
          seen.push({ at: Date.now(), text, word });
      }
    };
    Object.assign(window, { marksSeen: seen });
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
    look();
  });
}

/** Every mark noted since `watchMarks`, in order. */
export function marksSeen(tab: Tab): Promise<Shown[]> {
  return tab.evaluate(() => (window as unknown as { readonly marksSeen: Shown[] }).marksSeen);
}

/** One person: the app on an origin of their own, in a browser of their own. */
export class Person {
  tab: Tab;
  #browser: Browser;
  #app: Awaited<ReturnType<typeof appFor>>;

  private constructor(app: Awaited<ReturnType<typeof appFor>>, browser: Browser, tab: Tab) {
    this.#app = app;
    this.#browser = browser;
    this.tab = tab;
  }

  /** Opens the app for the first time, with these relays, and gives a name. `flags` are the browser's. */
  static async arrive(
    nick: string,
    relays: readonly string[],
    flags: readonly string[] = [],
  ): Promise<Person> {
    const app = await appFor(relays);
    const browser = await Browser.launch({ flags });
    const tab = await browser.openTab(app.site.url);
    await start(tab, nick);
    await browser.workers.active(`${app.site.url}/sw.js`);
    return new Person(app, browser, tab);
  }

  get browser(): Browser {
    return this.#browser;
  }

  get site(): Site {
    return this.#app.site;
  }

  /** One more tab, at the place the first one is. */
  async another(): Promise<Tab> {
    return this.#browser.openTab(await this.tab.evaluate(() => location.href));
  }

  /** Ends the browser, by `end`, starts it again and opens the place that was open; `before` comes before that. */
  async restart(end: 'quit' | 'kill' = 'quit', before?: (blank: Tab) => Promise<unknown>): Promise<void> {
    const address = await this.tab.evaluate(() => location.href);
    await this.#browser[end]();
    this.#browser = await this.#browser.restart();
    if (before !== undefined) await before(await this.#browser.openTab('data:text/html,'));
    this.tab = await this.#browser.openTab(address);
  }

  async leave(): Promise<void> {
    await this.#browser.dispose();
    await this.#app.dispose();
  }
}

/** Waits until a tab shows exactly these texts, in this order. */
export async function sees(tab: Tab, lines: readonly string[]): Promise<void> {
  const shown = (wanted: readonly string[]) => {
    const found = [...document.querySelectorAll('.message .bubble')].map((one) => one.textContent);
    return found.length === wanted.length && found.every((text, at) => text === wanted[at]);
  };
  await tab.waitFor(`the texts ${lines.join(' | ')}`, shown, lines);
}

/** Waits until every own message on the screen carries this mark, and that there are so many. */
export async function allMarked(tab: Tab, count: number, word: string): Promise<void> {
  const marked = (wanted: number, mark: string) => {
    const marks = [...document.querySelectorAll<HTMLElement>('.message[data-own=true] .mark')];
    return marks.length === wanted && marks.every((one) => one.dataset['word'] === mark);
  };
  await tab.waitFor(`${count} messages ${word}`, marked, count, word);
}

/** Goes to a place of the app by its fragment. */
export async function goTo(tab: Tab, place: string): Promise<void> {
  await tab.evaluate((hash) => {
    location.hash = hash;
  }, place);
}

/** Adds a relay on the Network screen, which has to be open. */
export async function addRelay(tab: Tab, address: string): Promise<void> {
  await retype(tab, '.add-relay input', address);
  await tab.press('Enter');
}

/** Types a text over what stands in a field. */
export async function retype(tab: Tab, selector: string, text: string): Promise<void> {
  await tab.click(selector);
  await tab.evaluate((field) => document.querySelector<HTMLInputElement>(field)?.select(), selector);
  await tab.command('Input.insertText', { text });
}

/** Waits for a relay's state on the Network screen. */
export async function relayIs(tab: Tab, url: string, state: string): Promise<void> {
  const inState = (address: string, wanted: string) =>
    [...document.querySelectorAll<HTMLElement>('.relay-line')].some(
      (one) =>
        one.querySelector('.address')?.textContent?.startsWith(address) && one.dataset['state'] === wanted,
    );
  await tab.waitFor(`${url} to be ${state}`, inState, url, state);
}
