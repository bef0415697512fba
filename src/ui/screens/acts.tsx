import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ConversationId } from '../../core/ids';
import { type Ui, useUi } from '../context';
import { withEditing } from '../editing';
import { dropQuestion, exposed, undoable, waits } from '../hand';
import type { MarkView } from '../model';
import { handRefusalText, noAnswer, takeBack } from '../undo';

/** The message that is acted on, as the details show it. */
export interface Acted {
  readonly conversation: ConversationId;
  readonly seq: number;
  readonly mark: MarkView;
  /** Absent when it could not be read: there is then nothing to change or to take over. */
  readonly text: string | undefined;
}

/** A button with the letter that presses it, underlined where its word has it. */
function KeyedButton(props: { label: string; letter: string; onClick: () => void }) {
  const { label, letter } = props;
  const at = label.toLowerCase().indexOf(letter);
  return (
    <button type="button" aria-keyshortcuts={letter} title={letter.toUpperCase()} onClick={props.onClick}>
      {at < 0 ? (
        label
      ) : (
        // One box, so that the button sets no gap between the letters.
        <span>
          {label.slice(0, at)}
          <u>{label.charAt(at)}</u>
          {label.slice(at + 1)}
        </span>
      )}
    </button>
  );
}

/** Presses one of `keys` by its letter, anywhere in the details but in a field. */
function useLetters(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  // With the layout, not after the paint: a key pressed the moment the buttons are seen must count.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const { target } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
      if (target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement) return;
      const act = latest.current[event.key.toLowerCase()];
      if (!act) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
}

/** Puts a text into the message field and goes there. */
export function takeOver(
  ui: Ui,
  acted: Pick<Acted, 'conversation'>,
  text: string,
  from: 'version' | 'again',
) {
  ui.composers.take(acted.conversation, text, from);
  ui.announce(`${ui.texts.saidTaken} ${ui.texts.takenNote[from]}`);
  ui.router.up();
}

/** What can be done to a waiting message, each once at a time; `say` shows the answer. */
function useActs(acted: Acted, say: (said: string | undefined) => void) {
  const ui = useUi();
  const { commands, editing, texts } = ui;
  const [asking, setAsking] = useState(false);
  const busy = useRef(false);
  const { conversation, seq, text } = acted;
  const alone = async (work: () => Promise<string | undefined>) => {
    if (busy.current) return;
    busy.current = true;
    say(undefined);
    say(await work());
    busy.current = false;
  };
  return {
    asking,
    setAsking,
    tryNow: () =>
      alone(async () => {
        const refusal = await commands.retryNow(conversation, seq).catch(noAnswer);
        return refusal === undefined ? texts.tryDue : handRefusalText(ui, refusal);
      }),
    change: () => {
      say(undefined);
      if (text === undefined) return;
      if (exposed(acted.mark)) takeOver(ui, acted, text, 'version');
      else editing.value = withEditing(editing.peek(), { conversation, seq, before: text, text });
    },
    drop: () =>
      alone(async () => {
        const answer = await commands.drop(conversation, seq).catch(noAnswer);
        setAsking(false);
        return 'refused' in answer ? handRefusalText(ui, answer) : texts.saidDropped;
      }),
    undo: () => alone(() => takeBack(ui, conversation, { seq, ...(text !== undefined && { text }) })),
    again: () => text !== undefined && takeOver(ui, acted, text, 'again'),
  };
}

/** Asks before a message is taken out of the line. */
function DropQuestion(props: { mark: MarkView; onDrop: () => void; onKeep: () => void }) {
  const { texts } = useUi();
  const about = useId();
  return (
    <>
      <p id={about}>{dropQuestion(props.mark, texts)}</p>
      <button type="button" aria-describedby={about} onClick={props.onDrop}>
        {texts.drop}
      </button>
      <button type="button" class="primary" data-first aria-describedby={about} onClick={props.onKeep}>
        {texts.keep}
      </button>
    </>
  );
}

/** The buttons under the details of a message that waits, or that was dropped. */
export function Acts({ acted, say }: { acted: Acted; say: (said: string | undefined) => void }) {
  const { texts, now } = useUi();
  const { mark, text } = acted;
  const acts = useActs(acted, say);
  const box = useRef<HTMLElement>(null);
  const drawn = useRef(false);
  // Buttons that were pressed give way to others: the focus goes to them and never out of the details.
  useLayoutEffect(() => {
    const first =
      box.current?.querySelector<HTMLElement>('[data-first]') ?? box.current?.querySelector('button');
    if (drawn.current && !box.current?.contains(document.activeElement)) first?.focus();
    drawn.current = true;
  }, [acts.asking, mark.state === 'dropped']);
  const open = waits(mark) && !acts.asking;
  const ask = () => {
    say(undefined);
    acts.setAsking(true);
  };
  useLetters(open ? { t: () => void acts.tryNow(), e: acts.change, d: ask } : {});
  return (
    <section class="acts" ref={box} aria-label={texts.doWith}>
      {waits(mark) && acts.asking && (
        <DropQuestion mark={mark} onDrop={() => void acts.drop()} onKeep={() => acts.setAsking(false)} />
      )}
      {open && (
        <>
          <KeyedButton label={texts.tryNow} letter="t" onClick={() => void acts.tryNow()} />
          {text !== undefined && (
            <KeyedButton
              label={exposed(mark) ? texts.newVersion : texts.edit}
              letter="e"
              onClick={acts.change}
            />
          )}
          <KeyedButton label={texts.drop} letter="d" onClick={ask} />
        </>
      )}
      {mark.state === 'dropped' && undoable(mark, now.value) && (
        <button type="button" class="primary" onClick={() => void acts.undo()}>
          {texts.undo}
        </button>
      )}
      {mark.state === 'dropped' && !undoable(mark, now.value) && text !== undefined && (
        <button type="button" onClick={acts.again}>
          {texts.writeAgain}
        </button>
      )}
    </section>
  );
}
