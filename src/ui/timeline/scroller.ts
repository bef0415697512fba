import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Pixels from the newest row that still count as being at the end. */
const endPx = 40;

/** Distance of a bottom-anchored scroller from its newest row, px. */
export function fromEnd(scroller: HTMLElement): number {
  return Math.abs(scroller.scrollTop);
}

/** True when the newest row is in view. */
export function atEnd(scroller: HTMLElement): boolean {
  return fromEnd(scroller) <= endPx;
}

/** Distance from the oldest row in the document, px. */
export function fromStart(scroller: HTMLElement): number {
  return scroller.scrollHeight - scroller.clientHeight - fromEnd(scroller);
}

/** A row and where its top stood in the scroller. */
interface Anchor {
  readonly key: string;
  readonly top: number;
}

/** The first row that reaches into view. */
function anchorOf(scroller: HTMLElement): Anchor | undefined {
  const edge = scroller.getBoundingClientRect().top;
  for (const row of scroller.querySelectorAll<HTMLElement>('[data-row]')) {
    const box = row.getBoundingClientRect();
    if (box.bottom > edge) return { key: row.dataset['row'] ?? '', top: box.top - edge };
  }
  return undefined;
}

/** Puts a row where it stood. */
function restore(scroller: HTMLElement, anchor: Anchor): void {
  const row = scroller.querySelector<HTMLElement>(`[data-row="${CSS.escape(anchor.key)}"]`);
  if (!row) return;
  const moved = row.getBoundingClientRect().top - scroller.getBoundingClientRect().top - anchor.top;
  if (Math.abs(moved) >= 1) scroller.scrollTop += moved;
}

/**
 * Keeps what is being read in its place when rows come or go above or below it: the place of one visible row is taken
 * before the document changes (while the component renders) and given back before the next frame. At the end the
 * scroller stays at the end by itself. `version` changes with the rows.
 */
export function useAnchored(scroller: RefObject<HTMLElement | null>, version: unknown): void {
  const last = useRef(version);
  const anchor = useRef<Anchor | undefined>(undefined);
  const element = scroller.current;
  if (element && last.current !== version) anchor.current = atEnd(element) ? undefined : anchorOf(element);
  last.current = version;
  useLayoutEffect(() => {
    if (scroller.current && anchor.current) restore(scroller.current, anchor.current);
    anchor.current = undefined;
  }, [version]);
}
