import { WebSocket } from 'ws';
import { limits } from '../../core/limits';
import { subprotocol } from '../../core/link/session';

/**
 * Begins a WebSocket to an address; whoever calls hears of its end by `close`, also when it never opened. A redirect
 * is not followed: only who is named is dialled. Throws for an address that is none.
 */
export function dial(address: string): WebSocket {
  return new WebSocket(address, subprotocol, {
    handshakeTimeout: limits.connectMs,
    maxPayload: limits.messageBytesMax,
    maxFragments: limits.messageFragmentsMax,
    maxBufferedChunks: limits.messageChunksMax,
    perMessageDeflate: false,
    followRedirects: false,
  });
}
