import { expose } from 'comlink';
import { EngineHost } from './host';

interface SharedScope {
  onconnect: ((event: MessageEvent) => void) | null;
}

/** Makes this shared worker the engine. It runs before the first tab's `connect` event is dispatched. */
export function startEngine(): void {
  const host = new EngineHost(navigator.locks, __BUILD__);
  (globalThis as unknown as SharedScope).onconnect = ({ ports }) => {
    const [port] = ports;
    if (port === undefined) return;
    expose({ attach: host.attach.bind(host), nudge: host.nudge.bind(host) }, port);
  };
}
