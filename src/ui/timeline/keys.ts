/** The message a key moves to among `messages`, `undefined` when the key moves nowhere. */
export function movedTo(
  messages: readonly HTMLElement[],
  from: HTMLElement,
  key: string,
): HTMLElement | undefined {
  const at = messages.indexOf(from);
  switch (key) {
    case 'ArrowUp':
      return messages[Math.max(0, at - 1)];
    case 'ArrowDown':
      return messages[Math.min(messages.length - 1, at + 1)];
    case 'Home':
      return messages[0];
    case 'End':
      return messages.at(-1);
    default:
      return undefined;
  }
}
