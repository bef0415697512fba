import { assert } from './assert';
import { limits } from './limits';

/**
 * What must hold between the bounds. They are constants, so this is asserted where programs of Node and all tests load,
 * and costs no browser a byte.
 */
assert(
  limits.messageBytesMax >= limits.contentBytesMax + limits.blobBytesMax + limits.eventHeaderBytes + 64,
  'a frame holds the largest event with its blob',
);
assert(limits.textBytesMax < limits.contentBytesMax, 'the largest text fits the largest content');
assert(limits.batchBytesMax + 1_024 <= limits.messageBytesMax, 'a batch fits a frame');
assert(limits.backoffFirstMs * 2 ** limits.backoffRoundsMax === limits.backoffCapMs, 'backoff meets its cap');
assert(
  limits.slotTipsMax + limits.headerRequestTipsMax + limits.headerWalkRowsMax <= limits.scriptRowsMax,
  'a walk over headers fits a script',
);
assert(limits.slotTipsMax >= limits.tipReplyTipsMax, 'a slot has room for as many tips as an answer');
assert(
  limits.outboxHeadBytes >= 2 * limits.textBytesMax + 16 * 1_024,
  'the room for the head holds the event of the largest text, sealed, and dozens of generations',
);
assert(limits.leaseMs <= limits.backoffFirstMs, 'a lease ends before the next round');
assert(
  limits.rateEpochMs <= limits.backoffCapMs,
  'a lane that waits for the next rate epoch waits no invalid time',
);
assert(limits.clockStepMs < limits.clockSkewAppliedMs, 'no step makes a wrong clock of a right one unseen');
assert(limits.pongMs < limits.heartbeatMs, 'a pong is late before the next ping');
assert(limits.floodEventsMax > limits.eventRequestIdsMax, 'one batch is not a flood');
assert(
  limits.floodEventsMax > limits.openPageRows * limits.openPagesMax,
  'what is still open is not a flood',
);
assert(
  limits.statusesWaitingMax > limits.openPageRows * limits.openPagesMax + limits.floodEventsMax,
  'a relay that answers everything it was given is listened to',
);
assert(
  limits.pacedShare < 1 && limits.pacedEventsMin < limits.pacedShare * limits.floodEventsMax,
  'a paced app puts less than a flood',
);
assert(limits.helloMs * 2 < limits.callMs, 'a call outlives a worker that never greeted');
assert(limits.callUpgradingMs < limits.callRepeatMs, 'a call is remembered while it may be repeated');
