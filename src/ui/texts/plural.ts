/** Keeps a name, address or text from changing the direction of the sentence it stands in. */
export function isolate(text: string): string {
  return `\u2068${text}\u2069`;
}

/** Number words of one language: plain counts, and the choice between one and many. */
export interface Counting {
  /** The number with the grouping of the language. */
  readonly n: (value: number) => string;
  /** `one` where the language uses its singular for `value`, else `many`. */
  readonly pick: (value: number, one: string, many: string) => string;
}

/** Counting words of `language`, with the rules of the browser. */
export function counting(language: string): Counting {
  const numbers = new Intl.NumberFormat(language);
  const rules = new Intl.PluralRules(language);
  return {
    n: (value) => numbers.format(value),
    pick: (value, one, many) => (rules.select(value) === 'one' ? one : many),
  };
}
