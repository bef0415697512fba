import type { OpenedMessage } from '../core/transactions/reads';
import type { EngineStatus } from '../engine/status';
import type { HoldReason, Inspection, MarkView } from '../ui/model';

/** The line a waiting message stands in. */
export interface LineView {
  /** Sequence of the head and the name of its conversation. */
  readonly head?: { readonly seq: number; readonly conversation: string; readonly name: string };
  /** Messages that wait, the head among them. */
  readonly waiting?: number;
  /** Absent while the engine has said nothing yet. */
  readonly status?: EngineStatus;
}

/**
 * Delivery state of an own message: a pure function of its committed row, and for what still waits, of what the engine
 * says it waits for (ux.md C3). Nothing is inferred from clicks, sockets or the browser's online flag (RD-05, RD-17).
 */
export function markOf(message: OpenedMessage, line: LineView): MarkView {
  const operation = message.operation;
  const intents = operation?.intents ?? [];
  const accepted = new Set(intents.filter((one) => one.state === 'accepted').map((one) => one.relay));
  const handed = new Set(intents.filter((one) => one.attempt > 0).map((one) => one.relay));
  const required = intents.filter((one) => one.required).length;
  const first = operation?.generations[0];
  const facts = {
    acceptedBy: accepted.size,
    handedTo: handed.size,
    rounds: operation?.round ?? 0,
    queuedAt: message.at,
    ...(required === 0 ? {} : { required }),
    ...(first === undefined ? {} : { firstHandedAt: first.at, copies: operation?.generations.length ?? 1 }),
  };
  if (operation?.droppedAt !== undefined) {
    return { ...facts, state: 'dropped', droppedAt: operation.droppedAt };
  }
  if (operation?.acked !== undefined) return { ...facts, state: 'accepted', acceptedAt: operation.acked.at };
  return { ...facts, ...waiting(message, line) };
}

function waiting(
  message: OpenedMessage,
  line: LineView,
): Pick<MarkView, 'state' | 'reason' | 'nextAt' | 'place' | 'behind' | 'holds'> {
  const operation = message.operation;
  const isHead = line.head === undefined || line.head.seq === message.seq;
  const next = operation?.nextAt === undefined ? {} : { nextAt: operation.nextAt };
  const behind = isHead ? (line.waiting ?? 1) - 1 : 0;
  const place = isHead ? { place: 1, ...(behind > 0 ? { holds: behind } : {}) } : {};
  const parked = operation?.parked ?? (isHead ? line.status?.parked : undefined);
  if (parked !== undefined) return { state: 'on-hold', reason: parked as HoldReason, ...next, ...place };
  if (operation !== undefined && operation.generations.length > 0) {
    return {
      state: 'sent',
      ...(allInvalid(message) ? { reason: 'refused' as const } : {}),
      ...next,
      ...place,
    };
  }
  if (!isHead) return { state: 'queued', behind: line.head?.name ?? '' };
  const reason = waitReason(line.status);
  return reason === undefined ? { state: 'queued', ...place } : { state: 'queued', reason, ...place };
}

/** Why a head that could leave has not left. */
function waitReason(status: EngineStatus | undefined): HoldReason | undefined {
  if (status === undefined || status.ready >= status.minPeers) return undefined;
  if (status.ready > 0) return 'few-relays';
  return status.relays.some((relay) => relay.state === 'catching-up') ? 'catching-up' : 'no-relay';
}

/** Every relay that answered the active event called it invalid. */
function allInvalid(message: OpenedMessage): boolean {
  const active = message.operation?.generations.at(-1)?.id;
  const answers = (message.operation?.intents ?? []).filter(
    (one) => one.event === active && one.reason !== undefined,
  );
  return answers.length > 0 && answers.every((one) => one.reason === 'invalid');
}

type Fact = Inspection['facts'][number];

const answerFacts: Readonly<Record<string, Fact['what']>> = {
  new: 'has-new',
  already: 'has-already',
  'not-synced': 'not-synced',
  busy: 'busy',
  'too-old': 'too-old',
  invalid: 'invalid',
};

/** What is kept about an own message, as facts in order of time. */
export function factsOf(message: OpenedMessage): readonly Fact[] {
  const operation = message.operation;
  const copies = operation?.generations ?? [];
  const copyOf = (event: string) => copies.findIndex((one) => one.id === event) + 1;
  const facts: Fact[] = [{ at: message.at, what: 'saved' }];
  copies.forEach((one, at) => {
    facts.push({ at: one.at, what: 'made', copy: at + 1 });
  });
  for (const intent of operation?.intents ?? []) {
    const about = { at: intent.at, relay: intent.relay, copy: copyOf(intent.event) };
    const answered = intent.reason === undefined ? undefined : answerFacts[intent.reason];
    facts.push({ ...about, what: answered ?? 'handed' });
    // The answer took the place of the claim, whose first time is that of the copy it was made with.
    const made = copies.find((one) => one.id === intent.event)?.at;
    if (answered !== undefined && intent.attempt > 0 && made !== undefined) {
      facts.push({ ...about, at: made, what: 'handed' });
    }
  }
  const acked = operation?.acked;
  if (acked?.by === 'network')
    facts.push({ at: acked.at, what: 'seen-in-network', copy: copyOf(acked.event) });
  if (operation?.droppedAt !== undefined) facts.push({ at: operation.droppedAt, what: 'dropped' });
  return facts.toSorted((left, right) => left.at - right.at);
}
