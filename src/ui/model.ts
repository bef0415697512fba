import type { ConversationId, LogicalId } from '../core/ids';

/**
 * What the screens render. A snapshot is built from committed rows and link states only; the screens infer nothing.
 * Every field is plain data, so a snapshot can be frozen, compared and drawn in a test.
 */
export interface Snapshot {
  readonly phase: 'starting' | 'first-run' | 'ready' | 'unavailable';
  /** Why nothing can be kept or opened, when `phase` is `unavailable` or `kept` is false. */
  readonly trouble?: string;
  /** False in a window whose store is refused: nothing shown may be called queued or saved. */
  readonly kept: boolean;
  readonly nick?: string;
  readonly conversations: readonly ConversationView[];
  readonly timeline?: TimelineView;
  readonly queue: QueueView;
  readonly network: NetworkView;
  /** A new version waits to be used. */
  readonly updateReady: boolean;
  /** What this tab knows of the clock, ms: passed in so that rendering needs no clock. */
  readonly now: number;
}

/** One line of the conversation list. */
export interface ConversationView {
  readonly conversation: ConversationId;
  readonly name: string;
  readonly secret: boolean;
  readonly unread: number;
  readonly lastAt?: number;
  readonly last?: { readonly own: boolean; readonly nick: string; readonly text: string };
  /** Mark of the last line, when it is an own message. */
  readonly mark?: MarkView;
  readonly draft?: string;
}

/** The open conversation: one window of its messages, oldest first. */
export interface TimelineView {
  readonly conversation: ConversationId;
  readonly name: string;
  readonly secret: boolean;
  readonly messages: readonly MessageView[];
  readonly older: 'more' | 'end' | 'loading';
  /** First unread message when it was opened; the divider stays there. */
  readonly firstUnreadSeq?: number;
  readonly draft: string;
}

/** One message, own or received. */
export interface MessageView {
  readonly seq: number;
  readonly logical: LogicalId;
  readonly own: boolean;
  readonly nick: string;
  /** `undefined`: the record could not be opened; shown as one unreadable line. */
  readonly text?: string;
  readonly at: number;
  /** Time the author wrote on it, when it differs from `at` by more than five minutes. */
  readonly authorTime?: number;
  readonly mark?: MarkView;
}

/** Delivery state of an own message, a pure function of its committed row (ux.md C2, C3). */
export interface MarkView {
  readonly state: 'queued' | 'going' | 'sent' | 'accepted' | 'on-hold' | 'dropped';
  /** Distinct relays that said Has. */
  readonly acceptedBy: number;
  /** Relays whose word the entry asks for, for "accepted by 2 of 3" in the inspector; a bare count without it. */
  readonly required?: number;
  /** Relays it was handed to so far. */
  readonly handedTo: number;
  /** Hand-overs so far. */
  readonly rounds: number;
  readonly queuedAt: number;
  /** When its first copy was made: from then on something of it may have left. Absent while none exists. */
  readonly firstHandedAt?: number;
  /** Copies made so far; absent while none exists. */
  readonly copies?: number;
  readonly acceptedAt?: number;
  readonly droppedAt?: number;
  readonly nextAt?: number;
  /** Why it waits or is on hold, as a key the catalogue words. */
  readonly reason?: HoldReason;
  /** Number in the line, 1 for the head. */
  readonly place?: number;
  /** Name of the conversation whose message is the head, when that is another message than this. */
  readonly behind?: string;
  /** Messages that wait behind it, while it is the head and there are any. */
  readonly holds?: number;
}

/** Why nothing leaves at the moment. */
export type HoldReason =
  | 'no-relay'
  | 'few-relays'
  | 'catching-up'
  | 'clock'
  | 'locked'
  | 'room'
  | 'budget'
  | 'identity'
  | 'refused'
  | 'too-large'
  | 'processing';

/** The outbox in numbers. */
export interface QueueView {
  readonly waiting: number;
  readonly bytes: number;
  readonly bytesMax: number;
  readonly head?: {
    readonly conversation: ConversationId;
    readonly name: string;
    readonly mark: MarkView;
    /** Its message, so that the strip and the network screen can lead to it; without it they do not. */
    readonly seq?: number;
  };
}

/** Relays and realms, as the network screen and the strip show them. */
export interface NetworkView {
  readonly relays: readonly RelayView[];
  readonly synced: boolean;
  /** Since when no relay has answered, or `undefined` while one does. */
  readonly silentSince?: number;
  /** Seconds this device's clock is off against the relays, when known. */
  readonly clockOffSeconds?: number;
  readonly engine: 'shared-worker' | 'tab' | 'service-worker' | 'starting' | 'gone';
  readonly carrier: 'this-tab' | 'other-tab' | 'engine' | 'none';
  /** How this browser sends when Holdfast is closed. */
  readonly sendsWhenClosed: boolean;
}

