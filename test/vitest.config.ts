import { fileURLToPath } from 'node:url';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { chromiumFlags, findChromium } from './chromium.mjs';
import { EvidenceReporter } from './evidence/reporter.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const executablePath = findChromium();

/** A project that runs in Node; its name up to the first dash is the place of requirements.tsv. */
function nodeProject(name: string, include: string[], seconds: number): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: { name, include, environment: 'node', testTimeout: seconds * 1_000, hookTimeout: seconds * 1_000 },
  };
}

export default defineConfig({
  root,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: {
    expect: { requireAssertions: true },
    retry: 0,
    passWithNoTests: false,
    setupFiles: ['test/seeds.ts'],
    sequence: { seed: 0x11c014e5 },
    reporters: ['default', new EvidenceReporter({ file: 'test-results/tests.jsonl', root })],
    projects: [
      nodeProject(
        'core',
        [
          'test/core/**/*.test.ts',
          'test/contract/**/*.test.ts',
          'test/scenario/**/*.test.ts',
          'test/fuzz/**/*.test.ts',
          'test/tidy.test.ts',
        ],
        60,
      ),
      nodeProject('relay', ['test/relay/**/*.test.ts'], 120),
      nodeProject('sim', ['test/sim/**/*.test.ts'], 600),
      {
        extends: true,
        // Found while a test runs they would be prepared then, and the page loaded anew.
        optimizeDeps: { include: ['preact', 'preact/hooks', 'preact/jsx-runtime', '@preact/signals', 'idb'] },
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.{ts,tsx}'],
          testTimeout: 120_000,
          sequence: { groupOrder: 1 },
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: { ...(executablePath ? { executablePath } : {}), args: chromiumFlags() },
            }),
            instances: [{ browser: 'chromium', name: 'chromium' }],
          },
        },
      },
      {
        // The built app in real browsers on two cores: one file at a time, or each measures the others.
        extends: true,
        test: {
          name: 'chromium-app',
          include: ['test/app/**/*.test.ts'],
          environment: 'node',
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
