import type { ConfigErrorKind, LogLevel } from './config';

/** What may stand beside an entry: counts, states and durations. Never an id, an address or content. */
export type LogDetail = Readonly<Record<string, number | boolean | LogWord>>;

/** Words of our own code, so that nothing a peer sent can enter a log line. */
export type LogWord =
  | 'bad frame'
  | 'other network'
  | 'incompatible'
  | 'handshake late'
  | 'flood'
  | 'no answer'
  | 'no pong'
  | 'too big'
  | 'too slow'
  | 'strikes'
  | 'unknown commands'
  | 'banned'
  | 'replaced'
  | 'self'
  | 'going away'
  | 'left'
  | 'complete'
  | 'incomplete'
  | 'broken'
  | 'full'
  | 'origin'
  | 'protocol'
  | 'room'
  | 'source'
  | 'store'
  | ConfigErrorKind;

/** Writes structured log lines. */
export type Log = (level: 'error' | 'info', event: string, detail?: LogDetail) => void;

/** A log of JSON lines, one an entry, of at least this level. */
export function jsonLog(level: LogLevel, write: (line: string) => void, now: () => number): Log {
  return (at, event, detail = {}) => {
    if (level === 'silent' || (level === 'error' && at === 'info')) return;
    write(`${JSON.stringify({ time: now(), level: at, event, ...detail })}\n`);
  };
}
