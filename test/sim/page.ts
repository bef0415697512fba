import { StoreError } from '../../src/core/errors';
import { type AccountId, type ConversationId, type LogicalId, toHex } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import type { Args, Outcome, WriteName } from '../../src/core/transactions/registry';
import { type HandDeed, pointedAt } from './hand';
import { conversationOf, profile, rateSecretOf, urlOf } from './names';
import type { Prng } from './prng';
import type { DeviceStore } from './store';
import type { Watch } from './watch';
import type { Life, World } from './world';

/** The device a page is open on. */
interface PageHost {
  readonly name: string;
  readonly account: AccountId;
  readonly store: DeviceStore;
  clock(): number;
}

/** Something a person wants; it stays wanted until it is settled or given up with the page. */
type Wish =
  | { readonly wish: 'send'; readonly channel: number; readonly command: LogicalId; readonly text: string }
  | { readonly wish: 'join'; readonly channel: number }
  | { readonly wish: 'hand'; readonly deed: HandDeed; readonly nth: number }
  | { readonly wish: 'undo' | 'forget'; readonly dropped: Omit<Args<'drop'>, 'now'> }
  | { readonly wish: 'draft' | 'read' | 'identity' | 'more-relays' | 'fewer-relays' };

const retryMs = 700;
const triesMax = 12;
const idle = 'wss://idle.example';

/**
 * The page of a device: sets the account up and does what a person does, by calls of its own to the store. A call
 * that failed is repeated with the same command id; a page that dies leaves its wishes to the next one, mostly.
 */
export class Page {
  #wishes: Wish[] = [];
  #life: Life | undefined;
  #working = false;
  #sent = 0;
  /** Deeds of this page that will be undone or forgotten. */
  #later = 0;
  readonly #joined = new Set<number>([0]);
  readonly #random: Prng;

  constructor(
    private readonly world: World,
    private readonly watch: Watch,
    private readonly device: PageHost,
    private readonly relays: readonly string[],
    private readonly secret: boolean,
  ) {
    this.#random = world.random.fork(`page of ${device.name}`);
  }

  /** A page is opened: it sees to the account, and takes up what the one before it left. */
  open(life: Life): void {
    this.#life = life;
    this.#working = true;
    this.#later = 0;
    if (this.#wishes[0]?.wish === 'send' && this.#random.perMille(300)) this.#wishes.shift();
    void this.#setUp(life).then(() => this.#work(life));
  }

  /** A person writes so many messages at once. */
  send(channel: number, count: number): void {
    for (let nth = 0; nth < count; nth++) {
      const command = toHex(this.#random.bytes(16));
      this.#sent += 1;
      this.#wish({ wish: 'send', channel, command, text: `${this.device.name} says ${this.#sent}` });
    }
  }

  join(channel: number): void {
    this.#wish({ wish: 'join', channel });
  }

  /** A person does something to the nth message that waits. */
  hand(deed: HandDeed, nth: number): void {
    this.#wish({ wish: 'hand', deed, nth });
  }

  want(wish: 'draft' | 'read' | 'identity' | 'more-relays' | 'fewer-relays'): void {
    this.#wish({ wish });
  }

  /** Nothing is wanted that is not settled. */
  get idle(): boolean {
    return !this.#working && this.#wishes.length === 0 && this.#later === 0;
  }

  #wish(wish: Wish): void {
    this.#wishes.push(wish);
    const life = this.#life;
    if (!this.#working && life?.alive) void this.#work(life);
  }

  async #setUp(life: Life): Promise<void> {
    const { account } = this.device;
    const relays = this.relays.map(urlOf);
    const nick = this.device.name;
    const made = { account, profile: profile.name, nick, relays, now: this.#now(), nonce: this.#nonce() };
    await this.#call(life, 'createAccount', made, Number.POSITIVE_INFINITY);
    for (const channel of this.#joined) await this.#join(life, channel);
  }

  async #work(life: Life): Promise<void> {
    this.#working = true;
    for (;;) {
      const [wish] = this.#wishes;
      if (wish === undefined) break;
      await this.#grant(life, wish);
      this.#wishes = this.#wishes.filter((one) => one !== wish);
    }
    this.#working = false;
  }

  async #grant(life: Life, wish: Wish): Promise<void> {
    switch (wish.wish) {
      case 'send':
        return this.#send(life, wish);
      case 'join':
        return this.#join(life, wish.channel);
      case 'hand':
        return this.#hand(life, wish.deed, wish.nth);
      case 'undo': {
        const outcome = await this.#call(life, 'undoDrop', { ...wish.dropped, now: this.#now() });
        if (outcome?.kind === 'back') this.world.count('hand-undone');
        return;
      }
      case 'forget':
        await this.#call(life, 'forgetDropped', { ...wish.dropped, now: this.#now() });
        return;
      case 'draft': {
        const at = { account: this.device.account, conversation: this.#conversation(0) };
        const text = this.#random.perMille(500) ? 'not yet' : '';
        await this.#call(life, 'putDraft', { ...at, text, now: this.#now(), nonce: this.#nonce() });
        return;
      }
      case 'read': {
        const at = { account: this.device.account, conversation: this.#conversation(0) };
        await this.#call(life, 'markRead', { ...at, seq: this.#random.between(1, 12) });
        return;
      }
      case 'identity': {
        const { account } = this.device;
        const secret = rateSecretOf(this.device.name);
        // Where rates are limited nothing leaves without it, so nobody gives it up.
        const tries = profile.rateLimit ? Number.POSITIVE_INFINITY : triesMax;
        await this.#call(life, 'limitRate', { account, on: profile.rateLimit }, tries);
        await this.#call(life, 'setRateIdentity', { account, secret, nonce: this.#nonce() }, tries);
        return;
      }
      case 'more-relays':
      case 'fewer-relays': {
        const name = wish.wish === 'more-relays' ? 'addRelay' : 'removeRelay';
        await this.#call(life, name, { account: this.device.account, url: idle, now: this.#now() });
      }
    }
  }

  async #send(life: Life, wish: Wish & { readonly wish: 'send' }): Promise<void> {
    await this.#join(life, wish.channel);
    const channel = channelName(wish.channel);
    const body = { nick: this.device.name, channel, text: wish.text };
    const outcome = await this.#call(life, 'enqueue', {
      account: this.device.account,
      conversation: this.#conversation(wish.channel),
      command: wish.command,
      body: this.#isSecret(wish.channel) ? { ...body, secret: channelSecret() } : body,
      profile: profile.name,
      now: this.#now(),
      nonce: this.#nonce(),
    });
    if (outcome?.kind === 'queued') this.watch.promised(this.device.name, wish.command);
    if (outcome?.kind === 'outbox-full') this.world.count('outbox-full');
  }

