import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../src/core/limits';
import { Relay } from './kit/relay';
import { Tap } from './kit/tap';
import { until } from './kit/until';
import { allMarked, bubbles, eventsOf, joinChannel, Person, say, sees } from './person';

const status = 'EventGraph::EventPutStatus';

describe('a network that goes and comes', () => {
  let relay: Relay;
  let tap: Tap;
  let ana: Person;
  let bo: Person;
  const lines: string[] = [];

  beforeAll(async () => {
    relay = await Relay.start();
    tap = await Tap.open(relay.url);
    ana = await Person.arrive('Ana', [tap.url]);
    bo = await Person.arrive('Bo', [relay.url]);
    await joinChannel(ana.tab, 'harbour');
    await joinChannel(bo.tab, 'harbour');
  });

  afterAll(async () => {
    await ana.leave();
    await bo.leave();
    await tap.close();
    await relay.dispose();
  });

  const sayLine = async (line: string) => {
    await say(ana.tab, line);
    lines.push(line);
  };

  /** All is accepted, was read once and in order, and the relay has one event of each. */
  const settled = async () => {
    await allMarked(ana.tab, lines.length, 'accepted');
    await sees(bo.tab, lines);
    await sees(ana.tab, lines);
    expect(new Set(tap.puts().keys()).size).toBe(lines.length);
    expect(eventsOf(relay.store)).toHaveLength(lines.length);
  };

  test('[CD-07] messages queued while it is gone leave by themselves when it is back', async () => {
    await sayLine('before');
    await settled();
    await tap.cut();
    for (const line of ['gone 1', 'gone 2', 'gone 3']) await sayLine(line);
    await ana.tab.waitFor('the strip', () =>
      document.body.textContent?.includes('3 messages wait on this device'),
    );
    for (const width of [360, 1440]) {
      await ana.tab.look({ width, height: 800, scheme: 'light' });
      if (process.env['PICTURES']) await ana.tab.picture(`${process.env['PICTURES']}/offline-${width}.png`);
    }
    const { refused } = tap;
    await tap.frame('a first frame', () => true);
    await tap.restore();
    // Nobody clicks, and no event tells the page: the engine's own tries find the way.
    await settled();
    expect(refused).toBeGreaterThan(0);
  });

  test('[OB-02] [CD-07] an answer that never came back is got again; until then nothing behind it leaves', async () => {
    const hold = tap.hold('page', ({ command }) => command === status);
    await sayLine('in flight');
    const caught = await hold.caught;
    await sayLine('behind it');
    const sentIn = () => tap.frames.filter(({ toward, eventId }) => toward === 'relay' && eventId);
    const before = sentIn().length;
    // Neither while its head is unanswered nor while there is no connection is the second made or shown to anybody:
    // the relay's tips, which a sync would follow, end at the head.
    await sees(bo.tab, lines.slice(0, -1));
    await tap.cut();
    hold.release();
    expect(sentIn().at(-1)?.logicalId).toBe(sentIn()[before - 1]?.logicalId);
    expect(new Set(tap.puts().keys()).size).toBe(lines.length - 1);
    expect(eventsOf(relay.store)).toHaveLength(lines.length - 1);
    await ana.tab.waitFor('no claim of acceptance', () =>
      [...document.querySelectorAll<HTMLElement>('.message[data-own=true] .mark')]
        .slice(-2)
        .every((mark) => mark.dataset['word'] !== 'accepted'),
    );
    await tap.restore();
    await settled();
    // The same event was offered again; it was not made anew.
    const sent = sentIn();
    const offered = sent.filter(({ link }) => link === caught.link).at(-1);
    expect(sent.filter(({ eventId }) => eventId === offered?.eventId).length).toBeGreaterThan(1);
  });

  test('[CD-07] the word of the browser that it is online again makes it try at once', async () => {
    await tap.cut();
    await sayLine('waiting for the word');
    // Left alone, tries come further and further apart: these would take a minute and a half at the least.
    const before = tap.refused;
    const end = Date.now() + 60_000;
    for (let tries = 1; tries <= 8; tries++) {
      await ana.tab.setOffline(true);
      await ana.tab.setOffline(false);
      await until('a try at once', () => tap.refused >= before + tries, end - Date.now());
    }
    await ana.tab.setOffline(true);
    await tap.restore();
    const back = Date.now();
    await ana.tab.setOffline(false);
    await settled();
    const sent = tap.frames.findLast(({ toward, logicalId }) => toward === 'relay' && logicalId);
    expect(sent?.at).toBeGreaterThanOrEqual(back);
  });

  test('[CD-07] a network that is silent while the socket seems to stand is noticed and left', async () => {
    const { links } = tap;
    expect(links).toBe(1);
    tap.silence();
    const before = Date.now();
    await sayLine('into the silence');
    const lost = await tap.frame(
      'the frame that is lost',
      ({ toward, logicalId, at }) => toward === 'relay' && logicalId !== undefined && at >= before,
    );
    await ana.tab.waitFor('sent, no answer', () => {
      const marks = [...document.querySelectorAll<HTMLElement>('.message[data-own=true] .mark')];
      return marks.at(-1)?.dataset['word'] === 'sent';
    });
    // Ping and its deadline, 30 s and 15 s of real time: once in all tests.
    const noticed = () => document.body.textContent?.includes('No relay in reach');
    await until('the silence to be noticed', () => ana.tab.evaluate(noticed), 70_000);
    expect((await bubbles(ana.tab)).at(-1)?.word).not.toBe('accepted');
    expect(Date.now() - lost.at).toBeGreaterThan(limits.pongMs);
    await tap.restore();
    await settled();
  });
});
