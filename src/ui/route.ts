import { type ReadonlySignal, signal } from '@preact/signals';
import type { ConversationId } from '../core/ids';

/** A place in Holdfast. */
export type Route =
  | { readonly at: 'list' | 'network' | 'settings' | 'join' }
  | { readonly at: 'conversation'; readonly conversation: ConversationId }
  | { readonly at: 'message'; readonly conversation: ConversationId; readonly seq: number };

/** The route a fragment names; the list for anything that is not one. */
export function parseRoute(hash: string): Route {
  const [place, conversation, part, seq] = hash.replace(/^#?\/?/, '').split('/');
  if (place === 'net') return { at: 'network' };
  if (place === 'set') return { at: 'settings' };
  if (place === 'new') return { at: 'join' };
  if (place !== 'c' || !conversation || !/^[0-9a-f]+$/.test(conversation)) return { at: 'list' };
  if (part === 'm' && seq && /^\d{1,15}$/.test(seq)) return { at: 'message', conversation, seq: Number(seq) };
  return { at: 'conversation', conversation };
}

/** The fragment of a route. */
export function formatRoute(route: Route): string {
  switch (route.at) {
    case 'list':
      return '#/';
    case 'network':
      return '#/net';
    case 'settings':
      return '#/set';
    case 'join':
      return '#/new';
    case 'conversation':
      return `#/c/${route.conversation}`;
    case 'message':
      return `#/c/${route.conversation}/m/${route.seq}`;
  }
}

/** Every route from the list down to `route`: what Back walks up. */
export function pathTo(route: Route): readonly Route[] {
  const list: Route = { at: 'list' };
  if (route.at === 'list') return [list];
  if (route.at !== 'message') return [list, route];
  return [list, { at: 'conversation', conversation: route.conversation }, route];
}

/** Moves between places, with one history entry a screen, so that Back goes up one screen. */
export interface Router {
  readonly route: ReadonlySignal<Route>;
  /** The place under a sheet: the last one that is not the join sheet. */
  readonly base: ReadonlySignal<Route>;
  go(route: Route): void;
  up(): void;
  stop(): void;
}

/** A router over `view`'s history. An address opened deep gets the screens above it as earlier entries. */
export function makeRouter(view: Window): Router {
  const route = signal<Route>(parseRoute(view.location.hash));
  const base = signal<Route>(route.value.at === 'join' ? { at: 'list' } : route.value);
  let afterPop: Route | undefined;
  const depth = (): number => {
    const state: unknown = view.history.state;
    const kept = typeof state === 'object' && state !== null && 'depth' in state ? state.depth : undefined;
    return typeof kept === 'number' ? kept : -1;
  };
  const show = (next: Route) => {
    if (next.at !== 'join') base.value = next;
    route.value = next;
  };
  const write = (next: Route, level: number, push: boolean) => {
    view.history[push ? 'pushState' : 'replaceState']({ depth: level }, '', formatRoute(next));
  };
  const seed = (next: Route) => {
    for (const [level, step] of pathTo(next).entries()) write(step, level, level > 0);
  };
  if (depth() < 0) seed(route.value);
  const popped = () => {
    const next = afterPop ?? parseRoute(view.location.hash);
    if (afterPop) write(afterPop, Math.max(depth(), 0), false);
    else if (depth() < 0) write(next, pathTo(next).length - 1, false);
    afterPop = undefined;
    show(next);
  };
  view.addEventListener('popstate', popped);
  return {
    route,
    base,
    go(next) {
      const from = depth();
      const path = pathTo(next);
      const to = next.at === 'join' ? Math.max(from, 0) + 1 : path.length - 1;
      if (formatRoute(next) === view.location.hash) return;
      if (to < from) {
        afterPop = next;
        view.history.go(to - from);
        return;
      }
      // A jump over a level leaves the level between as an entry, so that Back still goes up one.
      if (to === from + 2) for (const step of path.slice(1, -1)) write(step, from + 1, true);
      write(next, to, to > from);
      show(next);
    },
    up() {
      if (depth() > 0) view.history.back();
      else {
        write({ at: 'list' }, 0, false);
        show({ at: 'list' });
      }
    },
    stop: () => view.removeEventListener('popstate', popped),
  };
}
