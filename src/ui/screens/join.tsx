import { useState } from 'preact/hooks';
import { refusalText, useUi } from '../context';
import { checkChannel, checkSecret } from '../names';
import { Field } from '../parts/controls';

/** What the sheet holds, and what Join does with it. */
function useJoin() {
  const ui = useUi();
  const { texts, commands, router } = ui;
  const [typed, setTyped] = useState({ name: '', secret: '' });
  const [problems, setProblems] = useState<{ name?: string; secret?: string }>({});
  const [busy, setBusy] = useState(false);
  const type = (part: 'name' | 'secret') => (text: string) => {
    setTyped((before) => ({ ...before, [part]: text }));
    setProblems({});
  };
  const join = async () => {
    const channel = checkChannel(typed.name);
    const key = checkSecret(typed.secret);
    if (busy) return;
    if ('problem' in channel) return setProblems({ name: texts.problem[channel.problem] });
    if ('problem' in key) return setProblems({ secret: texts.problem[key.problem] });
    setBusy(true);
    const answer = await commands.join(channel.value, key.value).catch(() => ({ refused: 'gone' }) as const);
    setBusy(false);
    if ('conversation' in answer) router.go({ at: 'conversation', conversation: answer.conversation });
    else setProblems({ [answer.refused === 'bad-secret' ? 'secret' : 'name']: refusalText(ui, answer) });
  };
  return { typed, problems, busy, type, join };
}

/** Joins a channel by its name, with a secret for a closed one. */
export function Join() {
  const { texts, router } = useUi();
  const { typed, problems, busy, type, join } = useJoin();
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void join();
      }}
    >
      <Field
        label={texts.channelName}
        value={typed.name}
        hint={texts.channelHint}
        problem={problems.name}
        focus
        onInput={type('name')}
      />
      <Field
        label={texts.channelSecret}
        kind="secret"
        optional
        value={typed.secret}
        hint={texts.secretHint}
        problem={problems.secret}
        onInput={type('secret')}
      />
      <div class="actions">
        <button type="button" onClick={() => router.up()}>
          {texts.cancel}
        </button>
        <button type="submit" class="primary" aria-busy={busy}>
          {texts.joinButton}
        </button>
      </div>
    </form>
  );
}
