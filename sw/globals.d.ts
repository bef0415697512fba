/** Put in by the build (vite.config.ts). */
declare const __BUILD__: string;
/** Address of the script of both workers. */
declare const __WORKERS__: string;
/** Folder of the workbox files, with its slashes. */
declare const __WORKBOX__: string;

/** What the workers' script leaves in this realm (workers.ts). */
declare const holdfast: {
  readonly serveStore: typeof import('./store').serveStore;
};

/** Loaded by importScripts from our own origin. */
declare const workbox: {
  setConfig(config: { debug: boolean; modulePathCb: (name: string) => string }): void;
  readonly core: typeof import('workbox-core');
  readonly precaching: typeof import('workbox-precaching');
  readonly routing: typeof import('workbox-routing');
};

interface WorkerGlobalScope {
  /** List of the built files, put in by workbox-build. */
  readonly __WB_MANIFEST: {
    readonly url: string;
    readonly revision: string | null;
  }[];
}
