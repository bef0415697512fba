import { buildLock } from '../src/store/doors/names';
import { scope } from './scope';
import { policy } from './trusted';

const cachePrefix = 'holdfast-shell-';

// Top level, all of it: after install a service worker may not import scripts.
importScripts(policy.createScriptURL(`${__WORKBOX__}workbox-sw.js`));
workbox.setConfig({
  debug: false,
  modulePathCb: (name) => policy.createScriptURL(`${__WORKBOX__}${name}.prod.js`),
});
const { core, precaching, routing } = workbox;

/**
 * Keeps the built files and answers from them, so that the app starts without a network. Each build has a cache of
 * its own: a page of the previous one goes on finding its files, and starts its own engine, until it is reloaded.
 */
export function keepShell(): void {
  core.setCacheNameDetails({
    prefix: 'holdfast',
    precache: 'shell',
    suffix: __BUILD__,
  });
  const files = self.__WB_MANIFEST;
  precaching.precacheAndRoute(files);
  // In development nothing is kept and every file comes from the dev server.
  if (files.length === 0) return;
  routing.registerRoute(new routing.NavigationRoute(precaching.createHandlerBoundToURL('/index.html')));
  routing.registerRoute(
    ({ url, sameOrigin }) => sameOrigin && /^\/(assets|workers)\//.test(url.pathname),
    fromAnyBuild,
  );
}

async function fromAnyBuild({ request }: { request: Request }): Promise<Response> {
  return (await caches.match(request, { ignoreSearch: true })) ?? fetch(request);
}

/** Drops the files of builds that no page and no engine runs any more. */
export async function dropOldBuilds(): Promise<void> {
  // A newer worker has its files in place already; it is the one to clean up once it took over.
  if (scope.registration.waiting !== null || scope.registration.installing !== null) return;
  const { held } = await navigator.locks.query();
  const running = new Set((held ?? []).map((lock) => lock.name));
  for (const name of await caches.keys()) {
    if (!name.startsWith(cachePrefix) || name === core.cacheNames.precache) continue;
    if (!running.has(buildLock(name.slice(cachePrefix.length)))) await caches.delete(name);
  }
}
