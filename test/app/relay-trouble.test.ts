import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { commands } from '../../src/core/wire/commands';
import { decodeFrame, encodeFrame } from '../../src/core/wire/frame';
import { darkirc, holdfast, type NetworkProfile } from '../../src/core/wire/profile';
import { encodeVerack, encodeVersion, type Semver, semverOf } from '../../src/core/wire/version';
import { Relay } from './kit/relay';
import { Tap } from './kit/tap';
import { addRelay, allMarked, goTo, joinChannel, Person, relayIs, say, sees, texts } from './person';

/** Something at an address that is no relay of ours. */
class Impostor {
  /** Connections it was given. */
  visits = 0;
  /** Whatever was said to it after the handshake, which a message must never be. */
  readonly heard: Buffer[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Greets every WebSocket with our subprotocol and does `act` with it; answers plain requests with `page`. */
  static async open(act?: (socket: WebSocket) => void, page?: RequestListener): Promise<Impostor> {
    const server = createServer(page ?? ((_request, response) => response.writeHead(426).end()));
    const one = new Impostor(server);
    if (act !== undefined) {
      const sockets = new WebSocketServer({ server, handleProtocols: (offered) => [...offered][0] ?? false });
      sockets.on('connection', (socket) => {
        one.visits += 1;
        socket.on('message', (data: Buffer) => one.heard.push(data));
        socket.on('error', () => socket.terminate());
        act(socket);
      });
    }
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle));
    return one;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}

/** A peer of another network or version: says its own version and agrees to anything. */
function stranger(profile: NetworkProfile, version: Semver = semverOf(profile.version)) {
  return (socket: WebSocket) => {
    const say = (command: string, payload: Uint8Array<ArrayBuffer>) =>
      socket.send(encodeFrame(profile.magic, command, payload));
    say(
      commands.version,
      encodeVersion({
        nodeId: '77'.repeat(16),
        app: profile.app,
        version,
        timestamp: BigInt(Math.floor(Date.now() / 1_000)),
        connectAddress: 'ws://127.0.0.1/',
        externalAddresses: [],
        features: [],
      }),
    );
    socket.on('message', () => say(commands.verack, encodeVerack({ version, app: profile.app })));
  };
}

const html = '<!doctype html><title>Sign in</title><p>Welcome to our Wi-Fi';

const impostors: Record<string, [state: string, open: () => Promise<Impostor>]> = {
  'a relay of another network': ['other-network', () => Impostor.open(stranger(darkirc))],
  'a relay of a version to come': [
    'other-network',
    () => Impostor.open(stranger(holdfast, { ...semverOf(holdfast.version), major: 2n })),
  ],
  'a server that says garbage': [
    'garbage',
    () => Impostor.open((socket) => socket.send(Buffer.from('11c014e5ffffffffffffffff', 'hex'))),
  ],
  'a server that says text': ['garbage', () => Impostor.open((socket) => socket.send('hello there'))],
  'a web page in a WebSocket': ['web-page', () => Impostor.open((socket) => socket.send(html))],
  'a web page in place of a WebSocket': [
    'not-now',
    () =>
      Impostor.open(undefined, (_request, response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end(html),
      ),
  ],
  // Its handshake is late after 10 s of real time, once.
  'a server that accepts and stays silent': ['not-now', () => Impostor.open(() => undefined)],
  'a server that closes at once': ['not-now', () => Impostor.open((socket) => socket.close(1000))],
  'a relay that turns us away': ['refused', () => Impostor.open((socket) => socket.close(4004, 'flood'))],
};

describe('addresses that are no relay of ours', () => {
  let relay: Relay;
  let tap: Tap;
  let ana: Person;
  let bo: Person;
  let place: string;
  const lines = ['one', 'two', 'three'];
  const opened: Impostor[] = [];

  beforeAll(async () => {
    relay = await Relay.start();
    tap = await Tap.open(relay.url);
    ana = await Person.arrive('Ana', []);
    bo = await Person.arrive('Bo', [relay.url]);
    await joinChannel(ana.tab, 'harbour');
    await joinChannel(bo.tab, 'harbour');
    for (const line of lines) await say(ana.tab, line);
    place = await ana.tab.evaluate(() => location.hash);
  });

  afterAll(async () => {
    await ana.leave();
    await bo.leave();
    for (const one of opened) await one.close();
    await tap.close();
    await relay.dispose();
  });

  for (const [what, [state, open]] of Object.entries(impostors)) {
    test(`${what}: is called ${state}, and nothing of the queue goes to it`, async () => {
      const impostor = await open();
      opened.push(impostor);
      await goTo(ana.tab, '#/net');
      await addRelay(ana.tab, impostor.url);
      await relayIs(ana.tab, impostor.url, state);
      expect(
        impostor.heard.some((data) => /EventGraph/.test(commandOf(data))),
        'an event, or a question about one',
      ).toBe(false);
      await goTo(ana.tab, place);
      await sees(ana.tab, lines);
      await ana.tab.waitFor('no mark that claims more', () =>
        [...document.querySelectorAll<HTMLElement>('.message .mark')].every((mark) =>
          ['queued', 'on-hold'].includes(mark.dataset['word'] ?? ''),
        ),
      );
    });
  }

  test('every one of them stays named, and what looks wrong says so', async () => {
    await goTo(ana.tab, '#/net');
    for (const width of [360, 1440]) {
      await ana.tab.look({ width, height: 900, scheme: 'light' });
      if (process.env['PICTURES']) await ana.tab.picture(`${process.env['PICTURES']}/impostors-${width}.png`);
    }
    const shown = await ana.tab.evaluate(() =>
      [...document.querySelectorAll('.relay-line .quiet')].map((one) => one.textContent),
    );
    expect(shown).toHaveLength(opened.length);
    expect(shown.filter((text) => text?.trim() === '')).toEqual([]);
  });

  test('a good relay that comes later drains the queue, in order, whatever else is in the list', async () => {
    await addRelay(ana.tab, tap.url);
    await relayIs(ana.tab, tap.url, 'answering');
    await goTo(ana.tab, place);
    // The one that accepts and stays silent is waited for four times, some forty seconds in all.
    await allMarked(ana.tab, lines.length, 'accepted').catch(() =>
      allMarked(ana.tab, lines.length, 'accepted'),
    );
    await sees(bo.tab, lines);
    expect([...tap.puts().values()]).toEqual(lines.map(() => 1));
    expect(await texts(bo.tab)).toEqual(lines);
  });
});

function commandOf(data: Buffer): string {
  try {
    return decodeFrame(holdfast.magic, new Uint8Array(data)).command;
  } catch {
    return '';
  }
}
