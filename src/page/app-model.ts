import { type ReadonlySignal, signal } from '@preact/signals';
import { StoreError } from '../core/errors';
import type { AccountId, ConversationId } from '../core/ids';
import { limits } from '../core/limits';
import type { OpenedConversation, Overview } from '../core/transactions/reads';
import type { Store } from '../engine/ports';
import type { Snapshot } from '../ui/model';
import type { EngineView } from './engine-client';
import type { LineView } from './marks';
import { lineOf, type OpenTimeline, snapshotOf, type ViewParts } from './view';

/** Messages of the window that is read first, and of each older page. */
const pageMessages = 60;
const retryMs = 500;
/** Least time between two reads that signals ask for: a drain says more than anyone can see, ms. */
const heardPauseMs = 100;

/**
 * What this tab shows: rows read from the store whenever a signal says that they changed, the engine's status, and
 * what is open here. Signals may be lost or repeated; every read takes the present state whole, one at a time.
 */
export class AppModel {
  readonly #snapshot = signal<Snapshot>(snapshotOf(nothing(Date.now())));
  #parts: ViewParts = nothing(Date.now());
  #reading = false;
  #readAgain = false;
  #window = pageMessages;
  #readAt = Number.NEGATIVE_INFINITY;
  #heard: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly store: Store) {}

  /** What is to be drawn. */
  get snapshot(): ReadonlySignal<Snapshot> {
    return this.#snapshot;
  }

  /** The line, as it was last read. */
  get line(): LineView {
    return lineOf(this.#parts);
  }

  /** The account, once it exists. */
  get account(): NonNullable<Overview['account']> | undefined {
    return this.#parts.overview?.account;
  }

  /** A conversation as it was last read. */
  conversation(id: ConversationId): OpenedConversation | undefined {
    return this.#parts.overview?.conversations.find((one) => one.conversation === id);
  }

  /** A new version waits, or no longer. */
  updateReady(updateReady: boolean): void {
    this.#parts = { ...this.#parts, updateReady };
    this.#draw();
  }

  /** Nothing can be kept or read here; `trouble` says why. */
  trouble(trouble: string): void {
    this.#parts = { ...this.#parts, trouble };
    this.#draw();
  }

  /** The engine said something; silence of all relays is timed from here. */
  engine(engine: EngineView): void {
    const answering = engine.status?.relays.some(
      (relay) => relay.state === 'answering' || relay.state === 'catching-up',
    );
    const { silentSince, ...rest } = this.#parts;
    const silent = answering === true ? {} : { silentSince: silentSince ?? Date.now() };
    this.#parts = { ...rest, ...silent, engine };
    this.#draw();
  }

  /** A signal says that rows changed. The first is followed at once, those that come close behind it together. */
  hear(): void {
    this.#heard ??= setTimeout(
      () => {
        this.#heard = undefined;
        this.look();
      },
      Math.max(0, this.#readAt + heardPauseMs - performance.now()),
    );
  }

  /** Rows changed: read them again. Calls that come meanwhile make one more read. */
  look(): void {
    this.#readAgain = true;
    if (!this.#reading) void this.#read();
  }

  /** Opens a conversation, or none. */
  async open(conversation: ConversationId | undefined): Promise<void> {
    const { open: _open, ...rest } = this.#parts;
    this.#window = pageMessages;
    this.#parts = rest;
    if (conversation !== undefined) {
      const found = this.conversation(conversation);
      const unread = (found?.unread ?? 0) > 0 ? { readFrom: found?.readSeq ?? 0 } : {};
      this.#parts = { ...rest, open: { ...emptyWindow(conversation), draft: found?.draft ?? '' } };
      this.#opening = { conversation, ...unread };
    }
    this.#draw();
    this.look();
  }

  #opening: { readonly conversation: ConversationId; readonly readFrom?: number } | undefined;

  /** Reads one more page of the open conversation. */
  loadOlder(): void {
    const { open } = this.#parts;
    if (open?.older !== 'more') return;
    this.#window = Math.min(this.#window + pageMessages, limits.timelineWindowRowsMax);
    this.#parts = { ...this.#parts, open: { ...open, older: 'loading' } };
    this.#draw();
    this.look();
  }

  async #read(): Promise<void> {
    this.#reading = true;
    while (this.#readAgain) {
      this.#readAgain = false;
      this.#readAt = performance.now();
      try {
        await this.#readAll();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        // Busy, upgrading or starting: what is shown stays, and the read comes again. A refused store is told.
        if (error.kind === 'storage') this.trouble(error.message);
        await new Promise((over) => setTimeout(over, retryMs));
        this.#readAgain = true;
      }
    }
    this.#reading = false;
  }

  async #readAll(): Promise<void> {
    const overview = await this.store.read('overview', {});
    const conversation = this.#parts.open?.conversation;
    const account = overview.account?.account;
    const open =
      conversation === undefined || account === undefined
        ? undefined
        : await this.#readWindow(account, conversation, overview);
    const { open: before, trouble: _over, ...rest } = this.#parts;
    const stillOpen = before?.conversation === conversation ? open : before;
    this.#parts = { ...rest, overview, ...(stillOpen === undefined ? {} : { open: stillOpen }) };
    if (before?.conversation !== conversation) this.#readAgain = true;
    this.#draw();
  }

  async #readWindow(
    account: AccountId,
    conversation: ConversationId,
    overview: Overview,
  ): Promise<OpenTimeline> {
    const messages = [];
    let before: number | undefined;
    let more = true;
    while (more && messages.length < this.#window) {
      const limit = Math.min(limits.pageRowsMax, this.#window - messages.length);
      const args = { account, conversation, limit };
      const page = await this.store.read('timeline', before === undefined ? args : { ...args, before });
      messages.unshift(...page.messages);
      more = page.more;
      before = page.messages[0]?.seq;
    }
    const readFrom = this.#opening?.conversation === conversation ? this.#opening.readFrom : undefined;
    const unread =
      readFrom === undefined ? undefined : messages.find((one) => !one.own && one.seq > readFrom);
    const draft = overview.conversations.find((one) => one.conversation === conversation)?.draft ?? '';
    return {
      conversation,
      messages,
      older: more ? 'more' : 'end',
      draft,
      ...(unread === undefined ? {} : { firstUnreadSeq: unread.seq }),
    };
  }

  #draw(): void {
    this.#snapshot.value = snapshotOf({ ...this.#parts, now: Date.now() });
  }
}

function emptyWindow(conversation: ConversationId): OpenTimeline {
  return { conversation, messages: [], older: 'loading', draft: '' };
}

function nothing(now: number): ViewParts {
  return {
    engine: { host: 'starting', carrier: 'none' },
    silentSince: now,
    sendsWhenClosed: false,
    updateReady: false,
    now,
  };
}
