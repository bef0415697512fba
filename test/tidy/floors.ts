import { type Edge, type Tree, walk } from './tree';

/** A room: its floor, and whether rooms of the same floor may be imported from it. */
interface Room {
  folder: string;
  floor: number;
}

/**
 * The floors of the house, deepest folder first where one lies in another. Files directly in src/core are the ground;
 * src/store/group is what every store shares: group commit over an overlay.
 */
const rooms: readonly Room[] = [
  ...['wire', 'crypto'].map((name) => ({ folder: `src/core/${name}`, floor: 0.5 })),
  ...['graph', 'outbox', 'inbox', 'rate', 'rendezvous', 'session', 'history', 'link'].map((name) => ({
    folder: `src/core/${name}`,
    floor: 1,
  })),
  { folder: 'src/core/transactions', floor: 2 },
  { folder: 'src/core', floor: 0 },
  { folder: 'src/headers.mjs', floor: 0 },
  { folder: 'src/engine/ports.ts', floor: 2.2 },
  { folder: 'src/engine', floor: 3 },
  { folder: 'src/store/group', floor: 2.5 },
  ...['memory', 'idb', 'doors', 'sqlite'].map((name) => ({ folder: `src/store/${name}`, floor: 3 })),
  ...['browser', 'node'].map((name) => ({ folder: `src/net/${name}`, floor: 3 })),
  { folder: 'src/worker', floor: 4 },
  { folder: 'src/relay', floor: 4 },
  // Both workers' code in one script.
  { folder: 'sw/workers.ts', floor: 4.5 },
  { folder: 'sw', floor: 4 },
  { folder: 'src/ui', floor: 5 },
  { folder: 'src/page', floor: 6 },
  { folder: 'test', floor: 8 },
];

/** Node programs of the top level of src (set-up, serving): outside the house, they import only one another. */
const tool = /^src\/[a-z-]+\.mjs$/;

function roomOf(path: string): Room | undefined {
  const room = rooms.find(({ folder }) => path === folder || path.startsWith(`${folder}/`));
  if (room?.folder === 'src/core' && path.split('/').length > 3) return undefined;
  return room ?? (tool.test(path) ? { folder: 'src/*.mjs', floor: 7 } : undefined);
}

/** Imports that go up, sideways into another room, or stand in a folder that has no floor. */
export function floorBreaches(tree: Tree): string[] {
  return [...tree.sources.values()].flatMap(({ path, edges }) => {
    const room = roomOf(path);
    const housed = path.startsWith('src/') || path.startsWith('sw/');
    if (!room) return housed ? [`${path}: stands on no floor`] : [];
    return edges.flatMap((edge) => {
      const below = edge.to === undefined || edge.asFile ? undefined : roomOf(edge.to);
      const fault = below && faultOf(room, below, edge);
      return fault ? [`${path} -> ${edge.to}: ${fault}`] : [];
    });
  });
}

function faultOf(room: Room, below: Room, edge: Edge): string | undefined {
  if (below.folder === room.folder) return undefined;
  const port = below.folder === 'src/engine/ports.ts';
  if (port && /^src\/(store|net)\//.test(room.folder)) {
    return edge.typeOnly ? undefined : 'an adapter takes only types from the ports';
  }
  if (below.floor > room.floor) return `floor ${room.floor} imports floor ${below.floor}`;
  const ground = room.floor === 0.5;
  return below.floor === room.floor && !ground ? 'rooms of one floor never import each other' : undefined;
}

/** Groups of files that import each other in a circle, by value or by type. */
export function cycles(tree: Tree): string[] {
  const found: string[] = [];
  const state = new Map<string, 'open' | 'done'>();
  const trail: string[] = [];
  const enter = (path: string): void => {
    state.set(path, 'open');
    trail.push(path);
    for (const edge of tree.sources.get(path)?.edges ?? []) {
      if (edge.to === undefined || edge.asFile || edge.to === path || !tree.sources.has(edge.to)) continue;
      if (state.get(edge.to) === 'open')
        found.push([...trail.slice(trail.indexOf(edge.to)), edge.to].join(' -> '));
      else if (!state.has(edge.to)) enter(edge.to);
    }
    trail.pop();
    state.set(path, 'done');
  };
  for (const path of tree.sources.keys()) if (!state.has(path)) enter(path);
  return found;
}

const database = 'src/store/idb/';

/** Where the database is opened or reached from anywhere but the service worker (and tests). */
export function databaseBreaches(tree: Tree): string[] {
  return [...tree.sources.values()].flatMap(({ path, edges, program, strings }) => {
    if (path.startsWith(database) || path.startsWith('test/')) return [];
    const reached = edges.filter((edge) => edge.to?.startsWith(database) && !path.startsWith('sw/'));
    const library = edges.filter((edge) => edge.request === 'idb');
    let global = false;
    walk(program, (node) => {
      if (node.type === 'Identifier' && node['name'] === 'indexedDB') global = true;
    });
    const spelt = strings.some(({ value }) => value === 'indexedDB');
    return [
      ...reached.map((edge) => `${path}: imports ${edge.to}, which only the service worker may`),
      ...library.map(() => `${path}: imports idb outside ${database}`),
      ...(global || spelt ? [`${path}: reaches for indexedDB outside ${database}`] : []),
    ];
  });
}
