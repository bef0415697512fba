import { DecodeError, EncodeError, type StoreErrorKind } from '../src/core/errors';
import { limits } from '../src/core/limits';
import { type CallAnswer, decodeBody, encodeBody } from '../src/core/wire/call';
import { type DoorMessage, doorHeader, fetchDoorPath, type LaneAnswer } from '../src/store/doors/names';
import { scope } from './scope';
import type { Server } from './server';

/** Serves calls that a page posted, or opens a lane for them. True when the message was meant for the store. */
export function onStoreMessage(server: Server, event: ExtendableMessageEvent): boolean {
  const [port] = event.ports;
  const message = event.data as DoorMessage | null;
  if (port === undefined || typeof message !== 'object' || message === null) return false;
  if (message.holdfast !== 'calls' && message.holdfast !== 'lane') return false;
  if (!isOurs(event.source)) return true;
  if (message.holdfast === 'lane') openLane(server, port);
  else if (isBatch(message.requests)) {
    const post = posting(port);
    event.waitUntil(Promise.all(message.requests.map((request) => serveCall(server, post, request))));
  }
  return true;
}

function isBatch(requests: unknown): requests is readonly unknown[] {
  return Array.isArray(requests) && requests.length <= limits.callsPerMessageMax;
}

/** Only pages and workers under our scope may ask. */
function isOurs(source: Client | ServiceWorker | MessagePort | null): boolean {
  return source !== null && 'url' in source && source.url.startsWith(scope.registration.scope);
}

/** A lane does not keep this worker alive and dies with it silently: its owner watches the instance lock. */
function openLane(server: Server, port: MessagePort): void {
  const post = posting(port);
  port.onmessage = ({ data }: MessageEvent<unknown>) => void serveCall(server, post, data);
}

type Post = (answer: LaneAnswer) => void;

/** Posts answers on a port that calls share: those that are ready together, as of one batch, in one message. */
function posting(port: MessagePort): Post {
  let ready: LaneAnswer[] = [];
  return (answer) => {
    ready.push(answer);
    if (ready.length > 1) return;
    queueMicrotask(() => {
      port.postMessage(ready);
      ready = [];
    });
  };
}

/** Answers one call; resolves when the store is through. What names no call cannot be answered. */
async function serveCall(server: Server, post: Post, request: unknown): Promise<void> {
  const call =
    typeof request === 'object' && request !== null && 'call' in request ? request.call : undefined;
  if (typeof call !== 'string') return;
  const served = server.serve(request);
  post({ call, answer: await served.answer });
  await served.settled;
}

/** Serves the fetch door; true when the request was at its address, ours or not. */
export function onStoreFetch(server: Server, event: FetchEvent): boolean {
  if (new URL(event.request.url).pathname !== fetchDoorPath) return false;
  event.respondWith(isOwnFetch(event.request) ? serveFetch(server, event) : nothingHere());
  return true;
}

/**
 * A form, a link or a frame of a foreign page reaches this handler too, as a navigation (measured): only a script of
 * our own origin can set the header without being asked about it first (formats.md 2.2).
 */
function isOwnFetch(request: Request): boolean {
  return (
    request.method === 'POST' &&
    request.mode !== 'navigate' &&
    request.destination === '' &&
    request.headers.get(doorHeader.name) === doorHeader.value &&
    new URL(request.url).origin === scope.location.origin
  );
}

function nothingHere(): Response {
  return new Response(null, { status: 404 });
}

async function serveFetch(server: Server, event: FetchEvent): Promise<Response> {
  const calls = callsOf(new Uint8Array(await event.request.arrayBuffer()));
  if (calls === undefined) return new Response(null, { status: 400, headers: doorHeaders() });
  const served = calls.map((call) => server.serve(call));
  event.waitUntil(Promise.all(served.map((one) => one.settled)));
  const answers = await Promise.all(served.map((one) => one.answer));
  return new Response(bodyOf(answers), { headers: doorHeaders() });
}

/** All answers, or when they are too large together the first alone: the others are told to come again. */
function bodyOf(answers: readonly CallAnswer[]): BodyInit {
  try {
    return encodeBody(answers);
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    const withErr = (err: StoreErrorKind) => (one: CallAnswer) => ({
      v: one.v,
      sw: one.sw,
      build: one.build,
      err,
    });
    const [first, ...others] = answers;
    if (first === undefined || others.length === 0) return encodeBody(answers.map(withErr('internal')));
    try {
      return encodeBody([first, ...others.map(withErr('busy'))]);
    } catch {
      return encodeBody(answers.map(withErr('internal')));
    }
  }
}

function callsOf(body: Uint8Array): readonly unknown[] | undefined {
  try {
    const calls = decodeBody(body);
    return Array.isArray(calls) && calls.length > 0 && calls.length <= limits.callsPerFetchMax
      ? calls
      : undefined;
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function doorHeaders(): Record<string, string> {
  return {
    [doorHeader.name]: doorHeader.value,
    'content-type': 'application/octet-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
}
