const second = 1_000;
const minute = 60 * second;

/** Every bound and default of the system, units last. Sources: formats.md 1, event-graph.md 2 and 3. */
export const limits = {
  /** Longest command of a frame, bytes. */
  commandBytesMax: 255,
  /** Longest content of an event, bytes (formats.md 1.4). */
  contentBytesMax: 262_144,
  /** Longest blob of an event, bytes. */
  blobBytesMax: 1_024,
  /** Longest frame payload and WebSocket message, bytes. */
  messageBytesMax: 1_049_600,
  /** Longest text a person may send, UTF-8 bytes. */
  textBytesMax: 16_384,
  /** Longest draft kept, UTF-8 bytes: more than can be sent, so that a refused text is kept whole. */
  draftBytesMax: 1_048_576,
  nickBytesMax: 24,
  channelBytesMax: 24,
  /** Core message payloads, bytes. */
  versionBytesMax: 2_043,
  verackBytesMax: 128,
  pingBytesMax: 2,
  nodeIdBytesMax: 64,
  appNameBytesMax: 32,
  preReleaseBytesMax: 32,
  urlBytesMax: 1_024,
  featureNameBytesMax: 32,
  featuresMax: 10,
  externalAddressesMax: 10,
  /** Event-graph counts. */
  eventParents: 5,
  eventRequestIdsMax: 128,
  eventReplyEventsMax: 128,
  headerRequestTipsMax: 1_024,
  headerReplyHeadersMax: 4_096,
  tipReplyTipsMax: 1_024,
  eventHeaderBytes: 208,
  dagNameBytesMax: 20,
  batchBytesMax: 1_048_576,
  /** A timestamp may lie this far outside its slot, and a live event this far in the future, ms. */
  eventTimeDriftMs: minute,
  /** Link session. */
  handshakeMs: 10 * second,
  heartbeatMs: 30 * second,
  pongMs: 15 * second,
  requestMs: 15 * second,
  waitingRequestsMax: 32,
  /** Statuses of one peer that wait to be recorded: more than it can owe us. */
  statusesWaitingMax: 512,
  unknownCommandsPerMinuteMax: 32,
  unknownCommandsWindowMs: minute,
  /** Answers that nobody asked for, in the same window. */
  unaskedAnswersMax: 32,
  /** Version, verack, ping and pong frames of one session in a window (event-graph.md 7.2). */
  controlFramesMax: 28,
  controlWindowMs: 10 * second,
  strikesMax: 5,
  floodEventsMax: 200,
  floodWindowMs: minute,
  /** An app keeps this far below what a relay takes of it in the window, in events and in time: the two count apart. */
  pacedShare: 0.95,
  pacedMarginMs: 2 * second,
  /** Whatever a relay announces, it is put so many: one that takes next to nothing must not hold the lane back. */
  pacedEventsMin: 48,
  /** What a client bears of one relay in the window before it ends the link: it hands on what very many members say. */
  relayFloodEventsMax: 6_400,
  /** What all connections of one source may put: so many times what one may. */
  sourceAllowances: 8,
  /** Sessions of a source that ended for its fault within the window, and how long it then stays out. */
  banFaults: 10,
  banWindowMs: 5 * minute,
  banMs: 10 * minute,
  /** Sources a relay remembers: those connected, and those heard of lately. */
  sourcesKnownMax: 16_384,
  /** Parts a message may come in: frames of the WebSocket, and pieces of the stream. */
  messageFragmentsMax: 256,
  messageChunksMax: 4_096,
  /** Bytes of new events a connection may put in the window (formats.md 1.5). */
  connectionBytesPerMinuteMax: 8_388_608,
  /** Bytes of events of one peer a relay holds until they are decided. */
  heldPutBytesMax: 16_777_216,
  connectMs: 15 * second,
  /** Bytes that may wait in a socket before the link is ended as too slow. */
  outboundBufferBytesMax: 8_388_608,
  /** Pause between two heartbeats of the engine to its tabs. */
  tabHeartbeatMs: 5 * second,
  /** Events of others that wait for one peer of a relay; what finds no room is dropped, and repaired. */
  relayQueueEventsMax: 1_024,
  /** Bytes of them that lie in its socket at once: enough to keep it busy, since small ones cost far more than their bytes there. */
  relaySocketBytesMax: 65_536,
  /** Relays that a relay is told to dial. */
  outboundRelaysMax: 64,
  reconnectMinMs: second,
  reconnectMaxMs: minute,
  /** Outbox. */
  outboxBytesMax: 268_435_456,
  outboxBytesShareOfEstimate: 0.2,
  /** Room kept for the head's events and their ids: an outbox full of waiting messages must still be able to send. */
  outboxHeadBytes: 65_536,
  leaseMs: 30 * second,
  backoffFirstMs: 30 * second,
  backoffRoundsMax: 5,
  backoffCapMs: 960 * second,
  backoffJitterShare: 0.25,
  requiredRelaysMax: 3,
  /** Open operations handed to a relay after a reconnect: rows a transaction, and transactions. */
  openPageRows: 32,
  openPagesMax: 4,
  /** Least pause between two rounds, whatever a person presses. */
  retryPauseMs: 5 * second,
  /** How long a drop can be undone. */
  undoMs: 10 * second,
  /** Trusted clock. */
  clockSkewAppliedMs: 30 * second,
  clockAgreementMs: 10 * second,
  /** Our own clock was moved by more than this since peers measured it: they have to measure it again. */
  clockStepMs: 10 * second,
  /** The last own event may lie this far ahead of the trusted clock, as after a small correction. */
  ownTimeAheadMaxMs: 60 * minute,
  /** Graph. */
  clientSlotsRetained: 24,
  relaySlotsRetained: 720,
  clientGraphBytesMax: 67_108_864,
  /** Rate limit (formats.md 8.4, event-graph.md 5): when epochs began, how long one is, what it holds, when forgotten. */
  rateEpochZeroMs: 1_738_688_400_000,
  rateEpochMs: 10 * minute,
  rateTicketsPerEpoch: 100,
  rateEpochsKept: 2,
  /** Tickets forgotten in one transaction. */
  pruneTicketsMax: 256,
  /** Events nobody references yet, in one slot; events that would add another are refused as Busy. */
  slotTipsMax: 2_048,
  /** Events of one slot, beyond which those of others are refused as Busy: far more than honest peers make. */
  slotEventsMax: 1_048_576,
  /** Highest events of a slot from which its row is made anew when that was lost: each may be as large as a content may be. */
  slotRecountEventsMax: 256,
  /** Events forgotten in one transaction: each may be as large as a content may be. */
  pruneEventsMax: 64,
  /** Ancestors of live events that are fetched: for one at once, and for all of a connection in the window of floods. */
  parentFetchEventsMax: 10_000,
  parentFetchBytesMax: 67_108_864,
  /** A body that one peer is asked for is not asked of another this long. */
  bodyClaimMs: 3 * second,
  /** How long a relay syncs with one peer while others wait. */
  syncTurnMs: minute,
  /** What peers have is asked for again this often, though every newest tip is known. */
  resyncMs: 15 * minute,
  /** Events looked at in one transaction when headers are listed. */
  headerWalkRowsMax: 1_000,
  /** Calls to the store. */
  callMs: 5 * second,
  callUpgradingMs: 30 * second,
  /** A call id may be repeated this long, and so many finished ones are remembered by a living worker. */
  callRepeatMs: 10 * minute,
  callsRememberedMax: 1_024,
  /** Births of engines that are remembered: more than can happen while a call of one may be repeated. */
  enginesRememberedMax: 32,
  /** A worker that does not greet in this time is taken for dead; asked again sooner at first, to lose less time. */
  helloMs: 2 * second,
  helloFirstMs: 250,
  /** Time a stopped service worker is left alone, so that a newer one can take its place. */
  takeoverMs: 100,
  /** A fetch this often keeps a service worker from being stopped. */
  keepAliveMs: 20 * second,
  callNameMax: 64,
  callDepthMax: 16,
  callsPerFetchMax: 64,
  callsPerMessageMax: 64,
  batchScriptsMax: 64,
  batchChangeBytesMax: 512_000,
  scriptRowsMax: 4_096,
  /** Rows a store remembers to be there, where they are never removed. */
  standingKeysMax: 4_096,
  callBytesMax: 8_388_608,
  /** Pages of rows handed to the screen. */
  pageRowsMax: 200,
  /** Messages of a conversation that stand in one window at most. */
  timelineWindowRowsMax: 1_200,
} as const;
