/** Longest a fault or a state is waited for, ms; only what is broken takes so long. */
export const patienceMs = 30_000;

/**
 * Asks `probe` again and again until it gives something other than undefined or false. Rejects with what was waited
 * for when patience ends.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  ms = patienceMs,
): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const value = await probe();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > end) throw new Error(`waited ${ms} ms for: ${what}`);
    await new Promise((settle) => setTimeout(settle, 20));
  }
}
