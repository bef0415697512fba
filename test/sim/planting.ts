import type { Job } from '../../src/core/batch';
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

type Edit = (change: Change, args: unknown) => readonly Change[];

/** The scripts of the house, one of which decides something else, in its parts and at its end. */
export function withDecision(
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

/** The scripts of the house, the changes of one of which are others. */
export function withChanges(name: string, edit: Edit): Scripts {
  return withDecision(name, (decision, args) => ({
    ...decision,
    changes: decision.changes.flatMap((change) => edit(change, args)),
  }));
}

/** The scripts of the house, one of which is another. */
export function replaced(name: string, replace: (job: Job, args: unknown, keys: Keys) => Job): Scripts {
  return {
    ...registered,
    write: (called, args, keys, term) => {
      const job = registered.write(called, args, keys, term);
      return called === name ? replace(job, args, keys) : job;
    },
  };
}

/** Changes the own message row of a decision. */
export function ownRow(edit: (row: MessageRow) => MessageRow): Edit {
  return (change) =>
    'put' in change && change.put === 'messages' && change.row.own
      ? [{ put: 'messages', row: edit(change.row) }]
      : [change];
}

/** Changes the operation of the own message row of a decision. */
export function editOperation(edit: (operation: Operation) => Operation): Edit {
  return ownRow((row) => (row.operation === undefined ? row : { ...row, operation: edit(row.operation) }));
}

/** Ports whose store is called with other arguments. */
export function editing(ports: Ports, edit: (name: string, args: unknown) => unknown): Ports {
  const store: Store = {
    transact: (name, args, term) => ports.store.transact(name, edit(name, args) as typeof args, term),
    read: (name, args) => ports.store.read(name, args),
  };
  return { ...ports, store };
}

/** Makes the last entry of the lane instead of the first. */
export function* lastFirst(args: MaterialiseArgs, keys: Keys): Script<unknown> {
  const last = yield* first('messages', { prefix: [args.account], reverse: true }, 'lane');
  const counters = (yield* get('counters', [args.account])) ?? newCounters(args.account);
  if (last === undefined || last.operation !== undefined)
    return { outcome: { kind: 'past' }, changes: [], effects: [] };
  return yield* materialiseHead(args, keys, last, counters);
}

/** Takes a completed write for the relay's word. */
export function writtenIsAccepted(ports: Ports): Ports {
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
export function neverDue(ports: Ports): Ports {
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

/** What was made in a slot that is over looks as if every relay had been asked since. */
export function askedAlready(ports: Ports): Ports {
  const store: Store = {
    transact: (name, args, term) => ports.store.transact(name, args, term),
    read: async (name, args) => {
      const found = await ports.store.read(name, args);
      const row = name === 'head' ? (found as MessageRow | undefined) : undefined;
      const active = row?.operation?.generations.at(-1);
      if (row?.operation === undefined || active === undefined) return found;
      const lastRoundAt = active.slot + profile.rotationMs;
      if (ports.clock.now() < lastRoundAt) return found;
      return { ...row, operation: { ...row.operation, lastRoundAt } } as typeof found;
    },
  };
  return { ...ports, store };
}

/** Every own row is lost once in so many writes, as if an aborted transaction had kept the rest of itself. */
export function losesRows(): (changes: readonly Change[]) => readonly Change[] {
  let writes = 0;
  return (changes) => {
    if (!changes.some((one) => 'put' in one && one.put === 'messages' && one.row.own)) return changes;
    writes += 1;
    return writes % 3 === 0 ? changes.filter((one) => !('put' in one) || one.put !== 'messages') : changes;
  };
}
