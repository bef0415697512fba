import { describe, expect, test } from 'vitest';
import { emptyNames, impurities, leftovers, linesMax, tooLong, unsafe } from './tidy/bans';
import { deadExports, deadFiles } from './tidy/dead';
import { cycles, databaseBreaches, floorBreaches } from './tidy/floors';
import {
  corePackageBreaches,
  named,
  packageBreaches,
  topLevel,
  topLevelBreaches,
  unusedNamed,
} from './tidy/packages';
import { files, keptNames } from './tidy/read';
import { type Tree, treeOf } from './tidy/tree';

const tree = treeOf(files());

/** A small tree of planted files, so that each rule is seen to fail. */
const planted = (sources: Record<string, string>): Tree => treeOf(Object.entries(sources));

describe('floors', () => {
  test('imports go down only', () => {
    expect(tree.sources.size).toBeGreaterThan(10);
    expect(floorBreaches(tree)).toEqual([]);
  });

  test.each([
    ['up', { 'src/core/ids.ts': '', 'src/core/wire/a.ts': '', 'src/core/b.ts': "import './wire/a';" }],
    [
      'sideways in core',
      { 'src/core/graph/a.ts': '', 'src/core/outbox/b.ts': "import type { A } from '../graph/a';" },
    ],
    [
      'into the engine',
      { 'src/engine/run.ts': '', 'src/store/idb/a.ts': "import type { A } from '../../engine/run';" },
    ],
    [
      'a value of the ports',
      { 'src/engine/ports.ts': '', 'src/net/node/a.ts': "import { A } from '../../engine/ports';" },
    ],
    [
      'from store to net',
      { 'src/net/node/a.ts': '', 'src/store/sqlite/b.ts': "export * from '../../net/node/a';" },
    ],
    [
      'from one store to another',
      { 'src/store/idb/a.ts': '', 'src/store/memory/b.ts': "import '../idb/a';" },
    ],
    [
      'by a type expression',
      { 'src/page/a.ts': '', 'src/ui/b.ts': "export type B = import('../page/a').A;" },
    ],
    ['from the house into tests', { 'test/a.ts': '', 'src/page/b.ts': "await import('../../test/a');" }],
    ['in a room that is on no plan', { 'src/core/cellar/a.ts': '' }],
  ])('an import %s is found', (_name, sources: Record<string, string>) => {
    expect(floorBreaches(planted(sources))).toHaveLength(1);
  });

  test('imports down, types of the ports and the shared part of the stores are allowed', () => {
    const good = planted({
      'src/core/ids.ts': '',
      'src/engine/ports.ts': "import type { A } from '../core/ids';",
      'src/store/group/queue.ts': "import type { Store } from '../../engine/ports';",
      'src/store/idb/a.ts': "import { q } from '../group/queue';",
      'sw/main.ts': "import { a } from '../src/store/idb/a';",
    });
    expect(floorBreaches(good)).toEqual([]);
  });

  test('no circle of imports, by value or by type', () => {
    expect(cycles(tree)).toEqual([]);
    expect(
      cycles(
        planted({
          'src/core/a.ts': "import './b';",
          'src/core/b.ts': "import type { C } from './c';",
          'src/core/c.ts': "export { a } from './a';",
        }),
      ),
    ).toEqual(['src/core/a.ts -> src/core/b.ts -> src/core/c.ts -> src/core/a.ts']);
  });

  test('[CD-02] only the service worker opens the database', () => {
    expect(databaseBreaches(tree)).toEqual([]);
    for (const text of [
      "import { open } from '../store/idb/open';",
      "import { openDB } from 'idb';",
      "indexedDB.open('x');",
      "self['indexedDB'].open('x');",
    ]) {
      const bad = planted({ 'src/store/idb/open.ts': '', 'src/page/a.ts': text });
      expect(databaseBreaches(bad), text).toHaveLength(1);
    }
    const good = { 'src/store/idb/open.ts': "import 'idb';", 'sw/a.ts': "import '../src/store/idb/open';" };
    expect(databaseBreaches(planted(good))).toEqual([]);
  });
});

