import { knowEvent } from '../../../src/core/graph/rules';
import type { EventRow, MessageRow } from '../../../src/core/tables';
import { type Change, put } from '../../../src/core/transaction';
import { registered } from '../../../src/core/transactions/registry';
import type { RelayPutArgs, RelayPutOutcome } from '../../../src/core/transactions/relay';
import { commands } from '../../../src/core/wire/commands';
import { decodeFrame } from '../../../src/core/wire/frame';
import type { Ports } from '../../../src/engine/ports';
import type { Ground } from '../../../src/relay/ground';
import { profile } from '../names';
import { replaced, withChanges, withDecision } from '../planting';
import type { GraphBug } from './run';

/** A bug put in by hand, and the breaches one of which it must show as. */
export interface PlantedGraph {
  readonly title: string;
  readonly bug: GraphBug;
  readonly shows: readonly string[];
  /** The first seed to look for it by, where it is rare. */
  readonly from?: number;
}

/** A relay whose script of a name is called with other arguments. */
function relayCalling(name: string, edit: (args: object) => object): GraphBug {
  const scripts = replaced(name, (_job, args, keys) =>
    registered.write(name, edit(args as object), keys, undefined),
  );
  return { relay: { scripts } };
}

/** A relay whose script of a name makes other changes. */
function relayWriting(name: string, edit: (change: Change, args: unknown) => readonly Change[]): GraphBug {
  return { relay: { scripts: withChanges(name, edit) } };
}

/** What a relay would keep of an event if it asked nobody for its parents. */
function orphan({ account, event, blob }: RelayPutArgs, slot: number): EventRow {
  const known = knowEvent(event);
  if (typeof known === 'string') throw new TypeError(known);
  const { id, layer, time } = known;
  return { account, id, slot, layer, time, event, blob, own: false, covers: 0 };
}

/** An own message that was just made, as if its own event had acknowledged it. */
function ackedByItself(row: MessageRow): MessageRow {
  const { lane: _lane, open: _open, operation, ...rest } = row;
  const event = operation?.generations.at(-1)?.id;
  if (operation === undefined || event === undefined) return row;
  return {
    ...rest,
    operation: { ...operation, acked: { by: 'network', event, at: operation.lastRoundAt ?? 0 } },
  };
}

/** A device that asks nobody for tips once a peer has broken a rule in a sync. */
function asksNobodyAfterABadPeer(ports: Ports): Ports {
  let stopped = false;
  return {
    ...ports,
    observer: {
      note: (what, detail) => {
        if (what === 'sync-ended' && detail?.['end'] === 'broken') stopped = true;
        ports.observer.note(what, detail);
      },
    },
    links: {
      ...ports.links,
      send: (relay, link, sequence, bytes) => {
        if (stopped && decodeFrame(profile.magic, bytes).command === commands.tipReq) return;
        ports.links.send(relay, link, sequence, bytes);
      },
    },
  };
}

const asksNobody = (ground: Ground): Ground => ({ ...ground, every: () => () => undefined });

/** Bugs of every kind that the graph's rules forbid. Each must make the simulator fail. */
export const plantedGraph: readonly PlantedGraph[] = [
  {
    title: 'an event is taken without a look at its parents',
    bug: {
      relay: {
        scripts: withDecision('relayPut', (decision, args) => {
          const outcome = decision.outcome as Partial<RelayPutOutcome & { readonly slot: number }>;
          if (outcome.verdict !== 'missing' || outcome.slot === undefined) return decision;
          const row = orphan(args as RelayPutArgs, outcome.slot);
          return { ...decision, outcome: { verdict: 'inserted' }, changes: [put('events', row)] };
        }),
      },
    },
    shows: ['graph'],
  },
  {
    title: 'after the first bad peer nobody is asked any more',
    bug: { relay: { stopsAtBadPeer: true } },
    shows: ['diverged'],
    from: 20,
  },
  {
    title: 'a device whose sync ended at a bad peer asks no other',
    bug: { device: { ports: asksNobodyAfterABadPeer } },
    shows: ['diverged', 'waiting'],
    from: 9,
  },
  {
    title: 'a relay asks nobody again',
    bug: { relay: { ground: asksNobody } },
    shows: ['diverged'],
  },
  {
    title: 'a slot is forgotten that is still needed',
    bug: relayCalling('pruneGraph', (args) => ({ ...args, slotsRetained: 1 })),
    shows: ['forgotten'],
  },
  {
    title: 'nothing is ever forgotten',
    bug: {
      relay: {
        scripts: withDecision('pruneGraph', ({ effects }) => ({
          outcome: { events: 0, bytes: 0, more: false },
          changes: [],
          effects,
        })),
      },
    },
    shows: ['bounds'],
    from: 4,
  },
  {
    title: 'an own event acknowledges its message',
    bug: {
      device: {
        scripts: withChanges('materialise', (change) =>
          'put' in change && change.put === 'messages' && change.row.own
            ? [{ put: 'messages', row: ackedByItself(change.row) }]
            : [change],
        ),
      },
    },
    shows: ['evidence'],
  },
  {
    title: 'a relay says Has before the commit',
    bug: { relay: { answersEarly: true } },
    shows: ['evidence'],
  },
  {
    title: 'a parent stays a tip',
    bug: relayWriting('relayPut', (change, args) => {
      if (!('put' in change) || change.put !== 'slots') return [change];
      const known = knowEvent((args as RelayPutArgs).event);
      const [parent] = typeof known === 'string' ? [] : known.parents;
      const { row } = change;
      const tips = parent === undefined ? row.tips : [...row.tips, { id: parent, layer: 0 }];
      return [put('slots', { ...row, tips })];
    }),
    shows: ['diverged', 'graph'],
  },
  {
    title: 'a fetched body is kept that is not the one its id names',
    bug: relayWriting('relayTake', (change) => {
      if (!('put' in change) || change.put !== 'events') return [change];
      const event = change.row.event.slice();
      event[event.length - 1] = (event.at(-1) ?? 0) ^ 1;
      return [put('events', { ...change.row, event })];
    }),
    shows: ['graph'],
  },
  {
    title: 'whoever hands on two events a minute is sent away',
    bug: { relay: { config: { eventsPerMinuteMax: 1 } } },
    shows: ['misunderstood'],
  },
  {
    title: 'room is no bound',
    bug: relayCalling('relayPut', (args) => ({ ...args, bytesMax: Number.MAX_SAFE_INTEGER })),
    shows: ['overfull'],
  },
  {
    title: 'events are taken and not counted',
    bug: {
      relay: {
        scripts: withDecision('relayPut', (decision) => ({
          ...decision,
          changes: decision.changes.filter((one) => !('put' in one) || one.put !== 'counters'),
        })),
      },
    },
    shows: ['bounds'],
  },
  {
    title: 'what is known already is called invalid',
    bug: {
      relay: {
        scripts: withDecision('relayPut', (decision) =>
          (decision.outcome as Partial<RelayPutOutcome>).verdict === 'known'
            ? {
                ...decision,
                outcome: { verdict: 'refused', reason: 'invalid', strike: false, counted: false },
              }
            : decision,
        ),
      },
    },
    shows: ['blamed'],
  },
];
