/**
 * The content security policy of the app (formats.md 11): everything from its own origin, sockets to any `wss:` relay
 * and to loopback ones, scripts only through the one trusted-types policy `holdfast`.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "font-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "connect-src 'self' wss: ws://127.0.0.1:* ws://localhost:*",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types holdfast',
].join('; ');

/**
 * Headers of the document, of sw.js and of every worker script (workers inherit nothing). The one place of this text:
 * the server sends it and the build puts it into the precache revisions, so that a change reaches installed clients.
 * @type {Readonly<Record<string, string>>}
 */
export const appHeaders = Object.freeze({
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
});
