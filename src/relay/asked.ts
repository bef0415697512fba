import type { Question } from '../core/link/messages';
import type { SessionEvent } from '../core/link/session';
import type { PeerLimits } from '../core/wire/version';

/** An answer of a peer to a question of ours. */
export type Answer = SessionEvent & { readonly type: 'tips' | 'headers' | 'events' };

type WithoutTag<Q> = Q extends Question ? Omit<Q, 'tag'> : never;
/** A question, before the peer's session has tagged it. */
export type Untagged = WithoutTag<Question>;

/** A peer, as seen by whoever asks it. */
export interface Asked {
  /** The bounds it announced; `undefined` before its handshake is done. */
  readonly limits: PeerLimits | undefined;
  /** `undefined` when it goes before it answers, or is asked too much. */
  ask(question: Untagged): Promise<Answer | undefined>;
}
