import { useState } from 'preact/hooks';
import { refusalText, useUi } from '../context';
import type { RelayView } from '../model';
import { checkAddress, shownAddress } from '../names';
import { Field, IconButton } from '../parts/controls';
import { Icon } from '../parts/icons';

/** The relays with their state in words. With `onRemove` each can be taken out. */
export function RelayList(props: { empty: string; onRemove?: (url: string) => void }) {
  const { texts, snapshot } = useUi();
  const { relays } = snapshot.value.network;
  if (relays.length === 0) return <p class="quiet">{props.empty}</p>;
  return (
    <ul class="relays">
      {relays.map((relay) => (
        <li key={relay.url} class="relay">
          <RelayLine relay={relay} />
          {props.onRemove && (
            <IconButton
              icon="close"
              name={texts.removeRelay(shownAddress(relay.url))}
              onClick={() => props.onRemove?.(relay.url)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

/** Shape of a relay's state; the word stands beside it. */
function stateIcon(state: RelayView['state']) {
  if (state === 'answering' || state === 'catching-up') return 'state-answering';
  if (state === 'connecting') return 'state-connecting';
  return state === 'not-now' ? 'state-not-now' : 'state-no';
}

/** One relay: address, state, and what is known of it. */
function RelayLine({ relay }: { relay: RelayView }) {
  const { texts, format, snapshot } = useUi();
  const { now } = snapshot.value;
  const icon = stateIcon(relay.state);
  const facts = [
    texts.relayState[relay.state],
    // Measured while it answered: beside "not now" it would speak of a relay that is not there.
    relay.latencyMs === undefined || icon !== 'state-answering'
      ? undefined
      : texts.milliseconds(Math.round(relay.latencyMs)),
    relay.lastEventAt === undefined ? undefined : texts.lastEvent(format.short(relay.lastEventAt, now)),
    relay.nextTryAt === undefined
      ? undefined
      : relay.nextTryAt - now < 60_000
        ? texts.nextSoon
        : texts.nextAbout(format.time(relay.nextTryAt)),
  ].filter((fact) => fact !== undefined);
  return (
    <div class="relay-line" data-state={relay.state}>
      <Icon name={icon} />
      <div>
        <bdi class="address">{shownAddress(relay.url)}</bdi>
        <p class="quiet">{facts.join(' · ')}</p>
      </div>
    </div>
  );
}

/** The form that adds a relay. What was typed stays until it is added. */
export function AddRelay({ typed }: { typed: string }) {
  const ui = useUi();
  const { texts, commands, snapshot, announce } = ui;
  const [address, setAddress] = useState(typed);
  const [problem, setProblem] = useState<string | undefined>(() => {
    const checked = checkAddress(typed);
    return typed !== '' && 'problem' in checked ? texts.problem[checked.problem] : undefined;
  });
  const add = async () => {
    const known = snapshot.peek().network.relays.map(({ url }) => url);
    const checked = checkAddress(address, known);
    if ('problem' in checked) {
      setProblem(texts.problem[checked.problem]);
      return;
    }
    const refusal = await commands.addRelay(checked.value).catch(() => ({ refused: 'gone' }) as const);
    if (refusal) {
      setProblem(refusalText(ui, refusal));
      return;
    }
    setAddress('');
    announce(texts.relayAdded);
  };
  return (
    <form
      class="add-relay"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <Field
        label={texts.addRelay}
        kind="url"
        value={address}
        problem={problem}
        onInput={(text) => {
          setAddress(text);
          setProblem(undefined);
        }}
      />
      <button type="submit">{texts.add}</button>
    </form>
  );
}
