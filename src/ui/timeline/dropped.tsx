import { useState } from 'preact/hooks';
import type { ConversationId } from '../../core/ids';
import { useUi } from '../context';
import { droppedWords, undoable } from '../hand';
import type { MarkView, MessageView } from '../model';
import { Mark } from '../parts/mark';
import { takeBack } from '../undo';

/** What is left of a dropped message: one grey line, with the way back while there is one. */
export function Dropped(props: {
  conversation: ConversationId;
  message: MessageView;
  mark: MarkView;
  focusable: boolean;
}) {
  const ui = useUi();
  const { texts, format, now, router } = ui;
  const { conversation, message, mark } = props;
  const [problem, setProblem] = useState<string>();
  const words = droppedWords(mark, texts, format);
  const { seq } = message;
  return (
    <article
      class="message own dropped"
      aria-label={words}
      data-seq={seq}
      data-own="true"
      tabIndex={props.focusable ? 0 : -1}
    >
      <p class="foot">
        <Mark mark={mark} words={false} onOpen={() => router.go({ at: 'message', conversation, seq })} />
        <span>{words}</span>
        {undoable(mark, now.value) && (
          <button
            type="button"
            class="link"
            onClick={() => void takeBack(ui, conversation, message).then(setProblem)}
          >
            {texts.undo}
          </button>
        )}
      </p>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </article>
  );
}
