import { signal } from '@preact/signals';
import type {
  Commands,
  ConversationView,
  MarkView,
  MessageView,
  NetworkView,
  Snapshot,
} from '../../src/ui/model';

/** The moment every state is drawn for. */
export const now = Date.UTC(2026, 10, 30, 14, 3, 20);
export const harbour = 'a1'.repeat(16);
export const reef = 'b2'.repeat(16);
const minute = 60_000;

/** A mark of a state, with what belongs to it. */
export function mark(state: MarkView['state'], more: Partial<MarkView> = {}): MarkView {
  const handed = state === 'queued' ? {} : { firstHandedAt: now - 20_000, handedTo: 2, rounds: 1 };
  const accepted = state === 'accepted' ? { acceptedBy: 2, required: 3, acceptedAt: now - 15_000 } : {};
  return {
    state,
    acceptedBy: 0,
    handedTo: 0,
    rounds: 0,
    queuedAt: now - 25_000,
    ...handed,
    ...accepted,
    ...more,
  };
}

/** One message, received from Ana unless told otherwise. */
export function message(seq: number, more: Partial<MessageView> = {}): MessageView {
  return {
    seq,
    logical: seq.toString(16).padStart(32, '0'),
    own: false,
    nick: 'Ana',
    text: `Message ${seq}`,
    at: now - 60 * minute + seq * 1_000,
    ...more,
  };
}

/** An own message with its mark. */
export function ownMessage(seq: number, text: string, at: number, marked: MarkView): MessageView {
  return message(seq, { own: true, nick: 'Mo', text, at, mark: marked });
}

const network: NetworkView = {
  relays: [
    { url: 'wss://harbour.example', state: 'answering', latencyMs: 42, lastEventAt: now - 20_000 },
    { url: 'wss://north.example', state: 'connecting', nextTryAt: now + 3 * minute },
    { url: 'wss://old.example', state: 'other-network' },
    { url: 'ws://127.0.0.1:4181', state: 'not-now', nextTryAt: now + 20_000 },
    { url: 'wss://hotel-wifi.example', state: 'web-page' },
  ],
  synced: true,
  engine: 'shared-worker',
  carrier: 'this-tab',
  sendsWhenClosed: false,
};

const day = 24 * 60 * minute;
const { text: _unreadable, ...unreadable } = message(8, { nick: 'Bo', at: now - 8 * minute });
const talk: readonly MessageView[] = [
  message(1, { at: now - day - 40 * minute, text: 'Has anyone seen the spare line from the small boat?' }),
  ownMessage(2, 'It is on the second hook, left of the door.', now - day - 38 * minute, mark('accepted')),
  message(3, { at: now - 26 * minute, text: 'Is the ferry running?' }),
  message(4, {
    at: now - 25 * minute,
    text: 'The page of the harbour office has been saying “maybe” since this morning: https://harbour.example/ferry (which is not much help).',
  }),
  message(5, {
    nick: 'Bo',
    at: now - 22 * minute,
    authorTime: now + 5 * 60 * minute,
    text: 'Until nine. After that only the small one, and she takes no bicycles.',
  }),
  ownMessage(6, 'Then I take it.', now - 12 * minute, mark('accepted')),
  ownMessage(7, 'Two of us, no bicycles.', now - 11 * minute, mark('accepted')),
  unreadable,
  message(9, { nick: 'مارية', at: now - 6 * minute, text: 'أراكم على الرصيف.' }),
  ownMessage(
    10,
    'Keep me a seat by the window, please. I will be on the pier a little before eight and wait there until you come.',
    now - 2 * minute,
    mark('accepted'),
  ),
  ownMessage(
    11,
    'And a coffee',
    now - 70_000,
    mark('sent', { firstHandedAt: now - 65_000, nextAt: now + 40_000 }),
  ),
  ownMessage(12, 'or two', now - 20_000, mark('queued', { place: 2 })),
];

