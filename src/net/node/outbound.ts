import { closeCodes } from '../../core/link/session';

/** What is used here of a WebSocket. */
export interface OutboundSocket {
  readonly readyState: number;
  readonly OPEN: number;
  readonly CLOSED: number;
  readonly bufferedAmount: number;
  send(
    bytes: Uint8Array,
    options: { readonly binary: boolean; readonly compress: boolean },
    written: (error?: Error | null) => void,
  ): void;
  close(code: number, reason: string): void;
  terminate(): void;
  once(event: 'close', listener: () => void): unknown;
}

/** How long a peer may take to answer a close before its socket is cut, ms. */
const closeMs = 2_000;

/**
 * Sends on a socket, as long as no more than `bytesMax` wait in it; a peer that reads too slowly is closed by name
 * rather than buffered for. `written` is called once the bytes left this process.
 */
export function sendBounded(
  socket: OutboundSocket,
  bytes: Uint8Array,
  bytesMax: number,
  written?: () => void,
  after = detached,
): 'sent' | 'closed' | 'too slow' {
  if (socket.readyState !== socket.OPEN) return 'closed';
  if (socket.bufferedAmount + bytes.length > bytesMax) {
    closeSoon(socket, closeCodes.tooSlow, 'too slow', after);
    return 'too slow';
  }
  socket.send(bytes, { binary: true, compress: false }, (error) => {
    if (error === undefined || error === null) written?.();
  });
  return 'sent';
}

/** Closes a socket politely, and by force when the other side does not answer. */
export function closeSoon(socket: OutboundSocket, code: number, reason: string, after = detached): void {
  if (socket.readyState === socket.CLOSED) return;
  socket.close(code, reason);
  socket.once(
    'close',
    after(closeMs, () => socket.terminate()),
  );
}

/** Waits without keeping the process alive; what it returns calls the act off. */
function detached(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
