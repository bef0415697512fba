import { expose } from 'comlink';
import { EngineHost } from './host';

interface SharedScope {
  onconnect: ((event: MessageEvent) => void) | null;
}

const host = new EngineHost(navigator.locks, __BUILD__);

(globalThis as unknown as SharedScope).onconnect = ({ ports }) => {
  const [port] = ports;
  if (port === undefined) return;
  expose({ attach: host.attach.bind(host), nudge: host.nudge.bind(host) }, port);
};
