import { en, type Texts } from './en';

/** A language the catalogue has, and its words. */
export interface Language {
  readonly tag: string;
  readonly texts: Texts;
}

/** English is in the first load; another language comes with its own file, and English stands in if that is missing. */
export function chooseLanguage(wanted: string): Language | Promise<Language> {
  const english: Language = { tag: wanted.toLowerCase().startsWith('en') ? wanted : 'en', texts: en };
  if (!wanted.toLowerCase().startsWith('de')) return english;
  return import('./de').then(
    ({ de }) => ({ tag: wanted, texts: de }),
    () => english,
  );
}
