import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { genesisOf, holdfast, slotOf } from '../../src/core/wire/profile';
import { root } from '../../src/setup.mjs';
import { Relay } from '../app/kit/relay';
import { type Made, one } from '../fixtures/graph-world';
import { TestPeer } from '../fixtures/peer';
import { relayKillRuns } from '../kill/relay-run';

/** Events on each other in the present slot; the slot may turn while a test runs, so it is read once. */
function chain(count: number): Made[] {
  const now = Date.now();
  const slot = slotOf(holdfast, now);
  const made: Made[] = [];
  for (let at = 0; at < count; at++) {
    const parent = made.at(-1)?.id ?? genesisOf(holdfast, slot).id;
    made.push(one(Math.max(slot, now - 1_000 + at), [parent], at + 1, `event ${at}`));
  }
  return made;
}

async function started(): Promise<Relay> {
  const relay = await Relay.start();
  onTestFinished(() => relay.dispose());
  return relay;
}

describe('a relay process', () => {
  test('[EG-01] [EG-02] killed after it said Has, has the event when it is back', async () => {
    const relay = await started();
    const events = chain(30);
    const peer = await TestPeer.connect(relay.url);
    const killed: string[] = [];
    for (const event of events) peer.say({ say: 'put', event: event.bytes, blob: new Uint8Array(0) });
    await peer.next('status', (status) => status.id === events[9]?.id);
    await relay.kill();
    await peer.ended;
    for (const status of peer.of('status')) if (status.result.type === 'has') killed.push(status.id);
    expect(killed.length).toBeGreaterThanOrEqual(10);
    await relay.restart();
    const again = await TestPeer.connect(relay.url);
    for (const event of events.filter((one) => killed.includes(one.id))) {
      expect(await again.put(event)).toEqual({ type: 'has', inserted: false });
    }
    again.close();
  });

  test('two peers meet through it, and the source does not hear itself', async () => {
    const relay = await started();
    const [left, right] = [await TestPeer.connect(relay.url), await TestPeer.connect(relay.url)];
    const [event] = chain(1);
    if (event === undefined) throw new Error('no event');
    expect(await left.put(event)).toEqual({ type: 'has', inserted: true });
    expect((await right.next('put')).event).toEqual(event.bytes);
    await left.settle();
    expect(left.of('put')).toEqual([]);
    left.close();
    right.close();
  });

  test('asked to end, sends everyone away with a time to wait and leaves one file', async () => {
    const relay = await started();
    const peer = await TestPeer.connect(relay.url);
    for (const event of chain(3)) await peer.put(event);
    await relay.stop();
    expect((await peer.ended).code).toBe(4006);
    expect(relay.log.join('')).toContain('"event":"stopped"');
    const files = readdirSync(dirname(relay.store)).filter((name) => name.startsWith('relay.sqlite'));
    expect(files).toEqual(['relay.sqlite']);
  });

  test('between two others, killed: what it missed it has when it is back, and hands on', async () => {
    const relays: Relay[] = [];
    for (const at of [0, 1, 2]) {
      const more = at === 0 ? '' : `outbound = ["${relays[at - 1]?.url}/"]`;
      const relay = await Relay.start({ more });
      onTestFinished(() => relay.dispose());
      relays.push(relay);
    }
    const [first, second, third] = relays as [Relay, Relay, Relay];
    const [left, right] = [await TestPeer.connect(first.url), await TestPeer.connect(third.url)];
    onTestFinished(() => left.close());
    onTestFinished(() => right.close());
    const at = slotOf(holdfast, Date.now());
    const root = genesisOf(holdfast, at).id;
    const known = one(Math.max(at, Date.now() - 500), [root], 1, 'known');
    expect(await left.put(known)).toEqual({ type: 'has', inserted: true });
    await right.next('put', (put) => put.id === known.id);
    await second.kill();
    const missed = one(Math.max(at, Date.now() - 400), [root], 1, 'missed in the middle');
    const onIt = one(Math.max(at, Date.now() - 300), [missed.id, known.id], 2, 'and what stands on it');
    for (const event of [missed, onIt])
      expect(await left.put(event)).toEqual({ type: 'has', inserted: true });
    await second.restart();
    for (const event of [missed, onIt]) await right.next('put', (put) => put.id === event.id);
  });
});

describe('a relay killed under load, again and again', () => {
  test('[EG-02] [EG-09] has everything it had answered Has, and the tips of what it has', async () => {
    const report = await relayKillRuns({ runs: 3, seed: 'npm test' });
    expect(report).toMatchObject({ runs: 3, killed: 3, lost: 0, forgotten: 0, tipsWrong: 0, breaches: [] });
    expect(report.answered).toBeGreaterThan(100);
    expect(report.inFlightMin).toBeGreaterThan(0);
  });

  test('is found out when it lost events', async () => {
    const spoil = (store: string): void => {
      const database = new Database(store);
      database.exec('DELETE FROM events');
      database.close();
    };
    const report = await relayKillRuns({ runs: 1, seed: 'spoilt', spoil });
    expect(new Set(report.breaches.map((one) => one.kind))).toContain('lost');
    expect(report.killed).toBe(1);
  });
});

describe('a relay that cannot start', () => {
  function run(text: string | undefined): Promise<{ readonly code: number | null; readonly error: string }> {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'relay.toml');
    if (text !== undefined) writeFileSync(file, text);
    const child = spawn(process.execPath, [join(root, 'dist/node/relay.js'), '--config', file]);
    let error = '';
    child.stderr.on('data', (part) => {
      error += String(part);
    });
    return new Promise((settle) => child.once('close', (code) => settle({ code, error })));
  }

  test.each([
    ['no file', undefined, 2, { at: 'config', kind: 'missing' }],
    ['no TOML', '[relay', 2, { at: 'config', kind: 'syntax' }],
    ['an unknown key', '[relay]\nlissten = "x"\n', 2, { at: 'config', kind: 'unknown-key' }],
    [
      'a store that does not open',
      '[relay]\nlisten = "127.0.0.1:0"\nstore = "no/such/folder/x.sqlite"\n',
      1,
      { at: 'start', kind: 'storage' },
    ],
    [
      'a certificate that is none',
      '[relay]\nlisten = "127.0.0.1:0"\nstore = "x.sqlite"\ntls_cert = "relay.toml"\ntls_key = "relay.toml"\n',
      2,
      { at: 'config', kind: 'invalid' },
    ],
  ])('for %s says which and ends', async (_name, text, code, detail) => {
    const ended = await run(text);
    expect(ended.code).toBe(code);
    expect(JSON.parse(ended.error)).toMatchObject({ event: 'not started', ...detail });
  });

  test('on a port that is taken ends, and the other goes on', async () => {
    const relay = await started();
    const ended = await run(`[relay]\nlisten = "127.0.0.1:${relay.port}"\nstore = "x.sqlite"\n`);
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.error)).toMatchObject({ event: 'not started', at: 'start' });
    const peer = await TestPeer.connect(relay.url);
    await peer.settle();
    peer.close();
  });
});
