import { type ParseResult, parseSync } from 'rolldown/utils';

/** A node of a parsed source; only what the rules look at. */
export interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

/** One edge from a source to another file of the tree. */
export interface Edge {
  /** What stands in the source. */
  request: string;
  /** The file it means; undefined for a package, or when there is no such file. */
  to: string | undefined;
  /** Names taken; `*` for all of them. */
  names: string[];
  typeOnly: boolean;
  /** A file that is run or fetched (worker, entry), not imported: it says nothing about floors. */
  asFile: boolean;
}

/** A name a file offers. `from` is set when it only hands on what another file offers. */
export interface Offer {
  name: string;
  type: boolean;
  from?: { to: string | undefined; name: string };
}

export interface Source {
  path: string;
  text: string;
  program: Node;
  comments: readonly { value: string; start: number; end: number }[];
  edges: Edge[];
  offers: Offer[];
  /** Every string literal and template part with its place. */
  strings: { value: string; start: number }[];
}

/** All files of the tree: parsed ones by path, and the text of every file that is read but not parsed. */
export interface Tree {
  sources: Map<string, Source>;
  texts: Map<string, string>;
}

const parsed = /\.(ts|tsx|mjs)$/;

/** Parses `texts` (path from the top level -> content) into the tree the rules read. A syntax error throws. */
export function treeOf(texts: Iterable<readonly [string, string]>): Tree {
  const tree: Tree = { sources: new Map(), texts: new Map(texts) };
  for (const [path, text] of tree.texts) {
    if (!parsed.test(path)) continue;
    const result = parseSync(path, text);
    if (result.errors.length > 0) throw new Error(`${path}: ${result.errors[0]?.message}`);
    tree.sources.set(path, sourceOf(path, text, result, tree));
  }
  return tree;
}

function sourceOf(path: string, text: string, result: ParseResult, tree: Tree): Source {
  const program = result.program as unknown as Node;
  const strings = stringsOf(program);
  const edges = [...staticEdges(path, result, tree), ...innerEdges(path, program, tree)];
  const linked = new Set(edges.map((edge) => edge.request));
  for (const { value } of strings) {
    const to = linked.has(value) ? undefined : resolve(path, value, tree);
    if (to) edges.push({ request: value, to, names: [], typeOnly: false, asFile: true });
  }
  return {
    path,
    text,
    program,
    comments: result.comments,
    edges,
    offers: offersOf(path, result, tree),
    strings,
  };
}

function staticEdges(path: string, { module }: ParseResult, tree: Tree): Edge[] {
  const edges: Edge[] = module.staticImports.map(({ moduleRequest, entries }) => ({
    request: moduleRequest.value,
    to: resolve(path, moduleRequest.value, tree),
    names: entries.map(({ importName }) =>
      importName.kind === 'Name' ? (importName.name ?? '') : importName.kind === 'Default' ? 'default' : '*',
    ),
    typeOnly: entries.length > 0 && entries.every((entry) => entry.isType),
    asFile: false,
  }));
  for (const entry of module.staticExports.flatMap((one) => one.entries)) {
    if (!entry.moduleRequest) continue;
    const request = entry.moduleRequest.value;
    edges.push({
      request,
      to: resolve(path, request, tree),
      names: [],
      typeOnly: entry.isType,
      asFile: false,
    });
  }
  return edges;
}

/** `import('./x')` as a value and as a type. */
function innerEdges(path: string, program: Node, tree: Tree): Edge[] {
  const edges: Edge[] = [];
  walk(program, (node) => {
    if (node.type !== 'ImportExpression' && node.type !== 'TSImportType') return;
    const source = node['source'] as { value?: unknown } | undefined;
    if (typeof source?.value !== 'string') return;
    const to = resolve(path, source.value, tree);
    edges.push({
      request: source.value,
      to,
      names: ['*'],
      typeOnly: node.type === 'TSImportType',
      asFile: false,
    });
  });
  return edges;
}

function offersOf(path: string, { module }: ParseResult, tree: Tree): Offer[] {
  return module.staticExports
    .flatMap((one) => one.entries)
    .map((entry) => {
      const { exportName, importName, isType } = entry;
      const name =
        exportName.kind === 'Name'
          ? (exportName.name ?? '')
          : exportName.kind === 'Default'
            ? 'default'
            : '*';
      const taken = importName.kind === 'Name' ? (importName.name ?? '') : '*';
      const request = entry.moduleRequest?.value;
      const from = request === undefined ? {} : { from: { to: resolve(path, request, tree), name: taken } };
      return { name, type: isType, ...from };
    });
}

/** The file `request` means when it stands in `path`: relative, or from the top level with a leading slash. */
export function resolve(path: string, request: string, tree: Tree): string | undefined {
  const bare = request.replace(/\?.*$/, '');
  if (!/^(\.{1,2}\/|\/)/.test(bare)) return undefined;
  const base = bare.startsWith('/') ? bare.slice(1) : join(path.split('/').slice(0, -1), bare);
  const tries = [base, `${base}.ts`, `${base}.tsx`, `${base}.mjs`, `${base}/index.ts`];
  return tries.find((candidate) => tree.texts.has(candidate));
}

function join(folder: string[], relative: string): string {
  const parts = [...folder];
  for (const part of relative.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** Calls `visit` with every node below `node`, itself first, and the key it hangs on in its parent. */
export function walk(
  node: Node,
  visit: (node: Node, parent?: Node, key?: string) => void,
  parent?: Node,
  key?: string,
): void {
  visit(node, parent, key);
  for (const [name, child] of Object.entries(node)) {
    for (const one of Array.isArray(child) ? child : [child]) {
      if (isNode(one)) walk(one, visit, node, name);
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

function stringsOf(program: Node): { value: string; start: number }[] {
  const strings: { value: string; start: number }[] = [];
  walk(program, (node) => {
    if (node.type === 'Literal' && typeof node['value'] === 'string') {
      strings.push({ value: node['value'], start: node.start });
    }
    const part = node['value'] as { cooked?: unknown } | null | undefined;
    if (node.type === 'TemplateElement' && typeof part?.cooked === 'string') {
      strings.push({ value: part.cooked, start: node.start });
    }
  });
  return strings;
}

/** `path:line` of an offset, for a message. */
export function at(source: Source, offset: number): string {
  return `${source.path}:${source.text.slice(0, offset).split('\n').length}`;
}
