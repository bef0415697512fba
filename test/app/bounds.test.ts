import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/core/limits';
import { Relay } from './kit/relay';
import type { Tab } from './kit/tab';
import { Tap } from './kit/tap';
import { allMarked, joinChannel, Person, say } from './person';

/** Bytes the origin is granted here: more than the app's files take, and a fifth of it is a small outbox. */
const grantedBytes = 4_900_000;
/** What entries may take of it: the rest is for the event of the head. */
const outboxBytes = grantedBytes * limits.outboxBytesShareOfEstimate - limits.outboxHeadBytes;

/** As many bytes as a person may send, and told apart by their beginning. */
function line(nth: number): string {
  return `message ${nth} `.padEnd(limits.textBytesMax - 8, 'and so on ').trimEnd();
}

/** The browser's word on how much an origin may keep; `undefined` gives its own rule back. */
async function grant(tab: Tab, origin: string, bytes: number | undefined): Promise<void> {
  await tab.command('Storage.overrideQuotaForOrigin', {
    origin,
    ...(bytes === undefined ? {} : { quotaSize: bytes }),
  });
  const taken = async (wanted: number | null) => {
    const { quota = 0 } = await navigator.storage.estimate();
    return wanted === null ? quota > 100_000_000 : quota === wanted;
  };
  await tab.waitFor('the quota to be taken', taken, bytes ?? null);
}

/** Begins of the bubbles on the screen: `message 7`. */
function begins(tab: Tab): Promise<string[]> {
  return tab.evaluate(() =>
    [...document.querySelectorAll('.message .bubble')].map(
      (one) => /^message \d+/.exec(one.textContent ?? '')?.[0] ?? '',
    ),
  );
}

describe('an outbox that is full', () => {
  let relay: Relay;
  let tap: Tap;
  let ana: Person;
  let sent = 0;

  beforeAll(async () => {
    relay = await Relay.start();
    tap = await Tap.open(relay.url);
    // Without it this browser tells every origin the same made-up number.
    ana = await Person.arrive('Ana', [tap.url], ['--disable-features=StaticStorageQuota']);
    await joinChannel(ana.tab, 'harbour');
  });

  afterAll(async () => {
    await ana.leave();
    await tap.close();
    await relay.dispose();
  });

  /** Tells the worker anew what it is granted: it measures when it starts. */
  const grantAnew = async (bytes: number | undefined) => {
    await grant(ana.tab, ana.site.url, bytes);
    await ana.browser.workers.stop();
  };

  /** Says line after line until one is refused; gives the refusal. */
  const sayUntilRefused = async (most: number): Promise<string> => {
    for (;;) {
      const next = line(sent + 1);
      await ana.tab.type('#composer', next);
      await ana.tab.press('Enter');
      const answer = (begin: string) => {
        const own = [...document.querySelectorAll('.message[data-own=true] .bubble')];
        if (own.some((one) => one.textContent?.startsWith(begin))) return { kept: true, refusal: '' };
        const refusal = document.querySelector('#composer-refusal')?.textContent?.trim() ?? '';
        // That a draft could not be stored is said first, and is not the answer.
        return refusal !== '' && !/draft/.test(refusal) && { kept: false, refusal };
      };
      const { kept, refusal } = (await ana.tab.waitFor(
        `an answer to message ${sent + 1}`,
        answer,
        next.slice(0, 14),
      )) as { readonly kept: boolean; readonly refusal: string };
      if (!kept) return refusal;
      sent += 1;
      expect(sent, 'the bound is reached').toBeLessThan(most);
    }
  };

  const inField = () => document.querySelector<HTMLTextAreaElement>('#composer')?.value;
  const saidSoFar = () => Array.from({ length: sent }, (_, at) => `message ${at + 1}`);

  test('[OB-31] refuses the message that does not fit with numbers, keeps it in the field and the earlier ones in the line', async () => {
    await tap.cut();
    await grantAnew(grantedBytes);
    const refusal = await sayUntilRefused(outboxBytes / limits.textBytesMax);
    expect(refusal).toMatch(/^The outbox is full: [89]\d\d kB of 980 kB wait\./);
    expect(sent).toBeGreaterThan(outboxBytes / limits.textBytesMax - 10);
    for (const width of [360, 1440]) {
      await ana.tab.look({ width, height: 800, scheme: 'dark' });
      if (process.env['PICTURES']) await ana.tab.picture(`${process.env['PICTURES']}/full-${width}.png`);
    }
    const refused = line(sent + 1);
    expect(await ana.tab.evaluate(inField)).toBe(refused);
    expect(await begins(ana.tab)).toEqual(saidSoFar());

    // Pressing again changes nothing, nor does the end of the browser: what was kept stays kept, in its order.
    await ana.tab.press('Enter');
    await ana.tab.waitFor('the text to be kept as a draft', () => document.querySelector('.draft-word'));
    await ana.restart();
    await allMarked(ana.tab, sent, 'queued');
    expect(await begins(ana.tab)).toEqual(saidSoFar());
    expect(await ana.tab.waitFor('the draft', inField)).toBe(refused);
    expect(tap.puts().size).toBe(0);
  });

  test('[OB-31] with more room the refused text goes, behind all that waited', async () => {
    await grantAnew(undefined);
    await ana.tab.click('#composer');
    await ana.tab.press('Enter');
    sent += 1;
    await allMarked(ana.tab, sent, 'queued');
    await tap.restore();
    await allMarked(ana.tab, sent, 'accepted');
    expect(await begins(ana.tab)).toEqual(saidSoFar());
    expect([...tap.puts().values()]).toEqual(saidSoFar().map(() => 1));
  });

  test('[OB-31] says when the browser itself stores nothing more, and keeps text and line', async () => {
    await joinChannel(ana.tab, 'pier');
    await tap.cut();
    await say(ana.tab, 'message 1');
    sent = 1;
    const { usage } = await ana.tab.evaluate(() =>
      navigator.storage.estimate().then(({ usage: used = 0 }) => ({ usage: used })),
    );
    // Room for the outbox by its share, and none on the disk, whatever the database sheds when it is opened again. The
    // browser remembers what room a database has, so it is told before the app's is opened.
    const bytes = 500_000;
    expect(usage).toBeGreaterThan(2 * bytes);
    await ana.restart('quit', (blank) =>
      blank.command('Storage.overrideQuotaForOrigin', { origin: ana.site.url, quotaSize: bytes }),
    );
    await ana.tab.waitFor('the composer', () => document.querySelector('#composer') !== null);
    const refusal = await sayUntilRefused(40);
    expect(refusal).toMatch(/^The browser refused to store it\. Your text is still here/);
    if (process.env['PICTURES']) await ana.tab.picture(`${process.env['PICTURES']}/no-disk.png`);
    expect(await ana.tab.evaluate(inField)).toBe(line(sent + 1));
    expect(await begins(ana.tab)).toEqual(saidSoFar());
    await grantAnew(undefined);
    await ana.tab.press('Enter');
    sent += 1;
    await tap.restore();
    await allMarked(ana.tab, sent, 'accepted');
    expect(await begins(ana.tab)).toEqual(saidSoFar());
  });
});
