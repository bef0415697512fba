import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Relay } from './kit/relay';
import type { Tab } from './kit/tab';
import { Tap } from './kit/tap';
import { until } from './kit/until';
import { allMarked, bubbles, goTo, joinChannel, Person, say, sees, texts } from './person';

describe('several tabs at once', () => {
  let relay: Relay;
  let tap: Tap;
  let ana: Person;
  let bo: Person;
  let second: Tab;
  let third: Tab;
  let place: string;
  const lines: string[] = [];
  let own = 0;

  beforeAll(async () => {
    relay = await Relay.start();
    tap = await Tap.open(relay.url);
    ana = await Person.arrive('Ana', [tap.url]);
    bo = await Person.arrive('Bo', [relay.url]);
    await joinChannel(ana.tab, 'harbour');
    await joinChannel(bo.tab, 'harbour');
    place = await ana.tab.evaluate(() => location.hash);
    second = await ana.another();
    third = await ana.another();
  });

  afterAll(async () => {
    await ana.leave();
    await bo.leave();
    await tap.close();
    await relay.dispose();
  });

  /** Says it in a tab that is brought to the front, as a person does. */
  const sayIn = async (tab: Tab, line: string) => {
    await tab.activate();
    await say(tab, line);
    lines.push(line);
    own += 1;
  };

  /**
   * Every message was one event, however often it was offered: a link that moves to another tab under a frame has it
   * offered again, unchanged.
   */
  const oneEventEach = () => {
    const events = new Map<string, Set<string | undefined>>();
    for (const { toward, logicalId, eventId } of tap.frames) {
      if (toward === 'relay' && logicalId)
        events.set(logicalId, (events.get(logicalId) ?? new Set()).add(eventId));
    }
    expect([...events.values()].map((ids) => ids.size)).toEqual(Array.from({ length: own }, () => 1));
  };

  /** Says it in a tab that need not be in front. */
  const submit = (tab: Tab, line: string) =>
    tab.evaluate((text) => {
      const field = document.querySelector<HTMLTextAreaElement>('#composer');
      if (field === null) throw new TypeError('no composer');
      field.value = text;
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      // What was typed is drawn before it is sent, as when a person does it.
      return new Promise<void>((sent) =>
        setTimeout(() => {
          field.form?.requestSubmit();
          sent();
        }),
      );
    }, line);

  /** What a tab's Network screen calls the carrier. */
  const carrierOf = async (tab: Tab): Promise<string> => {
    await goTo(tab, '#/net');
    const shown = () => document.querySelector('.facts dd:nth-of-type(2)')?.textContent;
    const carrier = await tab.waitFor('the carrier', shown);
    await goTo(tab, place);
    return carrier ?? '';
  };

  const oneCarrier = (tabs: readonly Tab[]) =>
    until('one carrier among the tabs', async () => {
      const carriers = [];
      for (const tab of tabs) carriers.push(await carrierOf(tab));
      const at = carriers.indexOf('this tab');
      return carriers.filter((one) => one === 'this tab').length === 1 ? tabs[at] : undefined;
    });

  test('[CD-03] [CD-04] [CD-08] any tab sends, all show the same rows and marks, and one engine has one socket', async () => {
    const tabs = [ana.tab, second, third];
    for (const [at, tab] of [...tabs, second, ana.tab].entries()) await sayIn(tab, `line ${at}`);
    for (const tab of tabs) {
      await sees(tab, lines);
      await allMarked(tab, own, 'accepted');
    }
    const [first, ...rest] = await Promise.all(tabs.map((tab) => bubbles(tab)));
    for (const one of rest) expect(one).toEqual(first);
    await sees(bo.tab, lines);
    await until('one socket', () => tap.links === 1);
    const engines = (await ana.browser.targets()).filter(({ type }) => type === 'shared_worker');
    expect(engines).toHaveLength(1);
    oneEventEach();
    await oneCarrier(tabs);
    await say(bo.tab, 'to all of you');
    lines.push('to all of you');
    for (const tab of tabs) await sees(tab, lines);
  });

  test('[CD-04] two tabs that send at the same moment: every tab and the reader have one order', async () => {
    const both = [ana.tab, second].map((tab, at) => submit(tab, `both ${at}`));
    await Promise.all(both);
    const told = (count: number) => document.querySelectorAll('.message .bubble').length === count;
    await third.waitFor('both', told, lines.length + 2);
    const order = (await texts(third)).slice(lines.length);
    expect([...order].sort()).toEqual(['both 0', 'both 1']);
    lines.push(...order);
    own += 2;
    for (const tab of [ana.tab, second, third, bo.tab]) await sees(tab, lines);
    expect(tap.links).toBe(1);
  });

  test('[CD-08] the tab that carries closes: another carries, and what is said goes on', async () => {
    const tabs = [ana.tab, second, third];
    const carrier = await oneCarrier(tabs);
    const left = tabs.filter((tab) => tab !== carrier);
    const [one, other] = left as [Tab, Tab];
    // Queued at the moment the carrier goes: nothing of it may be lost or sent twice.
    await tap.cut();
    await sayIn(one, 'while nobody carries');
    await carrier?.close();
    await tap.restore();
    await one.evaluate(() => dispatchEvent(new Event('online')));
    await sayIn(other, 'after it closed');
    for (const tab of left) {
      await sees(tab, lines);
      await allMarked(tab, own, 'accepted');
    }
    await sees(bo.tab, lines);
    await until('one socket', () => tap.links === 1);
    oneEventEach();
    const next = await oneCarrier(left);
    expect(left).toContain(next);
    ana.tab = one;
    second = other;
  });

  test('[CD-08] the tab that carries is frozen: another carries; thawed, it shows what was said meanwhile', async () => {
    const tabs = [ana.tab, second];
    await ana.tab.activate();
    await until('the one in front to carry', async () => (await carrierOf(ana.tab)) === 'this tab');
    // With neither in front the carrier stays where it is, until it is frozen.
    const front = await ana.browser.openTab('data:text/html,front');
    await until('the carrier to be hidden', () =>
      ana.tab.evaluate(() => document.visibilityState === 'hidden'),
    );
    expect(await carrierOf(ana.tab)).toBe('this tab');
    const links = tap.frames.at(-1)?.link ?? 0;
    await ana.tab.freeze();
    await submit(second, 'while the other is frozen');
    lines.push('while the other is frozen');
    own += 1;
    await sees(second, lines);
    await allMarked(second, own, 'accepted');
    expect(await carrierOf(second)).toBe('this tab');
    await until('one socket', () => tap.links === 1);
    expect(tap.frames.at(-1)?.link).toBeGreaterThan(links);
    await ana.tab.thaw();
    await front.close();
    for (const tab of tabs) await sees(tab, lines);
    await sayIn(ana.tab, 'thawed');
    for (const tab of [...tabs, bo.tab]) await sees(tab, lines);
    await until('one socket', () => tap.links === 1);
    oneEventEach();
  });

  test('[CD-08] a page that is put aside and brought back goes on where it stood', async () => {
    await second.close();
    await ana.tab.navigate('data:text/html,elsewhere');
    await say(bo.tab, 'nobody home');
    lines.push('nobody home');
    await ana.tab.evaluate(() => history.back());
    await sees(ana.tab, lines);
    await sayIn(ana.tab, 'back again');
    await allMarked(ana.tab, own, 'accepted');
    await sees(bo.tab, lines);
    await until('one socket', () => tap.links === 1);
    oneEventEach();
    second = await ana.another();
  });

  test('[CD-03] the process of the engine dies with its tab: the other tab gets a new engine and goes on', async () => {
    const engine = async () => {
      const targets = await ana.browser.targets();
      return (targets as { type: string; targetId?: string }[]).find(({ type }) => type === 'shared_worker');
    };
    // The engine is born in the process of the first tab there is.
    await ana.tab.close();
    await second.close();
    await until('no engine', async () => (await engine()) === undefined);
    const mother = await ana.browser.openTab(`${ana.site.url}/${place}`);
    await sees(mother, lines);
    const before = await until('an engine', engine);
    ana.tab = await ana.browser.openTab(`${ana.site.url}/${place}`);
    await sees(ana.tab, lines);
    await tap.cut();
    await sayIn(ana.tab, 'said before it dies');
    await mother.crash();
    const after = await until('another engine', async () => {
      const found = await engine();
      return found?.targetId !== before.targetId && found;
    });
    expect(after.targetId).not.toBe(before.targetId);
    await tap.restore();
    await ana.tab.evaluate(() => dispatchEvent(new Event('online')));
    await sayIn(ana.tab, 'after it died');
    await allMarked(ana.tab, own, 'accepted');
    await sees(ana.tab, lines);
    await sees(bo.tab, lines);
    oneEventEach();
    await until('one socket', () => tap.links === 1);
  });
});
