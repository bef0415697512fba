/** Times, days and sizes in one language and time zone. Made once; every method is pure. */
export interface Format {
  /** For programs. */
  iso(at: number): string;
  /** To the minute, for rows. */
  time(at: number): string;
  /** To the second, for the inspector. */
  exact(at: number): string;
  /** Date and time to the minute, for a tooltip or a label. */
  full(at: number): string;
  /** A key that is equal for two moments of the same local day. */
  dayKey(at: number): string;
  /** Name of the day as a divider shows it. */
  day(at: number): string;
  /** Time today, week day within a week, else the date: for the list. */
  short(at: number, now: number): string;
  /** Bytes with a unit of thousands. */
  bytes(count: number): string;
}

const dayMs = 86_400_000;
const units = ['B', 'kB', 'MB', 'GB'] as const;

/** Furthest moment a date can be, ms either way. */
const furthestMs = 8.64e15;

/** A moment that can be formatted: what is none, or is beyond any, becomes the nearest. */
function moment(at: number): number {
  return Number.isNaN(at) ? 0 : Math.max(-furthestMs, Math.min(at, furthestMs));
}

/** Formats for `language`; `timeZone` is the device's own unless a test names one. */
export function makeFormat(language: string, timeZone?: string): Format {
  const zone = timeZone === undefined ? {} : { timeZone };
  const of = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language, { ...options, ...zone });
  const time = of({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const exact = of({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
  const full = of({ dateStyle: 'medium', timeStyle: 'short' });
  const key = new Intl.DateTimeFormat('en-CA', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    ...zone,
  });
  const day = of({ weekday: 'long', day: 'numeric', month: 'short', year: 'numeric' });
  const weekday = of({ weekday: 'short' });
  const date = of({ day: 'numeric', month: 'short' });
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const by = (one: Intl.DateTimeFormat) => (at: number) => one.format(moment(at));
  return {
    iso: (at) => new Date(moment(at)).toISOString(),
    time: by(time),
    exact: by(exact),
    full: by(full),
    dayKey: by(key),
    day: by(day),
    short: (wish, now) => {
      const at = moment(wish);
      if (key.format(at) === key.format(moment(now))) return time.format(at);
      return now - at < 6 * dayMs && at <= now ? weekday.format(at) : date.format(at);
    },
    bytes: (count) => {
      let value = count;
      let unit = 0;
      while (value >= 999.5 && unit < units.length - 1) {
        value /= 1_000;
        unit += 1;
      }
      return `${number.format(value >= 10 ? Math.round(value) : value)} ${units[unit]}`;
    },
  };
}

/** A day's name, or today and yesterday where `now` makes them so. */
export function dayWord(
  format: Format,
  at: number,
  now: number,
  words: { readonly today: string; readonly yesterday: string },
): string {
  const key = format.dayKey(at);
  if (key === format.dayKey(now)) return words.today;
  return key === format.dayKey(now - dayMs) ? words.yesterday : format.day(at);
}
