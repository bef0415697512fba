/** A programmer's error: an assumption of our own did not hold. It never answers for bad input. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Stops with an `AssertionError` unless `condition` holds. */
export function assert(condition: boolean, claim: string): asserts condition {
  if (!condition) throw new AssertionError(claim);
}

/** Returns `value`, or stops with an `AssertionError` when there is none. */
export function present<T>(value: T | undefined | null, claim: string): T {
  if (value === undefined || value === null) throw new AssertionError(claim);
  return value;
}
