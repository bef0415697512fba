import { refusalText, useUi } from '../context';
import { Icon } from '../parts/icons';
import { Mark } from '../parts/mark';
import { AddRelay, RelayList } from './relays';

/** What leaves, through whom, and which part of this browser does it. `typed`: an address the first screen left. */
export function Network({ typed }: { typed: string }) {
  const ui = useUi();
  const { texts, commands, announce } = ui;
  const remove = async (url: string) => {
    const refusal = await commands.removeRelay(url).catch(() => ({ refused: 'gone' }) as const);
    announce(refusal ? refusalText(ui, refusal) : texts.relayRemoved, refusal !== undefined);
  };
  return (
    <div class="page">
      <Outbox />
      <section>
        <h2>{texts.relays}</h2>
        <RelayList empty={texts.noRelays} onRemove={(url) => void remove(url)} />
        <AddRelay typed={typed} />
      </section>
      <ThisBrowser />
    </div>
  );
}

/** How much waits, and what is at the head of the line. */
function Outbox() {
  const { texts, format, snapshot, router } = useUi();
  const { queue } = snapshot.value;
  const { head } = queue;
  return (
    <section>
      <h2>{texts.outbox}</h2>
      <div class="card">
        <p class="figure">
          {queue.waiting > 0 ? texts.outboxWaiting(queue.waiting) : texts.outboxEmpty}
          <span class="quiet">{texts.ofBytes(format.bytes(queue.bytes), format.bytes(queue.bytesMax))}</span>
        </p>
        <progress
          aria-label={texts.ofBytes(format.bytes(queue.bytes), format.bytes(queue.bytesMax))}
          value={queue.bytes}
          max={Math.max(1, queue.bytesMax)}
        />
        {head && (
          <div class="head-line">
            {head.seq === undefined ? (
              <span>{texts.headLine(head.name)}</span>
            ) : (
              <button
                type="button"
                class="link"
                onClick={() =>
                  router.go({ at: 'message', conversation: head.conversation, seq: head.seq ?? 0 })
                }
              >
                {texts.headLine(head.name)}
                <Icon name="next" />
              </button>
            )}
            <Mark mark={head.mark} words />
          </div>
        )}
        <p class="hint">{texts.orderNote}</p>
      </div>
    </section>
  );
}

/** The realms behind this page. */
function ThisBrowser() {
  const { texts, snapshot } = useUi();
  const { network } = snapshot.value;
  return (
    <section>
      <h2>{texts.thisBrowser}</h2>
      <dl class="card facts">
        <dt>{texts.engine}</dt>
        <dd>{texts.engineIs[network.engine]}</dd>
        <dt>{texts.carrier}</dt>
        <dd>{texts.carrierIs[network.carrier]}</dd>
        <dt>{texts.whenClosed}</dt>
        <dd>{network.sendsWhenClosed ? texts.whenClosedYes : texts.whenClosedNo}</dd>
      </dl>
    </section>
  );
}