/** Conversations of the list in every look. */
const conversations: readonly ConversationView[] = [
  {
    conversation: harbour,
    name: '#harbour',
    secret: false,
    unread: 0,
    lastAt: now - 20_000,
    last: { own: true, nick: 'Mo', text: 'or two' },
    mark: mark('queued', { place: 2 }),
  },
  {
    conversation: reef,
    name: '#secret-reef',
    secret: true,
    unread: 3,
    lastAt: now - 55 * minute,
    last: {
      own: false,
      nick: 'Ana',
      text: 'The tide turns at ten past four, bring the long rope and the other lamp',
    },
  },
  {
    conversation: 'c3'.repeat(16),
    name: '#tide-tables',
    secret: false,
    unread: 0,
    lastAt: now - 3 * day,
    draft: 'I thought that we might',
  },
  {
    conversation: 'd4'.repeat(16),
    name: '#boat-shed',
    secret: false,
    unread: 0,
    lastAt: now - 4 * day,
    last: { own: true, nick: 'Mo', text: 'Keys are with Bo' },
    mark: mark('accepted'),
  },
  {
    conversation: 'e5'.repeat(16),
    name: '#weather',
    secret: false,
    unread: 128,
    lastAt: now - 9 * day,
    last: { own: false, nick: 'Ivo', text: 'Gale warning for the outer islands' },
  },
];

/** A snapshot that is ready, with an open conversation. */
export function ready(more: Partial<Snapshot> = {}): Snapshot {
  return {
    phase: 'ready',
    kept: true,
    nick: 'Mo',
    conversations,
    timeline: {
      conversation: harbour,
      name: '#harbour',
      secret: false,
      messages: talk,
      older: 'end',
      firstUnreadSeq: 5,
      draft: '',
    },
    queue: {
      waiting: 2,
      bytes: 18_240,
      bytesMax: 32_000_000,
      head: {
        conversation: harbour,
        name: '#harbour',
        mark: mark('sent', { nextAt: now + 40_000 }),
        seq: 11,
      },
    },
    network,
    updateReady: false,
    now,
    ...more,
  };
}

/** A snapshot before the account exists. */
export function firstRun(): Snapshot {
  return ready({
    phase: 'first-run',
    conversations: [],
    queue: { waiting: 0, bytes: 0, bytesMax: 32_000_000 },
    network: { ...network, relays: [] },
  });
}

const held = mark('on-hold', { reason: 'too-large', place: 1 });
const base = ready();
const { timeline: _open, ...closed } = base;
const timeline = base.timeline ?? {
  conversation: harbour,
  name: '',
  secret: false,
  messages: [],
  older: 'end',
  draft: '',
};

/** The talk with one own message at its end, which is the head of the line. */
function oneOwn(view: MarkView): Snapshot {
  const last = ownMessage(30, 'Keep me a seat by the window, please.', now - 2 * minute, view);
  const name = view.behind ?? '#harbour';
  const head = { conversation: view.behind ? reef : harbour, name, mark: view, seq: 30 };
  return ready({
    queue: { ...base.queue, waiting: (view.holds ?? 0) + 1, head },
    timeline: { ...timeline, messages: [...talk.slice(0, 7), last] },
  });
}

