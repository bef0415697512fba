import { BlockList, isIP } from 'node:net';

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
  const plain = plainAddress(host) ?? host;
  return plain === 'localhost' || plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
}

/** True when a Host header names this machine: what a page of another site, let in by its own name, cannot send. */
export function namesLoopback(header: string | undefined): boolean {
  if (header === undefined) return false;
  const address = addressOf(header) ?? addressOf(`${header}:0`);
  return address !== undefined && isLoopback(address.host);
}

/**
 * One spelling of an IP address: without a zone, IPv6 shortened, and IPv4 as such also where it came mapped into IPv6,
 * as a socket for both has it. `undefined` for what is no address.
 */
export function plainAddress(text: string): string | undefined {
  const [bare = ''] = text.split('%');
  const family = isIP(bare);
  if (family !== 6) return family === 4 ? bare : undefined;
  const short = new URL(`http://[${bare}]/`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(short) ?? [];
  if (high === undefined || low === undefined) return short;
  const [left, right] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [left >> 8, left & 255, right >> 8, right & 255].join('.');
}

/** Groups of an IPv6 address that one customer is given as a whole: 64 bits, whatever follows. */
const ownGroups = 4;

/**
 * Who an address is counted as: an IPv4 address by itself, an IPv6 address by its first 64 bits, since one customer has
 * all that follow. What is no address is one source of its own.
 */
export function sourceOf(address: string): string {
  const plain = plainAddress(address);
  if (plain === undefined) return 'none';
  if (isIP(plain) === 4) return plain;
  const [head = '', tail] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - groups.length - after.length;
  const all = [...groups, ...Array<string>(zeros).fill('0'), ...after];
  return `${all.slice(0, ownGroups).join(':')}::/64`;
}

/** Proxies whose word on where a connection comes from is taken. */
export class Proxies {
  readonly #list = new BlockList();

  /** `entries` are addresses, or networks as `10.0.0.0/8`. Throws a `TypeError` for anything else. */
  constructor(readonly entries: readonly string[]) {
    for (const entry of entries) {
      const [text = '', bits] = entry.split('/');
      const address = plainAddress(text);
      const most = address !== undefined && isIP(address) === 4 ? 32 : 128;
      const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : most + 1;
      if (address === undefined || prefix > most) throw new TypeError(`${entry} is no address or network`);
      this.#list.addSubnet(address, prefix, familyOf(address));
    }
  }

  has(address: string): boolean {
    const plain = plainAddress(address);
    return plain !== undefined && this.#list.check(plain, familyOf(plain));
  }

  /**
   * Where a connection comes from: the last hop that a proxy of ours vouches for, else the socket's own address. What
   * stands before that hop anybody can write.
   */
  addressOf(direct: string, forwarded: string | readonly string[] | undefined): string {
    if (!this.has(direct)) return direct;
    const hops = String(forwarded ?? '')
      .split(',')
      .map((hop) => hopAddress(hop.trim()));
    const hop = hops.findLast((one) => one === undefined || !this.has(one));
    return hop ?? direct;
  }
}

/** The address of a hop, which some proxies write with its port; `undefined` when there is none. */
function hopAddress(hop: string): string | undefined {
  const [, v6, v4] = /^(?:\[([^\]]*)\](?::\d+)?|([0-9.]+):\d+)$/.exec(hop) ?? [];
  return plainAddress(v6 ?? v4 ?? hop);
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
