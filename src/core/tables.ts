import type { AccountId, Bytes, ConversationId, EventId, LogicalId, Slot } from './ids';

/**
 * Every durable table: its primary key and its indexes, as names of row properties. A row without one of an
 * index's properties simply is not in that index. All stores (IndexedDB, SQLite, memory) are built from this.
 */
export const tables = {
  meta: { key: ['name'], indexes: {} },
  accounts: { key: ['account'], indexes: {} },
  counters: { key: ['account'], indexes: {} },
  relays: { key: ['account', 'url'], indexes: {} },
  conversations: { key: ['account', 'conversation'], indexes: {} },
  drafts: { key: ['account', 'conversation'], indexes: {} },
  messages: {
    key: ['account', 'conversation', 'seq'],
    indexes: { logical: ['account', 'logical'], lane: ['account', 'lane'], open: ['account', 'open'] },
  },
  generations: { key: ['account', 'id'], indexes: {} },
  slots: { key: ['account', 'slot'], indexes: {} },
  events: {
    key: ['account', 'id'],
    indexes: { slot: ['account', 'slot', 'layer', 'id'] },
  },
  tickets: {
    key: ['account', 'identity', 'epoch', 'ticket'],
    indexes: { epoch: ['account', 'epoch'] },
  },
} as const satisfies Record<string, TableSpec>;

/** Tables whose rows, once stored, are never removed: a store may remember that one is there. */
export type StandingTable = 'conversations';

/** Primary key and indexes of one table, each a list of property names. */
export interface TableSpec {
  readonly key: readonly string[];
  readonly indexes: Readonly<Record<string, readonly string[]>>;
}

/**
 * The version of the tables above; see `MetaRow` of name `schema`. Version 2 added the table `tickets` and the index
 * `open` of messages. A property that is optional needs no version: a row of before it is one without it, and builds of
 * before it hand it on as they found it.
 */
export const schemaVersion = 2;
/** The oldest version whose code may still work on these tables: what came later is optional. */
export const minReader = 1;

/** One row of facts about the database itself. */
export type MetaRow =
  | {
      readonly name: 'schema';
      readonly schema: number;
      readonly minReader: number;
    }
  /** The fencing term of the newest engine: an older one may not write. */
  | {
      readonly name: 'engine';
      readonly term: number;
      readonly engine: string;
      /** Engines before it, oldest first, so that a late copy of their calls is known. */
      readonly before?: readonly string[];
    };

/** One identity on one network profile. Every other row belongs to exactly one account. */
export interface AccountRow {
  readonly account: AccountId;
  readonly profile: string;
  /** Sealed record of type 35: nick. */
  readonly sealed: Bytes;
  readonly createdAt: number;
}

/** Numbers of one account that scripts read and write once a batch. */
export interface CountersRow {
  readonly account: AccountId;
  /** Last sequence given to a message, own or received; also the position in the lane. Never reused. */
  readonly seq: number;
  /** Bytes the outbox holds: bodies, events, blobs and generation metadata. */
  readonly outboxBytes: number;
  /** Entries in the lane. */
  readonly live: number;
  /** Bytes of all events kept in the graph. */
  readonly graphBytes: number;
  /** Time of the last event made here, so that the next is strictly later. */
  readonly ownTime: number;
  /** Latest time of events made by a clock that was wrong, where the last one is earlier. */
  readonly ownTimeMax?: number;
  /** Raised by every change of this account. */
  readonly revision: number;
  /**
   * Set while the store was locked as events came: the oldest slot whose messages are not in their conversations yet,
   * and the revision of the last such event. Pruning never passes it.
   */
  readonly unapplied?: { readonly from: Slot; readonly revision: number };
  /** Last rate epoch a ticket was taken in, and how many of its tickets are taken. */
  readonly rateEpoch?: number;
  readonly tickets?: number;
}

/** A relay the account may use. */
export interface RelayRow {
  readonly account: AccountId;
  readonly url: string;
  readonly addedAt: number;
}

/** A channel (later also a person). Name and secret are sealed; counts and times are plain. */
export interface ConversationRow {
  readonly account: AccountId;
  readonly conversation: ConversationId;
  /** Sealed record of type 36: kind, name, optional secret. */
  readonly sealed: Bytes;
  readonly createdAt: number;
  readonly lastSeq: number;
  readonly lastAt: number;
  readonly readSeq: number;
  readonly unread: number;
}

