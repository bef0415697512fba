import type { Caller } from '../store/doors/door';
import { DoorStore } from '../store/doors/door';
import { MessageDoor } from '../store/doors/message-door';

/** This page, as it names itself to the store. */
export const caller: Caller = {
  build: __BUILD__,
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
};

/** The store as a page reaches it. */
export interface StoreClient {
  readonly store: DoorStore;
  /** A port to the service worker, to be handed to the engine, which cannot post to it itself. */
  lane(): Promise<MessagePort>;
}

/** True where the browser has service workers and locks at all; whether they keep anything, the first call tells. */
export function canKeep(): boolean {
  return 'serviceWorker' in navigator && 'locks' in navigator;
}

/** Connects to the store; calls wait for the worker's first activation, within their deadline. */
export function connectStore(): StoreClient {
  const door = new MessageDoor(navigator.serviceWorker, navigator.locks, caller);
  return { store: new DoorStore(door, caller), lane: () => door.lane() };
}
