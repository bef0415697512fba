import { Workbox } from 'workbox-window';
import { holdBuild } from '../store/doors/build';
import { policy } from './trusted';
import { type UpdateEvents, type UpdateParts, Updates } from './update';

const updateCheckMs = 3_600_000;

/** What the page answers for when a new version takes over. */
export type RegisterParts = Pick<UpdateParts, 'workerBuild' | 'beforeReload' | 'onReady'>;

/**
 * Registers the service worker and watches for new versions: at the start, whenever the page comes into view, hourly.
 * Rejects when the browser refuses service workers; nothing can be kept then.
 */
export async function registerWorker(parts: RegisterParts): Promise<Updates> {
  holdBuild(navigator.locks, __BUILD__);
  const workbox = new Workbox(policy.createScriptURL('/sw.js'), {
    scope: '/',
    updateViaCache: 'none',
  });
  const events: UpdateEvents = {
    onWaiting: (listener) => workbox.addEventListener('waiting', listener),
    onControlling: (listener) => workbox.addEventListener('controlling', listener),
    skipWaiting: () => workbox.messageSkipWaiting(),
  };
  const updates = new Updates({
    ...parts,
    events,
    build: __BUILD__,
    reload: () => location.reload(),
  });
  await workbox.register({ immediate: true });
  const look = () => {
    if (document.visibilityState === 'hidden') return;
    updates.retry();
    workbox.update().catch(() => {
      // Offline: the next look finds it.
    });
  };
  document.addEventListener('visibilitychange', look);
  setInterval(look, updateCheckMs);
  look();
  return updates;
}
