import { dirname, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { limits } from '../core/limits';
import { type NetworkProfile, profileOf, withRateLimit } from '../core/wire/profile';
import { type Address, addressOf, isLoopback, Proxies } from './address';

/** What is wrong with a configuration. */
export type ConfigErrorKind = 'syntax' | 'unknown-key' | 'missing' | 'invalid';

/** A configuration the relay does not start with; `key` names the place, empty for the whole file. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(
    readonly kind: ConfigErrorKind,
    readonly key: string,
    message: string,
  ) {
    super(`${key === '' ? '' : `${key}: `}${message}`);
  }
}

/** How much the relay writes into its log. */
export type LogLevel = 'silent' | 'error' | 'info';

/** A whole configuration, every value checked (formats.md 8). */
export interface RelayConfig {
  readonly listen: Address;
  readonly publicUrl: string;
  /** File of the store. */
  readonly store: string;
  readonly storeBytesMax: number;
  /** Origins of pages that may connect; `*` admits every page. */
  readonly origins: readonly string[];
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly tls?: { readonly certificate: string; readonly key: string };
  readonly health?: Address;
  readonly log: LogLevel;
  readonly profile: NetworkProfile;
  /** File of the registered identities; only where rates are limited. */
  readonly identities?: string;
  readonly slotsRetained: number;
  readonly slotsSynced: number;
  /** Relays to dial; no other is ever dialled. */
  readonly outbound: readonly string[];
  /** The first node of its network: it counts as synced at once. */
  readonly bootstrap: boolean;
  readonly connectionsMax: number;
  readonly connectionsPerSourceMax: number;
  readonly eventsPerMinuteMax: number;
  readonly bytesPerMinuteMax: number;
  readonly outboundBytesMax: number;
  readonly handshakeMs: number;
  /** How long a source that floods stays out; 0 for never. */
  readonly banMs: number;
}

const sections = {
  relay: [
    'listen',
    'public_url',
    'store',
    'store_bytes_max',
    'origins',
    'trusted_proxies',
    'tls_cert',
    'tls_key',
    'health',
    'log',
  ],
  profile: ['name', 'retained_slots', 'sync_slots', 'rate_limit', 'identities'],
  peers: ['outbound', 'bootstrap'],
  limits: [
    'connections',
    'per_source',
    'events_per_minute',
    'bytes_per_minute',
    'outbound_buffer_bytes',
    'handshake_s',
    'ban_s',
  ],
} as const;

/** The app's own origin, admitted without a word on loopback. */
const appOrigin = 'http://127.0.0.1:4180';
const gibibyte = 2 ** 30;

/** Reads a configuration; paths in it are relative to the file. Throws `ConfigError`. */
export function parseConfig(text: string, file: string): RelayConfig {
  const root = new Section('', tomlOf(text));
  root.only(Object.keys(sections));
  const of = (name: keyof typeof sections): Section => {
    const section = root.section(name);
    section.only(sections[name]);
    return section;
  };
  const [relay, profile, peers, bounds] = [of('relay'), of('profile'), of('peers'), of('limits')];
  const listen = relay.address('listen') ?? relay.missing('listen');
  const path = (name: string, section = relay): string | undefined => {
    const value = section.text(name);
    return value === undefined || value === ':memory:' ? value : resolve(dirname(file), value);
  };
  const network = networkOf(profile);
  const identities = path('identities', profile);
  const slotsRetained = profile.count('retained_slots', 1, 24 * 366) ?? network.relaySlotsRetained;
  const tls = tlsOf(relay, path('tls_cert'), path('tls_key'));
  const health = relay.address('health');
  if (health !== undefined && !isLoopback(health.host)) relay.invalid('health', 'not a loopback address');
  return {
    listen,
    publicUrl: publicUrlOf(relay, listen, tls !== undefined),
    store: path('store') ?? relay.missing('store'),
    storeBytesMax: relay.count('store_bytes_max', 1, Number.MAX_SAFE_INTEGER) ?? 8 * gibibyte,
    origins: originsOf(relay, listen),
    trustedProxies: proxiesOf(relay),
    ...(tls === undefined ? {} : { tls }),
    ...(health === undefined ? {} : { health }),
    log: logOf(relay),
    profile: network,
    ...(network.rateLimit ? { identities: identities ?? profile.missing('identities') } : {}),
    slotsRetained,
    slotsSynced: profile.count('sync_slots', 1, slotsRetained) ?? Math.min(24, slotsRetained),
    outbound: outboundOf(peers),
    bootstrap: peers.flag('bootstrap') ?? false,
    connectionsMax: bounds.count('connections', 1, 1_000_000) ?? 1_024,
    connectionsPerSourceMax: bounds.count('per_source', 1, 1_000_000) ?? 64,
    eventsPerMinuteMax: bounds.count('events_per_minute', 1, 1_000_000) ?? limits.floodEventsMax,
    bytesPerMinuteMax:
      bounds.count('bytes_per_minute', limits.messageBytesMax, 2 ** 40) ?? limits.connectionBytesPerMinuteMax,
    outboundBytesMax:
      bounds.count('outbound_buffer_bytes', limits.messageBytesMax, gibibyte) ??
      limits.outboundBufferBytesMax,
    banMs: (bounds.count('ban_s', 0, 86_400) ?? limits.banMs / 1_000) * 1_000,
    handshakeMs: (bounds.count('handshake_s', 1, 60) ?? limits.handshakeMs / 1_000) * 1_000,
  };
}

function networkOf(profile: Section): NetworkProfile {
  const network = profileOf(profile.text('name') ?? 'holdfast');
  // A limited network is no name of its own in a configuration.
  if (network === undefined || network.rateLimit) return profile.invalid('name', 'no such profile');
  const limited = profile.flag('rate_limit') ?? false;
  return withRateLimit(network, limited) ?? profile.invalid('rate_limit', 'no limiter for this profile');
}

function tomlOf(text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof TomlError) throw new ConfigError('syntax', '', error.message);
    throw error;
  }
}

