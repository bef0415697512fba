import type { WebSocket } from 'ws';
import { closeCodes } from '../../core/link/session';

/** How long a peer may take to answer a close before its socket is cut, ms. */
const closeMs = 2_000;

/**
 * Sends on a socket, as long as no more than `bytesMax` wait in it; a peer that reads too slowly is closed by name
 * rather than buffered for. `written` is called once the bytes left this process.
 */
export function sendBounded(
  socket: WebSocket,
  bytes: Uint8Array,
  bytesMax: number,
  written?: () => void,
): 'sent' | 'closed' | 'too slow' {
  if (socket.readyState !== socket.OPEN) return 'closed';
  if (socket.bufferedAmount + bytes.length > bytesMax) {
    closeSoon(socket, closeCodes.tooSlow, 'too slow');
    return 'too slow';
  }
  socket.send(bytes, { binary: true, compress: false }, (error) => {
    if (error === undefined || error === null) written?.();
  });
  return 'sent';
}

/** Closes a socket politely, and by force when the other side does not answer. */
export function closeSoon(socket: WebSocket, code: number, reason: string): void {
  if (socket.readyState === socket.CLOSED) return;
  socket.close(code, reason);
  const timer = setTimeout(() => socket.terminate(), closeMs);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
}
