import type { ConversationId } from '../../core/ids';
import { type Ui, useUi } from '../context';
import { faceOf, markName, wordShown } from '../mark';
import type { MessageView } from '../model';
import { Mark, useFace } from '../parts/mark';
import { MessageText, Name } from '../parts/text';
import { Dropped } from './dropped';

const spokenMax = 300;

/** A message as one sentence: who, what, when, in which state. */
function spoken(ui: Ui, message: MessageView): string {
  const { texts, format, now, snapshot } = ui;
  const { mark } = message;
  const time = now.peek();
  const state = mark && markName(mark, faceOf(mark, time, snapshot.peek().kept), time, texts, format);
  const text = (message.text ?? texts.unreadable).slice(0, spokenMax);
  const who = message.own ? texts.you : message.nick;
  return [`${who}: ${text}`, format.time(message.at), state].filter((part) => part !== undefined).join(', ');
}

/** One message with its name, time and mark as its place in the group asks for. */
export function Message(props: {
  conversation: ConversationId;
  message: MessageView;
  first: boolean;
  last: boolean;
  focusable: boolean;
}) {
  const ui = useUi();
  const { message, first, last } = props;
  const { texts, format } = ui;
  if (message.mark?.state === 'dropped') return <Dropped {...props} mark={message.mark} />;
  if (message.text === undefined) {
    return (
      <article class="message unreadable" data-seq={message.seq} tabIndex={props.focusable ? 0 : -1}>
        <p>{texts.unreadable}</p>
        <Time at={message.at} />
      </article>
    );
  }
  return (
    <article
      class={`message ${message.own ? 'own' : 'in'} ${first ? 'starts' : ''} ${last ? 'ends' : ''}`}
      aria-label={spoken(ui, message)}
      data-seq={message.seq}
      data-own={message.own}
      tabIndex={props.focusable ? 0 : -1}
    >
      {!message.own && (first || message.authorTime !== undefined) && (
        <p class="author">
          {first && <Name name={message.nick} />}
          {message.authorTime !== undefined && (
            <span class="author-clock">
              {texts.authorClock(format.short(message.authorTime, message.at))}
            </span>
          )}
        </p>
      )}
      <div class="bubble">
        <MessageText text={message.text} />
      </div>
      {message.mark ? (
        <OwnFoot {...props} mark={message.mark} />
      ) : (
        last && (
          <p class="foot">
            <Time at={message.at} />
          </p>
        )
      )}
    </article>
  );
}

/** When a message was accepted or received on this device. */
function Time({ at }: { at: number }) {
  const { format } = useUi();
  return (
    <time dateTime={format.iso(at)} title={format.full(at)}>
      {format.time(at)}
    </time>
  );
}

/** Time and mark under an own message; inside a group the shape alone, unless the state has to be read. */
function OwnFoot(props: {
  conversation: ConversationId;
  message: MessageView;
  last: boolean;
  mark: NonNullable<MessageView['mark']>;
}) {
  const { router } = useUi();
  const { now } = useFace(props.mark);
  const words = wordShown(props.mark, now, props.last);
  return (
    <p class={`foot ${words ? '' : 'foot-glyph'}`}>
      {words && <Time at={props.message.at} />}
      <Mark
        mark={props.mark}
        words={words}
        onOpen={() => router.go({ at: 'message', conversation: props.conversation, seq: props.message.seq })}
      />
    </p>
  );
}
