import { limits } from '../core/limits';
import { type FromTab, type TabHello, type ToTab, tabLock } from './contract';

/** One connected tab, as the engine's realm sees it. */
export interface Tab {
  readonly id: string;
  readonly port: MessagePort;
  visible: boolean;
  /** Newest heartbeat it answered. */
  answered: number;
  readonly since: number;
}

/** What the tabs tell the engine's realm. */
export interface TabsOwner {
  onMessage(tab: Tab, message: FromTab, ports: readonly MessagePort[]): void;
  /** Tabs came, went, or changed: the carrier may have to change. */
  onChange(): void;
}

/**
 * The tabs of this browser. A tab's Web Lock tells of its death at once; a missed heartbeat tells that it is frozen,
 * which its lock does not (measured: platform.md 4); `bye` tells what it knows itself.
 */
export class Tabs {
  readonly #tabs = new Map<string, Tab>();
  #beat = 0;

  constructor(
    private readonly locks: LockManager,
    private readonly owner: TabsOwner,
  ) {
    setInterval(() => this.#heartbeat(), limits.tabHeartbeatMs);
  }

  /** Takes a tab in. */
  add(hello: TabHello, port: MessagePort): void {
    const tab: Tab = {
      id: hello.tab,
      port,
      visible: hello.visible,
      answered: this.#beat,
      since: this.#tabs.size,
    };
    this.#tabs.get(hello.tab)?.port.close();
    this.#tabs.set(hello.tab, tab);
    port.onmessage = ({ data, ports }: MessageEvent<FromTab>) => this.#onMessage(tab, data, ports);
    void this.locks.request(tabLock(hello.tab), { mode: 'shared' }, () => this.remove(tab));
    this.owner.onChange();
  }

  /** Forgets a tab. */
  remove(tab: Tab): void {
    if (this.#tabs.get(tab.id) !== tab) return;
    this.#tabs.delete(tab.id);
    tab.port.close();
    this.owner.onChange();
  }

  /** Tabs that can carry: alive by lock and by heartbeat; a visible one first, then the one longest here. */
  able(): readonly Tab[] {
    return [...this.#tabs.values()]
      .filter((tab) => this.#beat - tab.answered <= missedBeatsMax)
      .sort((left, right) => Number(right.visible) - Number(left.visible) || left.since - right.since);
  }

  /** Says something to every tab. */
  tell(message: (tab: Tab) => ToTab): void {
    for (const tab of this.#tabs.values()) tab.port.postMessage(message(tab));
  }

  #onMessage(tab: Tab, message: FromTab, ports: readonly MessagePort[]): void {
    if (this.#tabs.get(tab.id) !== tab) return;
    if (message.type === 'bye') return this.remove(tab);
    if (message.type === 'heartbeat') {
      const wasAble = this.#beat - tab.answered <= missedBeatsMax;
      tab.answered = message.beat;
      if (!wasAble) this.owner.onChange();
      return;
    }
    if (message.type === 'visible') {
      tab.visible = message.visible;
      return this.owner.onChange();
    }
    this.owner.onMessage(tab, message, ports);
  }

  #heartbeat(): void {
    this.#beat += 1;
    this.tell(() => ({ type: 'heartbeat', beat: this.#beat }));
    this.owner.onChange();
  }
}

const missedBeatsMax = 2;
