import { join } from 'node:path';
import { defineConfig } from 'vite';

/** Builds the bench's page and service worker into the folder named in the environment; never part of the app. */
const root = join(import.meta.dirname, '../..');
const outDir = process.env['HOLDFAST_BENCH_OUT'] ?? join(root, 'dist/bench/bench');
const common = { outDir, emptyOutDir: false, copyPublicDir: false, target: 'es2022' };

export default defineConfig({
  root,
  logLevel: 'warn',
  environments: {
    client: {
      build: {
        ...common,
        rolldownOptions: {
          input: { page: join(import.meta.dirname, './page.ts') },
          preserveEntrySignatures: 'strict',
          output: { format: 'es', entryFileNames: '[name].js' },
        },
      },
    },
    sw: {
      consumer: 'client',
      build: {
        ...common,
        rolldownOptions: {
          input: { sw: join(import.meta.dirname, './worker.ts') },
          output: { format: 'iife', entryFileNames: 'sw.js', codeSplitting: false },
        },
      },
    },
  },
  builder: {
    async buildApp(builder) {
      for (const environment of Object.values(builder.environments)) await builder.build(environment);
    },
  },
});
