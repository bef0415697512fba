import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import WebSocket from 'ws';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { root } from '../../src/setup.mjs';
import { type Made, one, slot } from '../fixtures/graph-world';
import { runRelay } from '../fixtures/running-relay';

/*
 * Upstream's scenarios of nodes and their channels (event-graph.md 10.3), over real sockets.
 */

const now = (): number => slot + 20_000;

function chain(count: number): readonly Made[] {
  const made: Made[] = [];
  for (let at = 0; at < count; at++) {
    const parent = made.at(-1)?.id ?? genesisOf(holdfast, slot).id;
    made.push(one(slot + at, [parent], at + 1, `event ${at}`));
  }
  return made;
}

describe('a relay', () => {
  test('(inbound slots survive rapid disconnects) peers that come and go at once, half open or open, leave their places free', async () => {
    const relay = await runRelay({ now, sections: '[peers]\nbootstrap = true\n[limits]\nconnections = 3' });
    for (let round = 0; round < 40; round++) {
      const socket = new WebSocket(relay.url, 'holdfast.1');
      const closed = new Promise<void>((done) => socket.once('close', () => done()));
      socket.on('error', () => undefined);
      if (round % 2 === 0) socket.once('open', () => socket.terminate());
      else socket.terminate();
      await closed;
    }
    for (let place = 0; place < 3; place++) {
      const peer = await vi.waitFor(() => relay.peer());
      expect(await peer.put(chain(place + 1)[place] as Made)).toEqual({ type: 'has', inserted: true });
    }
  });

  test('(shutdown drains channels across restarts) each time everyone is told, and the next one has what was answered', async () => {
    const events = chain(9);
    let folder: string | undefined;
    for (let life = 0; life < 3; life++) {
      const relay = await runRelay(folder === undefined ? { now } : { now, folder });
      folder = relay.folder;
      const peers = await Promise.all(Array.from({ length: 5 }, () => relay.peer()));
      const [first] = peers;
      for (const known of events.slice(0, life * 3)) {
        expect(await first?.put(known)).toEqual({ type: 'has', inserted: false });
      }
      for (const fresh of events.slice(life * 3, life * 3 + 3)) {
        expect(await first?.put(fresh)).toEqual({ type: 'has', inserted: true });
      }
      await relay.running.stop();
      const ends = await Promise.all(peers.map((peer) => peer.ended));
      expect(ends.map((end) => end.code)).toEqual(Array(5).fill(4006));
      expect(readdirSync(folder)).toEqual(['relay.sqlite']);
    }
  });

  test('(invalid_config_does_not_open_dag_trees) that is told nonsense makes no file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'relay.toml');
    const text = '[relay]\nlisten = "127.0.0.1:0"\nstore = "relay.sqlite"\n[profile]\n';
    writeFileSync(file, `${text}retained_slots = 2\nsync_slots = 3\n`);
    const child = spawn(process.execPath, [join(root, 'dist/node/relay.js'), '--config', file]);
    expect(await new Promise((done) => child.once('close', done))).toBe(2);
    expect(readdirSync(folder)).toEqual(['relay.toml']);
  });
});
