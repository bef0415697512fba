import { openIdentity, readable, sealIdentity } from '../history/records';
import type { AccountId, Bytes } from '../ids';
import type { CountersRow, MessageRow } from '../tables';
import { all, type Change, decide, get, put, type Script } from '../transaction';
import { profileOf, withRateLimit } from '../wire/profile';
import { dataKey, type Keys } from './keys';
import { headOf } from './materialise';
import { lookAt } from './rows';
import { limiter } from './ticket';

/** Gives the account the identity its events are proven with, or takes it away. */
export interface SetRateIdentityArgs {
  readonly account: AccountId;
  /** 32 unpredictable bytes, of this device alone: two that share them spend each other's tickets. */
  readonly secret: Bytes | null;
  /** 12 random bytes for the sealed record. */
  readonly nonce: Bytes;
}

/** What became of it. `damaged`: the account's record does not open, and nothing was changed. */
export type SetRateIdentityOutcome =
  | { readonly kind: 'set'; readonly identity: string }
  | { readonly kind: 'removed' | 'unknown-account' | 'damaged' };

/** Keeps the identity sealed in the account's record. A lane that waited for one goes on at once (OB-27). */
export function* setRateIdentity(args: SetRateIdentityArgs, keys: Keys): Script<SetRateIdentityOutcome> {
  const key = dataKey(keys);
  const [row, [head, counters]] = yield* all([get('accounts', [args.account]), headOf(args.account)]);
  if (row === undefined) return decide({ kind: 'unknown-account' });
  const kept = readable(() => openIdentity(key, row));
  if (kept === undefined) return decide({ kind: 'damaged' });
  const { secret } = args;
  const identity = secret === null ? { nick: kept.nick } : { nick: kept.nick, rateSecret: secret };
  const sealed = sealIdentity(key, args.account, identity, args.nonce);
  const next = { ...counters, revision: counters.revision + 1 };
  return decide(
    secret === null ? { kind: 'removed' } : { kind: 'set', identity: limiter.identityOf(secret) },
    [put('accounts', { ...row, sealed }), ...freed(head, ['identity']), put('counters', next)],
    [lookAt(next, 'account'), lookAt(next, 'outbox')],
  );
}

/** Puts the account into the part of its network that limits rates, or out of it. */
export interface LimitRateArgs {
  readonly account: AccountId;
  readonly on: boolean;
}

/** What became of it. `unsupported`: this build has no limiter for the account's network. */
export type LimitRateOutcome = {
  readonly kind: 'switched' | 'unchanged' | 'unsupported' | 'unknown-account';
};

/** Switches. Generations exposed before go on as they are; what is made from now on follows the new rule. */
export function* limitRate(args: LimitRateArgs): Script<LimitRateOutcome> {
  const [row, [head, counters]] = yield* all([get('accounts', [args.account]), headOf(args.account)]);
  if (row === undefined) return decide({ kind: 'unknown-account' });
  const present = profileOf(row.profile);
  const profile = present && withRateLimit(present, args.on);
  if (profile === undefined) return decide({ kind: 'unsupported' });
  if (profile === present) return decide({ kind: 'unchanged' });
  const next: CountersRow = { ...counters, revision: counters.revision + 1 };
  return decide(
    { kind: 'switched' },
    [
      put('accounts', { ...row, profile: profile.name }),
      ...freed(head, ['identity', 'budget']),
      put('counters', next),
    ],
    [lookAt(next, 'account'), lookAt(next, 'outbox')],
  );
}

/** The head without its park, when it is parked for one of these reasons and nothing of it is exposed yet. */
function freed(head: MessageRow | undefined, reasons: readonly string[]): readonly Change[] {
  const operation = head?.operation;
  if (head === undefined || operation?.parked === undefined || operation.generations.length > 0) return [];
  if (!reasons.includes(operation.parked)) return [];
  const { parked: _parked, nextAt: _next, ...free } = operation;
  return [put('messages', { ...head, operation: free })];
}
