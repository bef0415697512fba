import { effect, type ReadonlySignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { limits } from '../../core/limits';
import { refusalText, useUi } from '../context';
import type { Snapshot } from '../model';
import { checkAddress, checkNick } from '../names';
import { Field } from '../parts/controls';
import { ChainPicture, Logo } from '../parts/icons';
import { RelayList } from './relays';

/** What the first screen holds, and what Start does with it. */
function useStart(onAddressLeft: (typed: string) => void) {
  const ui = useUi();
  const { texts, commands, snapshot } = ui;
  const [nick, setNick] = useState('');
  const [address, setAddress] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const addTyped = async () => {
    if (address.trim() === '') return;
    await whenReady(snapshot);
    // A relay that cannot be used never stops the start: what was typed waits on the network screen with its reason.
    const known = snapshot.peek().network.relays.map(({ url }) => url);
    const relay = checkAddress(address, known);
    const refused =
      'problem' in relay ? relay.problem !== 'address-known' : await commands.addRelay(relay.value);
    if (refused) onAddressLeft(address);
  };
  const start = async () => {
    const checked = checkNick(nick);
    if (busy) return;
    if ('problem' in checked) return setProblem(texts.problem[checked.problem]);
    // Busy until this screen goes: a second press would make a second account.
    setBusy(true);
    const refusal = await commands.start(checked.value).catch(() => ({ refused: 'gone' }) as const);
    if (!refusal) return addTyped();
    setBusy(false);
    setProblem(refusalText(ui, refusal));
  };
  const typeNick = (text: string) => {
    setNick(text);
    setProblem(undefined);
  };
  return { nick, typeNick, address, setAddress, problem, busy, start };
}

/** The first screen: a name, and a relay for those who have one. Start needs nothing but the name. */
export function FirstRun({ onAddressLeft }: { onAddressLeft: (typed: string) => void }) {
  const { texts, snapshot } = useUi();
  const { nick, typeNick, address, setAddress, problem, busy, start } = useStart(onAddressLeft);
  const { length } = nick.trim();
  const most = limits.nickBytesMax;
  const relays = snapshot.value.network.relays.length;
  return (
    <div class="first">
      <div class="first-picture">
        <ChainPicture />
      </div>
      <main class="first-column" data-pane tabIndex={-1}>
        <p class="brand">
          <Logo /> Holdfast
        </p>
        <h1>{texts.tagline}</h1>
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void start();
          }}
        >
          <Field
            label={texts.nickLabel}
            value={nick}
            hint={texts.nickHint}
            problem={problem}
            note={length > most * 0.8 ? texts.lettersOfMax(length, most) : undefined}
            focus
            onInput={typeNick}
          />
          <details class="first-relays" open={relays > 0}>
            <summary>{texts.relaysLine(relays)}</summary>
            <RelayList empty={texts.relaysNone} />
            <Field
              label={texts.relayOptional}
              kind="url"
              value={address}
              hint={texts.relayOptionalHint}
              onInput={setAddress}
            />
          </details>
          <button type="submit" class="primary wide" aria-busy={busy}>
            {texts.start}
          </button>
        </form>
      </main>
    </div>
  );
}

/** Resolves when the account just made is on the screen: a relay belongs to it. */
function whenReady(snapshot: ReadonlySignal<Snapshot>): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (snapshot.value.phase !== 'ready') return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}

/** Shown in place of everything while the store of this browser cannot be used. */
export function Unavailable() {
  const { texts, snapshot } = useUi();
  const { trouble } = snapshot.value;
  const known = Object.entries(texts.trouble).find(([key]) => key === trouble)?.[1];
  return (
    <main class="alone" data-pane tabIndex={-1}>
      <p class="brand">
        <Logo /> Holdfast
      </p>
      <h1>{texts.unavailableTitle}</h1>
      <p>{texts.unavailableWhat}</p>
      {trouble && (
        <p class="trouble">
          <bdi>{known ?? trouble}</bdi>
        </p>
      )}
      <p>{texts.unavailableSafe}</p>
      <p>{texts.unavailableDo}</p>
      <button type="button" class="primary" onClick={() => location.reload()}>
        {texts.tryAgain}
      </button>
    </main>
  );
}

/** Shown until the first rows are read: nothing at first, then shapes, then words. */
export function Starting() {
  const { texts } = useUi();
  return (
    <main class="alone starting" aria-busy="true" data-pane tabIndex={-1}>
      <h1 class="hidden-visually">{texts.starting}</h1>
      <Logo />
      <p class="late">{texts.startingLong}</p>
    </main>
  );
}
