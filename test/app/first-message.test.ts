import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeEvent } from '../../src/core/wire/event';
import { Browser } from './kit/browser';
import { Relay } from './kit/relay';
import { Tap } from './kit/tap';
import { appFor, bubbles, eventsOf, joinChannel, marksSeen, say, start, texts, watchMarks } from './person';

const lines = ['the first', 'the second', 'the third', 'the fourth', 'the fifth'];

describe('five messages written without a network', () => {
  let relay: Relay;
  let tap: Tap;
  let ana: Awaited<ReturnType<typeof appFor>>;
  let bo: Awaited<ReturnType<typeof appFor>>;
  let anaBrowser: Browser;
  let boBrowser: Browser;

  beforeAll(async () => {
    relay = await Relay.start();
    tap = await Tap.open(relay.url);
    ana = await appFor([tap.url]);
    bo = await appFor([relay.url]);
    anaBrowser = await Browser.launch();
    boBrowser = await Browser.launch();
  });

  afterAll(async () => {
    await anaBrowser.dispose();
    await boBrowser.dispose();
    await ana.dispose();
    await bo.dispose();
    await tap.close();
    await relay.dispose();
  });

  test('[OB-01] [OB-04] [OB-05] [OB-13] [CD-03] [CD-06] [CD-07] [CD-08] survive a closed tab and a closed browser, leave in order and arrive once', async () => {
    const reader = await boBrowser.openTab(bo.site.url);
    await start(reader, 'Bo');
    await joinChannel(reader, 'harbour');

    const writer = await anaBrowser.openTab(ana.site.url);
    await start(writer, 'Ana');
    await joinChannel(writer, 'harbour');
    await anaBrowser.workers.active(`${ana.site.url}/sw.js`);
    const address = await writer.evaluate(() => location.href);
    const before = eventsOf(relay.store).length;

    await tap.cut();
    await ana.site.goAway();
    for (const line of lines) await say(writer, line);
    const shown = Date.now();
    const offline = await bubbles(writer);
    const closing = writer.close();
    expect(Date.now() - shown).toBeLessThanOrEqual(50);
    await closing;
    expect(offline.map((one) => one.word)).toEqual(lines.map(() => 'queued'));

    await anaBrowser.quit();
    anaBrowser = await anaBrowser.restart();
    const again = await anaBrowser.openTab(address);
    await again.waitFor('the five', () => document.querySelectorAll('.message .bubble').length === 5);
    await watchMarks(again);
    expect(await texts(again)).toEqual(lines);
    expect((await bubbles(again)).map((one) => one.word)).toEqual(lines.map(() => 'queued'));
    expect(tap.puts().size).toBe(0);

    await tap.restore();
    await again.waitFor('all to be accepted', () => {
      const marks = [...document.querySelectorAll<HTMLElement>('.message .mark')];
      return marks.length === 5 && marks.every((mark) => mark.dataset['word'] === 'accepted');
    });
    await reader.waitFor('the five', () => document.querySelectorAll('.message .bubble').length === 5);
    expect(await texts(reader)).toEqual(lines);

    const puts = tap.puts();
    expect([...puts.values()]).toEqual([1, 1, 1, 1, 1]);
    const stored = eventsOf(relay.store).slice(before);
    expect(stored).toHaveLength(5);
    stored.slice(1).forEach((row, at) => {
      expect(decodeEvent(row.event).header.parents).toContain(stored[at]?.id);
    });
    const sent = tap.frames.filter((frame) => frame.eventId !== undefined);
    expect(sent.map((frame) => frame.eventId)).toEqual(stored.map((row) => row.id));

    // No mark ran ahead of the evidence: accepted was shown only after the relay's answer had passed the tap.
    const answers = tap.frames.filter(
      (frame) => frame.command === 'EventGraph::EventPutStatus' && frame.toward === 'page',
    );
    expect(answers).toHaveLength(5);
    const accepted = (await marksSeen(again)).filter((mark) => mark.word === 'accepted');
    expect(accepted.map((mark) => mark.text).sort()).toEqual([...lines].sort());
    for (const mark of accepted) {
      expect(mark.at).toBeGreaterThanOrEqual(
        answers[lines.indexOf(mark.text)]?.at ?? Number.POSITIVE_INFINITY,
      );
    }
    expect(again.problems.filter((text) => !/WebSocket|ERR_/.test(text))).toEqual([]);
  });
});
