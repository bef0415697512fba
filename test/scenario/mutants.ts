import { nextForHead } from '../../src/core/outbox/policy';
import type { Intent, MessageRow } from '../../src/core/tables';
import { decide, first, get, part, put, rows, type Script } from '../../src/core/transaction';
import type { AnswerArgs } from '../../src/core/transactions/answer';
import type { Keys } from '../../src/core/transactions/keys';
import { headOf, type MaterialiseArgs, materialiseHead } from '../../src/core/transactions/materialise';
import { registered } from '../../src/core/transactions/registry';
import { newCounters } from '../../src/core/transactions/rows';
import { holdfast } from '../../src/core/wire/profile';
import type { Ports } from '../../src/engine/ports';
import { account, command, makingArgs, open, t0 } from '../fixtures/account';
import {
  replaced,
  withArgs,
  withChanges,
  withDecision,
  withOperation,
  withoutTable,
  withRow,
} from '../fixtures/plant';
import { type Bug, boundChecks, deliveryChecks, outboxChecks, type Sut } from './checks';
import { graphChecks } from './graph-checks';
import { graphBugs } from './graph-mutants';

/** The house as it is. */
export const sound: Sut = {
  scripts: registered,
  policy: nextForHead,
  ports: (ports) => ports,
  hidesFailures: false,
};

export const checks = { ...outboxChecks, ...boundChecks, ...deliveryChecks, ...graphChecks };

const outOfLane = ({ lane: _lane, ...row }: MessageRow): MessageRow => row;
const backInLane = (row: MessageRow): MessageRow => ({ ...row, lane: row.seq });
const isKind = (outcome: unknown, kind: string): boolean =>
  (outcome as { readonly kind?: string }).kind === kind;

/** Makes whatever it is asked for, whether it is the head or not. */
function* makesAnything(args: MaterialiseArgs, keys: Keys): Script<unknown> {
  const row = yield* get('messages', [account, open, args.seq]);
  const counters = (yield* get('counters', [account])) ?? newCounters(account);
  if (row === undefined) return decide({ kind: 'past' });
  return yield* materialiseHead(args, keys, row, counters);
}

/** Makes the last of the lane beside what it should do. */
function* withTheLast(script: Script<unknown>, keys: Keys): Script<unknown> {
  const outcome = yield* part(script);
  const last = yield* first('messages', { prefix: [account], reverse: true }, 'lane');
  const [, counters] = yield* headOf(account);
  if (last !== undefined && last.operation === undefined) {
    yield* part(materialiseHead(makingArgs(last.seq, { now: t0 + 5_000 }), keys, last, counters));
  }
  return decide(outcome);
}

/** Takes a status of an event nobody knows for one of the head. */
function* anyStatusCounts(args: AnswerArgs, keys: Keys): Script<unknown> {
  const link = yield* get('generations', [account, args.id]);
  const [head] = yield* headOf(account);
  const id = link === undefined ? (head?.operation?.generations.at(-1)?.id ?? args.id) : args.id;
  return yield* registered.write('answer', { ...args, id }, keys, undefined).start();
}

/** Records a refusal over whatever was there. */
function* refusalsWin(script: Script<unknown>, args: AnswerArgs): Script<unknown> {
  if (args.result.type === 'has') return yield* script;
  const { id } = args;
  const link = yield* get('generations', [account, id]);
  const row = link && (yield* get('messages', [account, link.conversation, link.seq]));
  if (row?.operation === undefined) return yield* script;
  const intents = row.operation.intents.map(
    (one): Intent => (one.relay === args.relay ? { ...one, state: 'retryable' } : one),
  );
  return decide({ kind: 'refused' }, [put('messages', { ...row, operation: { ...row.operation, intents } })]);
}

/** Prolongs the claims of the head whenever something comes in. */
function* prolongs(script: Script<unknown>): Script<unknown> {
  const outcome = yield* part(script);
  const [head] = yield* headOf(account);
  if (head?.operation === undefined) return decide(outcome);
  const intents = head.operation.intents.map((one) => ({ ...one, untilMs: (one.untilMs ?? 0) + 10_000 }));
  return decide(outcome, [put('messages', { ...head, operation: { ...head.operation, intents } })]);
}

/** Lets the deadline of a claim win over an answer that comes at it. */
function* deadlineWins(script: Script<unknown>, args: AnswerArgs): Script<unknown> {
  const [head] = yield* headOf(account);
  const late = head?.operation?.intents.some((one) => one.untilMs !== undefined && one.untilMs <= args.now);
  return late === true ? decide({ kind: 'repeated' }) : yield* script;
}

/** Makes room by throwing out the oldest. */
function* evicts(script: Script<unknown>, again: () => Script<unknown>): Script<unknown> {
  const decision = yield* script;
  if (!isKind(decision.outcome, 'outbox-full')) return decision;
  const [oldest] = yield* rows('messages', { prefix: [account] }, 1, 'lane');
  const counters = (yield* get('counters', [account])) ?? newCounters(account);
  if (oldest === undefined) return decision;
  yield* part(
    (function* (): Script<undefined> {
      yield* get('counters', [account]);
      return decide(undefined, [
        put('messages', outOfLane(oldest)),
        put('counters', { ...counters, outboxBytes: 0 }),
      ]);
    })(),
  );
  return yield* again();
}

