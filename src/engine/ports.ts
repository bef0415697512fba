import type { Effect } from '../core/effects';
import type { Bytes } from '../core/ids';
import type { Args, Outcome, ReadName, WriteName } from '../core/transactions/registry';

/** What a committed transaction gives back. Effects are to be carried out now, in order. */
export interface Committed<O> {
  readonly outcome: O;
  readonly effects: readonly Effect[];
}

/**
 * The durable store. Transactions run one after another as if alone (serialisable): a script sees all of an earlier
 * one or nothing. A resolved `transact` is on disk as strictly as the platform grants. Any call may have run although
 * it failed, and may run twice: scripts answer the recorded outcome when the store is already past what they decided.
 * Every promise settles. Failures are a `StoreError`.
 */
export interface Store {
  transact<N extends WriteName>(name: N, args: Args<N>, term?: number): Promise<Committed<Outcome<N>>>;
  read<N extends ReadName>(name: N, args: Args<N>): Promise<Outcome<N>>;
}

/** What a link tells its owner. Each event carries the number of the link it belongs to. */
export type LinkEvent =
  | { readonly type: 'opened'; readonly relay: string; readonly link: number }
  | {
      readonly type: 'frame';
      readonly relay: string;
      readonly link: number;
      readonly bytes: Bytes;
    }
  | {
      readonly type: 'written';
      readonly relay: string;
      readonly link: number;
      readonly sequence: number;
    }
  | {
      readonly type: 'closed';
      readonly relay: string;
      readonly link: number;
      readonly code: number;
      /** What the other side was seen to be, when the link never opened. */
      readonly seen?: 'web-page' | 'garbage' | 'unreachable' | 'bad-address';
    };

/** Carries bytes to relays. Opening never throws: what fails closes. Link numbers only grow. */
export interface Links {
  open(relay: string, link: number): void;
  send(relay: string, link: number, sequence: number, bytes: Bytes): void;
  close(relay: string, link: number, code: number, reason: string): void;
  /** One listener: the engine. */
  listen(listener: (event: LinkEvent) => void): void;
}

/** Time, injected. Timers have names: setting one again replaces it. */
export interface Clock {
  now(): number;
  /** Ms since some moment: what passed, however the clock was set meanwhile. */
  elapsed(): number;
  set(name: string, at: number, fire: () => void): void;
  clear(name: string): void;
}

/** Unpredictable bytes. */
export interface Random {
  bytes(length: number): Bytes;
}

/** Told of everything an engine does, by name; the simulator's trace. */
export interface Observer {
  note(what: string, detail?: Readonly<Record<string, string | number | boolean>>): void;
}

/** Everything an engine may touch. */
export interface Ports {
  readonly store: Store;
  readonly links: Links;
  readonly clock: Clock;
  readonly random: Random;
  readonly observer: Observer;
  /** Signals that rows of a kind changed, by whichever realm. May be lost or repeated. */
  readonly looks: {
    listen(listener: (effect: Effect & { readonly type: 'look' }) => void): void;
  };
}