/** Every state worth looking at: its snapshot and its address. */
export const gallery: Readonly<Record<string, { readonly snapshot: Snapshot; readonly hash: string }>> = {
  first: { snapshot: firstRun(), hash: '#/' },
  'first-relay': {
    snapshot: { ...firstRun(), network: { ...network, relays: network.relays.slice(3, 4) } },
    hash: '#/',
  },
  unavailable: { snapshot: ready({ phase: 'unavailable', trouble: 'QuotaExceededError' }), hash: '#/' },
  empty: { snapshot: { ...closed, conversations: [] }, hash: '#/' },
  list: { snapshot: ready(), hash: '#/' },
  talk: { snapshot: ready(), hash: `#/c/${harbour}` },
  silent: {
    snapshot: ready({ network: { ...network, silentSince: now - 60_000 } }),
    hash: `#/c/${harbour}`,
  },
  hold: {
    snapshot: ready({
      queue: {
        ...base.queue,
        waiting: 4,
        head: { conversation: reef, name: '#secret-reef', mark: held, seq: 40 },
      },
      timeline: {
        ...timeline,
        messages: [
          ...talk.slice(0, 7),
          ownMessage(20, 'Later then', now - minute, mark('queued', { place: 2 })),
        ],
        draft: 'A text that waits '.repeat(30),
      },
    }),
    hash: `#/c/${harbour}`,
  },
  'not-kept': { snapshot: ready({ kept: false }), hash: `#/c/${harbour}` },
  'empty-channel': { snapshot: ready({ timeline: { ...timeline, messages: [] } }), hash: `#/c/${harbour}` },
  long: {
    snapshot: ready({
      timeline: {
        ...timeline,
        older: 'loading',
        messages: [
          message(1, { text: 'x'.repeat(3_000), nick: 'A very long name of 24 B' }),
          ownMessage(
            2,
            Array.from({ length: 60 }, (_, line) => `Line ${line + 1}`).join('\n'),
            now - minute,
            mark('on-hold', { reason: 'room' }),
          ),
        ],
      },
    }),
    hash: `#/c/${harbour}`,
  },
  join: { snapshot: ready(), hash: '#/new' },
  inspect: { snapshot: ready(), hash: `#/c/${harbour}/m/10` },
  'inspect-queued': { snapshot: ready(), hash: `#/c/${harbour}/m/12` },
  'inspect-hold': {
    snapshot: oneOwn(
      mark('on-hold', { reason: 'budget', place: 1, holds: 3, copies: 1, nextAt: now + 35_800_000 }),
    ),
    hash: `#/c/${harbour}/m/30`,
  },
  'inspect-behind': {
    snapshot: oneOwn(mark('queued', { behind: '#secret-reef' })),
    hash: `#/c/${harbour}/m/30`,
  },
  'hold-row': {
    snapshot: oneOwn(mark('on-hold', { reason: 'processing', place: 1, holds: 3, nextAt: now + 600_000 })),
    hash: `#/c/${harbour}`,
  },
  dropped: {
    snapshot: ready({
      timeline: {
        ...timeline,
        messages: [
          ...talk.slice(0, 7),
          ownMessage(
            28,
            'Never mind',
            now - 2 * minute,
            mark('dropped', { copies: 1, droppedAt: now - minute }),
          ),
          ownMessage(29, 'Nor this', now - minute, { ...mark('queued'), state: 'dropped', droppedAt: now }),
          ownMessage(30, 'But this', now - 20_000, mark('queued', { place: 1 })),
        ],
      },
    }),
    hash: `#/c/${harbour}`,
  },
  network: { snapshot: ready(), hash: '#/net' },
  settings: { snapshot: ready(), hash: '#/set' },
  update: { snapshot: ready({ updateReady: true }), hash: '#/' },
};

let commandNumber = 0;

/** Commands that answer at once and change nothing; `more` replaces some. */
export function commands(more: Partial<Commands> = {}): Commands {
  return {
    start: async () => undefined,
    join: async () => ({ conversation: harbour }),
    open: () => undefined,
    loadOlder: () => undefined,
    send: async () => undefined,
    saveDraft: async () => undefined,
    read: () => undefined,
    addRelay: async () => undefined,
    removeRelay: async () => undefined,
    inspect: async () => ({
      mark: mark('accepted'),
      text: 'Keep me a seat by the window, please.',
      facts: [
        { at: now - 25_000, what: 'saved' },
        { at: now - 24_000, what: 'made', copy: 1 },
        { at: now - 20_000, what: 'handed', relay: 'wss://harbour.example', copy: 1 },
        { at: now - 19_800, what: 'busy', relay: 'wss://north.example', copy: 1 },
        { at: now - 15_000, what: 'has-new', relay: 'wss://harbour.example', copy: 1 },
      ],
    }),
    retryNow: async () => undefined,
    editQueued: async () => undefined,
    drop: async () => ({ exposed: false }),
    undoDrop: async () => undefined,
    forgetDropped: () => undefined,
    useUpdate: () => undefined,
    newCommand: () => (++commandNumber).toString(16).padStart(32, '0'),
    bytesOver: (_conversation, text) => new TextEncoder().encode(text).length - 16_384,
    ...more,
  };
}

/** A signal of a snapshot, for rendering. */
export const shown = (snapshot: Snapshot) => signal(snapshot);
