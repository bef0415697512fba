import type { LogWord } from './log';

/** A connection, whichever side dialled. */
export interface MeshPeer {
  readonly isReady: boolean;
  /** We dialled it. */
  readonly isDialled: boolean;
  /** The node at its other end; empty when that has none. */
  readonly name: string;
  close(code: number, why: LogWord): void;
  /** It is a relay this one was told to know: no member's allowance holds for it. */
  admit(): void;
  /** It was told to know this relay too, and takes whatever it is given. */
  unpace(): void;
}
