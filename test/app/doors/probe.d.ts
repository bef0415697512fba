/** What `probeIn` brought into the page: see page.ts. */
declare const probe: typeof import('./page');
