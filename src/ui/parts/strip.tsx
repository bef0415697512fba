import { useUi } from '../context';
import { stripText, stripTone } from '../strip';
import { Icon } from './icons';

/** The one line that says what is wrong or under way, on every screen; nothing when there is nothing to say. */
export function Strip() {
  const { strip, snapshot, texts, format, commands, composers, router } = useUi();
  const cause = strip.value;
  if (!cause) return null;
  const shown = snapshot.value;
  const tone = stripTone(cause);
  const text = stripText(cause, shown, texts, format);
  const icon = <Icon name={tone === 'quiet' ? 'wave' : 'warn'} />;
  if (cause === 'update') {
    return (
      <p class="strip" data-tone={tone} data-cause={cause}>
        {icon}
        <span class="strip-text">{text}</span>
        <button
          type="button"
          class="link"
          onClick={() => void composers.flush().then((stored) => stored && commands.useUpdate())}
        >
          {texts.strip.useIt}
        </button>
      </p>
    );
  }
  const head = shown.queue.head;
  const toHead = (cause === 'on-hold' || cause === 'unanswered') && head?.seq !== undefined;
  return (
    <button
      type="button"
      class="strip"
      data-tone={tone}
      data-cause={cause}
      onClick={() =>
        router.go(
          toHead && head?.seq !== undefined
            ? { at: 'message', conversation: head.conversation, seq: head.seq }
            : { at: 'network' },
        )
      }
    >
      {icon}
      <span class="strip-text">{text}</span>
      <Icon name="next" />
    </button>
  );
}
