/** Name of this build, put in by vite.config.ts. */
declare const __BUILD__: string;
/** Address of the workers' script, put in likewise. */
declare const __WORKERS__: string;