describe('bans', () => {
  test('core is pure, and nothing is any or non-null by decree', () => {
    expect(impurities(tree)).toEqual([]);
  });

  test('core takes no package but those of pure arithmetic', () => {
    expect(corePackageBreaches(tree)).toEqual([]);
  });

  test.each([
    'export async function a() {}',
    'const a = async () => 1;',
    'export function a(): Promise<void> {}',
    'const a = Date.now();',
    'const a = new Date(1);',
    'const a = Math.random();',
    "const a = Math['random']();",
    'const a = performance.now();',
    'setTimeout(a, 1);',
    'crypto.getRandomValues(a);',
    "console.log('a');",
    'const a = globalThis.x;',
    'const { now } = { Date };',
    'const a: any = 1;',
    'const a = b!;',
  ])('%s is refused in core', (text) => {
    expect(impurities(planted({ 'src/core/a.ts': text }))).not.toEqual([]);
  });

  test('a property or field of such a name is not refused, and other floors may wait', () => {
    const good = {
      'src/core/a.ts': 'export const a = { console: 1 }.console;',
      'src/engine/a.ts': 'await Promise.all([]);',
    };
    expect(impurities(planted(good))).toEqual([]);
    expect(impurities(planted({ 'src/page/a.ts': 'const a = b!;' }))).toHaveLength(1);
    expect(
      corePackageBreaches(planted({ 'src/core/a.ts': "import 'idb'; import '@noble/hashes/blake3.js';" })),
    ).toEqual(['src/core/a.ts: imports idb']);
  });

  test('functions and files stay short', () => {
    expect(tooLong(tree)).toEqual([]);
    const body = '\n'.repeat(linesMax.function);
    expect(tooLong(planted({ 'src/core/a.ts': `export const a = () => {${body}};` }))).toHaveLength(1);
    expect(tooLong(planted({ 'sw/a.ts': `export class A { m() {${body}} }` }))).toHaveLength(1);
    expect(tooLong(planted({ 'src/ui/a.tsx': 'a;\n'.repeat(linesMax.file + 1) }))).toHaveLength(1);
    expect(tooLong(planted({ 'src/ui/a.tsx': 'a;\n'.repeat(linesMax.file) }))).toEqual([]);
  });

  test('no markup or code from text, no inline styles', () => {
    expect(unsafe(tree)).toEqual([]);
  });

  test.each([
    ['src/ui/a.tsx', 'a.innerHTML = b;'],
    ['src/ui/a.tsx', "a['innerHTML'] = b;"],
    ['src/ui/a.tsx', 'const a = <p dangerouslySetInnerHTML={b} />;'],
    ['src/ui/a.tsx', 'const a = <p style="color: red" />;'],
    ['src/ui/a.tsx', 'const a = <p style={b} />;'],
    ['src/page/a.ts', "a.setAttribute('style', b);"],
    ['src/page/a.ts', "eval('1');"],
    ['src/page/a.ts', "new Function('return 1');"],
    ['src/page/a.ts', "document.write('a');"],
    ['index.html', '<p style="color: red">'],
    ['index.html', '<script>1</script>'],
    ['index.html', '<p onclick="a()">'],
  ])('%s: %s is refused', (path, text) => {
    expect(unsafe(planted({ [path]: text }))).toHaveLength(1);
  });

  test('nothing is left unfinished and no test is switched off', () => {
    expect(leftovers(tree)).toEqual([]);
    const words = ['TO', 'DO'].join('');
    expect(leftovers(planted({ 'test/a.ts': `// ${words}: later` }))).toHaveLength(1);
    expect(
      leftovers(planted({ 'src/ui/a.ts': `throw new Error('${['not', 'implemented'].join(' ')}');` })),
    ).toHaveLength(1);
    for (const mode of ['skip', 'only', 'todo', 'fails']) {
      expect(leftovers(planted({ 'test/a.test.ts': `test.${mode}('a', () => {});` })), mode).toHaveLength(1);
    }
  });

  test('no file or folder of an empty name', () => {
    expect(emptyNames(tree)).toEqual([]);
    for (const path of [
      'src/ui/utils.ts',
      'src/core/common/a.ts',
      'test/test-helpers.ts',
      'src/page/lock-manager.ts',
    ]) {
      expect(emptyNames(planted({ [path]: '' })), path).toHaveLength(1);
    }
  });
});

