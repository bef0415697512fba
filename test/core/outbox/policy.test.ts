import { describe, expect, test } from 'vitest';
import { answered, beginRound, handedTo, reopenRejected } from '../../../src/core/outbox/operation';
import { type Conditions, nextForHead, untouched, type Verdict } from '../../../src/core/outbox/policy';
import type { Intent, MessageRow, Operation } from '../../../src/core/tables';
import { account, command, slot as firstSlot, open } from '../../fixtures/account';

const hour = 3_600_000;
const slot = firstSlot;
const pause = 10_000;
const lease = 5_000;

/** Every value of everything the policy looks at. */
const inputs = {
  /** The active generation's slot, seen from now: the current one, the one before, or one that has not begun. */
  made: [
    'nothing',
    'in this slot',
    'at the end of its slot',
    'in a closed slot',
    'closed, end of this slot',
    'ahead',
  ],
  next: ['due', 'later', 'impossibly late'],
  asked: ['before it closed', 'since it closed'],
  peers: ['enough', 'too few', 'not synced'],
  clock: ['trusted', 'doubted'],
  parked: ['no', 'yes'],
  claim: [
    'none',
    'released',
    'own',
    'of an engine before',
    'run out',
    'impossibly long',
    'refused',
    'rejected',
    'accepted',
  ],
  /** What the other relay has of the event. */
  other: ['in flight', 'rejected'],
} as const;

type Input = { readonly [K in keyof typeof inputs]: (typeof inputs)[K][number] };
type Rule = { readonly when: Partial<{ [K in keyof Input]: readonly Input[K][] }>; readonly gives: Verdict };

const all = ['wss://a/', 'wss://b/'];
const now = (input: Input): number => {
  if (input.made === 'in a closed slot') return slot + hour + 600_000;
  if (input.made === 'closed, end of this slot') return slot + 2 * hour - 5_000;
  if (input.made === 'at the end of its slot') return slot + hour - 5_000;
  if (input.made === 'ahead') return slot - 600_000;
  return slot + 600_000;
};

const settled: readonly Input['claim'][] = ['own', 'refused', 'rejected', 'accepted'];
const free: readonly Input['claim'][] = ['none', 'released', 'run out', 'impossibly long'];
const isDue: readonly Input['next'][] = ['due', 'impossibly late'];

/** What must be done, first rule that fits; times are from now. */
const table: readonly Rule[] = [
  { when: { made: ['nothing'], clock: ['doubted'] }, gives: { parked: 'clock' } },
  { when: { made: ['nothing'], parked: ['yes'], next: ['later'] }, gives: { parked: 'room', wakeAt: pause } },
  { when: { made: ['nothing'], peers: ['enough'] }, gives: { send: 'materialise', relays: all } },
  { when: { peers: ['too few', 'not synced'] }, gives: {} },
  { when: { claim: ['rejected'], other: ['rejected'] }, gives: { parked: 'too-large' } },
  {
    when: { next: isDue, made: ['in a closed slot'], asked: ['since it closed'], clock: ['doubted'] },
    gives: { send: 'rebroadcast', relays: all, parked: 'clock' },
  },
  {
    when: { next: isDue, made: ['in a closed slot'], asked: ['since it closed'] },
    gives: { send: 'recreate', relays: all },
  },
  { when: { next: isDue }, gives: { send: 'rebroadcast', relays: all } },
  { when: { claim: free }, gives: { send: 'rebroadcast', relays: ['wss://a/'], wakeAt: pause } },
  { when: { claim: ['of an engine before'] }, gives: { wakeAt: lease } },
  { when: { claim: settled }, gives: { wakeAt: pause } },
];

function* combinations(names = Object.keys(inputs) as (keyof Input)[]): Generator<Input> {
  const [name, ...rest] = names;
  if (name === undefined) return yield {} as Input;
  for (const inner of combinations(rest)) for (const value of inputs[name]) yield { ...inner, [name]: value };
}

