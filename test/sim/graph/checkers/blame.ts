import { decodeEventPutStatus } from '../../../../src/core/wire/event-put';
import { decodeFrame } from '../../../../src/core/wire/frame';
import { profile } from '../../names';
import type { Checker, Passing, Watch } from '../../watch';

/** What honest peers say of each other's events: never that one is invalid, for none of them hands such a one on. */
export class BlameChecker implements Checker {
  /** Events of liars that honest peers refused as invalid. */
  refused = 0;
  readonly said = new Map<string, number>();

  constructor(private readonly watch: Watch) {}

  sent(frame: Passing): void {
    if (frame.kind !== 'EventPutStatus' || !this.watch.isHonest(frame.from)) return;
    const { id, result } = decodeEventPutStatus(decodeFrame(profile.magic, frame.bytes).payload);
    const word = result.type === 'has' ? `has-${result.inserted}` : result.reason;
    this.said.set(word, (this.said.get(word) ?? 0) + 1);
    if (word !== 'invalid') return;
    if (this.watch.isHonest(frame.to)) {
      this.watch.world.breach('blamed', `${frame.from} calls ${id} of ${frame.to} invalid`);
    } else this.refused += 1;
  }
}
