import { StoreError } from '../core/errors';
import type { Store } from '../engine/ports';
import { listenLooks } from '../store/doors/looks';
import { renderApp } from '../ui/app';
import { AppModel } from './app-model';
import { makeCommands } from './commands';
import { EngineClient } from './engine-client';
import { registerWorker } from './register';
import { canKeep, connectStore } from './store-client';
import type { Updates } from './update';

/** Where the operator of this app lists the relays new accounts begin with. */
const relaysPath = '/relays.json';

async function defaultRelays(): Promise<readonly string[]> {
  try {
    const list: unknown = await (await fetch(relaysPath)).json();
    return Array.isArray(list) ? list.filter((url) => typeof url === 'string') : [];
  } catch {
    // Offline at the first start: the person can add a relay, and messages wait meanwhile.
    return [];
  }
}

function main(): void {
  const root = document.getElementById('app');
  if (root === null) throw new TypeError('index.html has a place for the app');
  const client = connectStore();
  const model = new AppModel(client.store);
  let updates: Updates | undefined;
  const commands = makeCommands({
    store: client.store,
    model,
    defaultRelays,
    useUpdate: () => updates?.use(),
  });
  const app = renderApp(root, model.snapshot, commands);
  listenLooks(() => model.hear());
  // What was signalled to a tab in the background may never have come.
  document.addEventListener('visibilitychange', () => model.hear());
  model.look();
  registerWorker({
    workerBuild: () => client.store.hello(),
    beforeReload: () => app.flush(),
    onReady: (updateReady) => model.updateReady(updateReady),
  }).then(
    (made) => {
      updates = made;
    },
    (error: unknown) => {
      // A worker of an earlier visit goes on keeping messages; without any, nothing can be kept.
      if (navigator.serviceWorker.controller === null) model.trouble(String(error));
    },
  );
  if (EngineClient.possible) new EngineClient(client, (view) => model.engine(view));
  else model.engine({ host: 'gone', carrier: 'none' });
}

if (canKeep()) main();
else unsupported();

/** Without service workers nothing can be kept; the app says so instead of pretending. */
function unsupported(): void {
  const root = document.getElementById('app');
  if (root === null) return;
  const refusing: Store = {
    transact: () => Promise.reject(new StoreError('storage')),
    read: () => Promise.reject(new StoreError('storage')),
  };
  const model = new AppModel(refusing);
  model.trouble('service workers are not available');
  renderApp(
    root,
    model.snapshot,
    makeCommands({ store: refusing, model, defaultRelays, useUpdate: () => undefined }),
  );
}
