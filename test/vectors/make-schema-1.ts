import { present } from '../../src/core/assert';
import { type Bytes, type ConversationId, fromHex, type LogicalId, toHex } from '../../src/core/ids';
import { type Rows, schemaVersion, type TableName, tables } from '../../src/core/tables';
import type { MakingArgs } from '../../src/core/transactions/materialise';
import { decodeEvent, eventId } from '../../src/core/wire/event';
import { holdfast } from '../../src/core/wire/profile';
import { Hearing } from '../../src/engine/hearing';
import { MemoryStore } from '../../src/store/memory/memory-store';
import { MemoryTables } from '../../src/store/memory/memory-tables';

/** Tables that came after schema 1. */
const addedLater = ['tickets'] as const;
/** A table of schema 1. */
export type FirstTable = Exclude<TableName, (typeof addedLater)[number]>;

/** Every row of one profile at schema 1, as JSON; a byte array is `{"$hex": "…"}`. */
export interface Dump {
  readonly schema: number;
  /** The key its records are sealed with, in clear: a later migration can open them. */
  readonly dataKey: { readonly id: number; readonly bytes: Bytes };
  readonly tables: { readonly [T in FirstTable]: readonly Rows[T][] };
}

/** A slot of the network, and the time everything begins at: a minute into it. */
export const slot = holdfast.initialGenesisMs + 5_000 * holdfast.rotationMs;
export const t0 = slot + 60_000;
export const relays = ['wss://one.example/', 'wss://two.example/'] as const;
export const secret: Bytes = new Uint8Array(32).map((_, at) => 0xa7 ^ (at * 11));

/** The account of the dump. */
export const account = 'a1'.repeat(16);
/** Its conversations: open, with a secret, and one with nothing but a draft. */
export const places = { keepers: 'c1'.repeat(16), stairs: 'c2'.repeat(16), pier: 'c3'.repeat(16) } as const;

const names: Readonly<Record<ConversationId, { readonly name: string; readonly secret?: Bytes }>> = {
  [places.keepers]: { name: '#lighthouse-keepers' },
  [places.stairs]: { name: '#below-the-stairs', secret },
  [places.pier]: { name: '#pier' },
};

/** One person's store, whose random bytes and times are the same in every run. */
class Writer {
  readonly tables = new MemoryTables();
  readonly dataKey: Dump['dataKey'];
  readonly #store: MemoryStore;
  #drawn = 0;
  #term = 0;
  now = t0;

  constructor(
    private readonly account: string,
    private readonly nick: string,
    keyByte: number,
  ) {
    this.dataKey = { id: 1, bytes: new Uint8Array(32).map((_, at) => keyByte ^ (at * 3)) };
    this.#store = new MemoryStore(() => ({ data: this.dataKey }), this.tables);
  }

  get store(): MemoryStore {
    return this.#store;
  }

