import { limits } from '../src/core/limits';
import { lookSender } from '../src/store/doors/looks';
import { makeDatabase } from './database';
import { onStoreFetch, onStoreMessage } from './doors';
import { makeInstance } from './instance';
import { scope } from './scope';
import { Server } from './server';
import { dropOldBuilds, keepShell } from './shell';

const database = makeDatabase('holdfast');
const server = new Server({
  instance: makeInstance(),
  build: __BUILD__,
  store: database,
  announce: lookSender(),
  claim: () => scope.clients.claim(),
  greeted: dropOldBuilds,
  now: Date.now,
});

// Before workbox's own listener: the first to answer a fetch has answered it.
scope.addEventListener('fetch', (event) => {
  if (onStoreFetch(server, event)) event.stopImmediatePropagation();
});

keepShell();

scope.addEventListener('message', (event) => {
  if (onStoreMessage(server, event)) return;
  if ((event.data as { type?: unknown } | null)?.type === 'SKIP_WAITING')
    event.waitUntil(scope.skipWaiting());
});

scope.addEventListener('activate', (event) => {
  event.waitUntil(takeOver());
});

async function takeOver(): Promise<void> {
  await scope.clients.claim();
  await dropOldBuilds();
  // An upgrade that another realm blocks must not hold up every fetch for ever; the first call opens again.
  await Promise.race([database.open().catch(() => undefined), deadline(limits.callUpgradingMs)]);
}

function deadline(ms: number): Promise<void> {
  return new Promise((over) => setTimeout(over, ms));
}
