import type { Job } from '../../src/core/batch';
import { fromHex } from '../../src/core/ids';
import type { MessageRow, Operation } from '../../src/core/tables';
import { type Change, type Decision, first, get, type Script } from '../../src/core/transaction';
import type { Keys } from '../../src/core/transactions/keys';
import { type MaterialiseArgs, materialiseHead } from '../../src/core/transactions/materialise';
import { registered, type Scripts } from '../../src/core/transactions/registry';
import { newCounters } from '../../src/core/transactions/rows';
import { eventId } from '../../src/core/wire/event';
import { decodeEventPut } from '../../src/core/wire/event-put';
import { decodeFrame } from '../../src/core/wire/frame';
import type { Ports, Store } from '../../src/engine/ports';
import { profile } from './names';
import type { Bug } from './run';

/** A bug put in by hand, and the breaches one of which it must show as. */
export interface Planted {
  readonly title: string;
  readonly bug: Bug;
  readonly shows: readonly string[];
}

type Edit = (change: Change, args: unknown) => readonly Change[];

/** The scripts of the house, one of which decides something else, in its parts and at its end. */
function withDecision(
  name: string,
  change: (decision: Decision<unknown>, args: unknown) => Decision<unknown>,
): Scripts {
  return replaced(name, (job, args) => ({
    ...job,
    start: function* () {
      const script = job.start();
      let step = script.next([]);
      while (!step.done) {
        const { value } = step;
        if (value.step === 'ask') step = script.next(yield value);
        else
          step = script.next(yield { ...value, ...withoutOutcome(change({ ...value, outcome: {} }, args)) });
      }
      return change(step.value, args);
    },
  }));
}

function withoutOutcome({
  changes,
  effects,
}: Decision<unknown>): Pick<Decision<unknown>, 'changes' | 'effects'> {
  return { changes, effects };
}

function withChanges(name: string, edit: Edit): Scripts {
  return withDecision(name, (decision, args) => ({
    ...decision,
    changes: decision.changes.flatMap((change) => edit(change, args)),
  }));
}

function replaced(name: string, replace: (job: Job, args: unknown, keys: Keys) => Job): Scripts {
  return {
    ...registered,
    write: (called, args, keys, term) => {
      const job = registered.write(called, args, keys, term);
      return called === name ? replace(job, args, keys) : job;
    },
  };
}

/** Changes the own message row of a decision. */
function ownRow(edit: (row: MessageRow) => MessageRow): Edit {
  return (change) =>
    'put' in change && change.put === 'messages' && change.row.own
      ? [{ put: 'messages', row: edit(change.row) }]
      : [change];
}

function editOperation(edit: (operation: Operation) => Operation): Edit {
  return ownRow((row) => (row.operation === undefined ? row : { ...row, operation: edit(row.operation) }));
}

function editing(ports: Ports, edit: (name: string, args: unknown) => unknown): Ports {
  const store: Store = {
    transact: (name, args, term) => ports.store.transact(name, edit(name, args) as typeof args, term),
    read: (name, args) => ports.store.read(name, args),
  };
  return { ...ports, store };
}

/** Makes the last entry of the lane instead of the first. */
function* lastFirst(args: MaterialiseArgs, keys: Keys): Script<unknown> {
  const last = yield* first('messages', { prefix: [args.account], reverse: true }, 'lane');
  const counters = (yield* get('counters', [args.account])) ?? newCounters(args.account);
  if (last === undefined || last.operation !== undefined)
    return { outcome: { kind: 'past' }, changes: [], effects: [] };
  return yield* materialiseHead(args, keys, last, counters);
}

/** Takes a completed write for the relay's word. */
function writtenIsAccepted(ports: Ports): Ports {
  const put = new Map<number, string>();
  let account = '';
  return {
    ...editing(ports, (_name, args) => {
      account = (args as { readonly account?: string }).account ?? account;
      return args;
    }),
    links: {
      ...ports.links,
      send: (relay, link, sequence, bytes) => {
        const frame = decodeFrame(profile.magic, bytes);
        if (frame.command.endsWith('EventPut')) {
          put.set(sequence, eventId(decodeEventPut(frame.payload).event.header));
        }
        ports.links.send(relay, link, sequence, bytes);
      },
      listen: (listener) =>
        ports.links.listen((event) => {
          const id = event.type === 'written' ? put.get(event.sequence) : undefined;
          if (id !== undefined) {
            const result = { type: 'has', inserted: true } as const;
            const now = ports.clock.now();
            void ports.store
              .transact('answer', { account, id, relay: event.relay, result, now })
              .catch(() => undefined);
          }
          listener(event);
        }),
    },
  };
}

