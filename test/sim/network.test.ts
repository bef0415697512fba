import { describe, expect, test } from 'vitest';
import { frameOf, type Message } from '../../src/core/link/messages';
import { closeCodes } from '../../src/core/link/session';
import { profile } from './names';
import { type Link, type Listener, Network } from './network';
import { calm } from './plan';
import { Watch } from './watch';
import { Life, World } from './world';

/** A device with an open link to a relay that keeps what it gets. */
async function linked(seed: string): Promise<{ world: World; link: Link; got: string[]; told: string[] }> {
  const world = new World(seed, 0);
  const network = new Network(world, calm, new Watch(world));
  const got: string[] = [];
  const told: string[] = [];
  const keep = (into: string[]) => ({
    opened: () => undefined,
    frame: (bytes: Uint8Array) => into.push(String(bytes.length)),
    written: () => undefined,
    closed: () => into.push('closed'),
  });
  const life = new Life('d');
  const relay: Listener = { name: 'r', crash: () => undefined, accept: () => ({ life, owner: keep(got) }) };
  network.serve(relay);
  const link = network.dial({ name: 'd', crash: () => undefined }, life, keep(told), 'r');
  await world.runUntil(5_000);
  return { world, link, got, told };
}

const tip = { id: 'ab'.repeat(32), layer: 1 };

/** An answer with so many tips: its length is its name. */
const frame = (nth: number): Uint8Array<ArrayBuffer> =>
  frameOf(profile, { say: 'tips', tips: Array.from({ length: nth }, () => tip) } satisfies Message);

describe('one link', () => {
  test('hands on its frames in the order in which they were sent, and then its end', async () => {
    const lengths = Array.from({ length: 40 }, (_, nth) => String(frame(nth).length));
    for (let nth = 0; nth < 20; nth++) {
      const { world, link, got } = await linked(`order ${nth}`);
      for (let at = 0; at < lengths.length; at++) link.send('dialling', frame(at));
      link.close('dialling', closeCodes.goingAway);
      await world.runUntil(world.now + 60_000);
      expect(got).toEqual([...lengths, 'closed']);
    }
  });

  test.each([closeCodes.badFrame, closeCodes.incompatible, closeCodes.flood, closeCodes.tooBig])(
    'that ends with %i is a breach: everyone here speaks the protocol',
    async (code) => {
      const { world, link } = await linked('misunderstood');
      link.close('answering', code);
      expect(world.breaches.map(({ kind }) => kind)).toEqual(['misunderstood']);
    },
  );
});
