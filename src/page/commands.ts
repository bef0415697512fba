import { toHex } from '../core/ids';
import { limits } from '../core/limits';
import { utf8Bytes } from '../core/wire/codec';
import { channelReason, nickReason, privmsgBytesOver, privmsgFrameBytes } from '../core/wire/privmsg';
import { holdfast } from '../core/wire/profile';
import { parseSecret } from '../core/wire/secret';
import type { Commands, Inspection, Refusal } from '../ui/model';
import { checkAddress } from '../ui/names';
import type { CommandParts } from './command-parts';
import { handCommands } from './hand-commands';
import { factsOf, markOf } from './marks';
import { settled } from './refusals';
import { caller } from './store-client';

/** Carries out what screens ask for. A refusal is a value; nothing a person typed is lost by one. */
export function makeCommands(parts: CommandParts): Commands {
  const { model, store } = parts;
  return {
    start: (nick) => start(parts, nick.trim()),
    join: (name, secret) => join(parts, name.trim(), secret.trim()),
    open: (conversation) => void model.open(conversation),
    loadOlder: () => model.loadOlder(),
    send: (conversation, text, command) => send(parts, conversation, text, command),
    saveDraft: (conversation, text) => saveDraft(parts, conversation, text),
    read: (conversation, seq) => markRead(parts, conversation, seq),
    addRelay: (url) => addRelay(parts, url),
    removeRelay: (url) =>
      withAccount(parts, (account) => store.transact('removeRelay', { account, url, now: Date.now() })),
    inspect: (conversation, seq) => inspect(parts, conversation, seq),
    ...handCommands(parts),
    useUpdate: parts.useUpdate,
    newCommand: () => toHex(caller.randomBytes(16)),
    bytesOver: (conversation, text) => {
      const channel = model.conversation(conversation);
      const nick = model.account?.nick ?? '';
      const secret = channel?.secret !== undefined;
      const frame = privmsgFrameBytes(holdfast, channel?.name ?? '', nick, text, secret);
      return Math.max(utf8Bytes(text).length - holdfast.textBytesMax, frame - limits.contentBytesMax);
    },
  };
}

const nonceBytes = 12;

async function start(parts: CommandParts, nick: string): Promise<Refusal | undefined> {
  const reason = nickReason(nick);
  if (reason === 'empty') return { refused: 'empty' };
  if (reason === 'too-long') return { refused: 'too-long', over: nick.length - limits.nickBytesMax };
  if (reason !== undefined) return { refused: 'bad-name' };
  const relays = await parts.defaultRelays();
  return settled(async () => {
    await parts.store.transact('createAccount', {
      account: toHex(caller.randomBytes(16)),
      profile: holdfast.name,
      nick,
      relays,
      now: Date.now(),
      nonce: caller.randomBytes(nonceBytes),
    });
    parts.model.look();
    return undefined;
  });
}

async function join(
  parts: CommandParts,
  typed: string,
  secretText: string,
): Promise<{ readonly conversation: string } | Refusal> {
  const name = typed.startsWith('#') ? typed : `#${typed}`;
  const reason = channelReason(name);
  if (reason === 'empty') return { refused: 'empty' };
  if (reason === 'too-long') return { refused: 'too-long', over: name.length - limits.channelBytesMax };
  if (reason !== undefined) return { refused: 'bad-name' };
  const secret = secretText === '' ? undefined : parseSecret(secretText);
  if (secretText !== '' && secret === undefined) return { refused: 'bad-secret' };
  const account = parts.model.account?.account;
  if (account === undefined) return { refused: 'gone' };
  return settled(async () => {
    const args = {
      account,
      conversation: toHex(caller.randomBytes(16)),
      name,
      now: Date.now(),
      nonce: caller.randomBytes(nonceBytes),
    };
    const { outcome } = await parts.store.transact(
      'joinChannel',
      secret === undefined ? args : { ...args, secret },
    );
    if (outcome.kind === 'unknown-account') return { refused: 'gone' };
    if (outcome.kind === 'too-many') return { refused: 'too-many' };
    parts.model.look();
    return { conversation: outcome.conversation };
  });
}

async function send(
  parts: CommandParts,
  conversation: string,
  text: string,
  command: string,
): Promise<Refusal | undefined> {
  const account = parts.model.account;
  const channel = parts.model.conversation(conversation);
  if (account === undefined || channel === undefined) return { refused: 'gone' };
  if (text.trim() === '') return { refused: 'empty' };
  const over = privmsgBytesOver(holdfast, channel.name, account.nick, text, channel.secret !== undefined);
  if (over > 0) return { refused: 'too-long', over };
  const body = { nick: account.nick, channel: channel.name, text };
  return settled(async () => {
    const { outcome } = await parts.store.transact('enqueue', {
      account: account.account,
      conversation,
      command,
      profile: account.profile,
      body: channel.secret === undefined ? body : { ...body, secret: channel.secret },
      now: Date.now(),
      nonce: caller.randomBytes(nonceBytes),
      takesDraft: true,
    });
    parts.model.look();
    switch (outcome.kind) {
      case 'queued':
        return undefined;
      case 'conflict':
        return { refused: 'conflict' };
      case 'unknown-conversation':
        return { refused: 'gone' };
      case 'too-long':
        return { refused: 'too-long', over: outcome.over };
      case 'outbox-full':
        return { refused: 'outbox-full', held: outcome.held, max: outcome.max };
    }
  });
}

function saveDraft(parts: CommandParts, conversation: string, text: string): Promise<Refusal | undefined> {
  return withAccount(parts, async (account) => {
    const args = { account, conversation, text, now: Date.now(), nonce: caller.randomBytes(nonceBytes) };
    const { outcome } = await parts.store.transact('putDraft', args);
    return outcome.kind === 'too-long' ? { refused: 'too-long', over: outcome.over } : undefined;
  });
}

function markRead(parts: CommandParts, conversation: string, seq: number): void {
  void withAccount(parts, async (account) => {
    await parts.store.transact('markRead', { account, conversation, seq });
    parts.model.look();
    return undefined;
  });
}

function addRelay(parts: CommandParts, typed: string): Promise<Refusal | undefined> {
  const checked = checkAddress(typed);
  if ('problem' in checked) return Promise.resolve({ refused: 'bad-address' });
  const url = new URL(checked.value).href;
  return withAccount(parts, async (account) => {
    const { outcome } = await parts.store.transact('addRelay', { account, url, now: Date.now() });
    parts.model.look();
    return outcome.kind === 'too-many' ? { refused: 'too-many' } : undefined;
  });
}

async function inspect(
  parts: CommandParts,
  conversation: string,
  seq: number,
): Promise<Inspection | Refusal> {
  const account = parts.model.account?.account;
  if (account === undefined) return { refused: 'gone' };
  return settled(async () => {
    const message = await parts.store.read('message', { account, conversation, seq });
    if (message === undefined) return { refused: 'gone' };
    const shown = parts.model.snapshot.peek().timeline?.messages.find((one) => one.seq === seq)?.mark;
    return {
      mark: shown ?? markOf(message, parts.model.line),
      text: message.body?.text ?? '',
      facts: factsOf(message),
    };
  });
}

async function withAccount(
  parts: CommandParts,
  work: (account: string) => Promise<Refusal | undefined | object>,
): Promise<Refusal | undefined> {
  const account = parts.model.account?.account;
  if (account === undefined) return { refused: 'gone' };
  return settled(async () => {
    const result = await work(account);
    parts.model.look();
    return result !== undefined && 'refused' in result ? (result as Refusal) : undefined;
  });
}