/** The head always looks as if its next round were far away. */
function neverDue(ports: Ports): Ports {
  const store: Store = {
    transact: (name, args, term) => ports.store.transact(name, args, term),
    read: async (name, args) => {
      const found = await ports.store.read(name, args);
      if (name !== 'head' || found === undefined) return found;
      const row = found as MessageRow;
      if (row.operation?.nextAt === undefined) return found;
      const operation = {
        ...row.operation,
        nextAt: ports.clock.now() + 900_000,
        intents: row.operation.intents.map((one) => ({ ...one, state: 'retryable' as const })),
      };
      return { ...row, operation } as typeof found;
    },
  };
  return { ...ports, store };
}

/** Every own row is lost once in so many writes, as if an aborted transaction had kept the rest of itself. */
function losesRows(): (changes: readonly Change[]) => readonly Change[] {
  let writes = 0;
  return (changes) => {
    if (!changes.some((one) => 'put' in one && one.put === 'messages' && one.row.own)) return changes;
    writes += 1;
    return writes % 3 === 0 ? changes.filter((one) => !('put' in one) || one.put !== 'messages') : changes;
  };
}

/** Bugs of every kind that the contract forbids. Each must make the simulator fail. */
export const planted: readonly Planted[] = [
  {
    title: 'a round of sending ends the head without any evidence',
    bug: {
      device: {
        scripts: withChanges(
          'sendRound',
          ownRow(({ lane: _lane, ...row }) => row),
        ),
      },
    },
    shows: ['evidence'],
  },
  {
    title: 'the last message is made while the first waits',
    bug: {
      device: {
        scripts: replaced('materialise', (job, args, keys) => ({
          ...job,
          start: () => lastFirst(args as MaterialiseArgs, keys),
        })),
      },
    },
    shows: ['head-only', 'reordered'],
  },
  {
    title: 'effects leave before the commit',
    bug: { device: { store: { answersEarly: true } } },
    shows: ['exposed-early'],
  },
  {
    title: 'a round is never due again',
    bug: { device: { ports: neverDue } },
    shows: ['undelivered'],
  },
  {
    title: 'a late answer puts its message back into the lane',
    bug: {
      device: {
        scripts: withDecision('answer', (decision) =>
          (decision.outcome as { readonly kind?: string }).kind === 'late'
            ? {
                ...decision,
                changes: decision.changes.flatMap((one) =>
                  ownRow((row) => ({ ...row, lane: row.seq }))(one, 0),
                ),
              }
            : decision,
        ),
      },
    },
    shows: ['duplicated'],
  },
  {
    title: 'rows are lost where a transaction was torn',
    bug: { device: { store: { write: losesRows() } } },
    shows: ['counters', 'lost', 'generations', 'undelivered', 'claims', 'evidence'],
  },
  {
    title: 'a copy of a message is shown as another message',
    bug: {
      device: {
        ports: (ports) =>
          editing(ports, (name, args) => {
            const { heard } = args as { readonly heard?: { readonly event: string } };
            if (name !== 'receive' || heard === undefined) return args;
            return { ...(args as object), heard: { ...heard, logical: heard.event.slice(0, 32) } };
          }),
      },
    },
    shows: ['duplicated'],
  },
  {
    title: 'a replaced generation stays active beside its successor',
    bug: {
      device: {
        scripts: withChanges(
          'materialise',
          editOperation((operation) => ({
            ...operation,
            generations: operation.generations.map(({ supersededBy: _by, ...one }) => one),
          })),
        ),
      },
    },
    shows: ['generations'],
  },
  {
    title: 'a replacement forgets the generation before it',
    bug: {
      device: {
        scripts: withChanges(
          'materialise',
          editOperation((operation) => ({ ...operation, generations: operation.generations.slice(-1) })),
        ),
      },
    },
    shows: ['generations'],
  },
  {
    title: 'a written frame counts as accepted',
    bug: { device: { ports: writtenIsAccepted } },
    shows: ['evidence'],
  },
  {
    title: 'a refusal counts as acceptance',
    bug: {
      device: {
        ports: (ports) =>
          editing(ports, (name, args) =>
            name === 'answer' ? { ...(args as object), result: { type: 'has', inserted: false } } : args,
          ),
      },
    },
    shows: ['evidence'],
  },
  {
    title: 'the death of a link erases its intents',
    bug: {
      device: {
        scripts: withChanges(
          'release',
          editOperation((operation) => ({ ...operation, intents: [] })),
        ),
      },
    },
    shows: ['intents'],
  },
  {
    title: 'one relay is enough where two are known',
    bug: {
      device: {
        ports: (ports) =>
          editing(ports, (name, args) =>
            name === 'materialise'
              ? { ...(args as object), relays: (args as MaterialiseArgs).relays.slice(0, 1) }
              : args,
          ),
      },
    },
    shows: ['too-few'],
  },
  {
    title: 'a relay says Has and keeps nothing',
    bug: { relayScripts: withChanges('relayPut', () => []) },
    shows: ['evidence'],
  },
  {
    title: 'the lane is a stack',
    bug: {
      device: {
        scripts: withChanges(
          'enqueue',
          ownRow((row) => ({ ...row, lane: -row.seq })),
        ),
      },
    },
    shows: ['reordered'],
  },
  {
    title: 'a retry is made anew and not sent unchanged',
    bug: {
      device: {
        scripts: withDecision('sendRound', (decision) => ({
          ...decision,
          effects: decision.effects.map((effect) => {
            if (effect.type !== 'put-event') return effect;
            const other = fromHex('00') ?? effect.event;
            const event = effect.event.slice();
            event.set(other, event.length - 1);
            return { ...effect, event };
          }),
        })),
      },
    },
    shows: ['exposed-early'],
  },
  {
    title: 'the backoff is forgotten',
    bug: {
      device: {
        scripts: withChanges(
          'sendRound',
          editOperation((operation) => ({ ...operation, nextAt: (operation.lastRoundAt ?? 0) + 1_000 })),
        ),
      },
    },
    shows: ['rounds'],
  },
  {
    title: 'an acknowledged message goes on counting',
    bug: {
      device: {
        scripts: withDecision('answer', (decision) => ({
          ...decision,
          changes: decision.changes.filter((one) => !('put' in one) || one.put !== 'counters'),
        })),
      },
    },
    shows: ['counters'],
  },
  {
    title: 'a clock that is hours off is believed',
    bug: {
      device: {
        ports: (ports) =>
          editing(ports, (name, args) =>
            name === 'materialise'
              ? { ...(args as MaterialiseArgs), now: (args as MaterialiseArgs).now + 1_200_000 }
              : args,
          ),
      },
    },
    shows: ['clock'],
  },
  {
    title: 'one relay of several makes a message complete',
    bug: {
      device: {
        scripts: withChanges(
          'answer',
          ownRow(({ open: _open, ...row }) => row),
        ),
      },
    },
    shows: ['open'],
  },
  {
    title: 'what is open is claimed by nobody',
    bug: { device: { scripts: withChanges('claimOpen', () => []) } },
    shows: ['open', 'claims'],
  },
  {
    title: 'an edited message is given another place',
    bug: {
      device: {
        scripts: withChanges(
          'editQueued',
          ownRow((row) => ({ ...row, lane: row.seq + 1 })),
        ),
      },
    },
    shows: ['reordered'],
  },
  {
    title: 'a dropped message goes on counting',
    bug: {
      device: {
        scripts: withDecision('drop', (decision) => ({
          ...decision,
          changes: decision.changes.filter((one) => !('put' in one) || one.put !== 'counters'),
        })),
      },
    },
    shows: ['counters'],
  },
  {
    title: 'a message is dropped that nobody dropped',
    bug: {
      device: {
        scripts: withChanges(
          'retryNow',
          ownRow(({ lane: _lane, operation, ...row }) => ({
            ...row,
            operation: { generations: [], intents: [], round: 0, ...operation, droppedAt: 1 },
          })),
        ),
      },
    },
    shows: ['lost', 'counters'],
  },
  {
    title: 'a person forces rounds as often as they like',
    bug: {
      device: {
        scripts: withChanges(
          'sendRound',
          editOperation((operation) => ({ ...operation, nextAt: operation.lastRoundAt ?? 0 })),
        ),
      },
    },
    shows: ['rounds'],
  },
];
