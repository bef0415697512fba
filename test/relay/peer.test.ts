import { describe, expect, test, vi } from 'vitest';
import { limits } from '../../src/core/limits';
import { frameOf } from '../../src/core/link/messages';
import { receive } from '../../src/core/link/receive';
import { openSession, type SessionConfig } from '../../src/core/link/session';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import { featuresOf } from '../../src/core/wire/version';
import { Peer } from '../../src/relay/peer';
import type { PeerSocket } from '../../src/relay/socket';
import { systemTiming } from '../../src/relay/timing';
import { noBlob, one, slot } from '../fixtures/graph-world';
import { memoryGraph } from '../fixtures/peer';

const now = (): number => slot + 20_000;
const config = (nodeId: string): SessionConfig => ({
  profile: holdfast,
  nodeId,
  address: 'wss://relay.example',
  features: featuresOf(),
  nonce: 1,
});

/** A socket without a network: what is sent to it is kept, and what it hears is told to it. */
class HandSocket implements PeerSocket {
  readonly OPEN = 1;
  readonly CLOSED = 3;
  readyState = 1;
  bufferedAmount = 0;
  isPaused = false;
  readonly sent: Uint8Array[] = [];
  readonly #listeners = new Map<string, ((...args: readonly never[]) => void)[]>();

  on(event: string, listener: (...args: readonly never[]) => void): void {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
  }

  once(event: string, listener: () => void): void {
    this.on(event, listener);
  }

  tell(event: string, ...args: readonly unknown[]): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(...(args as readonly never[]));
  }

  send(bytes: Uint8Array): void {
    this.sent.push(bytes);
  }

  close(): void {
    this.readyState = 2;
  }

  terminate(): void {
    this.readyState = this.CLOSED;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }
}

/** A peer of a relay that has shaken hands. */
function shakenHands(): { readonly peer: Peer; readonly socket: HandSocket } {
  const socket = new HandSocket();
  const peer = new Peer(
    {
      session: config('01'.repeat(16)),
      graph: memoryGraph(now),
      outboundBytesMax: limits.outboundBufferBytesMax,
      eventsPerMinuteMax: limits.floodEventsMax,
      bytesPerMinuteMax: limits.connectionBytesPerMinuteMax,
      timing: systemTiming,
      pauses: systemTiming,
      now,
      ready: () => undefined,
      gone: () => undefined,
      relay: () => undefined,
      leftOut: () => undefined,
      heldBack: () => undefined,
      dropped: () => undefined,
      admitted: () => undefined,
      repair: () => Promise.resolve(),
    },
    socket,
  );
  let step = openSession(config('02'.repeat(16)), now());
  let out = step.out;
  for (let turns = 0; turns < 4; turns++) {
    for (const frame of out) socket.tell('message', Buffer.from(frame), true);
    out = socket.sent.splice(0).flatMap((frame) => {
      step = receive(step.session, frame, now());
      return step.out;
    });
  }
  return { peer, socket };
}

describe('a peer that has left', () => {
  test('answers what it is asked afterwards with nothing, at once: whoever asks must not wait for ever', async () => {
    const { peer, socket } = shakenHands();
    expect(peer.isReady).toBe(true);
    const asked = peer.ask({ ask: 'tips', slot });
    socket.readyState = socket.CLOSED;
    socket.tell('close');
    expect(await asked).toBeUndefined();
    expect(await Promise.race([peer.ask({ ask: 'tips', slot }), Promise.resolve('waits')])).toBeUndefined();
  });
});

describe('what is handed on', () => {
  const frames = (count: number): Uint8Array<ArrayBuffer>[] =>
    Array.from({ length: count }, () => new Uint8Array(8));
  const burst = 1_024;

  test('goes to a member no faster than its app bears; whatever makes a relay say thousands', () => {
    const { peer, socket } = shakenHands();
    for (const frame of frames(2 * burst)) peer.handOn(frame);
    expect(socket.sent).toHaveLength(burst);
    socket.tell('close');
  });

  test('goes to a relay of the mesh as fast as it reads', () => {
    const { peer, socket } = shakenHands();
    peer.admit();
    for (const frame of frames(2 * burst)) peer.handOn(frame);
    expect(socket.sent).toHaveLength(2 * burst);
    socket.tell('close');
  });
});

describe('a peer that puts more than is taken in at once', () => {
  const floods = (socket: HandSocket): void => {
    const genesis = genesisOf(holdfast, slot).id;
    for (let nth = 0; nth < 100; nth++) {
      const { bytes } = one(slot + 1_000 + nth, [genesis], 1, `event ${nth}`);
      const frame = frameOf(holdfast, { say: 'put', event: bytes, blob: noBlob });
      socket.tell('message', Buffer.from(frame), true);
    }
  };

  test('is read no further until there is room', async () => {
    const { socket } = shakenHands();
    floods(socket);
    expect(socket.isPaused).toBe(true);
    await vi.waitFor(() => expect(socket.isPaused).toBe(false));
    socket.tell('close');
  });

  test('is read on while it is asked, or its answer would wait behind its own events', async () => {
    const { peer, socket } = shakenHands();
    const asked = peer.ask({ ask: 'tips', slot });
    floods(socket);
    expect(socket.isPaused).toBe(false);
    socket.tell('close');
    expect(await asked).toBeUndefined();
  });
});
