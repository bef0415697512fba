import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { keyMeans } from '../compose';
import { type Ui, useUi } from '../context';
import { type Editing, withEditing, withoutEditing } from '../editing';
import { exposed, waits } from '../hand';
import type { MarkView, Refusal } from '../model';
import { visible } from '../names';
import { Icon } from '../parts/icons';
import { handRefusalText, noAnswer } from '../undo';

/** Stores the changed text of a waiting message, once however often it is pressed. */
function useSaving(edit: Editing, onDone: (said: string) => void) {
  const { commands, editing, texts } = useUi();
  const busy = useRef(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const write = (text: string) => {
    setRefusal(undefined);
    editing.value = withEditing(editing.peek(), {
      conversation: edit.conversation,
      seq: edit.seq,
      before: edit.before,
      text,
    });
  };
  const save = async () => {
    const text = edit.text.trimEnd();
    if (busy.current) return;
    const command = edit.command ?? commands.newCommand();
    editing.value = withEditing(editing.peek(), { ...edit, command });
    busy.current = true;
    const answer =
      text === edit.before
        ? undefined
        : await commands.editQueued(edit.conversation, edit.seq, text, command).catch(noAnswer);
    busy.current = false;
    setRefusal(answer);
    if (answer !== undefined) return;
    editing.value = withoutEditing(editing.peek(), edit);
    onDone(texts.editSaved);
  };
  return { refusal, write, save };
}

/** What stands against the text as it is, and whether the message can be changed at all any more. */
function judged(ui: Ui, edit: Editing, mark: MarkView, refusal: Refusal | undefined) {
  const { texts, commands } = ui;
  const seen = visible(edit.text);
  const over = seen ? commands.bytesOver(edit.conversation, edit.text.trimEnd()) : 0;
  const late = !waits(mark) ? texts.handGone : exposed(mark) ? texts.refused.exposed : undefined;
  const spent = late !== undefined || refusal?.refused === 'exposed' || refusal?.refused === 'gone';
  const refused = refusal === undefined ? undefined : handRefusalText(ui, refusal);
  return { seen, over, spent, problem: late ?? (over > 0 ? texts.over(over) : refused) };
}

/**
 * The text of a waiting message as a field. Once a copy exists the text can no longer be changed; what was typed is
 * then offered as a message of its own.
 */
export function EditText(props: {
  edit: Editing;
  mark: MarkView;
  onDone: (said: string) => void;
  onNewVersion: (text: string) => void;
}) {
  const ui = useUi();
  const { texts } = ui;
  const { edit, mark } = props;
  const { refusal, write, save } = useSaving(edit, props.onDone);
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => area.current?.focus(), []);
  const { seen, over, spent, problem } = judged(ui, edit, mark, refusal);
  const press = () => {
    if (spent) props.onNewVersion(edit.text.trimEnd());
    else if (seen && over <= 0) void save();
  };
  return (
    <form
      class="edit-text"
      onSubmit={(event) => {
        event.preventDefault();
        press();
      }}
    >
      <label for="edit-text">{texts.editLabel}</label>
      <textarea
        id="edit-text"
        ref={area}
        rows={3}
        dir="auto"
        value={edit.text}
        aria-invalid={problem !== undefined}
        aria-describedby="edit-problem"
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (keyMeans(event, false) !== 'send') return;
          event.preventDefault();
          press();
        }}
      />
      <p class="problem" id="edit-problem" role="alert">
        {problem !== undefined && (
          <>
            <Icon name="warn" /> <span>{problem}</span>
          </>
        )}
      </p>
      <EditButtons
        edit={edit}
        words={spent ? texts.newVersion : texts.editSave}
        over={spent ? 0 : over}
        off={!seen}
      />
    </form>
  );
}

/** The two ways out of the field; the one that stores names the bytes that stand in its way. */
function EditButtons(props: { edit: Editing; words: string; over: number; off: boolean }) {
  const { texts, editing } = useUi();
  const { edit, words, over } = props;
  return (
    <div class="actions">
      <button
        type="button"
        onClick={() => {
          editing.value = withoutEditing(editing.peek(), edit);
        }}
      >
        {texts.cancel}
      </button>
      <button
        type="submit"
        class="primary"
        aria-label={over > 0 ? `${words}, ${texts.over(over)}` : undefined}
        aria-disabled={props.off || over > 0}
      >
        {words}
      </button>
    </div>
  );
}
