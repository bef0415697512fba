import type { EventId, Slot } from '../../../src/core/ids';
import { limits } from '../../../src/core/limits';
import { slotOf } from '../../../src/core/wire/profile';
import { profile } from '../names';
import type { Checker, Commit, Watch } from '../watch';

/** What a site keeps of the graph it keeps for as many slots as promised, whatever its own clock says. */
export class RetentionChecker implements Checker {
  readonly #slots = new Map<EventId, Slot>();

  constructor(private readonly watch: Watch) {}

  committed(commit: Commit): void {
    for (const change of commit.changes) {
      if ('put' in change) {
        if (change.put === 'events') this.#slots.set(change.row.id, change.row.slot);
      } else if (change.remove === 'events') {
        this.#removed(commit, String(change.key[1]));
      }
    }
  }

  #removed(commit: Commit, id: EventId): void {
    const { world } = this.watch;
    const kept = slotOf(profile, world.now) - (limits.clientSlotsRetained - 1) * profile.rotationMs;
    const slot = this.#slots.get(id);
    if (slot === undefined || slot < kept) return;
    world.breach('forgotten', `${commit.site} forgets ${id} by ${commit.names.join('+')}`);
  }
}
