import type { Store } from '../engine/ports';
import type { AppModel } from './app-model';

/** What carrying out commands needs. */
export interface CommandParts {
  readonly store: Store;
  readonly model: AppModel;
  /** Relays of a new account. */
  defaultRelays(): Promise<readonly string[]>;
  useUpdate(): void;
}
