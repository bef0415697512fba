import type { OpenedConversation, OpenedMessage, Overview } from '../core/transactions/reads';
import type {
  ConversationView,
  MessageView,
  NetworkView,
  QueueView,
  RelayView,
  Snapshot,
  TimelineView,
} from '../ui/model';
import type { EngineView } from './engine-client';
import { type LineView, markOf } from './marks';

/** The window of messages that is open. */
export interface OpenTimeline {
  readonly conversation: string;
  readonly messages: readonly OpenedMessage[];
  readonly older: TimelineView['older'];
  readonly firstUnreadSeq?: number;
  readonly draft: string;
}

/** Everything a snapshot is built from. */
export interface ViewParts {
  readonly overview?: Overview;
  readonly open?: OpenTimeline;
  readonly engine: EngineView;
  readonly silentSince?: number;
  readonly sendsWhenClosed: boolean;
  readonly updateReady: boolean;
  readonly trouble?: string;
  readonly now: number;
}

/** An author's time is mentioned when it is this far from ours, ms (ux.md A2). */
const authorTimeNoticeMs = 300_000;

/** What the screens render: a pure function of what is committed and of what the engine says. */
export function snapshotOf(parts: ViewParts): Snapshot {
  const { overview } = parts;
  const line = lineOf(parts);
  const base = {
    kept: parts.trouble === undefined,
    queue: queueOf(parts, line),
    network: networkOf(parts),
    updateReady: parts.updateReady,
    now: parts.now,
    ...(parts.trouble === undefined ? {} : { trouble: parts.trouble }),
  };
  if (parts.trouble !== undefined) return { ...base, phase: 'unavailable', conversations: [] };
  if (overview === undefined) return { ...base, phase: 'starting', conversations: [] };
  if (overview.account === undefined) return { ...base, phase: 'first-run', conversations: [] };
  const conversations = overview.conversations.map((one) => conversationOf(one, line)).sort(newestFirst);
  const timeline = timelineOf(parts, line);
  return {
    ...base,
    phase: 'ready',
    nick: overview.account.nick,
    conversations,
    ...(timeline === undefined ? {} : { timeline }),
  };
}

/** The line as what waits is judged by. */
export function lineOf(parts: ViewParts): LineView {
  const head = parts.overview?.head;
  const status = parts.engine.status === undefined ? {} : { status: parts.engine.status };
  if (head === undefined) return status;
  const name =
    parts.overview?.conversations.find((one) => one.conversation === head.conversation)?.name ?? '';
  const waiting = parts.overview?.waiting ?? 0;
  return { ...status, waiting, head: { seq: head.seq, conversation: head.conversation, name } };
}

function queueOf(parts: ViewParts, line: LineView): QueueView {
  const { overview } = parts;
  const base = {
    waiting: overview?.waiting ?? 0,
    bytes: overview?.counters.outboxBytes ?? 0,
    bytesMax: overview?.outboxBytesMax ?? 0,
  };
  const head = overview?.head;
  if (head === undefined || line.head === undefined) return base;
  const { conversation, name, seq } = line.head;
  return { ...base, head: { conversation, name, seq, mark: markOf(head, line) } };
}

function networkOf(parts: ViewParts): NetworkView {
  const { engine, overview } = parts;
  const status = engine.status;
  const known = new Map(status?.relays.map((relay) => [relay.url, relay]));
  const relays = (overview?.relays ?? []).map((row): RelayView => {
    const relay = known.get(row.url);
    if (relay === undefined) return { url: row.url, state: 'connecting' };
    return { ...relay, state: relay.state === 'handshake' ? 'connecting' : relay.state };
  });
  const offSeconds = Math.round((status?.clock.seenMs ?? 0) / 1_000);
  return {
    relays,
    synced: (status?.ready ?? 0) > 0,
    engine: engine.host,
    carrier: engine.carrier,
    sendsWhenClosed: parts.sendsWhenClosed,
    ...(parts.silentSince === undefined ? {} : { silentSince: parts.silentSince }),
    ...(offSeconds === 0 ? {} : { clockOffSeconds: offSeconds }),
  };
}

function conversationOf(one: OpenedConversation, line: LineView): ConversationView {
  const { last } = one;
  return {
    conversation: one.conversation,
    name: one.name,
    secret: one.secret !== undefined,
    unread: one.unread,
    lastAt: last?.at ?? one.createdAt,
    ...(last === undefined
      ? {}
      : { last: { own: last.own, nick: last.body?.nick ?? '', text: last.body?.text ?? '' } }),
    ...(last?.own === true ? { mark: markOf(last, line) } : {}),
    ...(one.draft === undefined ? {} : { draft: one.draft }),
  };
}

function newestFirst(left: ConversationView, right: ConversationView): number {
  return (right.lastAt ?? 0) - (left.lastAt ?? 0) || (left.name < right.name ? -1 : 1);
}

function timelineOf(parts: ViewParts, line: LineView): TimelineView | undefined {
  const { open, overview } = parts;
  const found = overview?.conversations.find((one) => one.conversation === open?.conversation);
  if (open === undefined || found === undefined) return undefined;
  return {
    conversation: open.conversation,
    name: found.name,
    secret: found.secret !== undefined,
    messages: open.messages.map((message) => messageOf(message, line)),
    older: open.older,
    draft: open.draft,
    ...(open.firstUnreadSeq === undefined ? {} : { firstUnreadSeq: open.firstUnreadSeq }),
  };
}

function messageOf(message: OpenedMessage, line: LineView): MessageView {
  const { time } = message;
  const differs = time !== undefined && Math.abs(time - message.at) > authorTimeNoticeMs;
  return {
    seq: message.seq,
    logical: message.logical,
    own: message.own,
    nick: message.body?.nick ?? '',
    at: message.at,
    ...(message.body === undefined ? {} : { text: message.body.text }),
    ...(differs ? { authorTime: time } : {}),
    ...(message.own ? { mark: markOf(message, line) } : {}),
  };
}
