import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { limits } from '../../src/core/limits';
import { Dialler, type MeshPeer } from '../../src/relay/dialler';
import type { DialledSocket } from '../../src/relay/socket';
import { HandTiming } from '../fixtures/hand-timing';

class FakePeer implements MeshPeer {
  isReady = true;
  readonly isDialled = true;

  constructor(readonly name: string) {}

  close(): void {
    this.isReady = false;
  }

  admit(): void {
    // What is admitted is not looked at here.
  }

  unpace(): void {
    // Nor how fast it is given what it gets.
  }
}

test('an address whose link has ended is dialled again, though a node at another one claims its name', () => {
  const timing = new HandTiming();
  const dialled: { readonly address: string; readonly socket: EventEmitter }[] = [];
  const peers = new Set<FakePeer>();
  const dialler = new Dialler<FakePeer>(
    {
      name: 'me',
      timing,
      log: () => undefined,
      now: () => 0,
      dial: (address) => {
        const socket = new EventEmitter();
        dialled.push({ address, socket });
        return Object.assign(socket, { terminate: () => undefined }) as unknown as DialledSocket;
      },
      opened: () => {
        const peer = new FakePeer('the same name');
        peers.add(peer);
        return peer;
      },
      peers: () => peers,
    },
    ['wss://honest', 'wss://thief'],
  );
  dialler.start();
  for (const { socket } of dialled) socket.emit('open');
  for (const peer of peers) dialler.onReady(peer);
  const [honest] = peers;
  if (honest === undefined) throw new Error('nobody was dialled');
  peers.delete(honest);
  dialler.onGone(honest);
  dialled[0]?.socket.emit('close', 1006, Buffer.from(''));
  timing.pass(limits.reconnectMaxMs);
  expect(dialled.map(({ address }) => address)).toEqual(['wss://honest', 'wss://thief', 'wss://honest']);
  dialler.stop();
  expect(timing.waits).toEqual([]);
});
