import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Bytes } from '../../src/core/ids';
import { identityText } from '../../src/core/rate/limiter';
import { genesisOf, holdfast, slotOf } from '../../src/core/wire/profile';
import { ConfigError } from '../../src/relay/config';
import { Identities, parseIdentities } from '../../src/relay/identities';
import { Relay } from '../app/kit/relay';
import { until } from '../app/kit/until';
import { type Made, one } from '../fixtures/graph-world';
import { TestPeer } from '../fixtures/peer';
import { identityOf, limiter, proofOf } from '../fixtures/rated';
import { runRelay } from '../fixtures/running-relay';

const key = (nth: number): string => identityText(identityOf(nth));
const invalid = { type: 'nack', reason: 'invalid' };
const taken = { type: 'has', inserted: true };
const had = { type: 'has', inserted: false };

/** A list of identities of this test alone. */
function listOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-identities-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'identities.txt');
  writeFileSync(file, text);
  return file;
}

const section = (file: string): string =>
  `[profile]\nrate_limit = true\nidentities = ${JSON.stringify(file)}`;

async function started(file: string): Promise<{ readonly relay: Relay; readonly peer: TestPeer }> {
  const relay = await Relay.start({ more: section(file) });
  onTestFinished(() => relay.dispose());
  const peer = await TestPeer.connect(relay.url);
  onTestFinished(() => peer.close());
  return { relay, peer };
}

/** Events of one moment, on the beginning of its slot. */
function events(texts: string): readonly Made[] {
  const now = Date.now();
  const slot = slotOf(holdfast, now);
  return [...texts].map((text) => one(now, [genesisOf(holdfast, slot).id], 1, text));
}

function proof(nth: number, made: Made, ticket: number): Bytes {
  return proofOf(nth, made.id, limiter.epochOf(Number(made.event.header.timestamp)), ticket);
}

describe('a relay process that limits rates', () => {
  test('[OB-25] takes each ticket of a registered identity for one event, and the same event as often as it comes', async () => {
    const { relay, peer } = await started(listOf(`${key(1)} # Ana\n`));
    const [a, b, c] = events('abc') as [Made, Made, Made];
    expect(await peer.put(a, proof(1, a, 0))).toEqual(taken);
    expect(await peer.put(a, proof(1, a, 0))).toEqual(had);
    expect(await peer.put(b, proof(1, b, 0))).toEqual(invalid);
    expect(await peer.put(b, proof(1, b, 1))).toEqual(taken);
    // What was answered is durable, the ticket as the event.
    await relay.kill();
    await peer.ended;
    await relay.restart();
    const again = await TestPeer.connect(relay.url);
    onTestFinished(() => again.close());
    expect(await again.put(c, proof(1, c, 1))).toEqual(invalid);
    expect(await again.put(a, proof(1, a, 0))).toEqual(had);
    expect(await again.put(c, proof(1, c, 2))).toEqual(taken);
  });

  test('[OB-25] refuses what is not proven, whoever it is from, and hands on only what it took, with its proof', async () => {
    const { relay, peer } = await started(listOf(`${key(1)}\n`));
    const other = await TestPeer.connect(relay.url);
    onTestFinished(() => other.close());
    const [a, b] = events('ab') as [Made, Made];
    expect(await peer.put(a)).toEqual(invalid);
    expect(await peer.put(a, proof(2, a, 0))).toEqual(invalid);
    expect(await peer.put(a, proof(1, b, 0))).toEqual(invalid);
    expect(await peer.put(a, proof(1, a, 0))).toEqual(taken);
    const heard = await other.next('put');
    expect([heard.event, heard.blob]).toEqual([a.bytes, proof(1, a, 0)]);
    expect(other.of('put')).toHaveLength(1);
    const answer = await other.ask({ ask: 'events', ids: [a.id, b.id] });
    expect(answer?.type === 'events' && answer.events.map(({ id, blob }) => [id, blob])).toEqual([
      [a.id, proof(1, a, 0)],
    ]);
  });

  test('reads its list again when it is told to, and keeps the old one when the new one is wrong', async () => {
    const file = listOf(`${key(1)}\n`);
    const { relay, peer } = await started(file);
    const [a, b, c, d] = events('abcd') as [Made, Made, Made, Made];
    expect(await peer.put(a, proof(2, a, 0))).toEqual(invalid);
    writeFileSync(file, `# both of them\n${key(1)} # Ana\n${key(2)} # Bo\n`);
    relay.hangUp();
    await until('the list to be read', () => relay.log.join('').includes('"identities read","identities":2'));
    expect(await peer.put(a, proof(2, a, 0))).toEqual(taken);
    writeFileSync(file, `${key(2)}\nnobody\n`);
    relay.hangUp();
    await until('the list to be refused', () => relay.log.join('').includes('"identities kept"'));
    expect(relay.log.join('')).toContain('"why":"invalid","identities":2');
    expect(await peer.put(b, proof(1, b, 0))).toEqual(taken);
    writeFileSync(file, `${key(2)}\n`);
    relay.hangUp();
    await until('the list to be read', () => relay.log.join('').includes('"identities read","identities":1'));
    expect(await peer.put(c, proof(1, c, 1))).toEqual(invalid);
    expect(await peer.put(d, proof(2, d, 1))).toEqual(taken);
  });

  test('does not strike whoever brings what it does not admit: the list is its own', async () => {
    const { peer } = await started(listOf(`${key(1)}\n`));
    const many = events('abcdefghij');
    for (const [at, made] of many.entries())
      expect(await peer.put(made, proof(2, made, at))).toEqual(invalid);
    const [last] = many;
    expect(last && (await peer.put(last, proof(1, last, 0)))).toEqual(taken);
  });
});

describe('a list of identities', () => {
  const failure = (text: string): unknown => {
    try {
      return parseIdentities(text);
    } catch (error) {
      return error instanceof ConfigError ? [error.kind, error.key, error.message] : error;
    }
  };

  test('has a key a line, with labels, comments and empty lines', () => {
    const text = `# people\n\n${key(1)} # Ana\r\n  ${key(2)}\n\t# gone\n${key(1)}# twice`;
    expect(parseIdentities(text).map((bytes) => Buffer.from(bytes).toString('base64url'))).toEqual([
      key(1),
      key(2),
      key(1),
    ]);
    expect(parseIdentities('')).toEqual([]);
  });

  test('names every line that is wrong', () => {
    const lines = [key(1), key(1).slice(1), `${key(2)} Bo`, `${key(2)}=`, 'nobody', `${key(1)}AA`];
    const [kind, place, message] = failure(lines.join('\n')) as readonly string[];
    expect([kind, place]).toEqual(['invalid', 'profile.identities']);
    expect(message).toMatch(/in line 2, 3, 4, 5, 6$/);
  });

  test('that is wrong or missing keeps a relay from starting', async () => {
    for (const [file, kind] of [
      [listOf('nobody\n'), 'invalid'],
      [join(tmpdir(), 'holdfast-no-such-list'), 'missing'],
    ] as const) {
      expect(() => new Identities(file)).toThrow(expect.objectContaining({ kind }));
      await expect(runRelay({ sections: section(file) })).rejects.toMatchObject({
        name: 'ConfigError',
        kind,
      });
    }
  });
});
