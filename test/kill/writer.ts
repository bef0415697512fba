import type { Browser } from '../app/kit/browser';
import type { Tab } from '../app/kit/tab';
import { joinChannel, start } from '../app/person';
import type { Ledger } from './ledger';

const channel = 'harbour';

/**
 * Writes one message after another until the browser ends, as fast as the field takes them. That the field is empty
 * again is the app's word that it keeps the text; a refused press is pressed again, as a person does.
 */
function writeOn(from: number, padding: number): void {
  const { writerSays, writerKept } = globalThis as unknown as {
    writerSays: (text: string) => void;
    writerKept: (text: string) => void;
  };
  const pause = (ms: number) => new Promise((over) => setTimeout(over, ms));
  const write = async () => {
    for (let nth = from; ; nth++) {
      const area = document.querySelector<HTMLTextAreaElement>('#composer');
      if (!area?.form) throw new Error('there is nothing to write in');
      const text = `line ${nth}${padding > 0 ? ` ${'x'.repeat(padding)}` : ''}`;
      writerSays(text);
      area.value = text;
      area.dispatchEvent(new InputEvent('input', { bubbles: true }));
      for (let tries = 0; area.value !== ''; tries++) {
        if (tries % 10 === 0) area.form.requestSubmit();
        await pause(1);
      }
      writerKept(text);
    }
  };
  void write();
}

/** The app in the browser that is killed, written in by one sender; what it promises is noted in a ledger outside. */
export class Writer {
  #tab: Tab | undefined;
  #said = 0;
  #started = false;
  #place = '';
  /** How often the app came back with nothing. */
  wipes = 0;

  constructor(
    private readonly address: string,
    private readonly ledger: Ledger,
  ) {}

  /** Opens the app where it was; one that came back empty is noted and begun anew. */
  async open(browser: Browser): Promise<void> {
    const tab = await browser.openTab(this.address + this.#place);
    this.#tab = tab;
    const found = await tab.waitFor('the app to show what it has', () => {
      if (document.querySelector('.first input') !== null) return 'nothing';
      return document.querySelector('#composer') !== null && 'kept';
    });
    if (found === 'kept') return;
    if (this.#started) {
      this.wipes += 1;
      this.ledger.wiped();
    }
    await start(tab, 'Kai');
    await joinChannel(tab, channel);
    this.#place = await tab.evaluate(() => location.hash);
    this.#started = true;
  }

  /** Begins to write and goes on until the browser ends. */
  async begin(padding: number): Promise<void> {
    const tab = this.#open;
    await tab.expose('writerSays', (text) => {
      this.#said += 1;
      this.ledger.says(text);
    });
    await tab.expose('writerKept', (text) => this.ledger.kept(text));
    await tab.evaluate(writeOn, this.#said + 1, padding);
  }

  /** The browser says that the network is back. */
  async online(): Promise<void> {
    await this.#open.evaluate(() => dispatchEvent(new Event('online')) && undefined);
  }

  /** Waits until the newest own message is accepted, so that everything before it is; gives the own texts shown. */
  async drained(): Promise<string[]> {
    const shown = await this.#open.waitFor('the queue to be empty', () => {
      const own = [...document.querySelectorAll<HTMLElement>('.message[data-own=true]')];
      const word = own.at(-1)?.querySelector<HTMLElement>('.mark')?.dataset['word'];
      return word === 'accepted' && own.map((one) => one.querySelector('.bubble')?.textContent ?? '');
    });
    return shown || [];
  }

  get #open(): Tab {
    if (this.#tab === undefined) throw new Error('the app is not open');
    return this.#tab;
  }
}
