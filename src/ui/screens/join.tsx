import { useState } from 'preact/hooks';
import { refusalText, useUi } from '../context';
import { checkChannel, checkSecret } from '../names';
import { Field, IconButton, Sheet } from '../parts/controls';

/** Joins a channel by its name, with a secret for a closed one. */
export function Join() {
  const ui = useUi();
  const { texts, commands, router } = ui;
  const [name, setName] = useState('');
  const [secret, setSecret] = useState('');
  const [problems, setProblems] = useState<{ name?: string; secret?: string }>({});
  const [busy, setBusy] = useState(false);
  const join = async () => {
    const channel = checkChannel(name);
    const key = checkSecret(secret);
    if ('problem' in channel) return setProblems({ name: texts.problem[channel.problem] });
    if ('problem' in key) return setProblems({ secret: texts.problem[key.problem] });
    setBusy(true);
    const answer = await commands.join(channel.value, key.value).catch(() => ({ refused: 'gone' }) as const);
    setBusy(false);
    if ('conversation' in answer) router.go({ at: 'conversation', conversation: answer.conversation });
    else setProblems({ [answer.refused === 'bad-secret' ? 'secret' : 'name']: refusalText(ui, answer) });
  };
  return (
    <Sheet label={texts.join}>
      <div class="sheet-head">
        <h2>{texts.join}</h2>
        <IconButton icon="close" name={texts.close} onClick={() => router.up()} />
      </div>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy) void join();
        }}
      >
        <Field
          label={texts.channelName}
          value={name}
          hint={texts.channelHint}
          problem={problems.name}
          focus
          onInput={(text) => {
            setName(text);
            setProblems({});
          }}
        />
        <Field
          label={texts.channelSecret}
          kind="secret"
          optional
          value={secret}
          hint={texts.secretHint}
          problem={problems.secret}
          onInput={(text) => {
            setSecret(text);
            setProblems({});
          }}
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
    </Sheet>
  );
}
