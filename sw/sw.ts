import { limits } from '../src/core/limits';
import { scope } from './scope';
import { dropOldBuilds, keepShell } from './shell';
import { policy } from './trusted';

importScripts(policy.createScriptURL(__WORKERS__));
const store = holdfast.serveStore(dropOldBuilds);

// Before workbox's own listener: the first to answer a fetch has answered it.
scope.addEventListener('fetch', (event) => {
  if (store.onFetch(event)) event.stopImmediatePropagation();
});

keepShell();

scope.addEventListener('message', (event) => {
  if (store.onMessage(event)) return;
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
  await Promise.race([store.open().catch(() => undefined), deadline(limits.callUpgradingMs)]);
}

function deadline(ms: number): Promise<void> {
  return new Promise((over) => setTimeout(over, ms));
}
