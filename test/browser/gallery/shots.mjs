// Takes pictures of every state of the gallery: node test/browser/gallery/shots.mjs OUT [state,state+key] [language]
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { createServer } from 'vite';
import { chromiumFlags, findChromium } from '../../chromium.mjs';

const [out = 'test-results/shots', wanted = '', language = 'en'] = process.argv.slice(2);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
    <title>Every state of the screen</title>
  </head>
  <body>
    <div id="app"></div>
    <script type="module" src="${'/test/browser/gallery/gallery.ts'}"></script>
  </body>
</html>`;
const server = await createServer({
  root,
  configFile: false,
  logLevel: 'warn',
  server: { port: 0, host: '127.0.0.1', hmr: false },
  cacheDir: `${root}/node_modules/.cache/gallery`,
  appType: 'custom',
  plugins: [
    {
      name: 'gallery',
      configureServer: (made) => () => {
        made.middlewares.use((_request, response) => {
          response.setHeader('content-type', 'text/html').end(page);
        });
      },
    },
  ],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
});
await server.listen();
const address = `${server.resolvedUrls?.local[0]}gallery`;
const executablePath = findChromium();
const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: chromiumFlags() });
mkdirSync(out, { recursive: true });
const sizes = [
  { name: 'phone', viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
  { name: 'desk', viewport: { width: 1440, height: 900 } },
];
const listing = await browser.newPage();
await listing.goto(address);
const all = (await listing.getAttribute('body', 'data-states'))?.split(',') ?? [];
const states = wanted === '' ? all : wanted.split(',');
for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  for (const { name, ...size } of sizes) {
    const context = await browser.newContext({
      ...size,
      colorScheme,
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
    });
    const tab = await context.newPage();
    tab.on('pageerror', (error) => console.error(error));
    for (const state of states) {
      const [wantedState, press = ''] = state.split('+');
      const url = `${address}?state=${wantedState}&language=${language}&press=${press}`;
      // What is loaded late is there, and nothing moves any more.
      await tab.goto(url, { waitUntil: 'networkidle' });
      await tab.waitForFunction(() =>
        document.getAnimations().every(({ playState }) => playState !== 'running'),
      );
      await tab.screenshot({ path: `${out}/${state}-${name}-${colorScheme}.png` });
    }
    await context.close();
  }
}
await browser.close();
await server.close();