function tlsOf(relay: Section, certificate: string | undefined, key: string | undefined): RelayConfig['tls'] {
  if (certificate === undefined && key === undefined) return undefined;
  return {
    certificate: certificate ?? relay.missing('tls_cert'),
    key: key ?? relay.missing('tls_key'),
  };
}

function publicUrlOf(relay: Section, listen: Address, secure: boolean): string {
  const text = relay.text('public_url') ?? `${secure ? 'wss' : 'ws'}://${listen.host}:${listen.port}/`;
  return socketUrlOf(relay, 'public_url', text).href;
}

/** Each relay once: a second spelling of an address would only be dialled to be given up. */
function outboundOf(peers: Section): readonly string[] {
  const addresses = (peers.texts('outbound') ?? []).map((text) => {
    const url = socketUrlOf(peers, 'outbound', text);
    const bare = url.username === '' && url.password === '' && url.hash === '';
    return bare ? url.href : peers.invalid('outbound', 'an address with credentials or a fragment');
  });
  if (addresses.length > limits.outboundRelaysMax) peers.invalid('outbound', 'too many');
  if (new Set(addresses).size < addresses.length) peers.invalid('outbound', 'an address stands there twice');
  return addresses;
}

function socketUrlOf(section: Section, key: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : section.invalid(key, 'not a URL');
  if (url.protocol !== 'ws:' && url.protocol !== 'wss:') section.invalid(key, 'not a ws or wss URL');
  if (url.href.length > limits.urlBytesMax) section.invalid(key, 'too long');
  return url;
}

/** A relay that the world can reach has to be told which pages may use it. */
function originsOf(relay: Section, listen: Address): readonly string[] {
  const given = relay.texts('origins');
  if (given === undefined) return isLoopback(listen.host) ? [appOrigin] : relay.missing('origins');
  for (const origin of given) {
    const good = origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin);
    if (!good) relay.invalid('origins', `${origin} is not an origin`);
  }
  return given;
}

function proxiesOf(relay: Section): readonly string[] {
  const given = relay.texts('trusted_proxies') ?? [];
  try {
    return new Proxies(given).entries;
  } catch (error) {
    if (error instanceof TypeError) relay.invalid('trusted_proxies', error.message);
    throw error;
  }
}

function logOf(relay: Section): LogLevel {
  const level = relay.text('log') ?? 'info';
  return level === 'silent' || level === 'error' || level === 'info'
    ? level
    : relay.invalid('log', 'not silent, error or info');
}

/** One table of the file, with the path that errors name. */
class Section {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(
    private readonly name: string,
    value: unknown,
  ) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ConfigError('invalid', name, 'not a table');
    }
    this.#values = value as Readonly<Record<string, unknown>>;
  }

  only(known: readonly string[]): void {
    for (const key of Object.keys(this.#values)) {
      if (!known.includes(key)) throw new ConfigError('unknown-key', this.#path(key), 'unknown key');
    }
  }

  section(key: string): Section {
    return new Section(this.#path(key), this.#values[key] ?? {});
  }

  text(key: string): string | undefined {
    const value = this.#values[key];
    if (value === undefined) return undefined;
    return typeof value === 'string' && value !== '' ? value : this.invalid(key, 'not a text');
  }

  texts(key: string): readonly string[] | undefined {
    const value = this.#values[key];
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return this.invalid(key, 'not a list');
    return value.map((one) => (typeof one === 'string' ? one : this.invalid(key, 'not a list of texts')));
  }

  flag(key: string): boolean | undefined {
    const value = this.#values[key];
    if (value === undefined || typeof value === 'boolean') return value;
    return this.invalid(key, 'not true or false');
  }

  count(key: string, min: number, max: number): number | undefined {
    const value = this.#values[key];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max)
      return value;
    return this.invalid(key, `not a whole number from ${min} to ${max}`);
  }

  address(key: string): Address | undefined {
    const text = this.text(key);
    if (text === undefined) return undefined;
    return addressOf(text) ?? this.invalid(key, 'not HOST:PORT');
  }

  missing(key: string): never {
    throw new ConfigError('missing', this.#path(key), 'missing');
  }

  invalid(key: string, message: string): never {
    throw new ConfigError('invalid', this.#path(key), message);
  }

  #path(key: string): string {
    return this.name === '' ? key : `${this.name}.${key}`;
  }
}
