import { counting, isolate } from './plural';

const { n, pick } = counting('en');
const messages = (count: number) => `${n(count)} ${pick(count, 'message', 'messages')}`;
const relays = (count: number) => `${n(count)} ${pick(count, 'relay', 'relays')}`;

/**
 * Every word the screens say, in English. Parameters are already formatted times, numbers or names. A relay's word is
 * never called delivered, received or read: the screens say queued, sent, accepted, on hold and nothing stronger.
 */
export const en = {
  // Everywhere
  you: 'You',
  back: 'Back',
  close: 'Close',
  tryAgain: 'Try again',
  skipToComposer: 'Skip to the message field',
  skipToContent: 'Skip to the content',
  conversations: 'Conversations',
  noName: 'no visible name',
  title: (unread: number, place: string) => `${unread > 0 ? `(${n(unread)}) ` : ''}${place} · Holdfast`,
  starting: 'Opening',
  startingLong: 'Still reading what is kept on this device',

  // First run
  tagline: 'Messages that hold.',
  nickLabel: 'Your name here',
  nickHint: 'Others see it. No e-mail, no phone number.',
  start: 'Start',
  relaysLine: (count: number) => (count === 0 ? 'Relays' : `Relays · ${n(count)}`),
  relaysNone: 'You begin with the relays this site lists. Messages wait here until one can be reached.',
  relayOptional: 'Relay address, if you have one',
  relayOptionalHint: 'You can add or change relays later, under Network.',
  lettersOfMax: (count: number, max: number) => `${n(count)} of ${n(max)}`,

  // Problems with what was typed
  problem: {
    'name-invisible': 'Type a name that can be seen.',
    'name-long': 'This name is too long. It may have 24 letters.',
    'name-signs':
      'In this network a name has the letters a to z, digits, and signs like - and _ only: no space.',
    'channel-empty': 'Type the name of the channel.',
    'channel-long': 'This channel name is too long. With its # it may have 24 letters.',
    'channel-signs':
      'A channel name has the letters a to z, digits and signs: no space, no comma, no second #.',
    'secret-shape':
      'This is not a channel secret. One is 32 bytes written in base58: about 44 letters and digits.',
    'address-empty': 'Type the address of a relay.',
    'address-shape': 'This is not an address. A relay address looks like wss://relay.example.',
    'address-scheme': 'A relay address begins with wss://, not with another scheme.',
    'address-plain': 'Without encryption (ws://) only a relay on this computer can be used. Try wss://.',
    'address-known': 'This relay is in the list already.',
  },
  refused: {
    empty: 'There is nothing to send yet.',
    'too-long': 'This is too long.',
    'bad-name': 'This name cannot be used. Try another one.',
    'bad-secret': 'This secret cannot be used. Check that nothing is missing at its ends.',
    'bad-address': 'This address cannot be used for a relay.',
    'too-many': 'There is no room for one more.',
    'outbox-full':
      'The outbox is full. Nothing was lost; there is room again when a waiting message is accepted.',
    conflict:
      'This was kept already with other text. Nothing was changed; press again to keep it as a new message.',
    storage: 'The browser refused to store it. Your text is still here; free some disk space and try again.',
    timeout: 'The store on this device gave no answer. Your text is still here; pressing again is safe.',
    locked: 'Holdfast is locked on this device. Your text is still here.',
    'not-before': 'Not yet: relays ask for pauses between tries.',
    waits: 'It waits behind another message. Only the first in the line can be tried.',
    exposed: 'A copy was made meanwhile and may have left, so this message cannot be changed any more.',
    'too-late': 'It cannot go back to its place: something behind it may have left meanwhile.',
    updating: 'A new version is being put in place. Your text is still here; try again in a moment.',
    gone: 'The part of Holdfast that stores messages is gone. Your text is still here; reload this page.',
  },
  outboxFull: (held: string, max: string) =>
    `The outbox is full: ${held} of ${max} wait. Nothing was lost. There is room again when a message is accepted.`,

  // No store
  unavailableTitle: 'Holdfast cannot keep anything here',
  trouble: {
    'no-worker': 'Service workers, which keep and send messages, are not available in this window.',
  },
  unavailableWhat: 'This browser did not open the store in which Holdfast keeps messages.',
  unavailableSafe: 'Nothing was deleted. What was kept before stays where it is.',
  unavailableDo:
    'A private window, a full disk or blocked site data can cause this. Change that, then try again.',

  // List
  network: 'Network',
  settings: 'Settings',
  join: 'Join a channel',
  emptyTitle: 'Nothing here yet',
  emptyText: 'Pick a channel name with the people you want to write to, and join it here.',
  keptHere: 'Kept in this browser only.',
  draft: 'Draft',
  withSecret: 'with secret',
  openChannel: 'open',
  unread: (count: number) => `${n(count)} unread`,
  pickOne: 'Choose a conversation',
  pickOneText: 'What you write is kept on this device first, and leaves when a relay can be reached.',
  unknownConversation: 'This conversation is not on this device.',

  // Join
  channelName: 'Channel name',
  channelHint: 'Anyone who knows the name of an open channel can read and write in it, under any name.',
  channelSecret: 'Secret',
  optional: 'optional',
  secretHint: 'With a secret, only those who have it can read. It cannot be recovered: keep a copy.',
  joinButton: 'Join',
  cancel: 'Cancel',

  // Timeline
  messagesOf: (name: string) => `Messages in ${isolate(name)}`,
  newDivider: (count: number) => `${n(count)} new`,
  pill: (count: number) => `${n(count)} new below`,
  pillOwn: 'Yours is below',
  toEnd: 'Go to the newest',
  loadingOlder: 'Reading older messages',
  beginning: (day: string) => `This is the beginning on this device (${day})`,
  emptyChannel: 'Nothing here in the time this network remembers. Be the first.',
  unreadable: 'A message that could not be read on this device.',
  authorClock: (time: string) => `sender's clock: ${time}`,
  showAll: 'Show all',
  showLess: 'Show less',
  today: 'Today',
  yesterday: 'Yesterday',

  // Composer
  messageTo: (name: string) => `Message ${isolate(name)}`,
  send: 'Send',
  sendOver: (over: number) => `Send, ${n(over)} ${pick(over, 'byte', 'bytes')} over`,
  over: (over: number) => `${n(over)} ${pick(over, 'byte', 'bytes')} over. Shorten it or split it.`,
  left: (left: number) => `${n(left)} ${pick(left, 'byte', 'bytes')} left`,
  as: (nick: string) => `as ${isolate(nick)}`,
  enterSends: 'Enter sends',
  enterLine: 'Ctrl+Enter sends',
  onlyThisTab: 'Only in this tab',
  draftLost: 'This draft could not be stored on this device yet.',
  waitBehind: (name: string) => `Your messages here wait behind one to ${isolate(name)} that is on hold.`,
  showIt: 'Show it',

  // Marks
  mark: {
    queued: 'Queued',
    going: 'Going out',
    sent: 'Sent · no answer yet',
    'sent-invalid': 'Sent · refused as invalid so far',
    accepted: 'Accepted',
    'on-hold': 'On hold',
    dropped: 'Dropped',
    'not-kept': 'Only in this tab',
  },
  behindThis: (count: number) => `${n(count)} ${pick(count, 'waits', 'wait')} behind this`,
  behindName: (name: string) => `Waits behind a message to ${isolate(name)}`,
  goesOn: (time: string) => `goes on at ${time}`,
  ahead: (count: number) => `${n(count)} ahead`,
  nextAbout: (time: string) => `next try about ${time}`,
  nextSoon: 'next try in a moment',
  reason: {
    'no-relay': 'no relay in reach',
    'few-relays': 'too few relays in reach',
    'catching-up': 'catching up first',
    clock: "this device's clock is in doubt",
    locked: 'locked',
    room: 'storage bound reached',
    budget: 'sending budget used up',
    identity: 'needs its sending identity',
    refused: 'refused by all relays',
    'too-large': 'too large for the relays',
    processing: 'could not be prepared',
  },
  details: 'Details',
  markName: {
    queued: 'Queued on this device, nothing has left yet',
    going: 'Going out',
    sent: (count: number) => `Sent to ${n(count)} ${pick(count, 'connection', 'connections')}, no answer yet`,
    'sent-invalid': 'Sent, refused as invalid so far',
    accepted: (count: number) =>
      count > 0 ? `Accepted by ${relays(count)}` : 'Accepted, seen in the network',
    'on-hold': (reason: string) => `On hold: ${reason}`,
    dropped: 'Dropped by you',
    'not-kept': 'Held in this tab only, not kept on this device',
  },
  waitsBehind: (count: number) => `${messages(count)} ${pick(count, 'waits', 'wait')} behind it`,

  // Inspector
  inspectTitle: (name: string) => `Message to ${isolate(name)}`,
  inspectQueued: (time: string) => `Stored on this device at ${time}. No part of it has left.`,
  inspectNotKept: 'This window keeps nothing: when the tab closes, the message is gone.',
  inspectPlace: (place: number) =>
    place === 1 ? 'It is the next to leave.' : `It is number ${n(place)} in the line.`,
  inspectBehind: (name: string) =>
    `First in the line is a message to ${isolate(name)}, which has to be accepted before it.`,
  inspectGoing: 'It is being handed over at this moment; some of it may have left.',
  inspectSent: (count: number, time: string, rounds: number) =>
    `Handed to ${n(count)} ${pick(count, 'connection', 'connections')}, first at ${time}${rounds > 1 ? `, ${n(rounds)} times so far` : ''}. A hand-over is no proof: none of them has said that it holds the message. It stays here until one does.`,
  inspectInvalid:
    'The relays that answered call it invalid. That is not final in this network, so it is offered again, slowly.',
  inspectAccepted: (by: number, required: number | undefined, time: string) =>
    `Accepted by ${by < (required ?? by) ? `${n(by)} of ${relays(required ?? by)}` : relays(by)}, first at ${time}.`,
  inspectSeen: (time: string) =>
    `At ${time} something by another author was seen that builds on it, so at least one other node had it.`,
  inspectDropped: 'It is not offered any more.',
  inspectForgotten: 'You dropped it before anything of it left, so nothing of it is kept.',
  inspectStays: 'It stays on this device and keeps its place in the line.',
  droppedAt: (time: string) => `You dropped it at ${time}.`,
  copiesLeft: (count: number) =>
    `${n(count)} ${pick(count, 'copy', 'copies')} had already left and cannot be called back.`,
  copiesMayHaveLeft: (count: number) =>
    `${n(count)} ${pick(count, 'copy', 'copies')} may have left and cannot be called back.`,

  // What a person may do to a waiting message
  doWith: 'What you can do with this message',
  tryNow: 'Try now',
  tryDue: 'The next try is due now.',
  notBefore: (time: string) => `Not before ${time}: relays ask for pauses between tries.`,
  edit: 'Edit',
  editLabel: 'Text of this waiting message',
  editSave: 'Change it',
  editSaved: 'Changed. It keeps its place in the line.',
  newVersion: 'New version',
  takenNote: {
    version: 'A new message. The old one stays in the line and leaves first.',
    again: 'The text of a message you dropped. Sending it makes a new message.',
    'too-late':
      'The dropped message cannot go back to its place: something behind it may have left. Here is its text, as a new message.',
  },
  drop: 'Drop',
  dropAsk: (behind: number) =>
    behind > 0 ? `Drop it? ${messages(behind)} behind it can then leave.` : 'Drop it?',
  dropAskNever: 'Nothing of it has left, and then nothing will.',
  dropAskCopies: 'A copy may have left already: that one cannot be called back.',
  keep: 'Keep',
  saidDropped: 'Dropped.',
  undo: 'Undo',
  undone: 'It is back in its place.',
  writeAgain: 'Write it again',
  saidTaken: 'The text is in the message field.',
  handGone: 'It does not wait any more: it was accepted, changed or dropped meanwhile.',
  partFailed: 'This part of Holdfast could not be read.',
  why: {
    'no-relay': 'No relay is connected. It leaves by itself when one is.',
    'few-relays': 'More relays are needed before it may leave. It goes on by itself when they answer.',
    'catching-up': 'Holdfast first catches up with the network, then it leaves.',
    clock: 'The clock of this device does not fit the network. It goes on by itself when the clock is right.',
    locked: 'Holdfast is locked. It goes on when it is unlocked.',
    room: 'A fresh copy does not fit the storage bound. It goes on when older messages are accepted.',
    budget: 'The sending budget of this period is spent. It goes on with the next period.',
    identity: 'The identity it has to be sent with is missing. It goes on when that is there.',
    refused: 'Every relay turned it down. Another relay opens the way again.',
    'too-large': 'It is larger than the relays take, so it cannot leave as it is.',
    processing: 'This device could not prepare it. It tries again by itself, at a slow pace.',
  },
  asList: 'What happened, in order',
  noFacts: 'Nothing has happened since it was stored.',
  factsFailed: 'The history of this message could not be read. Its place in the line is not affected.',
  fact: {
    saved: 'Stored on this device',
    made: (copy: string) => `${copy} made`,
    handed: (relay: string) => `Handed to ${relay}`,
    'has-new': (relay: string) => `${relay}: has it, it was new there`,
    'has-already': (relay: string) => `${relay}: has it, had it before`,
    'seen-in-network': 'Seen in the network: another author built on it',
    'not-synced': (relay: string) => `${relay}: not ready yet`,
    busy: (relay: string) => `${relay}: busy`,
    'too-old': (relay: string) => `${relay}: its time window is over`,
    invalid: (relay: string) => `${relay}: calls it invalid`,
    dropped: 'Dropped by you',
  },
  aRelay: 'a relay',
  copyNumber: (copy: number) => `Copy ${n(copy)}`,
  tells: 'What this tells you',
  tellsWord:
    "“Accepted” is a relay's own word and cannot be checked from here. It does not say that the message was passed on, or that a person got, saw or opened it.",
  tellsRecall: 'Once handed over, a copy is out of reach: nothing here can call it back.',
  tellsOrder:
    'Your messages leave this device one after another, in the order you sent them. That is an order of sending only: others may see them in another one.',
  copyDetails: 'Copy details',
  copied: 'Copied',

  // Strip
  strip: {
    store: 'Data on this device needs attention',
    'not-kept': 'This window keeps nothing (private mode)',
    clock: (off: string) => `This device's clock seems ${off} off`,
    silent: 'No relay in reach',
    'no-relays': 'No relays yet',
    waiting: (count: number) => `${messages(count)} ${pick(count, 'waits', 'wait')} on this device`,
    unanswered: 'A message without an answer',
    invalid: 'A message the relays call invalid so far',
    update: 'New version ready',
    useIt: 'Use it',
    'catching-up': 'Catching up with the network',
  },
  hours: (count: number) => `${n(count)} h`,
  minutes: (count: number) => `${n(count)} min`,

  // Network
  outbox: 'Outbox',
  outboxWaiting: (count: number) => `${n(count)} waiting`,
  outboxEmpty: 'Nothing waits',
  ofBytes: (held: string, max: string) => `${held} of ${max}`,
  headLine: (name: string) => `Next: to ${isolate(name)}`,
  relays: 'Relays',
  noRelays: 'No relays yet. Messages wait on this device until there is one.',
  relayState: {
    connecting: 'connecting',
    answering: 'answering',
    'catching-up': 'answering · catching up',
    'not-now': 'not now',
    'other-network': 'belongs to another network',
    garbage: 'answers, but not in the language of a relay',
    'web-page': 'answers like a web page: a sign-in page of this Wi-Fi?',
    refused: 'refused us',
    'bad-address': 'this address cannot be used',
  },
  milliseconds: (ms: number) => `${n(ms)} ms`,
  lastEvent: (time: string) => `last event ${time}`,
  addRelay: 'Add a relay',
  add: 'Add',
  removeRelay: (url: string) => `Remove ${isolate(url)}`,
  relayAdded: 'Relay added',
  relayRemoved: 'Relay removed',
  thisBrowser: 'This browser',
  engine: 'Engine',
  engineIs: {
    'shared-worker': 'shared worker',
    tab: 'a tab',
    'service-worker': 'service worker',
    starting: 'starting',
    gone: 'gone, being restarted',
  },
  carrier: 'Carrier',
  carrierIs: {
    'this-tab': 'this tab',
    'other-tab': 'another tab',
    engine: 'the engine itself',
    none: 'none yet',
  },
  whenClosed: 'Sends when closed',
  whenClosedYes: 'yes, for a short while',
  whenClosedNo: 'no: waiting messages leave when you next open Holdfast',
  orderNote: 'Messages leave in the order you sent them; one that waits holds back those behind it.',

  // Settings
  me: 'Me',
  writingAs: 'You write as',
  look: 'Look',
  theme: 'Theme',
  themeIs: { system: 'Follow the system', light: 'Light', dark: 'Dark' },
  enterKey: 'Enter key',
  enterIs: { auto: 'Fits this device', send: 'Sends', line: 'Makes a new line' },
  enterHint: 'Ctrl+Enter or ⌘+Enter always sends.',
  about: 'What Holdfast promises',
  aboutKept:
    'A message you send is stored on this device before anything else happens, and stays until a relay says it has it.',
  keys: 'Keys',
  keyList: {
    'Ctrl+Enter': 'send',
    'Alt+↑ ↓': 'previous or next conversation',
    'Alt+Shift+↑ ↓': 'previous or next with unread messages',
    F6: 'next part of the window',
    Esc: 'close, then back to the message field',
    'Enter, I': 'details of the chosen own message',
    '↑': 'in an empty message field: change the last message that waits',
    'T, E, D': 'in the details: try now, edit or new version, drop',
  },

  // Announcements
  said: (nick: string, text: string) => `${nick}: ${text}`,
  saidMany: (count: number) => `${n(count)} new ${pick(count, 'message', 'messages')}`,
  saidQueued: 'Queued. No relay in reach.',
  saidQueuedWaits: 'Queued. It waits on this device.',
  saidSent: 'Sent, no answer yet.',
};

/** The catalogue every language fills: a missing or extra key is an error of the build. */
export type Texts = typeof en;
