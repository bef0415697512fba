import { describe, expect, test } from 'vitest';
import { page } from 'vitest/browser';
import { mount, painted } from './ui-mount';
import { gallery } from './ui-states';

const shownNow = (root: ParentNode, selector: string) =>
  [...root.querySelectorAll<HTMLElement>(selector)].filter((element) => element.checkVisibility());

/** Where an element's name comes from; empty when assistive technology would find none. */
function nameOf(element: HTMLElement): string {
  const labels = 'labels' in element ? [...(element.labels as NodeListOf<HTMLElement>)] : [];
  return (
    element.getAttribute('aria-label') ??
    (labels.map((one) => one.textContent).join('') || element.textContent) ??
    ''
  ).trim();
}

describe.each([
  ['phone', 360, 740],
  ['desk', 1440, 900],
])('every state of the screen on a %s', (_size, width, height) => {
  test.each(Object.keys(gallery))('%s', async (name) => {
    const state = gallery[name];
    if (!state) throw new Error('unknown state');
    await page.viewport(width, height);
    const { root } = await mount(state.snapshot, state.hash);
    await painted();
    expect(shownNow(root, 'h1').length).toBe(1);
    expect(shownNow(root, 'main, nav').length).toBeGreaterThanOrEqual(1);
    for (const control of shownNow(root, 'button, a, input, select, textarea, dialog')) {
      expect(nameOf(control), control.outerHTML.slice(0, 120)).not.toBe('');
    }
    const small = shownNow(root, 'button').filter((button) => button.getBoundingClientRect().height < 23.5);
    expect(small.map((button) => button.outerHTML.slice(0, 120))).toEqual([]);
    expect(root.querySelectorAll('[style]').length).toBe(0);
    const ids = [...root.querySelectorAll('[id]')].map((element) => element.id);
    expect(new Set(ids).size).toBe(ids.length);
    // Nothing is wider than the window: no state may scroll sideways.
    expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(width);
    for (const pane of shownNow(root, '.app, nav, main, .page, .scroller, dialog')) {
      expect(pane.scrollWidth, pane.className).toBeLessThanOrEqual(pane.clientWidth + 1);
    }
  });
});
