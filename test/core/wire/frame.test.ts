import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EncodeError } from '../../../src/core/errors';
import { toHex } from '../../../src/core/ids';
import { commands, payloadBytesMax } from '../../../src/core/wire/commands';
import { decodeFrame, encodeFrame, FrameError, type FrameErrorKind } from '../../../src/core/wire/frame';
import { darkirc, holdfast } from '../../../src/core/wire/profile';
import { core, messages, statuses } from '../../vectors/event-graph';
import { bytes } from '../hex';

const frames: [string, string, string][] = [
  [commands.eventPut, messages.eventPutFrame, messages.eventPut],
  [commands.eventReq, messages.eventReqFrame, messages.eventReq],
  [commands.tipReq, messages.tipReqFrame, messages.tipReq],
  [commands.tipReq, messages.tipReqStaticFrame, '0a7374617469632d646167'],
  [commands.eventPutStatus, statuses.frameOfHasInserted, statuses.hasInserted],
  [commands.ping, core.pingFrame, '3412'],
  [commands.version, `${core.versionFramePrefix}${core.version}`, core.version],
];

function kindOf(message: Uint8Array): FrameErrorKind | 'frame' {
  try {
    decodeFrame(darkirc.magic, message);
    return 'frame';
  } catch (error) {
    if (error instanceof FrameError) return error.kind;
    throw error;
  }
}

describe('frame', () => {
  test.each(frames)('vector of %s', (command, hex, payload) => {
    expect(toHex(encodeFrame(darkirc.magic, command, bytes(payload)))).toBe(hex);
    expect(decodeFrame(darkirc.magic, bytes(hex))).toEqual({
      command,
      payload: bytes(payload),
    });
  });

  test('sizes of the vectors', () => {
    expect(bytes(messages.eventPut)).toHaveLength(229);
    expect(bytes(messages.eventPutFrame)).toHaveLength(255);
    expect(bytes(statuses.frameOfHasInserted)).toHaveLength(66);
    expect(bytes(core.version)).toHaveLength(68);
  });

  test('a frame cut at any byte, or with a byte more, is malformed', () => {
    for (const [, hex] of frames) {
      const frame = bytes(hex);
      for (let length = 0; length < frame.length; length++) {
        expect(kindOf(frame.subarray(0, length))).toBe('malformed');
      }
      expect(kindOf(new Uint8Array([...frame, 0]))).toBe('malformed');
      expect(kindOf(new Uint8Array([...frame, ...frame]))).toBe('malformed');
    }
  });

  test('another network is told apart from garbage of ours', () => {
    expect(kindOf(encodeFrame(holdfast.magic, commands.ping, bytes('0000')))).toBe('wrong-magic');
    expect(kindOf(new TextEncoder().encode('<!doctype html>'))).toBe('wrong-magic');
    expect(kindOf(bytes('fbe5c7b5ff'))).toBe('malformed');
    expect(kindOf(bytes('fbe5c7b501ff00'))).toBe('malformed');
    expect(kindOf(bytes('fb'))).toBe('malformed');
    expect(kindOf(bytes('fc'))).toBe('wrong-magic');
  });

  test('a payload over its bound is too large, sent or only announced', () => {
    const over = (command: string, length: number) => {
      const name = new TextEncoder().encode(command);
      return new Uint8Array([...darkirc.magic, name.length, ...name, 0xfd, length & 255, length >> 8]);
    };
    expect(kindOf(new Uint8Array([...over(commands.version, 2_044), ...new Uint8Array(2_044)]))).toBe(
      'too-large',
    );
    expect(kindOf(over(commands.version, 2_044))).toBe('too-large');
    expect(kindOf(over(commands.version, 2_043))).toBe('malformed');
    expect(kindOf(bytes('fbe5c7b50470696e6703123456'))).toBe('too-large');
    expect(kindOf(bytes('fbe5c7b50178ffffffffffffff1f00'))).toBe('too-large');
    expect(kindOf(bytes('fbe5c7b50178ffffffffffffffffff'))).toBe('malformed');
    expect(kindOf(new Uint8Array(1_049_601))).toBe('too-large');
    expect(() => encodeFrame(darkirc.magic, commands.ping, bytes('123456'))).toThrow(EncodeError);
    expect(() => encodeFrame(darkirc.magic, commands.eventPut, new Uint8Array(1_049_600))).toThrow(
      EncodeError,
    );
    expect(() => encodeFrame(darkirc.magic, 'x'.repeat(256), bytes(''))).toThrow(EncodeError);
    expect(() => encodeFrame(bytes('00'), commands.ping, bytes('0000'))).toThrow(EncodeError);
  });

  test('an unknown command is a frame', () => {
    const command = 'x'.repeat(255);
    const frame = encodeFrame(darkirc.magic, command, bytes('00'));
    expect(decodeFrame(darkirc.magic, frame).command).toBe(command);
    expect(payloadBytesMax(command)).toBe(1_049_600);
  });

  test('any bytes are a frame or a FrameError', () => {
    const behindMagic = fc
      .uint8Array({ maxLength: 300 })
      .map((tail) => new Uint8Array([...darkirc.magic, ...tail]));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 300 }), behindMagic), (message) => {
        const before = message.slice();
        expect(['frame', 'malformed', 'wrong-magic', 'too-large']).toContain(kindOf(message));
        expect(message).toEqual(before);
      }),
    );
  });
});
