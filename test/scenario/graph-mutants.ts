import { nextForHead } from '../../src/core/outbox/policy';
import type { EventRow, MessageRow } from '../../src/core/tables';
import { decide, get, put } from '../../src/core/transaction';
import type { AnswerArgs } from '../../src/core/transactions/answer';
import type { EnqueueArgs } from '../../src/core/transactions/enqueue';
import type { ReceiveOutcome } from '../../src/core/transactions/receive';
import { holdfast, slotOf } from '../../src/core/wire/profile';
import type { LinkEvent, Ports } from '../../src/engine/ports';
import { account, open, t0 } from '../fixtures/account';
import {
  replaced,
  withAnswers,
  withArgs,
  withChanges,
  withDecision,
  withOperation,
  withoutTable,
  withRow,
} from '../fixtures/plant';
import type { Bug } from './checks';
import type { graphChecks } from './graph-checks';

const hour = holdfast.rotationMs;

const outOfLane = ({ lane: _lane, ...row }: MessageRow): MessageRow => row;

/** Says something else of an event than the graph did. */
function saying(edit: (verdict: ReceiveOutcome['verdict']) => ReceiveOutcome['verdict']) {
  return withDecision('receive', ({ outcome }) => {
    const { verdict } = outcome as Partial<ReceiveOutcome>;
    return verdict === undefined ? {} : { outcome: { ...(outcome as object), verdict: edit(verdict) } };
  });
}

/** Hears the same frame only once. */
function deaf(ports: Ports): Ports {
  const heard = new Set<string>();
  const { links } = ports;
  const isNew = (event: LinkEvent): boolean => {
    if (event.type !== 'frame' || event.bytes.length !== 66) return true;
    const name = event.bytes.join();
    return !heard.has(name) && heard.add(name) !== undefined;
  };
  const listen: Ports['links']['listen'] = (listener) =>
    links.listen((event) => {
      if (isNew(event)) listener(event);
    });
  const send: Ports['links']['send'] = (...said) => links.send(...said);
  const opened: Ports['links']['open'] = (...which) => links.open(...which);
  const close: Ports['links']['close'] = (...which) => links.close(...which);
  return { ...ports, links: { open: opened, send, close, listen } };
}

/** For each id of the graph's checks one bug, which its check must find. */
export const graphBugs: Readonly<Record<keyof typeof graphChecks, Bug>> = {
  'EG-03': {
    title: 'what is too old is called broken',
    sut: {
      scripts: saying((verdict) =>
        verdict.type === 'nack' && verdict.reason === 'too-old' ? { ...verdict, reason: 'invalid' } : verdict,
      ),
    },
  },
  'EG-04': {
    title: 'only the current slot is looked at',
    sut: {
      scripts: withAnswers('receive', (question, rows) =>
        question.table === 'events' && question.ask === 'get'
          ? rows.filter((row) => (row as EventRow).slot !== slotOf(holdfast, t0))
          : rows,
      ),
    },
  },
  'EG-07': {
    title: 'what cannot be taken now is called broken',
    sut: {
      scripts: saying((verdict) =>
        verdict.type === 'missing' || (verdict.type === 'nack' && verdict.reason === 'busy')
          ? { type: 'nack', reason: 'invalid', strike: true, counted: true }
          : verdict,
      ),
    },
  },
  'EG-12': { title: 'a status that was said before is not republished', sut: { ports: deaf } },
  'EG-13': {
    title: 'the graph registers what it takes as something to be sent',
    sut: {
      scripts: withChanges('receive', (change) =>
        'put' in change && change.put === 'events'
          ? [
              change,
              put('generations', {
                account,
                id: change.row.id,
                conversation: open,
                seq: 9,
                slot: change.row.slot,
              }),
            ]
          : [change],
      ),
    },
  },
  'OB-11': {
    title: 'what stands on our event says nothing of it',
    sut: {
      scripts: withAnswers('receive', (question, rows) =>
        question.table === 'events' ? rows.map((row) => ({ ...(row as EventRow), covers: 0 })) : rows,
      ),
    },
  },
  'OB-12': {
    title: 'what we made ourselves counts as evidence',
    sut: {
      scripts: withRow('materialise', (row) =>
        (row.operation?.generations.length ?? 0) > 1 ? outOfLane(row) : row,
      ),
    },
  },
  'OB-21': {
    title: 'a copy is made without waiting for the slot to close',
    sut: { policy: (head, asked) => nextForHead(head, { ...asked, rotationMs: 60_000 }) },
  },
  'OB-22': {
    title: 'the copy is the old event',
    sut: {
      scripts: withOperation('materialise', (made) => ({
        ...made,
        generations: made.generations.map((one) => ({ ...one, id: made.generations[0]?.id ?? one.id })),
      })),
    },
  },
  'OB-23': {
    title: 'a Has of an expired copy does not count',
    sut: {
      scripts: replaced('answer', (job, args: AnswerArgs) =>
        args.now > t0 + hour
          ? function* () {
              yield* get('counters', [account]);
              return decide({ kind: 'unrelated' });
            }
          : job.start,
      ),
    },
  },
  'OB-24': { title: 'a refusal ends the message', sut: { scripts: withRow('answer', outOfLane) } },
  'RD-10': {
    title: 'a relay is given all that is open at once',
    sut: { scripts: withArgs('claimOpen', (args) => ({ ...args, limit: 32, bytesMax: 1e9 })) },
  },
  'RD-13': {
    title: 'a text that does not fit is cut',
    sut: {
      scripts: withArgs('enqueue', (args) => {
        const { body } = args as unknown as EnqueueArgs;
        return { ...args, body: { ...body, text: body.text.slice(0, 1_000) } };
      }),
    },
  },
  'RD-14': {
    title: 'what is too large goes on waiting',
    sut: {
      scripts: withOperation('claimOpen', (made) => ({
        ...made,
        intents: made.intents.map((one) => (one.state === 'rejected' ? { ...one, state: 'pending' } : one)),
      })),
    },
  },
  'RD-15': {
    title: 'what only ends something changes no revision',
    sut: { scripts: withoutTable('claimOpen', 'counters') },
  },
};
