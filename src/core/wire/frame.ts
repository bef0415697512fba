import { DecodeError, EncodeError } from '../errors';
import { type Bytes, sameBytes } from '../ids';
import { limits } from '../limits';
import { encodeWith, Reader } from './codec';
import { payloadBytesMax } from './commands';

/** Why a frame was refused: it is of another network, is no frame, or is larger than its command may be. */
export type FrameErrorKind = 'wrong-magic' | 'malformed' | 'too-large';

/** A WebSocket message that is not one frame of this network. */
export class FrameError extends DecodeError {
  constructor(
    readonly kind: FrameErrorKind,
    message: string,
  ) {
    super(message);
  }
}

/** One message of a peer, not yet looked into. */
export interface Frame {
  readonly command: string;
  readonly payload: Bytes;
}

const magicBytes = 4;

/**
 * magic ‖ command ‖ VarInt length ‖ payload (event-graph.md 7.1), one frame a WebSocket message. Throws `EncodeError`
 * when the receiver would refuse it for its size.
 */
export function encodeFrame(magic: Bytes, command: string, payload: Bytes): Bytes {
  if (magic.length !== magicBytes) throw new EncodeError('magic is 4 bytes');
  const frame = encodeWith((writer) =>
    writer.bytes(magic).string(command, limits.commandBytesMax).prefixed(payload, payloadBytesMax(command)),
  );
  if (frame.length > limits.messageBytesMax) throw new EncodeError('frame too large');
  return frame;
}

/** The one frame that `message` is. Throws `FrameError` only. */
export function decodeFrame(magic: Bytes, message: Uint8Array): Frame {
  if (message.length > limits.messageBytesMax) throw new FrameError('too-large', 'message too large');
  const known = Math.min(message.length, magicBytes);
  if (!sameBytes(message.subarray(0, known), magic.subarray(0, known))) {
    throw new FrameError('wrong-magic', 'a frame of another network');
  }
  try {
    const reader = new Reader(message);
    reader.bytes(magicBytes);
    const command = reader.string(limits.commandBytesMax);
    const length = reader.varInt();
    // Before the comparison with what is left: a cut message of a huge length is too large, not merely cut.
    if (length > payloadBytesMax(command)) throw new FrameError('too-large', 'payload too large');
    const payload = reader.bytes(length);
    reader.end();
    return { command, payload };
  } catch (error) {
    if (error instanceof DecodeError && !(error instanceof FrameError)) {
      throw new FrameError('malformed', error.message);
    }
    throw error;
  }
}