function fits(rule: Rule, input: Input): boolean {
  return Object.entries(rule.when).every(([name, values]) =>
    (values as readonly string[]).includes(input[name as keyof Input]),
  );
}

function intentOf(input: Input): readonly Intent[] {
  const base = { relay: 'wss://a/', event: 'e', attempt: 1, required: true, at: 0 };
  const leased = { ...base, state: 'leased' } as const;
  const at = now(input);
  const states: Record<Input['claim'], readonly Intent[]> = {
    none: [],
    released: [{ ...base, state: 'pending' }],
    own: [{ ...leased, term: 7, untilMs: at - 1 }],
    'of an engine before': [{ ...leased, term: 6, untilMs: at + lease }],
    'run out': [{ ...leased, term: 6, untilMs: at }],
    'impossibly long': [{ ...leased, term: 6, untilMs: at + 30_001 }],
    refused: [{ ...base, state: 'retryable', reason: 'busy' }],
    rejected: [{ ...base, state: 'rejected', reason: 'size' }],
    accepted: [{ ...base, state: 'accepted' }],
  };
  return states[input.claim];
}

function headOf(input: Input): MessageRow {
  const at = now(input);
  const nextAt = { due: at, later: at + pause, 'impossibly late': at + 1_200_001 }[input.next];
  const other: Intent = {
    relay: 'wss://b/',
    event: 'e',
    attempt: 1,
    required: true,
    at: 0,
    ...(input.other === 'rejected' ? { state: 'rejected' } : { state: 'leased', term: 7 }),
  };
  const isMade = input.made !== 'nothing';
  const operation: Operation = {
    generations: isMade ? [{ id: 'e', slot, at: slot, event: new Uint8Array(1) }] : [],
    intents: isMade ? [...intentOf(input), other] : [],
    round: isMade ? 3 : 0,
    lastRoundAt: input.asked === 'since it closed' ? slot + hour : slot + hour - 1,
    nextAt,
    ...(input.parked === 'yes' ? { parked: 'room' } : {}),
  };
  return rowOf(operation);
}

function rowOf(operation: Operation | undefined): MessageRow {
  const base = {
    account,
    conversation: open,
    seq: 4,
    logical: command(4),
    at: 0,
    own: true,
    body: new Uint8Array(1),
  };
  return { ...base, lane: 4, ...(operation === undefined ? {} : { operation }) };
}

function conditionsOf(input: Input): Conditions {
  return {
    now: now(input),
    synced: input.peers !== 'not synced',
    ready: input.peers === 'too few' ? ['wss://a/'] : all,
    minPeers: 2,
    clockTrusted: input.clock === 'trusted',
    rotationMs: hour,
    term: 7,
  };
}

