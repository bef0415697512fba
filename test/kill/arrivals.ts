import { deserialize } from 'node:v8';
import Database from 'better-sqlite3';
import type { EventRow } from '../../src/core/tables';
import { readContent } from '../../src/core/wire/content';
import { decodeEvent } from '../../src/core/wire/event';
import { holdfast } from '../../src/core/wire/profile';
import type { Arrival } from './ledger';

/** Reads what a relay's store holds, in the order in which each event was first put there. */
export class Arrivals {
  #last = 0;

  constructor(private readonly store: string) {}

  /** Channel messages that came since the last call. */
  fresh(): Arrival[] {
    const database = new Database(this.store, { readonly: true });
    try {
      // A row keeps its rowid when it is put again.
      const found = database
        .prepare('select rowid, row from events where rowid > ? order by rowid')
        .all(this.#last) as { readonly rowid: number; readonly row: Buffer }[];
      this.#last = found.at(-1)?.rowid ?? this.#last;
      return found.flatMap(({ row }) => arrivalOf(deserialize(row) as EventRow));
    } finally {
      database.close();
    }
  }
}

function arrivalOf({ id, event }: EventRow): Arrival[] {
  const content = readContent(holdfast, decodeEvent(event).content);
  if (content.kind !== 'privmsg') return [];
  const { logical, text } = content.privmsg;
  return [{ event: id, logical, text }];
}
