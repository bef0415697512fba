/** Says a sentence to assistive technology. `urgent` interrupts; it is for errors that stop the task. */
export type Announce = (sentence: string, urgent?: boolean) => void;

interface NotifyingDocument extends Document {
  ariaNotify(sentence: string, options: { priority: 'normal' | 'high' }): void;
}

/** True where the document can speak by itself. */
function notifies(page: Document): page is NotifyingDocument {
  return 'ariaNotify' in page && typeof page.ariaNotify === 'function';
}

/** The one announcer of a page: the document's own voice, or two hidden live regions made once in `home`. */
export function makeAnnouncer(page: Document, home: HTMLElement): Announce {
  if (notifies(page)) {
    return (sentence, urgent = false) => page.ariaNotify(sentence, { priority: urgent ? 'high' : 'normal' });
  }
  const region = (live: 'polite' | 'assertive') => {
    const element = page.createElement('div');
    element.className = 'hidden-visually';
    element.setAttribute('aria-live', live);
    home.append(element);
    return element;
  };
  const polite = region('polite');
  const assertive = region('assertive');
  return (sentence, urgent = false) => {
    const line = page.createElement('p');
    line.textContent = sentence;
    // A new element each time: the same sentence twice is said twice.
    (urgent ? assertive : polite).replaceChildren(line);
  };
}
