import { type EndOwner, goingAway, type Link, type Network, type Site } from '../network';
import type { Life, World } from '../world';

const redialMs = 4_000;
const redialMaxMs = 60_000;
const dialMs = 15_000;

/** Keeps a link to each of a site's others, as long as the life it was begun for lasts. */
export class Dialler {
  readonly #links = new Map<string, Link>();
  /** Dials in a row that came to nothing. */
  readonly #failures = new Map<string, number>();

  constructor(
    private readonly world: World,
    private readonly network: Network,
    private readonly site: Site,
    private readonly life: Life,
    /** The end that dials, once its link is open. */
    private readonly opened: (link: Link) => Omit<EndOwner, 'opened'>,
  ) {}

  dial(other: string): void {
    const holder: { link?: Link; owner?: Omit<EndOwner, 'opened'> } = {};
    const end: EndOwner = {
      opened: () => {
        this.#failures.delete(other);
        if (holder.link !== undefined) holder.owner = this.opened(holder.link);
      },
      frame: (bytes) => holder.owner?.frame(bytes),
      closed: (code) => {
        holder.owner?.closed(code);
        this.#redial(other);
      },
    };
    const link = this.network.dial(this.site, this.life, end, other);
    holder.link = link;
    this.#links.set(other, link);
    // Nobody answers and nobody refuses: tried again.
    this.world.park(this.life, 'looks after its dial', dialMs, () => {
      if (link.answering !== undefined || link.dialling.over) return;
      link.close('dialling', goingAway);
      this.#redial(other);
    });
  }

  /** A link was ended by the site itself. */
  ended(link: Link): void {
    if (this.#links.get(link.target) === link) this.#redial(link.target);
  }

  #redial(other: string): void {
    const failures = this.#failures.get(other) ?? 0;
    this.#failures.set(other, failures + 1);
    const longestMs = Math.min(redialMaxMs, redialMs * 2 ** failures);
    const pauseMs = this.world.random.between(longestMs >> 1, longestMs);
    this.world.park(this.life, `redials ${other}`, pauseMs, () => {
      if (this.#links.get(other)?.dialling.over !== false) this.dial(other);
    });
  }
}
