import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { schnorr } from '@noble/curves/secp256k1.js';
import { WebSocket } from 'ws';
import { toHex } from '../../src/core/ids';
import { root } from '../../src/setup.mjs';
import { onDisk } from './relay-load';

/** An event of theirs as it travels, and its id. */
export interface NostrEvent {
  readonly id: string;
  readonly frame: string;
}

const secret = new Uint8Array(32).fill(7);
const author = toHex(new Uint8Array(schnorr.getPublicKey(secret)));

/** Signed events with a text each; what signing takes is not measured. */
export function nostrEvents(count: number, text: (at: number) => string): readonly NostrEvent[] {
  const created = Math.floor(Date.now() / 1_000);
  return Array.from({ length: count }, (_, at) => {
    const content = text(at);
    const hash = createHash('sha256')
      .update(JSON.stringify([0, author, created, 1, [], content]))
      .digest();
    const sig = toHex(new Uint8Array(schnorr.sign(hash, secret)));
    const id = hash.toString('hex');
    const event = { id, pubkey: author, created_at: created, kind: 1, tags: [], content, sig };
    return { id, frame: JSON.stringify(['EVENT', event]) };
  });
}

/** What one of their sockets hears. */
export interface NostrListener {
  /** An event of ours was taken. */
  ok?(id: string): void;
  /** An event came by subscription. */
  event?(id: string): void;
}

/** Connects, and subscribes where the listener wants events. */
export async function nostrSocket(url: string, listener: NostrListener): Promise<WebSocket> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise((open, fail) => {
    socket.once('open', open);
    socket.once('error', fail);
  });
  const subscribed = new Promise<void>((settle) => {
    socket.on('message', (data) => {
      const text = String(data);
      // The word and the id stand at fixed places, so nothing else of a long message has to be read here.
      if (text.startsWith('["OK"')) listener.ok?.(text.slice(7, 71));
      else if (text.startsWith('["EVENT"'))
        listener.event?.(text.slice(text.indexOf('"id":"') + 6).slice(0, 64));
      else if (text.startsWith('["EOSE"')) settle();
    });
  });
  if (listener.event === undefined) return socket;
  socket.send(
    JSON.stringify(['REQ', 's', { kinds: [1], limit: 0, since: Math.floor(Date.now() / 1_000) - 60 }]),
  );
  await subscribed;
  return socket;
}

/** A process of it, with a store of its own. */
export class NostrPeer {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly folder: string,
    /** What it wrote to its standard error, where Node names its inspector. */
    readonly log: readonly string[],
  ) {}

  static async start(): Promise<NostrPeer> {
    const folder = mkdtempSync(join(onDisk, 'holdfast-nostr-'));
    const program = join(root, 'dist/node/nostr.js');
    const args = ['--inspect=127.0.0.1:0', program, join(folder, 'nostr.sqlite')];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const errors: string[] = [];
    child.stderr.on('data', (data) => errors.push(String(data)));
    const printed = await new Promise<string>((settle, fail) => {
      child.stdout.once('data', (data) => settle(String(data)));
      child.once('exit', (code) => fail(new Error(`the other relay ended with ${code}: ${errors.join('')}`)));
    });
    const { port } = JSON.parse(printed) as { port: number };
    return new NostrPeer(`ws://127.0.0.1:${port}/`, child, folder, errors);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async dispose(): Promise<void> {
    const ended = new Promise((settle) => this.child.once('exit', settle));
    this.child.kill('SIGKILL');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
