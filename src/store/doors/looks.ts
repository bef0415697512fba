import type { Effect, LookAt } from '../../core/effects';
import { lookChannelName } from './names';

/** What stands in the channel (formats.md 2.3). No content; may be lost or repeated. */
interface LookSignal {
  readonly account: string;
  readonly store: LookAt;
  readonly rev: number;
}

/** A signal that rows of one kind changed. */
export type Look = Effect & { readonly type: 'look' };

/** Least time between two signals of a worker: what is changed in a row is heard of together, ms. */
const pauseMs = 50;

/**
 * Says to all realms what a commit changed; for the service worker. It says so in a task of its own, behind the answers
 * that wait for it, and what is said until then, as by the scripts of a batch, as one signal a kind, with the newest
 * revision.
 */
export function lookSender(): (look: Look) => void {
  const channel = new BroadcastChannel(lookChannelName);
  const waiting = new Map<string, LookSignal>();
  let last = Number.NEGATIVE_INFINITY;
  const flush = () => {
    last = performance.now();
    for (const signal of waiting.values()) channel.postMessage(signal);
    waiting.clear();
  };
  return ({ account, store, revision }) => {
    if (waiting.size === 0) setTimeout(flush, Math.max(0, last + pauseMs - performance.now()));
    const kind = `${account} ${store}`;
    waiting.set(kind, { account, store, rev: Math.max(revision, waiting.get(kind)?.rev ?? 0) });
  };
}

/** Hears the look signals of the service worker; the returned function stops it. */
export function listenLooks(listener: (look: Look) => void): () => void {
  const channel = new BroadcastChannel(lookChannelName);
  channel.onmessage = ({ data }: MessageEvent<LookSignal>) => {
    listener({
      type: 'look',
      account: data.account,
      store: data.store,
      revision: data.rev,
    });
  };
  return () => channel.close();
}
