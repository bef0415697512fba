import { limits } from '../core/limits';

/** Hosts of this machine: the only ones a page may reach without encryption (formats.md 11). */
const loopbackHosts = new Set(['127.0.0.1', 'localhost']);

/**
 * The address of a relay as it is kept: `wss:` anywhere, `ws:` on this machine only; no credentials, query or
 * fragment; the scheme may be left out. `undefined` for anything else.
 */
export function relayAddress(typed: string): string | undefined {
  const text = typed.trim();
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `wss://${text}`;
  let url: URL;
  try {
    url = new URL(full);
  } catch {
    return undefined;
  }
  const secure = url.protocol === 'wss:';
  const local = url.protocol === 'ws:' && loopbackHosts.has(url.hostname);
  if (!secure && !local) return undefined;
  if (
    url.hostname === '' ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    return undefined;
  }
  return url.href.length > limits.urlBytesMax ? undefined : url.href;
}
