import type { Ui } from './context';

/** The keys that work everywhere (ux.md G). */
export function listenToKeys(ui: Ui, page: Document): () => void {
  const keyed = (event: KeyboardEvent) => {
    if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
    if (ui.snapshot.peek().phase !== 'ready') return;
    const inSheet = page.querySelector('dialog[open]') !== null;
    if (event.key === 'Escape' && !inSheet) {
      page.querySelector<HTMLElement>('#composer')?.focus();
    } else if (event.key === 'F6' && !inSheet) {
      event.preventDefault();
      nextPane(page, event.shiftKey ? -1 : 1);
    } else if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown') && !inSheet) {
      event.preventDefault();
      nextConversation(ui, event.key === 'ArrowUp' ? -1 : 1, event.shiftKey);
    } else if (event.key === ',' && (event.ctrlKey || event.metaKey) && !inSheet) {
      event.preventDefault();
      ui.router.go({ at: 'settings' });
    }
  };
  page.addEventListener('keydown', keyed);
  return () => page.removeEventListener('keydown', keyed);
}

/** Moves the focus to the next part of the window that is shown. */
function nextPane(page: Document, step: 1 | -1): void {
  // The innermost parts only: the middle holds the timeline and the field, which are parts of their own.
  const panes = [...page.querySelectorAll<HTMLElement>('[data-pane]')].filter(
    (pane) => pane.checkVisibility() && !pane.querySelector('[data-pane]'),
  );
  const at = panes.findIndex((pane) => pane.contains(page.activeElement));
  const next = panes[(at + step + panes.length) % panes.length];
  const inside = next?.querySelector<HTMLElement>(
    'textarea, article[tabindex="0"], a[aria-current], a.conversation, h1[tabindex]',
  );
  (inside ?? next)?.focus();
}

/** Opens the conversation above or below the open one, or the next with something unread. */
function nextConversation({ snapshot, router }: Ui, step: 1 | -1, unreadOnly: boolean): void {
  const { conversations } = snapshot.peek();
  const base = router.base.peek();
  const at = conversations.findIndex(
    (one) => 'conversation' in base && one.conversation === base.conversation,
  );
  for (let tried = 1; tried <= conversations.length; tried++) {
    const from = at < 0 && step < 0 ? 0 : at;
    const next = conversations[(from + step * tried + conversations.length * 2) % conversations.length];
    if (!next || (unreadOnly && next.unread === 0)) continue;
    router.go({ at: 'conversation', conversation: next.conversation });
    return;
  }
}
