// Draws the PNG icons from their SVG sources: node test/browser/gallery/icons.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { chromiumFlags, findChromium } from '../../chromium.mjs';

const folder = fileURLToPath(new URL('../../../public/icons/', import.meta.url));
const wanted = [
  { name: 'icon-192.png', source: 'icon.svg', size: 192 },
  { name: 'icon-512.png', source: 'icon.svg', size: 512 },
  { name: 'maskable-512.png', source: 'icon-maskable.svg', size: 512 },
  { name: 'apple-touch-icon.png', source: 'icon-maskable.svg', size: 180 },
];
const executablePath = findChromium();
const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: chromiumFlags() });
for (const { name, source, size } of wanted) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const picture = readFileSync(`${folder}${source}`).toString('base64');
  await page.setContent(
    `<style>body{margin:0}img{display:block;width:100vw;height:100vh}</style><img src="data:image/svg+xml;base64,${picture}">`,
  );
  writeFileSync(`${folder}${name}`, await page.screenshot({ omitBackground: true }));
  await page.close();
}
await browser.close();
