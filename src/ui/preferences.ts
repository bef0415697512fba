import { effect, type Signal, signal } from '@preact/signals';

/** Choices of this browser that concern its screen only. They are no data of an account. */
export interface Preferences {
  readonly theme: Signal<'system' | 'light' | 'dark'>;
  readonly enter: Signal<'auto' | 'send' | 'line'>;
}

const themes = ['system', 'light', 'dark'] as const;
const enters = ['auto', 'send', 'line'] as const;

/** The choices kept in this browser, or the first of each where nothing is kept or nothing can be. */
export function keptPreferences(root: HTMLElement): Preferences {
  const theme = kept('holdfast.theme', themes);
  const enter = kept('holdfast.enter', enters);
  effect(() => {
    if (theme.value === 'system') delete root.dataset['theme'];
    else root.dataset['theme'] = theme.value;
  });
  return { theme, enter };
}

/** A choice that follows its kept value and keeps every change. */
function kept<T extends string>(key: string, values: readonly [T, ...T[]]): Signal<T> {
  const choice = signal<T>(values[0]);
  try {
    const stored = localStorage.getItem(key);
    choice.value = values.find((value) => value === stored) ?? values[0];
    effect(() => localStorage.setItem(key, choice.value));
  } catch {
    // Storage of this kind is refused here: the choice holds until the page closes, and nothing else depends on it.
  }
  return choice;
}

/** True when Enter alone sends: always or never by choice, else where there is a mouse and so likely a keyboard. */
export function enterSends(choice: 'auto' | 'send' | 'line', view: Window): boolean {
  return choice === 'send' || (choice === 'auto' && !view.matchMedia('(pointer: coarse)').matches);
}
