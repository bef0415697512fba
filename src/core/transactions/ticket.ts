import { ownEventTime } from '../graph/compose';
import { openIdentity, readable } from '../history/records';
import { ed25519Limiter } from '../rate/limiter';
import { type Reserved, reserveTicket } from '../rate/tickets';
import type { CountersRow } from '../tables';
import { type Ask, get } from '../transaction';
import type { NetworkProfile } from '../wire/profile';
import { dataKey, type Keys } from './keys';

/** The limiter of this device's own events, and of those it receives. */
export const limiter = ed25519Limiter();

/**
 * The ticket for the account's next event; `undefined` where rates are not limited, `identity` while there is none to
 * prove it with. A record that does not open holds none.
 */
export function* ticketFor(
  profile: NetworkProfile,
  counters: CountersRow,
  now: number,
  keys: Keys,
): Ask<Reserved | 'identity' | undefined> {
  if (!profile.rateLimit) return undefined;
  const row = yield* get('accounts', [counters.account]);
  const secret = row && readable(() => openIdentity(dataKey(keys), row).rateSecret);
  if (secret === undefined) return 'identity';
  const timeMs = ownEventTime({ now, ownTime: counters.ownTime });
  return reserveTicket(limiter, { secret, magic: profile.magic, timeMs }, counters);
}
