import { reconnectMs } from '../core/backoff';
import { limits } from '../core/limits';
import { closeCodes } from '../core/link/session';
import type { Log, LogWord } from './log';
import type { DialledSocket } from './socket';
import type { Timing } from './timing';

/** A connection, whichever side dialled. */
export interface MeshPeer {
  readonly isReady: boolean;
  /** We dialled it. */
  readonly isDialled: boolean;
  /** The node at its other end; empty when that has none. */
  readonly name: string;
  close(code: number, why: LogWord): void;
  /** It is a relay this one was told to know: no member's allowance holds for it. */
  admit(): void;
  /** It was told to know this relay too, and takes whatever it is given. */
  unpace(): void;
}

/** What links between relays are made with. */
export interface DiallerHost<P extends MeshPeer> {
  /** This relay's own name. */
  readonly name: string;
  readonly timing: Timing;
  readonly log: Log;
  now(): number;
  dial(address: string): DialledSocket;
  /** A dialled connection is open. */
  opened(socket: DialledSocket, address: string): P;
  peers(): Iterable<P>;
}

/** A relay that the configuration names. */
interface Target<P> {
  readonly address: string;
  state: 'due' | 'dialling' | 'open' | 'resting' | 'given up';
  failures: number;
  socket: DialledSocket | undefined;
  peer: P | undefined;
  readyAt: number | undefined;
  /** The node that answered there last. */
  name: string;
  /** That node dialled us too, so it was told to know us. */
  isMutual: boolean;
  /** Its last link gave way to another one to the same node. */
  isReplaced: boolean;
  callOff: () => void;
}

/**
 * The links this relay dials: to the addresses of its configuration and no others, again and again for as long as it
 * runs. Two relays keep one link between them, however many they try. Of two that one of them dialled, the other closes
 * the older, as it does for every node that comes again (formats.md 3.1). Of two dialled crosswise the one stays that
 * the node of the smaller name dialled, and only who dialled the other gives it up: both know the rule, so it never
 * matters who sees what first, and nobody closes a link that the other side relies on. An address rests while its node
 * is reached otherwise.
 */
export class Dialler<P extends MeshPeer> {
  readonly #targets: readonly Target<P>[];
  #stopped = false;

  constructor(
    private readonly host: DiallerHost<P>,
    addresses: readonly string[],
  ) {
    this.#targets = addresses.map((address) => ({
      address,
      state: 'due',
      failures: 0,
      socket: undefined,
      peer: undefined,
      readyAt: undefined,
      name: '',
      isMutual: false,
      isReplaced: false,
      callOff: () => undefined,
    }));
  }

  /** How many addresses have a ready link, or rest because their node has one. */
  get reached(): number {
    return this.#targets.filter((one) => one.state === 'resting' || one.peer?.isReady === true).length;
  }

  start(): void {
    for (const target of this.#targets) this.#dial(target);
  }

  /** Dials no more, and gives up what is not open yet. Open links are their peers' to close. */
  stop(): void {
    this.#stopped = true;
    for (const target of this.#targets) {
      target.callOff();
      if (target.state === 'dialling') target.socket?.terminate();
    }
  }

  /** A connection, of whichever side, is ready: is it one too many? */
  onReady(peer: P): void {
    const target = this.#targets.find((one) => one.peer === peer);
    if (peer.name === this.host.name) {
      // The inbound half of the same link may end first, so the address is given up before either is closed.
      if (target !== undefined) target.state = 'given up';
      peer.close(closeCodes.replaced, 'self');
      return;
    }
    if (target !== undefined) this.#answered(target, peer);
    if (peer.name === '') return;
    for (const other of this.#linksTo(peer.name)) {
      if (other === peer) continue;
      if (!peer.isDialled && !other.isDialled) other.close(closeCodes.replaced, 'replaced');
    }
    for (const one of this.#targets) if (one.name === peer.name) this.#settle(one);
  }

  /** A connection is no longer among the peers. */
  onGone(peer: P): void {
    for (const target of this.#targets) {
      if (target.state !== 'resting' || target.name !== peer.name || this.#isReached(target)) continue;
      this.#wait(target, reconnectMs(0, this.host.timing.jitter()));
    }
  }

  #answered(target: Target<P>, peer: P): void {
    target.readyAt = this.host.now();
    if (target.name !== peer.name) target.isMutual = false;
    target.name = peer.name;
    peer.admit();
  }

  /** What inbound links from the node of an address mean for it. */
  #settle(target: Target<P>): void {
    const inbound = this.#linksTo(target.name).filter((one) => !one.isDialled);
    for (const one of inbound) one.admit();
    target.isMutual ||= inbound.length > 0;
    if (target.peer?.isReady !== true) return;
    if (target.isMutual) target.peer.unpace();
    if (inbound.length === 0 || this.host.name < target.name) return;
    target.isReplaced = true;
    target.peer.close(closeCodes.replaced, 'replaced');
  }

  #linksTo(name: string): P[] {
    return [...this.host.peers()].filter((one) => one.isReady && one.name === name);
  }

  /**
   * A node that dialled in proved its name; one that was dialled only claims it, so that alone makes no other address
   * rest, unless the link of that address was closed for it.
   */
  #isReached(target: Target<P>): boolean {
    if (target.name === '') return false;
    return this.#linksTo(target.name).some((one) => !one.isDialled || target.isReplaced);
  }

  #dial(target: Target<P>): void {
    if (this.#stopped) return;
    const socket = this.host.dial(target.address);
    target.state = 'dialling';
    target.socket = socket;
    target.isReplaced = false;
    target.readyAt = undefined;
    target.callOff = this.host.timing.after(limits.connectMs, () => socket.terminate());
    socket.on('error', () => undefined);
    socket.once('open', () => {
      target.callOff();
      target.state = 'open';
      target.peer = this.host.opened(socket, target.address);
    });
    socket.once('close', (code, reason) => this.#onClosed(target, code, String(reason)));
  }

  #onClosed(target: Target<P>, code: number, reason: string): void {
    target.callOff();
    target.socket = undefined;
    target.peer = undefined;
    if (this.#stopped || target.state === 'given up') return;
    target.isReplaced ||= code === closeCodes.replaced;
    const lasted = this.host.now() - (target.readyAt ?? Number.POSITIVE_INFINITY) >= limits.reconnectMaxMs;
    if (lasted) target.failures = 0;
    else if (!target.isReplaced) target.failures += 1;
    this.host.log('info', 'link ended', { failures: target.failures });
    const jitter = this.host.timing.jitter();
    this.#wait(target, Math.max(askedToWaitMs(code, reason, jitter), reconnectMs(target.failures, jitter)));
  }

  #wait(target: Target<P>, ms: number): void {
    if (this.#stopped) return;
    target.state = 'due';
    target.callOff = this.host.timing.after(ms, () => {
      if (this.#isReached(target)) target.state = 'resting';
      else this.#dial(target);
    });
  }
}

/** A relay that goes away says for how many seconds; whoever it sends away together shall not come back together. */
function askedToWaitMs(code: number, reason: string, jitter: number): number {
  if (code !== closeCodes.goingAway || !/^\d{1,4}$/.test(reason)) return 0;
  return Math.min(limits.reconnectMaxMs, Math.round(Number(reason) * 1_000 * (1 + jitter)));
}
