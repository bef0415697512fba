import { at, type Node, type Source, type Tree, walk } from './tree';

/** Longest function and longest file of the product, lines. */
export const linesMax = { function: 60, file: 400 };

const product = (source: Source) => /^(src|sw)\//.test(source.path);
const inCore = (source: Source) => source.path.startsWith('src/core/');

function breaches(
  tree: Tree,
  where: (source: Source) => boolean,
  fault: (node: Node, parent: Node | undefined, key: string | undefined) => string | undefined,
): string[] {
  return [...tree.sources.values()].filter(where).flatMap((source) => {
    const found: string[] = [];
    walk(source.program, (node, parent, key) => {
      const text = fault(node, parent, key);
      if (text) found.push(`${at(source, node.start)}: ${text}`);
    });
    return found;
  });
}

/** True when an identifier only names a property, a key or an imported name, and so reaches for no global. */
function isName(parent: Node | undefined, key: string | undefined): boolean {
  if (parent?.type === 'ImportSpecifier') return key === 'imported';
  const keyed = key === 'key' || (key === 'property' && parent?.type === 'MemberExpression');
  return keyed && parent?.['computed'] !== true && parent?.['shorthand'] !== true;
}

/** Names of the platform that are no words of ours; the others (`window`, `process`) the core's own types refuse. */
const impure = new Set(
  `Promise Date performance setTimeout setInterval setImmediate queueMicrotask requestAnimationFrame crypto console
   fetch globalThis document Buffer navigator localStorage WebSocket Worker Atomics
   SharedArrayBuffer`.split(/\s+/),
);

/** In core: promises, clocks, randomness, the platform; and there as everywhere `any` and a non-null `!`. */
export function impurities(tree: Tree): string[] {
  const core = breaches(tree, inCore, (node, parent, key) => {
    if (node.type === 'AwaitExpression' || node['await'] === true) return 'await in core';
    if (node['async'] === true) return 'async in core';
    if (node.type === 'Identifier' && impure.has(String(node['name'])) && !isName(parent, key)) {
      return `${node['name']} in core`;
    }
    return isMathRandom(node) ? 'Math.random in core' : undefined;
  });
  return [...core, ...breaches(tree, product, looseType)];
}

function isMathRandom(node: Node): boolean {
  const object = node['object'] as Node | undefined;
  const property = node['property'] as Node | undefined;
  const name = property?.['name'] ?? property?.['value'];
  return node.type === 'MemberExpression' && object?.['name'] === 'Math' && name === 'random';
}

function looseType(node: Node): string | undefined {
  if (node.type === 'TSAnyKeyword') return 'any';
  return node.type === 'TSNonNullExpression' ? 'non-null !' : undefined;
}

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

/** Functions and files of the product over their length. */
export function tooLong(tree: Tree): string[] {
  const files = [...tree.sources.values()].filter(product).flatMap(({ path, text }) => {
    const lines = text.replace(/\n$/, '').split('\n').length;
    return lines > linesMax.file ? [`${path}: ${lines} lines, more than ${linesMax.file}`] : [];
  });
  const functions = [...tree.sources.values()].filter(product).flatMap((source) => {
    const found: string[] = [];
    walk(source.program, (node) => {
      if (!functionTypes.has(node.type)) return;
      const lines = source.text.slice(node.start, node.end).split('\n').length;
      if (lines > linesMax.function) found.push(`${at(source, node.start)}: function of ${lines} lines`);
    });
    return found;
  });
  return [...files, ...functions];
}

const markup = new Set(['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'dangerouslySetInnerHTML', 'srcdoc']);

/** Ways around the content security policy (formats.md 11): markup from text, code from text, inline styles. */
export function unsafe(tree: Tree): string[] {
  const code = breaches(tree, product, (node) => {
    const name = String(node['name']);
    const spelt = String(node['value']);
    if (/^(Identifier|JSXIdentifier)$/.test(node.type) && markup.has(name)) return name;
    if (node.type === 'Literal' && markup.has(spelt)) return spelt;
    if (node.type === 'JSXAttribute' && (node['name'] as Node)['name'] === 'style') return 'inline style';
    return codeFromText(node) ?? styleAttribute(node);
  });
  const pages = [...tree.texts].filter(([path]) => path.endsWith('.html') && !path.startsWith('test/'));
  return [
    ...code,
    ...pages.flatMap(([path, text]) => [
      ...(/\sstyle\s*=|<style[\s>]/i.test(text) ? [`${path}: inline style`] : []),
      ...(/<script(?![^>]*\ssrc=)[^>]*>/i.test(text) ? [`${path}: inline script`] : []),
      ...(/\son[a-z]+\s*=/i.test(text) ? [`${path}: inline event handler`] : []),
    ]),
  ];
}

function codeFromText(node: Node): string | undefined {
  const callee = node['callee'] as Node | undefined;
  if (node.type === 'CallExpression' && callee?.['name'] === 'eval') return 'eval';
  if (/^(New|Call)Expression$/.test(node.type) && callee?.['name'] === 'Function') return 'code from text';
  const property = callee?.['property'] as Node | undefined;
  const object = callee?.['object'] as Node | undefined;
  return object?.['name'] === 'document' && property?.['name'] === 'write' ? 'document.write' : undefined;
}

function styleAttribute(node: Node): string | undefined {
  const property = (node['callee'] as Node | undefined)?.['property'] as Node | undefined;
  const first = (node['arguments'] as Node[] | undefined)?.[0];
  return property?.['name'] === 'setAttribute' && first?.['value'] === 'style' ? 'inline style' : undefined;
}

const unfinished = /\b(TODO|FIXME|XXX|HACK|WIP)\b/;
const promised = /\b(not implemented|for now|stub(bed)?)\b/i;

/** Marks of unfinished work in comments and texts, and tests that are switched off. */
export function leftovers(tree: Tree): string[] {
  const comments = [...tree.sources.values()].flatMap((source) => {
    const spoken = product(source) ? [...source.comments, ...source.strings] : source.comments;
    return spoken
      .filter(({ value }) => unfinished.test(value) || (product(source) && promised.test(value)))
      .map(({ value, start }) => `${at(source, start)}: unfinished: ${value.trim().slice(0, 60)}`);
  });
  const isTest = (source: Source) => source.path.startsWith('test/');
  return [...comments, ...breaches(tree, isTest, switchedOff)];
}

const off = new Set(['skip', 'only', 'todo', 'fails', 'skipIf', 'runIf']);

function switchedOff(node: Node): string | undefined {
  const object = node['object'] as Node | undefined;
  const property = node['property'] as Node | undefined;
  if (node.type !== 'MemberExpression' || !/^(it|test|describe)$/.test(String(object?.['name'])))
    return undefined;
  return off.has(String(property?.['name']))
    ? `a test that does not always run: ${property?.['name']}`
    : undefined;
}

const sayNothing = /(^|[-_.])(utils?|helpers?|managers?|common|misc|stuff)([-_.]|$)/i;

/** Files and folders whose name says nothing about what is in them. */
export function emptyNames(tree: Tree): string[] {
  return [...tree.texts.keys()]
    .filter((path) => path.split('/').some((part) => sayNothing.test(part)))
    .map((path) => `${path}: a name that says nothing`);
}