/** Unsent text of one conversation, sealed record of type 34. */
export interface DraftRow {
  readonly account: AccountId;
  readonly conversation: ConversationId;
  readonly sealed: Bytes;
  readonly at: number;
}

/** What a relay has said of one event, or what we await from it. */
export interface Intent {
  readonly relay: string;
  readonly event: EventId;
  readonly state: 'pending' | 'leased' | 'accepted' | 'retryable' | 'rejected' | 'cancelled';
  readonly attempt: number;
  readonly required: boolean;
  /** When the state was last changed. */
  readonly at: number;
  readonly term?: number;
  readonly untilMs?: number;
  readonly reason?: string;
}

/** One materialised event of an entry. Only the active one keeps its bytes. */
export interface Generation {
  readonly id: EventId;
  readonly slot: Slot;
  readonly at: number;
  /** The whole encoded event and its blob, exactly as exposed; dropped once superseded or acknowledged. */
  readonly event?: Bytes;
  readonly blob?: Bytes;
  readonly supersededBy?: EventId;
}

/** What is left to do for an own message, and what became of it. */
export interface Operation {
  readonly generations: readonly Generation[];
  readonly intents: readonly Intent[];
  /** Completed or running send rounds, over all generations. */
  readonly round: number;
  /** When the next round is due; set with every round. */
  readonly nextAt?: number;
  readonly lastRoundAt?: number;
  readonly parked?: string;
  /** Evidence that ended the entry: which event, by whom, when. */
  readonly acked?: {
    readonly event: EventId;
    readonly by: string;
    readonly at: number;
  };
  readonly droppedAt?: number;
  /** `ownTime` of the counters at the drop: while it is the same, nothing was exposed since. */
  readonly droppedMark?: number;
}

/**
 * One message of a conversation. An own one is message, entry and operation in one row: it is an entry of the lane
 * while it has the property `lane`.
 */
export interface MessageRow {
  readonly account: AccountId;
  readonly conversation: ConversationId;
  readonly seq: number;
  readonly logical: LogicalId;
  /** When this device accepted or received it. */
  readonly at: number;
  readonly own: boolean;
  /** Sealed record of type 32 (own) or 33 (received): nick, text and rebuild fields. */
  readonly body: Bytes;
  readonly lane?: number;
  /** Its `seq` while an entry that left the lane still has a required relay to hear from. */
  readonly open?: number;
  readonly operation?: Operation;
  /** Bytes counted for it in `outboxBytes`. */
  readonly bytes?: number;
  /** Received only: the event it came in, and the time its author wrote on it. */
  readonly event?: EventId;
  readonly time?: number;
}

/** Finds the entry of one of our own generations. */
export interface GenerationRow {
  readonly account: AccountId;
  readonly id: EventId;
  readonly conversation: ConversationId;
  readonly seq: number;
  readonly slot: Slot;
}

/** One rotation slot of the graph: its unreferenced tips and its size. */
export interface SlotRow {
  readonly account: AccountId;
  readonly slot: Slot;
  readonly tips: readonly { readonly id: EventId; readonly layer: number }[];
  readonly events: number;
  readonly bytes: number;
}

/** One event of the graph, whole. */
export interface EventRow {
  readonly account: AccountId;
  readonly id: EventId;
  readonly slot: Slot;
  readonly layer: number;
  readonly time: number;
  /** The encoded event: 208 header bytes, length, content. */
  readonly event: Bytes;
  readonly blob: Bytes;
  /** Made by this installation. */
  readonly own: boolean;
  /** Highest lane position this event builds on; 0 for none (see "Ancestry in constant work"). */
  readonly covers: number;
}

/** A ticket of an identity that an event has spent: no other event may (formats.md 8.4). */
export interface TicketRow {
  readonly account: AccountId;
  /** Public key in lower-case hex. */
  readonly identity: string;
  readonly epoch: number;
  readonly ticket: number;
  readonly id: EventId;
}

/** The row type of every table. */
export interface Rows {
  readonly meta: MetaRow;
  readonly accounts: AccountRow;
  readonly counters: CountersRow;
  readonly relays: RelayRow;
  readonly conversations: ConversationRow;
  readonly drafts: DraftRow;
  readonly messages: MessageRow;
  readonly generations: GenerationRow;
  readonly slots: SlotRow;
  readonly events: EventRow;
  readonly tickets: TicketRow;
}

/** Name of a table. */
export type TableName = keyof Rows & keyof typeof tables;
