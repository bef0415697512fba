import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deserialize } from 'node:v8';
import Database from 'better-sqlite3';
import type { EventRow } from '../../src/core/tables';
import { ensureBuilt } from '../../src/setup.mjs';
import { Site } from './kit/site';
import type { Tab } from './kit/tab';

/** What a person sees of one message. */
export interface Bubble {
  readonly text: string;
  readonly own: boolean;
  /** Word of the mark, as in the catalogue's keys; of own messages only. */
  readonly word?: string;
}

/** The built app on an origin of its own, whose new accounts begin with these relays. */
export async function appFor(
  relays: readonly string[],
): Promise<{ site: Site; dispose: () => Promise<void> }> {
  if (!(await ensureBuilt())) throw new Error('the app could not be built');
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-app-'));
  cpSync(fileURLToPath(new URL('../../dist/app', import.meta.url)), folder, { recursive: true });
  writeFileSync(join(folder, 'relays.json'), JSON.stringify(relays));
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
  await tab.waitFor('the composer', () => document.querySelector('#composer') !== null);
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
