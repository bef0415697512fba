/** Where the fetch door stands (formats.md 2.2). */
export const fetchDoorPath = '/~store';

/** Name and value of the header that both sides of the fetch door send. */
export const doorHeader = { name: 'x-holdfast', value: '1' } as const;

/** Channel on which the store's worker says that rows have changed. */
export const lookChannelName = 'holdfast/look';

/** Web Lock that an instance of the service worker holds as long as it lives. */
export function instanceLock(id: string): string {
  return `holdfast/sw/${id}`;
}

/** Web Lock that every page and engine of a build holds (shared), so that its files stay kept. */
export function buildLock(build: string): string {
  return `holdfast/build/${build}`;
}

/** Calls that the door itself answers, without a script. */
export const doorCalls = {
  /** Says which instance answers. */
  hello: 'hello',
  /** Makes the worker take control of pages that loaded without it. */
  claim: 'claim',
} as const;

/** What a page posts to the service worker, with a port to answer on. */
export type DoorMessage =
  /** Each is answered on the port by a `LaneAnswer`, as soon as it is done; such as are done together come together. */
  | { readonly holdfast: 'calls'; readonly requests: readonly unknown[] }
  /** The port becomes a lane: requests come in, `LaneAnswer`s go out. */
  | { readonly holdfast: 'lane' };

/** The answer to one of the calls that share a port. */
export interface LaneAnswer {
  readonly call: string;
  readonly answer: unknown;
}