describe('the policy of the head', () => {
  const cases = [...combinations()];

  test('[OB-02] [OB-03] [OB-24] [RD-06] every combination of its inputs gives what the table says', () => {
    expect(cases).toHaveLength(6 * 3 * 2 * 3 * 2 * 2 * 9 * 2);
    const used = new Map<Rule, number>();
    for (const input of cases) {
      const rule = table.find((one) => fits(one, input)) as Rule;
      used.set(rule, (used.get(rule) ?? 0) + 1);
      const { wakeAt, ...rest } = rule.gives;
      const wanted = wakeAt === undefined ? rest : { ...rest, wakeAt: now(input) + wakeAt };
      const found = nextForHead(headOf(input), conditionsOf(input));
      if (JSON.stringify(found) !== JSON.stringify(wanted))
        expect({ input, found }).toEqual({ input, found: wanted });
    }
    expect(table.map((rule) => used.has(rule))).toEqual(table.map(() => true));
  });

  test('[OB-03] nothing is sent unless it is synced and enough peers are ready', () => {
    const sending = cases.filter(
      (input) => nextForHead(headOf(input), conditionsOf(input)).send !== undefined,
    );
    expect(sending.length).toBeGreaterThan(0);
    expect(sending.filter((input) => input.peers !== 'enough')).toEqual([]);
  });

  test('[OB-35] nothing new is made on a doubted clock, but what is due is sent again unchanged', () => {
    const doubted = cases.filter((input) => input.clock === 'doubted' && input.peers === 'enough');
    const sends = doubted.map((input) => nextForHead(headOf(input), conditionsOf(input)).send);
    expect(new Set(sends)).toEqual(new Set([undefined, 'rebroadcast']));
  });

  test('[RD-08] an event that every ready relay refused for good parks in sight, until another relay is there', () => {
    const at = slot + 600_000;
    const made = { ...untouched, generations: [{ id: 'e', slot, at, event: new Uint8Array(1) }] };
    const round = { event: 'e', term: 7, now: at, jitter: 0 };
    const refused = beginRound(made, { ...round, relays: all, tooSmall: all });
    const base = {
      now: at + 3_000_000,
      synced: true,
      minPeers: 1,
      clockTrusted: true,
      rotationMs: hour,
      term: 7,
    };
    for (const ready of [all, all.slice(0, 1)]) {
      expect(nextForHead(rowOf(refused), { ...base, ready })).toEqual({ parked: 'too-large' });
    }
    const ready = [...all, 'wss://roomy/'];
    expect(nextForHead(rowOf(refused), { ...base, ready })).toEqual({ send: 'rebroadcast', relays: ready });
    const again = beginRound(refused, { ...round, relays: ready, tooSmall: all, now: base.now });
    expect(handedTo(again, 'e', ready)).toEqual(['wss://roomy/']);
    const opened = reopenRejected(refused, base.now);
    expect(nextForHead(rowOf(opened), { ...base, ready: all })).toEqual({ send: 'rebroadcast', relays: all });
  });

  test('[OB-19] no number of rounds or generations ends it: it is due again and again, for years', () => {
    const generations = Array.from({ length: 500 }, (_, at) => ({
      id: `${at}`,
      slot: slot + at * hour,
      at: 0,
    }));
    let operation: Operation = { ...untouched, generations, round: 1_000_000 };
    let at = slot + 499 * hour;
    for (let year = 0; year < 3; year++) {
      at += 365 * 24 * hour;
      const conditions = {
        now: at + 60_000,
        synced: true,
        ready: all,
        minPeers: 2,
        clockTrusted: true,
        rotationMs: hour,
        term: 1,
      };
      const first = nextForHead(rowOf(operation), conditions);
      expect(first.send).toMatch(/^re(broadcast|create)$/);
      operation = beginRound(operation, {
        event: '499',
        relays: all,
        term: 1,
        now: at + 60_000,
        jitter: 0.5,
      });
      expect(nextForHead(rowOf(operation), conditions)).toEqual({ wakeAt: at + 60_000 + 960_000 });
    }
  });

  test('[OB-20] [OB-24] a refusal neither hurries the next round nor makes a copy', () => {
    const at = slot + 600_000;
    const made = { ...untouched, generations: [{ id: 'e', slot, at, event: new Uint8Array(1) }] };
    const sent = beginRound(made, { event: 'e', relays: all, term: 7, now: at, jitter: 0 });
    const conditions = {
      now: at + 1,
      synced: true,
      ready: all,
      minPeers: 2,
      clockTrusted: true,
      rotationMs: hour,
      term: 7,
    };
    expect(nextForHead(rowOf(sent), conditions)).toEqual({ wakeAt: at + 30_000 });
    for (const reason of ['busy', 'invalid', 'not-synced', 'too-old']) {
      const refused = all.reduce(
        (one, relay) => answered(one, relay, 'e', { state: 'retryable', reason }, at + 1),
        sent,
      );
      expect(refused.nextAt).toBe(sent.nextAt);
      expect(nextForHead(rowOf(refused), conditions)).toEqual({ wakeAt: at + 30_000 });
      const due = nextForHead(rowOf(refused), { ...conditions, now: at + 30_000 });
      expect(due).toEqual({ send: 'rebroadcast', relays: all });
    }
  });
});
