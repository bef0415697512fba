import type { ReadonlySignal, Signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Announce } from './announcer';
import type { Composers } from './composers';
import type { Editing } from './editing';
import type { Format } from './format';
import type { Commands, Refusal, Snapshot } from './model';
import type { Preferences } from './preferences';
import type { Router } from './route';
import type { StripCause } from './strip';
import type { Texts } from './texts/en';

/** What every part of the screen may use. */
export interface Ui {
  readonly texts: Texts;
  readonly format: Format;
  readonly commands: Commands;
  readonly snapshot: ReadonlySignal<Snapshot>;
  readonly now: ReadonlySignal<number>;
  readonly router: Router;
  readonly composers: Composers;
  /** Every text being changed, the one opened last first. */
  readonly editing: Signal<readonly Editing[]>;
  readonly announce: Announce;
  readonly preferences: Preferences;
  readonly strip: ReadonlySignal<StripCause | undefined>;
}

/** The context that carries it from the root. */
export const UiContext = createContext<Ui | undefined>(undefined);

/** What this part of the screen may use; outside the root it is a programmer's error. */
export function useUi(): Ui {
  const ui = useContext(UiContext);
  if (!ui) throw new Error('rendered outside renderApp');
  return ui;
}

/** The sentence for a refusal, with its numbers where it has them. */
export function refusalText({ texts, format }: Pick<Ui, 'texts' | 'format'>, refusal: Refusal): string {
  if (refusal.refused === 'too-long' && refusal.over !== undefined) return texts.over(refusal.over);
  if (refusal.refused === 'outbox-full' && refusal.held !== undefined && refusal.max !== undefined) {
    return texts.outboxFull(format.bytes(refusal.held), format.bytes(refusal.max));
  }
  return texts.refused[refusal.refused];
}
