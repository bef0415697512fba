import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { ConversationId } from '../../core/ids';
import { limits } from '../../core/limits';
import { type Compose, keyMeans } from '../compose';
import { refusalText, type Ui, useUi } from '../context';
import { editingOf, withEditing } from '../editing';
import { lastEditable } from '../hand';
import { visible } from '../names';
import { Icon } from '../parts/icons';
import { enterSends } from '../preferences';

/** Share of the bound from which the bytes left are shown. */
const counterShare = 0.8;

/** Where a message is written. Its text is kept per conversation and leaves the field only after the commit. */
export function Composer({ conversation, name }: { conversation: ConversationId; name: string }) {
  const ui = useUi();
  const { texts, commands, composers, snapshot, preferences } = ui;
  const field = composers.field(conversation).value;
  const area = useRef<HTMLTextAreaElement>(null);
  const { kept, timeline } = snapshot.value;
  const draft = timeline?.conversation === conversation ? timeline.draft : undefined;
  useLayoutEffect(() => {
    if (draft !== undefined) composers.load(conversation, draft);
  }, [conversation, draft !== undefined]);
  // What was typed is stored when the conversation is left; page and tab are looked after by the root.
  useEffect(() => () => void composers.flush(), [conversation, composers]);
  useFocusOnTaken(area, field);
  const sends = enterSends(preferences.enter.value, window);
  const over = visible(field.text) ? commands.bytesOver(conversation, field.text.trimEnd()) : 0;
  const press = () => {
    composers.press(conversation);
    area.current?.focus();
  };
  return (
    <form
      class="composer"
      data-kept={kept}
      data-pane
      tabIndex={-1}
      onSubmit={(event) => {
        event.preventDefault();
        press();
      }}
    >
      <WaitLine conversation={conversation} />
      <div class="composer-line">
        <label class="hidden-visually" for="composer">
          {texts.messageTo(name)}
        </label>
        <textarea
          id="composer"
          ref={area}
          rows={1}
          dir="auto"
          autocapitalize="sentences"
          enterkeyhint={sends ? 'send' : 'enter'}
          placeholder={texts.messageTo(name)}
          value={field.text}
          aria-describedby="composer-hint composer-refusal"
          onInput={(event) => composers.edit(conversation, event.currentTarget.value)}
          onKeyDown={(event) => {
            const up = reachesUp(event) && upFrom(ui, conversation);
            const means = keyMeans(event, sends);
            if (up || means !== 'field') event.preventDefault();
            if (means === 'send') press();
          }}
        />
        <SendButton over={over} empty={!visible(field.text)} storing={field.storing !== undefined} />
      </div>
      <Foot conversation={conversation} over={over} sends={sends} />
    </form>
  );
}

/** A text taken over from the details is written on, once they are closed. */
function useFocusOnTaken(area: RefObject<HTMLTextAreaElement | null>, field: Compose): void {
  const { router } = useUi();
  const taken = field.from !== undefined && router.route.value.at === 'conversation';
  useEffect(() => {
    if (taken) area.current?.focus();
  }, [taken, area]);
}

/** True for the arrow up in an empty field. */
function reachesUp(event: KeyboardEvent): boolean {
  const plain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.isComposing);
  const { target } = event;
  return event.key === 'ArrowUp' && plain && target instanceof HTMLTextAreaElement && target.value === '';
}

/** Opens the last waiting message that can still be changed, else goes to the last row; false when there is neither. */
function upFrom({ snapshot, editing, router }: Ui, conversation: ConversationId): boolean {
  const { timeline } = snapshot.peek();
  const messages = timeline?.conversation === conversation ? timeline.messages : [];
  const message = lastEditable(messages);
  if (message?.text !== undefined) {
    const { seq, text } = message;
    if (!editingOf(editing.peek(), conversation, seq)) {
      editing.value = withEditing(editing.peek(), { conversation, seq, before: text, text });
    }
    router.go({ at: 'message', conversation, seq });
    return true;
  }
  const rows = document.querySelectorAll<HTMLElement>('.timeline article');
  rows[rows.length - 1]?.focus();
  return rows.length > 0;
}

/** The button that sends. The network never turns it off; a text that is too long does, with the reason in its name. */
function SendButton({ over, empty, storing }: { over: number; empty: boolean; storing: boolean }) {
  const { texts } = useUi();
  return (
    <button
      type="submit"
      class="send"
      aria-label={over > 0 ? texts.sendOver(over) : texts.send}
      title={texts.send}
      aria-disabled={over > 0 || empty}
      aria-busy={storing}
    >
      <Icon name="send" />
      {storing && <span class="send-ring" />}
    </button>
  );
}

/** The lines under the field: why it was refused, whose name is used, what Enter does, how much room is left. */
function Foot(props: { conversation: ConversationId; over: number; sends: boolean }) {
  const ui = useUi();
  const { texts, composers, snapshot } = ui;
  const { refusal, text, from } = composers.field(props.conversation).value;
  const unsaved = composers.unsaved(props.conversation).value;
  const { kept, nick } = snapshot.value;
  const problem = props.over > 0 ? texts.over(props.over) : refusal && refusalText(ui, refusal);
  const hint = props.sends
    ? texts.enterSends
    : !window.matchMedia('(pointer: coarse)').matches && texts.enterLine;
  const parts = [nick !== undefined && texts.as(nick), hint].filter((part) => part !== false);
  const close = text !== '' && props.over <= 0 && -props.over < limits.textBytesMax * (1 - counterShare);
  return (
    <div class="composer-foot">
      <p id="composer-refusal" class="problem">
        {problem && (
          <>
            <Icon name="warn" /> <span>{problem}</span>
          </>
        )}
        {!problem && unsaved && texts.draftLost}
      </p>
      {from && <p class="hint taken-note">{texts.takenNote[from]}</p>}
      <p id="composer-hint" class="hint">
        {!kept && <span class="not-kept">{texts.onlyThisTab} · </span>}
        <span>{parts.join(' · ')}</span>
        {close && <span class="bytes">{texts.left(-props.over)}</span>}
      </p>
    </div>
  );
}

/** Says that what was written here waits behind a message of another conversation. */
function WaitLine({ conversation }: { conversation: ConversationId }) {
  const { texts, snapshot, router } = useUi();
  const { queue, timeline } = snapshot.value;
  const { head } = queue;
  const waitsHere =
    timeline?.conversation === conversation &&
    timeline.messages.some((message) => message.mark?.state === 'queued');
  if (head?.mark.state !== 'on-hold' || head.conversation === conversation || !waitsHere) return null;
  return (
    <p class="wait-line">
      {texts.waitBehind(head.name)}{' '}
      <button
        type="button"
        class="link"
        onClick={() =>
          router.go(
            head.seq === undefined
              ? { at: 'conversation', conversation: head.conversation }
              : { at: 'message', conversation: head.conversation, seq: head.seq },
          )
        }
      >
        {texts.showIt}
      </button>
    </p>
  );
}
