import type { Intent, MessageRow, Operation } from '../../../src/core/tables';
import type { Change } from '../../../src/core/transaction';
import { profile } from '../names';
import type { Checker, Commit, Watch } from '../watch';
import type { Evidence } from './evidence';
import { mayChange, openOf } from './hand';
import { type Ledger, waits } from './ledger';

type Named = Pick<Commit, 'site' | 'names'>;

/**
 * What must hold of the lane after every commit of a device: nothing leaves but the head and only with evidence, one
 * active generation, no generation behind the head, intents that never step back, counters that say what the rows say.
 */
export class OutboxChecker implements Checker {
  /** Rows as they were before the commit under the eye. */
  readonly #before = new Map<string, MessageRow>();

  /** Reasons for which heads were parked. */
  readonly parked = new Set<string>();

  constructor(
    private readonly watch: Watch,
    private readonly ledger: Ledger,
    private readonly evidence: Evidence,
    private readonly isSteady: (device: string) => boolean,
    private readonly bytesMax: number,
  ) {}

  committed(commit: Commit): void {
    if (this.watch.rowsOf(commit.site).isRelay) return;
    let touched = false;
    for (const change of commit.changes) touched = this.#change(commit, change) || touched;
    if (touched) this.#counters(commit.site);
  }

  #breach(kind: string, what: string): void {
    this.watch.world.breach(kind, what);
  }

  #change(commit: Commit, change: Change): boolean {
    const device = commit.site;
    if ('remove' in change) {
      if (change.remove === 'messages') this.#forgets(commit, change.key);
      if (change.remove === 'generations') this.#breach('generations', `${device} forgot a generation`);
      return change.remove === 'counters';
    }
    if (change.put === 'counters') return true;
    if (change.put !== 'messages' || !change.row.own) return change.put === 'messages';
    const key = `${device} ${change.row.seq}`;
    this.#row(commit, this.#before.get(key), change.row);
    this.#before.set(key, change.row);
    return true;
  }

  /** Only what a person dropped, and what nobody ever saw a copy of, may be forgotten. */
  #forgets(commit: Commit, key: readonly unknown[]): void {
    const before = this.#before.get(`${commit.site} ${String(key[2])}`);
    const dropped = before?.lane === undefined && before?.operation?.droppedAt !== undefined;
    const exposed = (before?.operation?.generations.length ?? 0) > 0;
    if (!dropped || exposed || !commit.names.includes('forgetDropped')) {
      this.#breach('lost', `${commit.site} removed message ${String(key[2])}`);
    }
  }

  #row({ site: device, names }: Commit, before: MessageRow | undefined, row: MessageRow): void {
    const name = `${device} ${row.seq}`;
    const why = before === undefined ? undefined : mayChange(names, before, row);
    if (why !== undefined) this.#breach(why.kind, `${name} ${why.what}`);
    if (before?.lane === undefined && before !== undefined && row.lane !== undefined)
      this.#returns(device, row);
    if (row.open !== openOf(row))
      this.#breach('open', `${name} is marked open ${row.open}, not ${openOf(row)}`);
    if (row.lane !== undefined && row.lane !== row.seq)
      this.#breach('reordered', `${name} moved in the lane`);
    const dropped = row.operation?.droppedAt !== undefined;
    if (before?.lane !== undefined && row.lane === undefined && !dropped) this.#leaves(device, row);
    if (before === undefined && row.lane === undefined && !names.includes('drop'))
      this.#breach('lost', `${name} was never in the lane`);
    if (row.operation?.parked !== undefined) this.parked.add(row.operation.parked);
    this.#generations(device, before, row);
    this.#intents(device, before, row);
    this.#rounds({ site: device, names }, before?.operation, row.operation);
  }

  /** A drop can be undone while nothing behind it was exposed: else the order would be another than was accepted. */
  #returns(device: string, row: MessageRow): void {
    const behind = this.ledger.lane(device).find((one) => one.row.seq > row.seq && isExposed(one.row));
    if (behind !== undefined) {
      this.#breach('reordered', `${device} ${row.seq} came back before ${behind.row.seq}, which was exposed`);
    }
    if (isExposed(row)) this.#breach('duplicated', `${device} ${row.seq} came back with a copy exposed`);
  }

  /** Rounds come one by one, never before they are due, with the pauses that were promised (OB-17). */
  #rounds({ site: device, names }: Named, before: Operation | undefined, now: Operation | undefined): void {
    const round = now?.round ?? 0;
    const earlier = before?.round ?? 0;
    if (now === undefined) return;
    const later = (now.nextAt ?? 0) - (before?.nextAt ?? Number.POSITIVE_INFINITY);
    if (names.includes('retryNow') && round === earlier && now.parked === undefined && later > 0) {
      this.#breach('rounds', `${device} was told to try now and puts it off by ${later} ms`);
    }
    if (round === earlier) return;
    if (round !== earlier + 1) this.#breach('rounds', `${device} went from round ${earlier} to ${round}`);
    const began = now.lastRoundAt ?? 0;
    if (before?.nextAt !== undefined && earlier > 0 && began < before.nextAt && this.isSteady(device)) {
      this.#breach('rounds', `${device} began round ${round} ${before.nextAt - began} ms too soon`);
    }
    const sinceLast = began - (before?.lastRoundAt ?? Number.NEGATIVE_INFINITY);
    if (earlier > 0 && sinceLast < leastPauseMs && this.isSteady(device)) {
      this.#breach('rounds', `${device} began round ${round} ${sinceLast} ms after the one before`);
    }
    if (now.nextAt === undefined) return;
    const pause = now.nextAt - began;
    // A person may have pressed in the same batch: then the next round is due as soon as rounds may be.
    if (names.includes('retryNow') && pause <= leastPauseMs) return;
    const fits = round <= 5 ? pause === 30_000 * 2 ** (round - 1) : pause >= 720_000 && pause <= 1_200_000;
    if (!fits) this.#breach('rounds', `${device} pauses ${pause} ms after round ${round}`);
  }

  #leaves(device: string, row: MessageRow): void {
    const entry = this.ledger.entry(device, row.seq);
    if (entry === undefined) return;
    if (entry.left > 1) this.#breach('duplicated', `${device} ${row.seq} was dequeued ${entry.left} times`);
    const earlier = this.ledger.lane(device).find((one) => one.order < entry.order && waits(one));
    if (earlier !== undefined) {
      this.#breach('reordered', `${device} ${row.seq} left before ${earlier.row.seq}`);
    }
    if (!this.evidence.ends(device, row)) {
      this.#breach(
        'evidence',
        `${device} ${row.seq} left without evidence: ${JSON.stringify(row.operation?.acked)}`,
      );
    }
  }

  #generations(device: string, before: MessageRow | undefined, row: MessageRow): void {
    const name = `${device} ${row.seq}`;
    const generations = row.operation?.generations ?? [];
    (before?.operation?.generations ?? []).forEach((old, at) => {
      if (generations[at]?.id !== old.id) this.#breach('generations', `${name} lost generation ${old.id}`);
    });
    generations.forEach((one, at) => {
      const next = generations[at + 1];
      if (one.supersededBy !== next?.id) this.#breach('generations', `${name} has not one active generation`);
      if (next !== undefined && next.slot <= one.slot) {
        this.#breach('generations', `${name} was made again in the same slot`);
      }
    });
    const active = generations.at(-1);
    if (active === undefined) return;
    const replaced = before?.operation?.generations.at(-1);
    if (replaced !== undefined && replaced.id !== active.id)
      this.#replacement(name, before?.operation, replaced.slot);
    if (row.lane !== undefined && active.event === undefined) {
      this.#breach('generations', `${name} lost the bytes of its active generation`);
    }
    const ahead = this.ledger.lane(device).find((one) => one.row.seq < row.seq && waits(one));
    if (ahead !== undefined) this.#breach('head-only', `${name} was made while ${ahead.row.seq} waits`);
  }

  /** A copy is made only after a round in a slot that was not the old generation's any more. */
  #replacement(name: string, before: Operation | undefined, slot: number): void {
    const asked =
      (before?.lastRoundAt ?? 0) >= slot + profile.rotationMs || (before?.lastRoundAt ?? 0) < slot;
    if (!asked) this.#breach('generations', `${name} was made again before a round after its slot`);
  }

  #intents(device: string, before: MessageRow | undefined, row: MessageRow): void {
    const name = `${device} ${row.seq}`;
    for (const old of before?.operation?.intents ?? []) {
      const now = find(row.operation, old);
      if (now === undefined) this.#breach('intents', `${name}: the intent of ${old.relay} was erased`);
      else if (old.state === 'accepted' && now.state !== 'accepted') {
        this.#breach('intents', `${name}: ${old.relay} had accepted and is now ${now.state}`);
      } else if (isSameClaim(old, now) && old.untilMs !== now.untilMs) {
        this.#breach('intents', `${name}: the claim of ${old.relay} was prolonged`);
      }
    }
    for (const intent of row.operation?.intents ?? []) {
      if (intent.state !== 'accepted' || find(before?.operation, intent)?.state === 'accepted') continue;
      if (!this.evidence.accepted(device, intent.relay, intent.event)) {
        this.#breach('evidence', `${name}: ${intent.relay} never said that it has ${intent.event}`);
      }
    }
  }

  #counters(device: string): void {
    const counters = this.watch.counters(device);
    const lane = this.watch.messages(device).filter((row) => row.lane !== undefined);
    const bytes = lane.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
    if (counters === undefined) {
      if (lane.length > 0) this.#breach('counters', `${device} has no counters`);
      return;
    }
    if (counters.live !== lane.length) {
      this.#breach('counters', `${device} counts ${counters.live} entries of ${lane.length}`);
    }
    if (bytes > this.bytesMax) this.#breach('counters', `${device} holds ${bytes} bytes, more than it may`);
    if (counters.outboxBytes !== bytes) {
      this.#breach('counters', `${device} counts ${counters.outboxBytes} bytes of ${bytes}`);
    }
  }
}

/** Whatever a person presses, rounds are no closer than this. */
const leastPauseMs = 5_000;

function isExposed(row: MessageRow): boolean {
  return (row.operation?.generations.length ?? 0) > 0;
}

function find(operation: Operation | undefined, like: Intent): Intent | undefined {
  return operation?.intents.find((one) => one.relay === like.relay && one.event === like.event);
}

function isSameClaim(old: Intent, now: Intent): boolean {
  return old.state === 'leased' && now.state === 'leased' && old.attempt === now.attempt;
}
