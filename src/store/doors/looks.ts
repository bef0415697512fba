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

/** Says to all realms what a commit changed; for the service worker. */
export function lookSender(): (look: Look) => void {
  const channel = new BroadcastChannel(lookChannelName);
  return ({ account, store, revision }) => {
    channel.postMessage({ account, store, rev: revision } satisfies LookSignal);
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
