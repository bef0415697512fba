import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatSecret } from '../../src/core/wire/secret';
import { Relay } from './kit/relay';
import { Tap } from './kit/tap';
import { allMarked, eventsOf, joinChannel, Person, say, sees, texts } from './person';

const channel = 'below-the-stairs';
const secret = formatSecret(new Uint8Array(32).map((_, at) => 0x31 + at * 5));
const otherSecret = formatSecret(new Uint8Array(32).map((_, at) => 0x32 + at * 5));
const words = ['the-lantern-is-lit', 'and-it-is-seen', 'out-with-it-then'];
const open = 'everybody-may-read-this';

describe('a channel with a secret', () => {
  let relay: Relay;
  const taps: Tap[] = [];
  const people: Person[] = [];

  beforeAll(async () => {
    relay = await Relay.start();
    for (const nick of ['Wilhelmina', 'Bartholomew', 'Eavesdropper']) {
      const tap = await Tap.open(relay.url);
      taps.push(tap);
      people.push(await Person.arrive(nick, [tap.url]));
    }
  });

  afterAll(async () => {
    for (const person of people) await person.leave();
    for (const tap of taps) await tap.close();
    await relay.dispose();
  });

  /** All that went over the wire, and all that the relay has on its disk. */
  const seen = (): Buffer => {
    const folder = dirname(relay.store);
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
    return Buffer.concat([...files, ...taps.flatMap((tap) => tap.frames.map(({ bytes }) => bytes))]);
  };

  test('is read by those who have the secret and by nobody else', async () => {
    const [ana, bo, eve] = people as [Person, Person, Person];
    await joinChannel(ana.tab, channel, secret);
    await joinChannel(bo.tab, channel, secret);
    await joinChannel(eve.tab, channel);
    await say(ana.tab, words[0] ?? '');
    await sees(bo.tab, words.slice(0, 1));
    await say(bo.tab, words[1] ?? '');
    await sees(ana.tab, words.slice(0, 2));
    await say(ana.tab, words[2] ?? '');
    await sees(bo.tab, words);
    await allMarked(ana.tab, 2, 'accepted');

    // The third has every event of it: something said in the open after them arrives, they do not.
    await joinChannel(ana.tab, channel);
    await say(ana.tab, open);
    await sees(eve.tab, [open]);
    await joinChannel(eve.tab, channel, otherSecret);
    expect(await texts(eve.tab)).toEqual([]);
    await say(eve.tab, 'is-anybody-here');
    await allMarked(eve.tab, 1, 'accepted');
    expect(await texts(eve.tab)).toEqual(['is-anybody-here']);

    // Neither reads what is not theirs after the fact, nor the other way round.
    await say(bo.tab, 'still-here');
    await joinChannel(ana.tab, channel, secret);
    await sees(ana.tab, [...words, 'still-here']);
    expect(eventsOf(relay.store)).toHaveLength(6);
  });

  test('shows nothing of text, nick, channel or secret to the relay and to the wire', () => {
    const bytes = seen();
    // What is said in the open stands there in clear, or the look would prove nothing.
    expect(bytes.includes(open)).toBe(true);
    expect(bytes.includes(`#${channel}`)).toBe(true);
    for (const clear of [...words, 'is-anybody-here', 'still-here', 'Bartholomew', secret, otherSecret]) {
      expect(bytes.includes(clear), clear).toBe(false);
    }
    const sealed = eventsOf(relay.store).filter(({ event }) => !Buffer.from(event).includes(open));
    expect(sealed).toHaveLength(5);
    for (const { event } of sealed) {
      for (const clear of [channel, 'Wilhelmina', 'Eavesdropper']) {
        expect(Buffer.from(event).includes(clear), clear).toBe(false);
      }
    }
  });

  test('is read by one who joins later, from what the relay kept', async () => {
    const [, , eve] = people as [Person, Person, Person];
    await joinChannel(eve.tab, channel, secret);
    await sees(eve.tab, [...words, 'still-here']);
    expect(eve.tab.problems).toEqual([]);
    for (const width of [360, 1440]) {
      await eve.tab.look({ width, height: 800, scheme: 'light' });
      if (process.env['PICTURES']) await eve.tab.picture(`${process.env['PICTURES']}/secret-${width}.png`);
    }
  });
});