/** Takes a completed write for the relay's word. */
function writtenIsAccepted(ports: Ports): Ports {
  const listen = (listener: Parameters<Ports['links']['listen']>[0]): void =>
    ports.links.listen((event) => {
      if (event.type === 'written') {
        void ports.store.read('head', { account }).then((head) => {
          const id = head?.operation?.generations.at(-1)?.id;
          const result = { type: 'has', inserted: true } as const;
          if (id === undefined) return undefined;
          return ports.store.transact('answer', { account, id, relay: event.relay, result, now: t0 });
        });
      }
      listener(event);
    });
  const { links } = ports;
  const send: Ports['links']['send'] = (relay, link, sequence, bytes) =>
    links.send(relay, link, sequence, bytes);
  const opened: Ports['links']['open'] = (relay, link) => links.open(relay, link);
  const close: Ports['links']['close'] = (relay, link, code, why) => links.close(relay, link, code, why);
  return { ...ports, links: { open: opened, send, close, listen } };
}

/** Makes without a proof where there is none to give. */
const unproven = withArgs('materialise', (args) => ({ ...args, profile: holdfast.name }));

/** For each id of the contract one bug, which its check must find. */
export const bugs: Readonly<Record<keyof typeof checks, Bug>> = {
  ...graphBugs,
  'OB-01': {
    title: 'the lane is a stack',
    sut: { scripts: withRow('enqueue', (row) => ({ ...row, lane: -row.seq })) },
  },
  'OB-02': {
    title: 'a message is made though it is not the head',
    sut: { scripts: replaced('materialise', (_job, args, keys) => () => makesAnything(args, keys)) },
  },
  'OB-03': {
    title: 'one relay is enough, synced or not',
    sut: { policy: (head, asked) => nextForHead(head, { ...asked, minPeers: 1, synced: true }) },
  },
  'OB-04': {
    title: 'what is accepted offline is not stored',
    sut: { scripts: withoutTable('enqueue', 'messages') },
  },
  'OB-05': {
    title: 'an event is sent whose generation was not written',
    sut: { scripts: withoutTable('materialise', 'generations') },
  },
  'OB-07': {
    title: 'a copy forgets the generation before it',
    sut: {
      scripts: withOperation('materialise', (made) => ({ ...made, generations: made.generations.slice(-1) })),
    },
  },
  'OB-08': { title: 'a store says committed of what it could not write', sut: { hidesFailures: true } },
  'OB-09': {
    title: 'a transition that is done is made again',
    sut: {
      scripts: withArgs('materialise', (args, head) => ({
        ...args,
        supersedes: head?.operation?.generations.at(-1)?.id ?? null,
      })),
    },
  },
  'OB-10': {
    title: 'a Has of an event that was known does not count',
    sut: {
      scripts: withArgs('answer', (args) => {
        const { result } = args as unknown as AnswerArgs;
        const known = result.type === 'has' && !result.inserted;
        return known ? { ...args, result: { type: 'nack', reason: 'busy' } } : args;
      }),
    },
  },
  'OB-13': {
    title: 'a late answer puts its message back into the lane',
    sut: {
      scripts: withDecision('answer', (decision) => ({
        changes: decision.changes.map((change) =>
          isKind(decision.outcome, 'late') && 'put' in change && change.put === 'messages'
            ? put('messages', backInLane(change.row))
            : change,
        ),
      })),
    },
  },
  'OB-14': {
    title: 'an answer counts only while the next can be made',
    sut: {
      scripts: replaced('answer', (job, args: AnswerArgs) =>
        args.next === undefined
          ? function* () {
              yield* get('counters', [account]);
              return decide({ kind: 'unrelated' });
            }
          : job.start,
      ),
    },
  },
  'OB-15': {
    title: 'a status of an unknown event ends the head',
    sut: { scripts: replaced('answer', (_job, args, keys) => () => anyStatusCounts(args, keys)) },
  },
  'OB-16': {
    title: 'a copy decided before the answer brings the message back',
    sut: {
      scripts: replaced(
        'materialise',
        (_job, args, keys) =>
          function* () {
            const made = yield* makesAnything(args, keys);
            const changes = made.changes.map((change) =>
              'put' in change && change.put === 'messages' ? put('messages', backInLane(change.row)) : change,
            );
            return { ...made, changes };
          },
      ),
    },
  },
  'OB-17': {
    title: 'the pause doubles without a cap',
    sut: {
      scripts: withOperation('sendRound', (made) => ({
        ...made,
        nextAt: (made.lastRoundAt ?? 0) + 30_000 * 2 ** (made.round - 1),
      })),
    },
  },
  'OB-18': {
    title: 'a reconnect sends the last message as well',
    sut: { scripts: replaced('sendRound', (job, _args, keys) => () => withTheLast(job.start(), keys)) },
  },
  'OB-19': {
    title: 'twenty rounds are enough',
    sut: {
      scripts: withRow('sendRound', (row) => ((row.operation?.round ?? 0) > 20 ? outOfLane(row) : row)),
    },
  },
  'OB-20': {
    title: 'a refusal hurries the next round',
    sut: { scripts: withOperation('answer', (made) => ({ ...made, nextAt: t0 + 2_000 })) },
  },
  'OB-25': {
    title: 'a ticket is spent but not counted',
    sut: {
      scripts: withChanges('materialise', (change) => {
        if (!('put' in change) || change.put !== 'counters') return [change];
        const { tickets: _tickets, rateEpoch: _epoch, ...row } = change.row;
        return [put('counters', row)];
      }),
    },
  },
  'OB-26': { title: 'a spent budget sends without a proof', sut: { scripts: unproven } },
  'OB-27': { title: 'no identity sends without a proof', sut: { scripts: unproven } },
  'OB-28': {
    title: 'what cannot be processed is skipped',
    sut: {
      scripts: withRow('materialise', (row) => (row.operation?.parked === undefined ? row : outOfLane(row))),
    },
  },
  'OB-29': {
    title: 'a head that is blocked is taken out',
    sut: {
      scripts: withRow('materialise', (row) => (row.operation?.parked === 'room' ? outOfLane(row) : row)),
    },
  },
  'OB-30': {
    title: 'an acknowledged message goes on counting',
    sut: { scripts: withoutTable('answer', 'counters') },
  },
  'OB-31': {
    title: 'a full outbox throws out the oldest',
    sut: {
      scripts: replaced(
        'enqueue',
        (job, args, keys) => () =>
          evicts(job.start(), () =>
            registered.write('enqueue', args, { ...keys, outboxBytesMax: 1e9 }, undefined).start(),
          ),
      ),
    },
  },
  'OB-32': {
    title: 'a copy that does not fit drops the generations before it',
    sut: {
      scripts: withOperation('materialise', (made) =>
        made.parked === undefined ? made : { ...made, generations: [] },
      ),
    },
  },
  'OB-33': {
    title: 'the same command appends again',
    sut: {
      scripts: withArgs('enqueue', (args, head) => ({
        ...args,
        command: head === undefined ? command(1) : command(60 + head.seq),
      })),
    },
  },
  'OB-35': {
    title: 'every clock is believed',
    sut: { policy: (head, asked) => nextForHead(head, { ...asked, clockTrusted: true }) },
  },
  'RD-01': {
    title: 'the operation is written after the event has left',
    sut: { scripts: withoutTable('materialise', 'messages') },
  },
  'RD-02': { title: 'a written frame counts as accepted', sut: { ports: writtenIsAccepted } },
  'RD-03': {
    title: 'a late refusal undoes an acceptance',
    sut: { scripts: replaced('answer', (job, args) => () => refusalsWin(job.start(), args)) },
  },
  'RD-04': {
    title: 'one acceptance completes the operation',
    sut: {
      scripts: withRow('answer', ({ open: _open, ...row }) => row),
    },
  },
  'RD-06': {
    title: 'the claim of an engine that died is never recovered',
    sut: {
      policy: (head, asked) => {
        const intents = (head.operation?.intents ?? []).map((one) => ({ ...one, term: asked.term }));
        return nextForHead(
          head.operation === undefined ? head : { ...head, operation: { ...head.operation, intents } },
          asked,
        );
      },
    },
  },
  'RD-07': {
    title: 'a claim is multiplied by asking twice',
    sut: {
      scripts: withArgs('sendRound', (args, head) => ({ ...args, round: head?.operation?.round ?? 0 })),
    },
  },
  'RD-08': {
    title: 'an acceptance is forgotten and sent again',
    sut: {
      scripts: withOperation('answer', (made) => ({
        ...made,
        intents: made.intents.map((one) => (one.state === 'accepted' ? { ...one, state: 'retryable' } : one)),
      })),
    },
  },
  'RD-09': {
    title: 'a refusal is not stored',
    sut: {
      scripts: withDecision('answer', (decision) =>
        isKind(decision.outcome, 'refused') ? { changes: [] } : {},
      ),
    },
  },
  'RD-11': {
    title: 'what comes in prolongs a claim',
    sut: { scripts: replaced('receive', (job) => () => prolongs(job.start())) },
  },
  'RD-12': {
    title: 'the deadline wins over the answer',
    sut: { scripts: replaced('answer', (job, args) => () => deadlineWins(job.start(), args)) },
  },
  'RD-16': {
    title: 'the death of a link erases its intents',
    sut: {
      scripts: withOperation('release', (made) => ({
        ...made,
        intents: made.intents.filter((one) => one.state !== 'pending'),
      })),
    },
  },
};
