import '../core/limits-relations';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { StoreError } from '../core/errors';
import { ConfigError, parseConfig, type RelayConfig } from './config';
import { jsonLog } from './log';
import { startRelay } from './server';

/** Ends of the program: configuration wrong, and everything else that keeps a relay from starting. */
const exits = { config: 2, start: 1 } as const;

const usage = 'usage: relay --config FILE';

function configOf(args: readonly string[]): RelayConfig {
  let file: string | undefined;
  try {
    file = parseArgs({ args: [...args], options: { config: { type: 'string' } } }).values.config;
  } catch {
    throw new ConfigError('invalid', '', usage);
  }
  if (file === undefined) throw new ConfigError('missing', '', usage);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new ConfigError('missing', '', `cannot read ${file}`);
  }
  return parseConfig(text, file);
}

async function main(): Promise<void> {
  const config = configOf(process.argv.slice(2));
  const log = jsonLog(config.log, (line) => process.stdout.write(line), Date.now);
  const relay = await startRelay(config, log);
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    relay.stop().then(
      () => process.exit(0),
      () => process.exit(exits.start),
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  // Without a list to read again, a hang-up ends the program as it ends any other.
  if (config.identities !== undefined) process.on('SIGHUP', () => relay.reload());
}

main().catch((error: unknown) => {
  const kind = error instanceof ConfigError ? 'config' : 'start';
  const detail = error instanceof ConfigError || error instanceof StoreError ? { kind: error.kind } : {};
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${JSON.stringify({ event: 'not started', at: kind, ...detail, message })}\n`);
  process.exit(exits[kind]);
});
