import { isIP } from 'node:net';

/** Where a server listens. */
export interface Address {
  /** Name or IP address, IPv6 without brackets. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
}

/** Reads `HOST:PORT` or `[IPV6]:PORT`; `undefined` for anything else. */
export function addressOf(text: string): Address | undefined {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([A-Za-z0-9.-]+)):([0-9]{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, v6, name, digits] = match;
  const port = Number(digits);
  if (port > 65_535 || (v6 !== undefined && isIP(v6) !== 6)) return undefined;
  return { host: v6 ?? name ?? '', port };
}

/** True when only programs of this machine reach the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** True when a Host header names this machine: what a page of another site, let in by its own name, cannot send. */
export function namesLoopback(header: string | undefined): boolean {
  if (header === undefined) return false;
  const address = addressOf(header) ?? addressOf(`${header}:0`);
  return address !== undefined && isLoopback(address.host);
}
