/** What `Room.tab` brought into the page: see page.ts. */
declare const bench: typeof import('./page');
