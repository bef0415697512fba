import { lazily } from '../lazily';

/** One file for all of them: they share most of what they need, and are fetched together. */
const late = () => import('./late');

/** The parts that come after the first paint. */
export const details = lazily(() => late().then(({ Details }) => Details));
export const join = lazily(() => late().then(({ Join }) => Join));
export const network = lazily(() => late().then(({ Network }) => Network));
export const settings = lazily(() => late().then(({ Settings }) => Settings));

/** Brings them all, so that opening one waits for nothing. */
export function fetchLater(): void {
  for (const part of [details, join, network, settings]) part.fetch();
}
