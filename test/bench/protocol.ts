/** What a page of the bench asks of its worker beside the doors, with a port for the answer. */
export interface BenchMessage {
  readonly bench: BenchTask;
}

/** Work that is done and timed inside the worker. */
export type BenchTask =
  /** Serial strict puts into a store without index: ms each. */
  | { readonly task: 'raw'; readonly count: number; readonly bytes: number }
  /** Serial transactions of a script over the store, or over a database filled before, without a door: ms each. */
  | { readonly task: 'enqueue'; readonly all: readonly object[]; readonly database?: string }
  /** Fills a database of its own with so many queued messages; answers the account. */
  | {
      readonly task: 'fill';
      readonly database: string;
      readonly count: number;
      readonly account: object;
      readonly channel: object;
      readonly message: object;
    }
  /** Hashes so many events and writes rows of them in batches: ms. */
  | { readonly task: 'catch-up'; readonly count: number }
  /** Serial reads of the head: ms each. */
  | { readonly task: 'heads'; readonly database: string; readonly account: string; readonly count: number };

/** Name of the call that puts one row into a store without index; it goes through the door as every call does. */
export const rawPutCall = 'rawPut';

/** Arguments of that call. */
export interface RawPut {
  readonly id: number;
  readonly body: Uint8Array<ArrayBuffer>;
}