describe('nothing dead', () => {
  test('every file is reached', () => {
    expect(deadFiles(tree)).toEqual([]);
  });

  test('every export is imported', () => {
    expect(deadExports(tree)).toEqual([]);
  });

  test('a file nobody reaches is found, and one that is only named is reached', () => {
    const sources = {
      'index.html': '<script type="module" src="/src/page/main.tsx"></script>',
      'src/page/main.tsx':
        "import url from '../worker/main?sharedworker&url'; new URL('./late.ts', import.meta.url);",
      'src/page/late.ts': '',
      'src/worker/main.ts': '',
      'src/page/dead.ts': '',
    };
    expect(deadFiles(planted(sources))).toEqual(['src/page/dead.ts: nothing reaches this file']);
  });

  test('an export nobody imports is found, also behind a file that hands it on', () => {
    const sources = {
      'vite.config.ts': "const input = 'src/relay/main.ts';",
      'src/relay/main.ts':
        "import { a } from './hand'; import type { T } from './origin'; export const entry = 1;",
      'src/relay/hand.ts': "export { a, b } from './origin'; export * from './all';",
      'src/relay/origin.ts':
        'export const a = 1; export const b = 2; export interface T { u: U } export interface U {}',
      'src/relay/all.ts': 'export const c = 3;',
    };
    expect(deadExports(planted(sources))).toEqual([
      'src/relay/hand.ts: b is exported and never imported',
      'src/relay/origin.ts: b is exported and never imported',
      'src/relay/all.ts: c is exported and never imported',
    ]);
  });

  test('taking a module whole uses all of it', () => {
    const sources = {
      'test/a.test.ts': "import * as all from '../src/core/b'; import('../src/core/c');",
      'src/core/b.ts': "export const a = 1; export * from './d';",
      'src/core/c.ts': 'export const c = 1;',
      'src/core/d.ts': 'export const d = 1;',
    };
    expect(deadExports(planted(sources))).toEqual([]);
  });
});

describe('[CD-01] top level and packages', () => {
  test('the top level holds the names that were fixed', () => {
    expect(topLevelBreaches(keptNames())).toEqual([]);
    expect(topLevelBreaches([...topLevel.slice(1), 'lib'])).toHaveLength(2);
  });

  test('each named package is really imported and used', () => {
    expect(unusedNamed(tree)).toEqual([]);
    expect(unusedNamed(planted({ 'src/page/a.ts': "import type { A } from 'preact';" }))).toEqual(named);
    const loaded = {
      'vite.config.ts': "import 'vite'; const from = 'workbox-sw/build';",
      'sw/a.ts': "importScripts(url('/x/workbox-sw.js')); workbox.setConfig({});",
    };
    expect(unusedNamed(planted(loaded))).not.toContain('workbox-sw');
  });

  test('package.json lists what is imported, and nothing idle', () => {
    expect(packageBreaches(tree)).toEqual([]);
    const bad = {
      'package.json': '{"dependencies":{"idle":"1"}}',
      'src/page/a.ts': "import { x } from '@a/b/c';",
    };
    expect(packageBreaches(planted(bad))).toEqual([
      'src/page/a.ts: imports @a/b, which package.json does not list',
      'package.json: idle is listed and never used',
    ]);
  });
});
