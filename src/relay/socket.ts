import type { OutboundSocket } from '../net/node/outbound';

/** What a peer uses of its WebSocket. */
export interface PeerSocket extends OutboundSocket {
  readonly isPaused: boolean;
  pause(): void;
  resume(): void;
  on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): unknown;
  on(event: 'error', listener: (error: Error & { readonly code?: string }) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
}

/** What is used of a WebSocket that is dialled. */
export interface DialledSocket extends PeerSocket {
  once(event: 'open', listener: () => void): unknown;
  once(event: 'close', listener: (code: number, reason: { toString(): string }) => void): unknown;
}
