import { renderApp } from '../../../src/ui/app';
import { commands, gallery, shown } from '../ui-states';

/** Draws the state the address asks for: `?state=talk&language=de`. */
document.body.dataset['states'] = Object.keys(gallery).join();
const asked = new URLSearchParams(location.search);
const state = gallery[asked.get('state') ?? 'talk'];
const root = document.querySelector<HTMLElement>('#app');
if (state && root) {
  history.replaceState(null, '', `${location.pathname}${location.search}${state.hash}`);
  // Opens what a press opens: `&press=d`.
  const pressed = asked.get('press');
  if (pressed) setTimeout(() => document.dispatchEvent(new KeyboardEvent('keydown', { key: pressed })), 300);
  renderApp(root, shown(state.snapshot), commands(), asked.get('language') ?? 'en');
}
