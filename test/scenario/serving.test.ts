import { describe, expect, test } from 'vitest';
import type { Bytes } from '../../src/core/ids';
import { limits } from '../../src/core/limits';
import { utf8Bytes } from '../../src/core/wire/codec';
import { commands } from '../../src/core/wire/commands';
import { encodeEvent, eventId, type Header, makeEvent } from '../../src/core/wire/event';
import { decodeFrame, encodeFrame } from '../../src/core/wire/frame';
import { genesisOf, holdfast } from '../../src/core/wire/profile';
import {
  decodeEventRep,
  decodeHeaderRep,
  decodeTipRep,
  encodeEventReq,
  encodeHeaderReq,
  encodeTipReq,
} from '../../src/core/wire/sync';
import { slot, t0 } from '../fixtures/account';
import { EngineWorld } from '../fixtures/engine-world';
import { idle } from '../fixtures/fake-ports';

const hour = holdfast.rotationMs;
const genesis = genesisOf(holdfast, slot);

/** A running engine with one relay, and what it answers to this relay's questions. */
async function asking(): Promise<{
  readonly world: EngineWorld;
  tips(dag: string): Promise<readonly string[]>;
  headers(dag: string): Promise<readonly Header[]>;
  bodies(ids: readonly string[]): Promise<number>;
}> {
  const world = await EngineWorld.with(0, ['one']);
  await world.start();
  await world.clock.pass(1_000);
  const ask = async (command: string, payload: Bytes, answer: string): Promise<Bytes> => {
    const found: Bytes[] = [];
    world.links.onSend = (_relay, bytes) => {
      const frame = decodeFrame(holdfast.magic, bytes);
      if (frame.command === answer) found.push(frame.payload);
    };
    world.relay(0).raw(encodeFrame(holdfast.magic, command, payload));
    await idle();
    expect(found).toHaveLength(1);
    return found[0] ?? new Uint8Array(0);
  };
  return {
    world,
    tips: async (dag) =>
      decodeTipRep(await ask(commands.tipReq, encodeTipReq(dag), commands.tipRep)).map((tip) => tip.id),
    headers: async (dag) => {
      const payload = encodeHeaderReq({ dag, tips: [] });
      return decodeHeaderRep(await ask(commands.headerReq, payload, commands.headerRep));
    },
    bodies: async (ids) => {
      const answer = await ask(commands.eventReq, encodeEventReq(ids), commands.eventRep);
      return decodeEventRep(answer).events.length;
    },
  };
}

describe('what a client answers to a relay that asks', () => {
  test('for the current slot: its tips, headers and bodies', async () => {
    const { world, tips, headers, bodies } = await asking();
    expect(await tips(String(slot))).toEqual([genesis.id]);
    const made = makeEvent(BigInt(t0), [genesis.id], 1n, utf8Bytes('x'));
    world.relay(0).put(encodeEvent(made));
    await idle();
    expect(await tips(String(slot))).toEqual([eventId(made.header)]);
    expect(await headers(String(slot))).toHaveLength(2);
    expect(await bodies([eventId(made.header)])).toBe(1);
  });

  test.each([
    ['a number that starts no slot', String(slot + 1)],
    ['a slot that has not begun', String(slot + hour)],
    ['a slot that is no longer kept', String(slot - limits.clientSlotsRetained * hour)],
    ['a time before the network', '0'],
    ['the greatest number', String(Number.MAX_SAFE_INTEGER)],
    ['the static graph', 'static-dag'],
    ['no number', '0x10'],
  ])('for %s: nothing, and the next question is answered all the same', async (_name, dag) => {
    const { world, tips, headers } = await asking();
    expect(await tips(dag)).toEqual([]);
    expect(await headers(dag)).toEqual([]);
    expect(await tips(String(slot))).toEqual([genesis.id]);
    expect(world.status?.relays[0]?.state).toBe('answering');
  });
});
