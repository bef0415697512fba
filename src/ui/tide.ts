import { batch, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Clock } from './clock';
import type { Snapshot } from './model';
import { type StripCause, stripCause, stripStart, stripStep } from './strip';

/** What the strip shows over time, and `said` for each cause that is to be said aloud. */
export function makeTide(
  snapshot: ReadonlySignal<Snapshot>,
  clock: Clock,
  said: (cause: StripCause) => void,
): { readonly shown: ReadonlySignal<StripCause | undefined>; stop(): void } {
  let state = stripStart(snapshot.peek().now);
  const shown = signal(state.shown);
  const stop = effect(() => {
    const wanted = stripCause(snapshot.value, clock.now.value, clock.foregroundSince.value);
    state = stripStep(state, wanted, clock.now.peek());
    const { say } = state;
    batch(() => {
      shown.value = state.shown;
      if (say) said(say);
    });
  });
  return { shown, stop };
}