  async #hand(life: Life, deed: HandDeed, nth: number): Promise<void> {
    const named = pointedAt(this.device.store.tables, this.device.account, nth);
    if (named === undefined) return;
    if (deed === 'retry') {
      const outcome = await this.#call(life, 'retryNow', { ...named, now: this.#now() });
      if (outcome?.kind === 'due') this.world.count('hand-retried');
      return;
    }
    this.device.store.settles(named.command);
    if (deed === 'edit') return this.#edit(life, named);
    const outcome = await this.#call(life, 'drop', { ...named, now: this.#now() });
    if (outcome?.kind !== 'dropped') return;
    this.world.count('hand-dropped');
    const undone = deed === 'drop-undo';
    const pauseMs = undone ? this.#random.between(0, limits.undoMs) : limits.undoMs;
    const wish = { wish: undone ? 'undo' : 'forget', dropped: named } as const;
    this.#later += 1;
    this.world.park(life, `${wish.wish} comes`, pauseMs, () => {
      this.#later -= 1;
      this.#wish(wish);
    });
  }

  async #edit(life: Life, named: Omit<Args<'drop'>, 'now'>): Promise<void> {
    const channel = [0, 1].find((one) => this.#conversation(one) === named.conversation) ?? 0;
    this.#sent += 1;
    const text = `${this.device.name} rather says ${this.#sent}`;
    const body = { nick: this.device.name, channel: channelName(channel), text };
    const outcome = await this.#call(life, 'editQueued', {
      ...named,
      profile: profile.name,
      newCommand: toHex(this.#random.bytes(16)),
      body: this.#isSecret(channel) ? { ...body, secret: channelSecret() } : body,
      now: this.#now(),
      nonce: this.#nonce(),
    });
    if (outcome?.kind === 'edited') this.world.count('hand-edited');
  }

  async #join(life: Life, channel: number): Promise<void> {
    this.#joined.add(channel);
    const joining = {
      account: this.device.account,
      conversation: this.#conversation(channel),
      name: channelName(channel),
      now: this.#now(),
      nonce: this.#nonce(),
    };
    const args = this.#isSecret(channel) ? { ...joining, secret: channelSecret() } : joining;
    await this.#call(life, 'joinChannel', args, Number.POSITIVE_INFINITY);
  }

  /** Repeats a refused call; after some tries a person gives up, knowing only that it was not confirmed. */
  async #call<N extends WriteName>(
    life: Life,
    name: N,
    args: Args<N>,
    tries = triesMax,
  ): Promise<Outcome<N> | undefined> {
    for (let nth = 0; nth < tries; nth++) {
      try {
        return (await this.device.store.transact(life, name, args)).outcome;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        await new Promise<void>((again) => this.world.park(life, `tries ${name} again`, retryMs, again));
      }
    }
    return undefined;
  }

  #isSecret(channel: number): boolean {
    return this.secret && channel === 0;
  }

  #conversation(channel: number): ConversationId {
    return conversationOf(this.device.name, channel);
  }

  #now(): number {
    return this.device.clock();
  }

  #nonce(): Uint8Array<ArrayBuffer> {
    return this.#random.bytes(12);
  }
}

function channelName(channel: number): string {
  return `#room${channel}`;
}

function channelSecret(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(32).fill(7);
}
