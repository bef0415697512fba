import { limits } from '../limits';

/** Command names on the wire (event-graph.md 3 and 7.4, formats.md 1.3). */
export const commands = {
  version: 'version',
  verack: 'verack',
  ping: 'ping',
  pong: 'pong',
  eventPut: 'EventGraph::EventPut',
  eventPutStatus: 'EventGraph::EventPutStatus',
  eventReq: 'EventGraph::EventReq',
  eventRep: 'EventGraph::EventRep',
  headerReq: 'EventGraph::HeaderReq',
  headerRep: 'EventGraph::HeaderRep',
  tipReq: 'EventGraph::TipReq',
  tipRep: 'EventGraph::TipRep',
} as const;

/** A command this build speaks. */
export type Command = (typeof commands)[keyof typeof commands];

/** Bytes of an EventPutStatus payload, never more or less: id, tag, one byte of result. */
export const statusBytes = 34;

const payloadMaxima: ReadonlyMap<string, number> = new Map([
  [commands.version, limits.versionBytesMax],
  [commands.verack, limits.verackBytesMax],
  [commands.ping, limits.pingBytesMax],
  [commands.pong, limits.pingBytesMax],
  [commands.eventPutStatus, statusBytes],
]);

/** Longest payload of a command, bytes; an unknown command and those without a bound of their own get the frame's. */
export function payloadBytesMax(command: string): number {
  return payloadMaxima.get(command) ?? limits.messageBytesMax;
}
