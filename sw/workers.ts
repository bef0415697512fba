import { startEngine } from '../src/worker/engine-worker';
import { scope } from './scope';

/**
 * The one script of both workers, which share wire, graph and cryptography: the service worker imports it for the store
 * (see sw.ts), and as a shared worker it is the engine.
 */
export { serveStore } from './store';

if (!('registration' in scope)) startEngine();
