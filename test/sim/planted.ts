import { fromHex } from '../../src/core/ids';
import type { MaterialiseArgs } from '../../src/core/transactions/materialise';
import { profile } from './names';
import {
  askedAlready,
  editing,
  editOperation,
  lastFirst,
  losesRows,
  neverDue,
  ownRow,
  replaced,
  withChanges,
  withDecision,
  writtenIsAccepted,
} from './planting';
import type { Bug } from './run';

/** A bug put in by hand, and the breaches one of which it must show as. */
export interface Planted {
  readonly title: string;
  readonly bug: Bug;
  readonly shows: readonly string[];
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
    shows: ['exposed-early', 'lost'],
  },
  {
    title: 'a message is called kept that is not on disk',
    bug: { device: { scripts: withChanges('enqueue', () => []) } },
    shows: ['lost'],
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
    title: 'a message of a slot that is over is made again before anybody was asked',
    bug: { device: { ports: askedAlready } },
    shows: ['generations'],
  },
  {
    title: 'a message is made again in the slot that is still open',
    bug: {
      device: {
        scripts: withChanges(
          'materialise',
          editOperation((operation) => ({
            ...operation,
            generations: operation.generations.map((one) => ({ ...one, slot: profile.initialGenesisMs })),
          })),
        ),
      },
    },
    shows: ['generations'],
  },
  {
    title: 'what one relay says prolongs the claim of another',
    bug: {
      device: {
        scripts: withChanges(
          'answer',
          editOperation((operation) => ({
            ...operation,
            intents: operation.intents.map((one) =>
              one.state === 'leased' ? { ...one, untilMs: (one.untilMs ?? 0) + 5_000 } : one,
            ),
          })),
        ),
      },
    },
    shows: ['intents'],
  },
  {
    title: 'a relay calls too old what it still keeps',
    bug: {
      relayScripts: withDecision('relayPut', (decision) => {
        const { verdict, counted } = decision.outcome as {
          readonly verdict?: string;
          readonly counted?: boolean;
        };
        if (verdict !== 'known' || counted !== true) return decision;
        return { ...decision, outcome: { verdict: 'refused', reason: 'too-old', strike: false, counted } };
      }),
    },
    shows: ['too-old'],
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
