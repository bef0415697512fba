import type { OwnBody } from '../core/history/records';
import type { LogicalId } from '../core/ids';
import { privmsgBytesOver } from '../core/wire/privmsg';
import { holdfast } from '../core/wire/profile';
import type { Commands, Refusal } from '../ui/model';
import type { CommandParts } from './command-parts';
import { settled } from './refusals';
import { caller } from './store-client';

type HandCommands = Pick<Commands, 'retryNow' | 'editQueued' | 'drop' | 'undoDrop' | 'forgetDropped'>;

interface Named {
  readonly account: string;
  readonly conversation: string;
  readonly seq: number;
  /** The command the person saw: a message that was edited meanwhile is another. */
  readonly command: LogicalId;
  readonly now: number;
}

const gone: Refusal = { refused: 'gone' };

/** What a person may do to a message that waits, each as one transaction of its own. */
export function handCommands(parts: CommandParts): HandCommands {
  return {
    retryNow: (conversation, seq) => retryNow(parts, conversation, seq),
    editQueued: (conversation, seq, text, command) => editQueued(parts, conversation, seq, text, command),
    drop: (conversation, seq) => drop(parts, conversation, seq),
    undoDrop: (conversation, seq) => undoDrop(parts, conversation, seq),
    forgetDropped: (conversation, seq) =>
      void onMessage(parts, conversation, seq, async (named) => {
        await parts.store.transact('forgetDropped', named);
        return undefined;
      }),
  };
}

/** Names the message as it is stored now, and carries out one transaction on it. */
function onMessage<T>(
  parts: CommandParts,
  conversation: string,
  seq: number,
  work: (named: Named) => Promise<T | Refusal>,
): Promise<T | Refusal> {
  return settled(async () => {
    const account = parts.model.account?.account;
    if (account === undefined) return gone;
    const message = await parts.store.read('message', { account, conversation, seq });
    if (message === undefined) return gone;
    const result = await work({ account, conversation, seq, command: message.logical, now: Date.now() });
    parts.model.look();
    return result;
  });
}

function retryNow(parts: CommandParts, conversation: string, seq: number): Promise<Refusal | undefined> {
  return onMessage<undefined>(parts, conversation, seq, async (named) => {
    const { outcome } = await parts.store.transact('retryNow', named);
    if (outcome.kind === 'not-before') return { refused: 'not-before', at: outcome.at };
    return outcome.kind === 'due' ? undefined : { refused: outcome.kind };
  });
}

function editQueued(
  parts: CommandParts,
  conversation: string,
  seq: number,
  text: string,
  newCommand: LogicalId,
): Promise<Refusal | undefined> {
  return onMessage<undefined>(parts, conversation, seq, async (named) => {
    const account = parts.model.account;
    const channel = parts.model.conversation(conversation);
    if (account === undefined || channel === undefined) return gone;
    if (text.trim() === '') return { refused: 'empty' };
    const over = privmsgBytesOver(holdfast, channel.name, account.nick, text, channel.secret !== undefined);
    if (over > 0) return { refused: 'too-long', over };
    const plain: OwnBody = { nick: account.nick, channel: channel.name, text };
    const body = channel.secret === undefined ? plain : { ...plain, secret: channel.secret };
    const nonce = caller.randomBytes(12);
    const { outcome } = await parts.store.transact('editQueued', {
      ...named,
      profile: account.profile,
      newCommand,
      body,
      nonce,
    });
    if (outcome.kind === 'edited') return undefined;
    if (outcome.kind === 'too-long') return { refused: 'too-long', over: outcome.over };
    if (outcome.kind === 'outbox-full') {
      return { refused: 'outbox-full', held: outcome.held, max: outcome.max };
    }
    return { refused: outcome.kind };
  });
}

function drop(
  parts: CommandParts,
  conversation: string,
  seq: number,
): Promise<{ readonly exposed: boolean } | Refusal> {
  return onMessage<{ readonly exposed: boolean }>(parts, conversation, seq, async (named) => {
    const { outcome } = await parts.store.transact('drop', named);
    return outcome.kind === 'dropped' ? { exposed: outcome.exposed } : gone;
  });
}

function undoDrop(parts: CommandParts, conversation: string, seq: number): Promise<Refusal | undefined> {
  return onMessage<undefined>(parts, conversation, seq, async (named) => {
    const { outcome } = await parts.store.transact('undoDrop', named);
    if (outcome.kind === 'back') return undefined;
    if (outcome.kind === 'outbox-full') {
      return { refused: 'outbox-full', held: outcome.held, max: outcome.max };
    }
    return { refused: outcome.kind };
  });
}
