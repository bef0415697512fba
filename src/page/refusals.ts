import { StoreError } from '../core/errors';
import type { Refusal } from '../ui/model';

/** What the store said in place of an outcome, in words for a person. The same command may be given again. */
export async function settled<T>(work: () => Promise<T | Refusal>): Promise<T | Refusal> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    switch (error.kind) {
      case 'busy':
        return { refused: 'timeout' };
      case 'locked':
        return { refused: 'locked' };
      case 'upgrading':
      case 'outdated':
        return { refused: 'updating' };
      default:
        return { refused: 'storage' };
    }
  }
}
