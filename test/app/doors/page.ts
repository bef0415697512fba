import type { AccountId, ConversationId, LogicalId } from '../../../src/core/ids';
import type { Store } from '../../../src/engine/ports';
import { type Caller, DoorStore } from '../../../src/store/doors/door';
import { FetchDoor } from '../../../src/store/doors/fetch-door';
import { MessageDoor } from '../../../src/store/doors/message-door';

/** Runs inside a page of the built app, beside it: the real clients of the doors, at a test's hand. */

const caller: Caller = {
  build: 'probe',
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
};
const messages = new MessageDoor(navigator.serviceWorker, navigator.locks, caller);
const fetches = new FetchDoor({ ...caller, fetch: (...all) => fetch(...all), uncontrolled: () => {} });
const stores = { message: new DoorStore(messages, caller), fetch: new DoorStore(fetches, caller) } as const;

/** Which way a call goes. */
export type Way = keyof typeof stores;

interface Place {
  readonly account: AccountId;
  readonly conversation: ConversationId;
}

const hex = (length: number) =>
  [...caller.randomBytes(length)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const nonce = () => crypto.getRandomValues(new Uint8Array(12));

/** Makes (or finds) the account and its channel. */
export async function arrive(): Promise<Place> {
  const made = await stores.message.transact('createAccount', {
    account: hex(16),
    profile: 'holdfast',
    nick: 'ana',
    relays: [],
    now: Date.now(),
    nonce: nonce(),
  });
  const joined = await stores.message.transact('joinChannel', {
    account: made.outcome.account,
    conversation: hex(16),
    name: '#probe',
    now: Date.now(),
    nonce: nonce(),
  });
  if (joined.outcome.kind !== 'joined') throw new Error(joined.outcome.kind);
  return { account: made.outcome.account, conversation: joined.outcome.conversation };
}

/** Enqueues one message; the first copy of the call has left when this returns its promise. */
export async function enqueue(way: Way, place: Place, command: LogicalId = hex(16)): Promise<LogicalId> {
  const store: Store = stores[way];
  const { outcome } = await store.transact('enqueue', {
    ...place,
    command,
    profile: 'holdfast',
    body: { nick: 'ana', channel: '#probe', text: `message ${command}` },
    now: Date.now(),
    nonce: nonce(),
  });
  if (outcome.kind !== 'queued') throw new Error(outcome.kind);
  return command;
}

/** Calls without a pause, `lanes` at a time, until `stop` is called; both ways in turn. */
export class Traffic {
  /** Commands that were said to be queued. */
  readonly queued: LogicalId[] = [];
  /** Kinds of errors calls ended with, and the commands of those calls. */
  readonly failed: { readonly command: LogicalId; readonly kind: string }[] = [];
  started = 0;
  #going = true;
  readonly #all: Promise<unknown>;

  constructor(place: Place, lanes: number) {
    this.#all = Promise.all(
      Array.from({ length: lanes }, (_, nth) => this.#run(place, nth % 2 ? 'fetch' : 'message')),
    );
  }

  /** Resolves when every call has settled. */
  async stop(): Promise<void> {
    this.#going = false;
    await this.#all;
  }

  async #run(place: Place, way: Way): Promise<void> {
    while (this.#going) {
      const command = hex(16);
      this.started += 1;
      try {
        this.queued.push(await enqueue(way, place, command));
      } catch (error) {
        this.failed.push({ command, kind: String((error as { kind?: unknown }).kind ?? error) });
      }
    }
  }
}

/** Everything the store holds of the channel: commands in the order of their sequence, and the length of the lane. */
export async function stored(
  place: Place,
): Promise<{ logicals: LogicalId[]; seqs: number[]; waiting: number }> {
  const logicals: LogicalId[] = [];
  const seqs: number[] = [];
  let before: number | undefined;
  for (;;) {
    const args = { ...place, limit: 100, ...(before === undefined ? {} : { before }) };
    const page = await stores.message.read('timeline', args);
    if (page.messages.length === 0) break;
    logicals.unshift(...page.messages.map((message) => message.logical));
    seqs.unshift(...page.messages.map((message) => message.seq));
    before = seqs[0];
  }
  const { waiting } = await stores.message.read('overview', {});
  return { logicals, seqs, waiting };
}

/** Hears of the worker's answer at all. */
export function hello(way: Way): Promise<string> {
  return stores[way].hello();
}
