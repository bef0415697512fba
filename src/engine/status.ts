import type { ClockVerdict } from '../core/trusted-clock';
import type { RelayState } from './relay-peer';

/** What the screen may know of the engine. Built from transport and policy; it says nothing of acceptance. */
export interface EngineStatus {
  readonly relays: readonly {
    readonly url: string;
    readonly state: RelayState | 'catching-up';
    readonly nextTryAt?: number;
    readonly lastEventAt?: number;
    readonly latencyMs?: number;
  }[];
  /** Relays that can take an event now. */
  readonly ready: number;
  readonly minPeers: number;
  readonly clock: ClockVerdict;
  /** Why no new event is made although the lane has a head. */
  readonly parked?: string;
  readonly wakeAt?: number;
  /** The lane has a head: the store's worker is kept awake for it. */
  readonly busy: boolean;
}