/** One relay. `state` is worded by the catalogue. */
export interface RelayView {
  readonly url: string;
  readonly state:
    | 'connecting'
    | 'answering'
    | 'catching-up'
    | 'not-now'
    | 'other-network'
    | 'garbage'
    | 'web-page'
    | 'refused'
    | 'bad-address';
  readonly nextTryAt?: number;
  readonly lastEventAt?: number;
  readonly latencyMs?: number;
}

/** Why a command was not carried out; the text stays where it was typed. */
export interface Refusal {
  readonly refused:
    | 'empty'
    | 'too-long'
    | 'bad-name'
    | 'bad-secret'
    | 'bad-address'
    | 'outbox-full'
    | 'too-many'
    | 'conflict'
    | 'storage'
    | 'timeout'
    | 'locked'
    | 'updating'
    /** *Try now*: not before `at`. */
    | 'not-before'
    /** *Try now*: it waits behind another message. */
    | 'waits'
    /** *Edit*: a copy exists and may have left. */
    | 'exposed'
    /** *Undo*: something behind it has left meanwhile. */
    | 'too-late'
    | 'gone';
  /** Bytes over the bound, or bytes held and allowed. */
  readonly over?: number;
  readonly held?: number;
  readonly max?: number;
  /** Earliest time, ms. */
  readonly at?: number;
}

/** Everything a screen may ask for. Each promise settles; a refusal is a value. */
export interface Commands {
  /** Makes the account. The snapshot turns `ready` once it is there; only then are relays and channels asked for. */
  start(nick: string): Promise<Refusal | undefined>;
  /** Joins a channel by name, with a secret for a closed one; opens it. */
  join(name: string, secret: string): Promise<{ readonly conversation: ConversationId } | Refusal>;
  open(conversation: ConversationId | undefined): void;
  loadOlder(): void;
  /** Queues a message. Resolves after the strict commit; `command` is made when the text first changes after a send. */
  send(conversation: ConversationId, text: string, command: LogicalId): Promise<Refusal | undefined>;
  saveDraft(conversation: ConversationId, text: string): Promise<Refusal | undefined>;
  /** Marks everything up to `seq` as read. */
  read(conversation: ConversationId, seq: number): void;
  addRelay(url: string): Promise<Refusal | undefined>;
  removeRelay(url: string): Promise<Refusal | undefined>;
  inspect(conversation: ConversationId, seq: number): Promise<Inspection | Refusal>;
  /** Brings the next try of the head forward, within the rules; `not-before` and `waits` say why not. */
  retryNow(conversation: ConversationId, seq: number): Promise<Refusal | undefined>;
  /** Another text for a message of which no copy exists, in its place in the line; `command` is a new command id. */
  editQueued(
    conversation: ConversationId,
    seq: number,
    text: string,
    command: LogicalId,
  ): Promise<Refusal | undefined>;
  /** Takes a message out of the line for good; `exposed` says that a copy had left and cannot be called back. */
  drop(conversation: ConversationId, seq: number): Promise<{ readonly exposed: boolean } | Refusal>;
  /** Puts a dropped message back within ten seconds, while nothing behind it has left. */
  undoDrop(conversation: ConversationId, seq: number): Promise<Refusal | undefined>;
  /** Forgets a dropped message that had never left, once its ten seconds are over. */
  forgetDropped(conversation: ConversationId, seq: number): void;
  /** Reloads every tab into the new version, after drafts are stored. */
  useUpdate(): void;
  /** A new random command id. */
  newCommand(): LogicalId;
  /** Bytes by which the largest frame of this message would pass its bound; 0 or less fits (real frame, not characters). */
  bytesOver(conversation: ConversationId, text: string): number;
}

/** Everything kept about one own message, as a list of facts in order. */
export interface Inspection {
  readonly mark: MarkView;
  readonly text: string;
  readonly facts: readonly {
    readonly at: number;
    readonly what:
      | 'saved'
      | 'made'
      | 'handed'
      | 'has-new'
      | 'has-already'
      | 'seen-in-network'
      | 'not-synced'
      | 'busy'
      | 'too-old'
      | 'invalid'
      | 'dropped';
    readonly relay?: string;
    readonly copy?: number;
  }[];
}
