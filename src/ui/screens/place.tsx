import type { ComponentChildren } from 'preact';
import { Bar } from '../parts/controls';
import { Strip } from '../parts/strip';

/** A screen of its own: its heading and the strip, there at once, over what may come after them. */
export function Place({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <>
      <Bar>
        <h1 tabIndex={-1}>{title}</h1>
      </Bar>
      <Strip />
      {children}
    </>
  );
}
