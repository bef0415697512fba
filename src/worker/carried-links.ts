import type { Bytes } from '../core/ids';
import type { LinkEvent, Links } from '../engine/ports';
import type { SocketLinks } from '../net/browser/socket-links';
import type { Tab, Tabs } from './tabs';

interface Open {
  readonly link: number;
  readonly carrier: Tab | 'engine';
}

/**
 * The engine's links, carried by one tab at a time. When the carrier goes, what it carried is closed and opened again
 * through the next; when no tab can carry, the engine's own realm opens the sockets.
 */
export class CarriedLinks implements Links {
  readonly #open = new Map<string, Open>();
  #carrier: Tab | 'engine' = 'engine';
  #listener: (event: LinkEvent) => void = () => undefined;

  constructor(
    private readonly tabs: Tabs,
    private readonly own: SocketLinks,
    private readonly term: () => number,
    private readonly moved: () => void,
  ) {
    own.listen((event) => this.#deliver('engine', event));
  }

  /** Who carries now. */
  get carrier(): Tab | 'engine' {
    return this.#carrier;
  }

  listen(listener: (event: LinkEvent) => void): void {
    this.#listener = listener;
  }

  open(relay: string, link: number): void {
    this.#choose();
    const carrier = this.#carrier;
    this.#open.set(relay, { link, carrier });
    if (carrier === 'engine') this.own.open(relay, link);
    else carrier.port.postMessage({ type: 'open', relay, link, term: this.term() });
  }

  send(relay: string, link: number, sequence: number, bytes: Bytes): void {
    const open = this.#open.get(relay);
    if (open?.link !== link) return;
    if (open.carrier === 'engine') return this.own.send(relay, link, sequence, bytes);
    open.carrier.port.postMessage({ type: 'send', relay, link, term: this.term(), sequence, bytes });
  }

  close(relay: string, link: number, code: number, reason: string): void {
    const open = this.#open.get(relay);
    if (open?.link !== link) return;
    this.#open.delete(relay);
    if (open.carrier === 'engine') return this.own.close(relay, link, code, reason);
    open.carrier.port.postMessage({ type: 'close', relay, link, term: this.term(), code, reason });
  }

  /** An event of the tab that carries, or carried. Older link numbers are the engine's to judge. */
  onTabEvent(tab: Tab, event: LinkEvent): void {
    this.#deliver(tab, event);
  }

  /** Tabs have changed: a carrier that is gone, or no longer able, is replaced. */
  review(): void {
    const before = this.#carrier;
    this.#choose();
    if (this.#carrier === before) return;
    for (const [relay, { link, carrier }] of [...this.#open]) {
      if (carrier === this.#carrier) continue;
      this.#open.delete(relay);
      if (carrier === 'engine') this.own.close(relay, link, 1_000, '');
      this.#listener({ type: 'closed', relay, link, code: 1_006 });
    }
    if (before !== 'engine') before.port.postMessage({ type: 'release' });
    this.moved();
  }

  /** A carrier stays while it is able and nobody better is: moving costs every link. A hidden one yields to a visible. */
  #choose(): void {
    const able = this.tabs.able();
    const current = this.#carrier;
    const stays = current !== 'engine' && able.includes(current);
    const better = able[0];
    if (stays && (current.visible || better?.visible !== true)) return;
    this.#carrier = better ?? 'engine';
  }

  #deliver(from: Tab | 'engine', event: LinkEvent): void {
    const open = this.#open.get(event.relay);
    const current = open?.link === event.link && open.carrier === from;
    if (event.type === 'closed') {
      if (!current) return;
      this.#open.delete(event.relay);
    }
    this.#listener(event);
  }
}