  #bytes(length: number): Bytes {
    this.#drawn += 1;
    return new Uint8Array(length).map((_, at) => (this.#drawn * 31 + at * 7 + (this.#drawn >> 8)) & 255);
  }

  /** Time passes, ms. */
  later(ms: number): void {
    this.now += ms;
  }

  async begin(channels: readonly ConversationId[]): Promise<void> {
    const profile = holdfast.name;
    await this.#store.transact('createAccount', {
      account: this.account,
      profile,
      nick: this.nick,
      relays,
      now: this.now,
      nonce: this.#bytes(12),
    });
    for (const conversation of channels) {
      const { name, secret: channelSecret } = present(names[conversation], 'a known conversation');
      const base = { account: this.account, conversation, name, now: this.now, nonce: this.#bytes(12) };
      await this.#store.transact(
        'joinChannel',
        channelSecret === undefined ? base : { ...base, secret: channelSecret },
      );
    }
    await this.engine();
  }

  /** Another engine is born. */
  async engine(): Promise<void> {
    const { outcome } = await this.#store.transact('beginEngine', { engine: toHex(this.#bytes(16)) });
    this.#term = outcome.term;
  }

  async draft(conversation: ConversationId, text: string): Promise<void> {
    const args = { account: this.account, conversation, text, now: this.now, nonce: this.#bytes(12) };
    await this.#store.transact('putDraft', args);
  }

  async say(conversation: ConversationId, command: LogicalId, text: string): Promise<void> {
    const { name, secret: channelSecret } = present(names[conversation], 'a known conversation');
    const body = { nick: this.nick, channel: name, text };
    this.later(1_000);
    await this.#store.transact('enqueue', {
      account: this.account,
      conversation,
      command,
      profile: holdfast.name,
      body: channelSecret === undefined ? body : { ...body, secret: channelSecret },
      now: this.now,
      nonce: this.#bytes(12),
    });
  }

  making(): MakingArgs {
    const seed = this.#bytes(32);
    return { profile: holdfast.name, now: this.now, relays, term: this.#term, jitter: 0.5, seed };
  }

  /** Makes the head's next event and gives it as it leaves. */
  async send(): Promise<Bytes> {
    this.later(500);
    const head = present(await this.#store.read('head', { account: this.account }), 'a head to send');
    const supersedes = head.operation?.generations.at(-1)?.id ?? null;
    const args = { account: this.account, seq: head.seq, supersedes, ...this.making() };
    const { effects } = await this.#store.transact('materialise', args);
    const put = effects.find((effect) => effect.type === 'put-event');
    return present(put?.type === 'put-event' ? put.event : undefined, 'an event that leaves');
  }

  /** What a relay says of an event. */
  async answer(
    event: Bytes,
    relay: string,
    result: { type: 'has'; inserted: boolean } | { type: 'nack'; reason: 'busy' },
  ): Promise<void> {
    this.later(200);
    const id = eventId(decodeEvent(event).header);
    await this.#store.transact('answer', { account: this.account, id, relay, result, now: this.now });
  }

  /** An event of somebody else arrives. */
  async hear(event: Bytes): Promise<void> {
    this.later(300);
    const hearing = new Hearing(holdfast);
    hearing.update((await this.#store.read('overview', {})).conversations);
    const heard = hearing.hear(eventId(decodeEvent(event).header), event);
    await this.#store.transact('receive', {
      account: this.account,
      profile: holdfast.name,
      now: this.now,
      seed: this.#bytes(32),
      event,
      blob: new Uint8Array(0),
      synced: true,
      flooded: false,
      ...(heard === undefined ? {} : { heard }),
    });
  }

  async read(conversation: ConversationId, seq: number): Promise<void> {
    await this.#store.transact('markRead', { account: this.account, conversation, seq });
  }
}

const taken = { type: 'has', inserted: true } as const;
const had = { type: 'has', inserted: false } as const;
const busy = { type: 'nack', reason: 'busy' } as const;

/** Texts of the dump that wait, head first. */
export const waiting = [
  [places.keepers, 'd5', 'nobody has answered this one yet'],
  [places.stairs, 'd6', 'this waits behind it, sealed'],
  [places.keepers, 'd7', 'and this: 水 und Öl'],
  [places.keepers, 'd8', 'and this is the last'],
] as const;

/**
 * Lives a small life, always the same: two people in two channels, messages accepted, received, sent and unanswered,
 * made anew in a later slot, queued, and drafts. Only what the first of them keeps is dumped.
 */
export async function makeSchema1(): Promise<Dump> {
  const ana = new Writer(account, 'Wilhelmina', 0x42);
  // As the durable store puts it beside the tables when it makes them.
  ana.tables.write([{ put: 'meta', row: { name: 'schema', schema: schemaVersion, minReader: 1 } }]);
  const bo = new Writer('b0'.repeat(16), 'Bartholomew', 0x24);
  await ana.begin(Object.values(places));
  await bo.begin([places.keepers, places.stairs]);

  await ana.say(places.keepers, 'd1'.repeat(16), 'the lamp is lit');
  const first = await ana.send();
  await ana.answer(first, relays[0], taken);
  await ana.answer(first, relays[1], had);
  bo.now = ana.now + 1_000;
  await bo.hear(first);
  await bo.say(places.keepers, 'e1'.repeat(16), 'seen from here');
  const second = await bo.send();
  ana.now = bo.now + 1_000;
  await ana.hear(second);

  await ana.say(places.stairs, 'd2'.repeat(16), 'the key is under the third step');
  const third = await ana.send();
  await ana.answer(third, relays[1], busy);
  await ana.answer(third, relays[0], taken);
  bo.now = ana.now + 1_000;
  await bo.answer(second, relays[0], taken);
  await bo.hear(third);
  await bo.say(places.stairs, 'e2'.repeat(16), 'found it');
  const fourth = await bo.send();
  ana.now = bo.now + 1_000;
  await ana.hear(fourth);
  await ana.read(places.keepers, 2);

  for (const [place, command, text] of waiting) await ana.say(place, command.repeat(16), text);
  const unanswered = await ana.send();
  await ana.answer(unanswered, relays[1], busy);
  // An hour later, under another engine, a second copy of the same message in a slot of its own.
  await ana.engine();
  ana.now = t0 + holdfast.rotationMs + 60_000;
  await ana.send();
  await ana.draft(places.pier, 'written, and not sent');
  await ana.draft(places.stairs, 'half a sen');

  const rows = <T extends TableName>(table: T): readonly Rows[T][] => {
    const question = { ask: 'rows', table, range: { prefix: [] }, limit: 10_000 } as const;
    return (ana.tables.answer([question])[0] ?? []) as readonly Rows[T][];
  };
  const names = (Object.keys(tables) as TableName[]).filter((name) => !addedLater.some((one) => one === name));
  const kept = Object.fromEntries(names.map((table) => [table, rows(table)]));
  return { schema: schemaVersion, dataKey: ana.dataKey, tables: kept as unknown as Dump['tables'] };
}

/** The dump as text, the same for the same rows. */
export function dumpText(dump: Dump): string {
  const plain = (_name: string, value: unknown) =>
    value instanceof Uint8Array ? { $hex: toHex(value) } : value;
  return `${JSON.stringify(dump, plain, 1)}\n`;
}

/** Reads a dump's text. */
export function parseDump(text: string): Dump {
  return JSON.parse(text, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null || !('$hex' in value)) return value;
    return present(fromHex(String(value.$hex)), 'bytes in hex');
  }) as Dump;
}

/** Tables in memory with the rows of a dump, indexed as they are now. */
export function tablesOf(dump: Dump): MemoryTables {
  const memory = new MemoryTables();
  for (const name of Object.keys(dump.tables) as FirstTable[]) {
    memory.write(dump.tables[name].map((row) => ({ put: name, row })) as Parameters<MemoryTables['write']>[0]);
  }
  return memory;
}
