import type { MarkShape } from '../mark';

const marks: Readonly<Record<MarkShape, string>> = {
  clock: 'M8 2.25a5.75 5.75 0 1 1 0 11.5a5.75 5.75 0 0 1 0-11.5M8 4.75V8l2.25 1.75',
  arrow: 'M8 10.25V2.25M4.75 5.25 8 2l3.25 3.25M2.25 9.75v3.5h11.5v-3.5',
  tick: 'm2.75 8.5 3.5 3.75 7-8',
  bars: 'M2.25 2.25h11.5v11.5H2.25zM6.25 5.5v5M9.75 5.5v5',
  cross: 'M8 2.25a5.75 5.75 0 1 1 0 11.5a5.75 5.75 0 0 1 0-11.5M4 12 12 4',
  dashed:
    'M2.25 5v-.75a2 2 0 0 1 2-2H5M11 2.25h.75a2 2 0 0 1 2 2V5M13.75 11v.75a2 2 0 0 1-2 2H11M5 13.75h-.75a2 2 0 0 1-2-2V11M7 2.25h2M7 13.75h2M2.25 7v2M13.75 7v2',
};

/** The shape of a mark, on the 16 grid. It has no name of its own: words always stand with it. */
export function MarkGlyph({ shape }: { shape: MarkShape }) {
  return (
    <svg class="glyph" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={marks[shape]} />
    </svg>
  );
}

const icons = {
  plus: 'M10 4v12M4 10h12',
  net: 'M10 3.5a2 2 0 1 1 0 4a2 2 0 0 1 0-4M4.5 12.5a2 2 0 1 1 0 4a2 2 0 0 1 0-4M15.5 12.5a2 2 0 1 1 0 4a2 2 0 0 1 0-4M9 7.25l-3.4 5.5M11 7.25l3.4 5.5M6.5 14.5h7',
  settings:
    'M3 6h8.5M15.5 6H17M3 14h1.5M8.5 14H17M13.5 4a2 2 0 1 1 0 4a2 2 0 0 1 0-4M6.5 12a2 2 0 1 1 0 4a2 2 0 0 1 0-4',
  back: 'M12 4 6 10l6 6',
  next: 'm8 4 6 6-6 6',
  down: 'M10 4v12M5 11l5 5 5-5',
  close: 'm5 5 10 10M15 5 5 15',
  send: 'M10 16.5V3.75M4.5 9 10 3.5 15.5 9',
  lock: 'M4.75 9h10.5v7.5H4.75zM7 9V6.5a3 3 0 0 1 6 0V9',
  warn: 'M10 3 2.5 16.5h15zM10 8v4M10 14v.5',
  wave: 'M2.5 8c2.5-2.5 5-2.5 7.5 0s5 2.5 7.5 0M2.5 13c2.5-2.5 5-2.5 7.5 0s5 2.5 7.5 0',
  answering: 'M10 5a5 5 0 1 1 0 10a5 5 0 0 1 0-10',
  copy: 'M7 7h9.5v9.5H7zM4.5 13h-1V3.5H13v1',
  'state-answering': 'M10 5.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9',
  'state-connecting': 'M10 5.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9M10 5.5v9',
  'state-not-now': 'M10 5.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9',
  'state-no': 'M10 5.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9M6.8 13.2l6.4-6.4',
} as const;

/** Names of the drawn icons. */
export type IconName = keyof typeof icons;

/** An icon on the 20 grid, without a name of its own. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path d={icons[name]} />
    </svg>
  );
}

/** The sign of Holdfast: a rope ring made fast by a toggle that goes under it on one side and over it on the other. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true">
      <g transform="rotate(-24 16 16)">
        <path d="M2.5 13.5h3.2M11 13.5h17.5" />
        <path d="M24.6 17.4a8.6 8.6 0 1 1-2.4-6.8" />
      </g>
    </svg>
  );
}

/** Still picture of the first screen: an anchor chain drawn as an event graph. */
export function ChainPicture() {
  return (
    <svg class="picture" viewBox="0 0 400 520" aria-hidden="true">
      <path
        class="thin"
        d="M200 60C120 110 120 150 96 190S110 300 200 330M200 60c70 60 96 70 100 140s-30 110-100 130M96 190c40 30 70 30 104 20M300 200c-40 36-60 40-100 10M200 210v120M96 190c-40 60-30 130 0 170s70 30 104 50M300 200c50 60 40 120 14 160s-70 30-114 50"
      />
      <g class="ring">
        <circle cx="200" cy="60" r="17" />
        <circle cx="96" cy="190" r="17" />
        <circle cx="300" cy="200" r="17" />
        <circle cx="200" cy="210" r="17" />
        <circle cx="96" cy="360" r="17" />
        <circle cx="314" cy="360" r="17" />
        <circle class="own" cx="200" cy="330" r="17" />
      </g>
      <path
        class="rope"
        d="M200 347v104M164 382h72M122 418c4 44 34 66 78 66s74-22 78-66M122 418l-14 22M122 418l20 16M278 418l14 22M278 418l-20 16"
      />
    </svg>
  );
}
