import { lookSender } from '../src/store/doors/looks';
import { makeDatabase } from './database';
import { onStoreFetch, onStoreMessage } from './doors';
import { makeInstance } from './instance';
import { scope } from './scope';
import { Server } from './server';

/** The store, as the events of the service worker reach it. */
export interface ServedStore {
  /** True when the event was meant for the store. */
  onFetch(event: FetchEvent): boolean;
  onMessage(event: ExtendableMessageEvent): boolean;
  open(): Promise<void>;
}

/** Serves the store from this service worker; `greeted` runs after a page or an engine said hello. */
export function serveStore(greeted: () => Promise<void>): ServedStore {
  const database = makeDatabase('holdfast');
  const server = new Server({
    instance: makeInstance(),
    build: __BUILD__,
    store: database,
    announce: lookSender(),
    claim: () => scope.clients.claim(),
    greeted,
    now: Date.now,
  });
  return {
    onFetch: (event) => onStoreFetch(server, event),
    onMessage: (event) => onStoreMessage(server, event),
    open: () => database.open(),
  };
}
