import { writeFileSync } from 'node:fs';
import type { Cdp, CdpEvent } from './cdp';
import { patienceMs, until } from './until';

/** How a screen is looked at. */
export interface View {
  width: number;
  height: number;
  scheme: 'light' | 'dark';
}

/** One tab. */
export class Tab {
  readonly target: string;
  readonly session: string;
  /** What the page complained about: uncaught errors, console errors, refused resources. */
  readonly problems: string[] = [];
  readonly #cdp: Cdp;

  private constructor(cdp: Cdp, target: string, session: string) {
    this.#cdp = cdp;
    this.target = target;
    this.session = session;
  }

  /** Opens a tab in front; what is loaded is not waited for. */
  static async open(cdp: Cdp, url: string): Promise<Tab> {
    const { targetId } = await cdp.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true });
    const tab = new Tab(cdp, String(targetId), String(sessionId));
    tab.#listen();
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await tab.#send(`${domain}.enable`);
    if (url !== 'about:blank') await tab.#send('Page.navigate', { url });
    return tab;
  }

  /** Waits until the document and what it needs at once are loaded. */
  async loaded(): Promise<void> {
    await this.waitFor(
      'the document to load',
      () => location.href !== 'about:blank' && document.readyState === 'complete',
    );
  }

  /**
   * Runs a function in the page and returns what it returns or resolves to, as JSON. It sees its arguments and the
   * page, nothing of the test around it. Rejects with what it throws.
   */
  async evaluate<A extends unknown[], R>(run: (...args: A) => R, ...args: A): Promise<Awaited<R>> {
    const expression = `(${run})(...${JSON.stringify(args)})`;
    const answer = await this.#send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    });
    const thrown = answer['exceptionDetails'] as
      | { text: string; exception?: { description?: string } }
      | undefined;
    if (thrown) throw new Error(thrown.exception?.description ?? thrown.text);
    return (answer['result'] as { value: Awaited<R> }).value;
  }

  /** Waits until the function gives something true in the page; the error shows what the page shows. */
  async waitFor<A extends unknown[], R>(
    what: string,
    run: (...args: A) => R,
    ...args: A
  ): Promise<Awaited<R>> {
    const probe = async () => (await this.#evaluateThrough(run, args)) || undefined;
    try {
      return (await until(what, probe, patienceMs)) as Awaited<R>;
    } catch (error) {
      const shown = await this.evaluate(() => document.body?.textContent?.slice(0, 2_000)).catch(
        () => '(nothing)',
      );
      throw new Error(`${error}\nthe page shows: ${shown}\nproblems: ${this.problems.join('\n')}`);
    }
  }

  /** While a document goes and another comes there is nothing to evaluate in: that is not yet, not a failure. */
  async #evaluateThrough<A extends unknown[], R>(run: (...args: A) => R, args: A) {
    try {
      return await this.evaluate(run, ...args);
    } catch (error) {
      if (/context|navigat|Cannot find/i.test(String(error))) return undefined;
      throw error;
    }
  }

  /** Clicks in the middle of the first element that matches. */
  async click(selector: string): Promise<void> {
    const at = await this.waitFor(`${selector} to click`, middleOf, selector);
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.#send('Input.dispatchMouseEvent', {
        type,
        ...(at as object),
        button: 'left',
        clickCount: 1,
      });
    }
  }

  /** Types a text into the first element that matches, as an input method would: at once. */
  async type(selector: string, text: string): Promise<void> {
    await this.click(selector);
    await this.#send('Input.insertText', { text });
  }

  /** Presses a key such as Enter, Tab, Escape, ArrowDown or a letter. */
  async press(key: string): Promise<void> {
    const text = key === 'Enter' ? '\r' : key.length === 1 ? key : undefined;
    const code = keyCodes[key] ?? key.toUpperCase().charCodeAt(0);
    const common = { key, code: key, windowsVirtualKeyCode: code, ...(text ? { text } : {}) };
    await this.#send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', ...common });
    await this.#send('Input.dispatchKeyEvent', {
      type: 'keyUp',
      key,
      code: key,
      windowsVirtualKeyCode: code,
    });
  }

  async navigate(url: string): Promise<void> {
    await this.#send('Page.navigate', { url });
    await this.loaded();
  }

  /** Loads the page again and waits until the new document is there. */
  async reload(): Promise<void> {
    const mark = `old-${Date.now()}`;
    await this.evaluate((name) => Object.assign(window, { [name]: true }) && undefined, mark);
    await this.#send('Page.reload');
    await this.waitFor(
      'the page to load again',
      (name) => !(name in window) && document.readyState === 'complete',
      mark,
    );
  }

  /** Brings the tab to the front, which hides the one before it. */
  async activate(): Promise<void> {
    await this.#cdp.send('Target.activateTarget', { targetId: this.target });
    await this.waitFor('the tab to be visible', () => document.visibilityState === 'visible');
  }

  /** Closes the tab as a person does; resolves when the browser has none of it left. */
  async close(): Promise<void> {
    await this.#cdp.send('Target.closeTarget', { targetId: this.target });
    await until('the tab to be gone', async () => {
      const { targetInfos } = await this.#cdp.send('Target.getTargets');
      return !(targetInfos as { targetId: string }[]).some(({ targetId }) => targetId === this.target);
    });
  }

  /** Crashes the tab's process; resolves when the browser reports it. */
  async crash(): Promise<void> {
    const crashed = new Promise<void>((settle) => {
      this.#cdp.on('Inspector.targetCrashed', () => settle(), this.session);
    });
    this.#send('Page.crash').catch(() => undefined);
    await crashed;
  }

  /** Freezes the tab as a browser that saves energy does; resolves when the page was told. */
  async freeze(): Promise<void> {
    await this.evaluate(() => {
      document.addEventListener('freeze', () => document.documentElement.setAttribute('data-frozen', ''), {
        once: true,
      });
    });
    await this.#send('Page.setWebLifecycleState', { state: 'frozen' });
    await until('the page to be frozen', () =>
      this.evaluate(() => document.documentElement.hasAttribute('data-frozen')),
    );
  }

  /** Ends the freezing. */
  async thaw(): Promise<void> {
    await this.#send('Page.setWebLifecycleState', { state: 'active' });
    await this.evaluate(() => document.documentElement.removeAttribute('data-frozen'));
  }

  /**
   * Makes this page believe that there is no network (its events and `navigator.onLine`). Sockets and workers are not
   * cut by this: close the app server and cut the tap for that.
   */
  async setOffline(offline: boolean): Promise<void> {
    await this.#send('Network.emulateNetworkConditions', {
      offline,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
    await this.waitFor('navigator.onLine to change', (wanted) => navigator.onLine === !wanted, offline);
  }

  /** Shows the page in a size and colour scheme from now on. */
  async look({ width, height, scheme }: View): Promise<void> {
    await this.#send('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: width < 600,
    });
    await this.#send('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    });
    await this.waitFor('the size to be taken', (wanted) => innerWidth === wanted, width);
  }

  /** Writes a picture of the page as PNG. */
  async picture(file: string): Promise<void> {
    const { data } = await this.#send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(file, Buffer.from(String(data), 'base64'));
  }

  /**
   * Gives the page a function of this name, for one text, that calls `listener` here. What was called before the
   * browser died is heard: it had left the page.
   */
  async expose(name: string, listener: (text: string) => void): Promise<void> {
    this.#cdp.on(
      'Runtime.bindingCalled',
      (params) => {
        if (params['name'] === name) listener(String(params['payload']));
      },
      this.session,
    );
    await this.#send('Runtime.addBinding', { name });
  }

  /** Sends a command of the protocol to this tab. */
  command(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return this.#send(method, params);
  }

  #send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return this.#cdp.send(method, params, this.session);
  }

  #listen(): void {
    const note = (name: string, textOf: (params: CdpEvent) => string | undefined) => {
      this.#cdp.on(
        name,
        (params) => {
          const text = textOf(params);
          if (text) this.problems.push(text);
        },
        this.session,
      );
    };
    note('Runtime.exceptionThrown', ({ exceptionDetails }) => {
      const details = exceptionDetails as { text: string; exception?: { description?: string } };
      return details.exception?.description ?? details.text;
    });
    note('Runtime.consoleAPICalled', ({ type, args }) =>
      type === 'error' ? JSON.stringify(args) : undefined,
    );
    note('Log.entryAdded', ({ entry }) => {
      const { level, text, url } = entry as { level: string; text: string; url?: string };
      return level === 'error' ? `${text} ${url ?? ''}` : undefined;
    });
  }
}

const keyCodes: Record<string, number> = {
  Enter: 13,
  Tab: 9,
  Escape: 27,
  Backspace: 8,
  ArrowUp: 38,
  ArrowDown: 40,
  ArrowLeft: 37,
  ArrowRight: 39,
};

function middleOf(selector: string): { x: number; y: number } | undefined {
  const element = document.querySelector(selector);
  element?.scrollIntoView({ block: 'nearest' });
  const box = element?.getBoundingClientRect();
  return box && box.width > 0 ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : undefined;
}
