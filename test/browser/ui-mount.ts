import { type Signal, signal } from '@preact/signals';
import { onTestFinished } from 'vitest';
import { type RenderedApp, renderApp } from '../../src/ui/app';
import type { Commands, Refusal, Snapshot } from '../../src/ui/model';
import { commands, harbour, message, ready } from './ui-states';

/** A rendered app with its strings in hand. */
export interface Mounted {
  readonly root: HTMLElement;
  readonly app: RenderedApp;
  readonly snapshot: Signal<Snapshot>;
  /** Every send so far: its text and command, and how it is answered. */
  readonly sends: {
    readonly text: string;
    readonly command: string;
    readonly answer: (refusal?: Refusal) => void;
  }[];
  readonly field: () => HTMLTextAreaElement;
  readonly sendButton: () => HTMLButtonElement;
}

/** Renders `snapshot` at `hash`; sends wait until a test answers them. Taken away when the test ends. */
export async function mount(
  snapshot: Snapshot,
  hash: string,
  more: Partial<Commands> = {},
): Promise<Mounted> {
  history.replaceState(null, '', hash);
  const root = document.createElement('div');
  document.body.append(root);
  const shown = signal(snapshot);
  const sends: Mounted['sends'] = [];
  const send: Commands['send'] = (_conversation, text, command) =>
    new Promise((resolve) => {
      sends.push({ text, command, answer: resolve });
    });
  const app = renderApp(root, shown, commands({ send, ...more }), 'en');
  onTestFinished(() => {
    app.stop();
    root.remove();
  });
  await painted();
  return {
    root,
    app,
    snapshot: shown,
    sends,
    field: () => part(root, '#composer', HTMLTextAreaElement),
    sendButton: () => part(root, '.send', HTMLButtonElement),
  };
}

/** The element of a selector, of the expected kind. */
export function part<T extends Element>(root: ParentNode, selector: string, kind: new () => T): T {
  const found = root.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`no ${selector}`);
  return found;
}

/** Two frames: everything that was to be drawn is drawn. */
export function painted(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
}

/** A conversation that is open and holds nothing. */
export function emptyTalk(): Snapshot {
  const shown = ready();
  return { ...shown, timeline: { ...talkOf(shown), messages: [] } };
}

/** A conversation with messages `from` to `to`. */
export function longTalk(from: number, to: number): Snapshot {
  const shown = ready();
  const messages = Array.from({ length: to - from + 1 }, (_, at) =>
    message(from + at, { nick: `N${(from + at) % 3}` }),
  );
  const { firstUnreadSeq: _, ...timeline } = talkOf(shown);
  return { ...shown, timeline: { ...timeline, messages, older: 'more' } };
}

/** The open conversation of a snapshot. */
export function talkOf(shown: Snapshot) {
  if (!shown.timeline) throw new Error('no conversation is open');
  return shown.timeline;
}

/** Address of the conversation the tests write in. */
export const talkHash = `#/c/${harbour}`;

/** Types into a field as a browser reports it: the whole new text and one input event. */
export function type(field: HTMLTextAreaElement | HTMLInputElement, text: string): void {
  field.value = text;
  field.dispatchEvent(new InputEvent('input', { bubbles: true }));
}

/** A key press with what a browser says of it. */
export function key(field: HTMLElement, init: KeyboardEventInit & { keyCode?: number }): void {
  field.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init }));
}
