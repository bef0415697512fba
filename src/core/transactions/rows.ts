import type { Effect, LookAt } from '../effects';
import type { AccountId } from '../ids';
import type { CountersRow } from '../tables';

/** The counters of an account that has none yet. */
export function newCounters(account: AccountId): CountersRow {
  return {
    account,
    seq: 0,
    outboxBytes: 0,
    live: 0,
    graphBytes: 0,
    ownTime: 0,
    revision: 0,
  };
}

/** A signal that rows of this kind changed, with the revision they changed to. */
export function lookAt(counters: CountersRow, store: LookAt): Effect {
  return {
    type: 'look',
    account: counters.account,
    store,
    revision: counters.revision,
  };
}
