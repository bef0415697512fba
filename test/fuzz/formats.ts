import { ed25519Limiter } from '../../src/core/rate/limiter';
import { base58BytesMax, decodeBase58, encodeBase58 } from '../../src/core/wire/base58';
import { decodeBody, encodeBody, parseAnswer, parseRequest } from '../../src/core/wire/call';
import { utf8Bytes } from '../../src/core/wire/codec';
import { readContent } from '../../src/core/wire/content';
import { decodeEvent, encodeEvent } from '../../src/core/wire/event';
import {
  decodeEventPut,
  decodeEventPutStatus,
  encodeEventPut,
  encodeEventPutStatus,
} from '../../src/core/wire/event-put';
import { decodeFrame, encodeFrame, type Frame } from '../../src/core/wire/frame';
import { decodePrivmsg, encodePrivmsg } from '../../src/core/wire/privmsg';
import { darkirc, holdfast } from '../../src/core/wire/profile';
import { formatSecret, parseSecret } from '../../src/core/wire/secret';
import * as sync from '../../src/core/wire/sync';
import * as version from '../../src/core/wire/version';
import { type Format, format, type Target, targetOf } from './target';
import * as values from './values';

const tipOrder =
  'the ids of a layer may come in any order, and a layer may have none: upstream writes a set of them';
const json = 'the same JSON may be spelt in several ways';
const trailing = 'what follows the text and is no logical id is passed over, as upstream does';
const bool = 'a bool that is neither 0 nor 1 is true, as upstream reads it';

const frameOf = (frame: Frame) => encodeFrame(holdfast.magic, frame.command, frame.payload);

/** What peers send one another. */
const wire = [
  format('frame', values.frames, frameOf, (input) => decodeFrame(holdfast.magic, input)),
  format('version', values.versions, version.encodeVersion, version.decodeVersion, bool),
  format('verack', values.veracks, version.encodeVerack, version.decodeVerack),
  format('ping', values.nonces, version.encodePing, version.decodePing),
  format('Event', values.events, encodeEvent, decodeEvent),
  format('EventPut', values.puts, encodeEventPut, decodeEventPut),
  format('EventPutStatus', values.statuses, encodeEventPutStatus, decodeEventPutStatus),
  format('EventReq', values.requests, sync.encodeEventReq, sync.decodeEventReq),
  format('EventRep', values.replies, sync.encodeEventRep, sync.decodeEventRep),
  format('TipReq', values.dags, sync.encodeTipReq, sync.decodeTipReq),
  format('TipRep', values.tips, sync.encodeTipRep, sync.decodeTipRep, tipOrder),
  format('HeaderReq', values.headerRequests, sync.encodeHeaderReq, sync.decodeHeaderReq, tipOrder),
  format('HeaderRep', values.headerLists, sync.encodeHeaderRep, sync.decodeHeaderRep),
];

/** What stands in events, and what people paste. */
const contents = [
  format('Privmsg', values.privmsgs, encodePrivmsg, (input) => decodePrivmsg(holdfast, input), trailing),
  format(
    'Privmsg of darkirc',
    values.privmsgs.map(({ logical: _, ...rest }) => rest),
    encodePrivmsg,
    (input) => decodePrivmsg(darkirc, input),
    trailing,
  ),
  format(
    'base58',
    values.someBytes(60),
    (bytes) => utf8Bytes(encodeBase58(bytes)),
    (input) => decodeBase58(latin1(input), base58BytesMax(64)),
  ),
];

/** What realms of one browser say to each other, and what a page of the same origin could say. */
const calls = [
  format('call body', values.callValues, encodeBody, decodeBody, json),
  format<unknown>('call', values.calls, encodeBody, (input) => parseRequest(decodeBody(input)), json),
  format<unknown>('answer', values.answers, encodeBody, (input) => parseAnswer(decodeBody(input)), json),
];

/** Every format whose bytes a stranger may send; each keeps to its own values. */
export const formats = [...wire, ...contents, ...calls] as unknown as readonly Format<unknown>[];

const limiter = ed25519Limiter(() => false);

/** Readers that give nothing back to encode. */
const readers: readonly Target[] = [
  {
    name: 'content',
    valid: values.contents,
    judge: (input) => (readContent(holdfast, input).kind === 'opaque' ? 'refused' : 'read'),
  },
  {
    name: 'secret',
    valid: values.someBytes(32, 32).map((bytes) => utf8Bytes(formatSecret(bytes))),
    judge: (input) => (parseSecret(latin1(input)) === undefined ? 'refused' : 'read'),
  },
  {
    name: 'rate proof',
    valid: values.proofs,
    judge: (input) => (limiter.claimOf(input) === undefined ? 'refused' : 'read'),
  },
];

/** All decoders, as a run goes through them. */
export const decoders: readonly Target[] = [...formats.map(targetOf), ...readers];

function latin1(input: Uint8Array): string {
  let text = '';
  for (const byte of input) text += String.fromCharCode(byte);
  return text;
}
