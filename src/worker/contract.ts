import type { Bytes } from '../core/ids';
import type { LinkEvent } from '../engine/ports';
import type { EngineStatus } from '../engine/status';

/** Web Lock of the one engine. */
export const engineLock = 'holdfast/engine';

/** Web Lock the realm around an engine holds as long as it lives; its release tells the tabs of its death. */
export function hostLock(host: string): string {
  return `holdfast/host/${host}`;
}

/** Web Lock a tab holds as long as it lives; its release tells the engine of the tab's death. */
export function tabLock(tab: string): string {
  return `holdfast/tab/${tab}`;
}

/** Channel on which a newer engine asks the older one to step down. */
export const yieldChannel = 'holdfast/engine';

/** How a tab presents itself. */
export interface TabHello {
  /** Random, one a life of the page; another one after the back/forward cache. */
  readonly tab: string;
  readonly build: string;
  readonly visible: boolean;
}

/** What the engine says to a tab, over the tab's own port. */
export type ToTab =
  | { readonly type: 'open'; readonly relay: string; readonly link: number; readonly term: number }
  | {
      readonly type: 'send';
      readonly relay: string;
      readonly link: number;
      readonly term: number;
      readonly sequence: number;
      readonly bytes: Bytes;
    }
  | {
      readonly type: 'close';
      readonly relay: string;
      readonly link: number;
      readonly term: number;
      readonly code: number;
      readonly reason: string;
    }
  /** The tab is the carrier no longer: its sockets go. */
  | { readonly type: 'release' }
  | { readonly type: 'heartbeat'; readonly beat: number }
  /** Wants a port to the service worker. */
  | { readonly type: 'lane' }
  /** The engine's own calls are not answered by the service worker: a page has it claim. */
  | { readonly type: 'claim' }
  | {
      readonly type: 'status';
      readonly status: EngineStatus;
      readonly carrier: 'this-tab' | 'other-tab' | 'engine';
    };

/** What a tab says to the engine. */
export type FromTab =
  | { readonly type: 'link'; readonly event: LinkEvent }
  | { readonly type: 'heartbeat'; readonly beat: number }
  | { readonly type: 'visible'; readonly visible: boolean }
  /** The page is about to be frozen, hidden in the back/forward cache or closed. */
  | { readonly type: 'bye' }
  /** A port to the service worker comes with this message. */
  | { readonly type: 'lane' };

/** What a page may ask of the engine, by Comlink. Each call settles, or the engine's lock tells of its death. */
export interface EngineApi {
  /** Joins; everything else goes over `port`. Answers the host's name, whose lock is held from then on. */
  attach(hello: TabHello, port: MessagePort): Promise<string>;
  /** The network may be back: unreachable relays are tried at once. */
  nudge(): Promise<void>;
}
