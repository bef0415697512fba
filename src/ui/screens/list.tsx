import { useUi } from '../context';
import { faceOf, markName } from '../mark';
import type { ConversationView } from '../model';
import { Bar, IconButton } from '../parts/controls';
import { Icon, Logo } from '../parts/icons';
import { Mark } from '../parts/mark';
import { Strip } from '../parts/strip';
import { Name } from '../parts/text';
import { formatRoute } from '../route';

/** The conversations, newest as the snapshot has them. */
export function ConversationList() {
  const { texts, snapshot, router } = useUi();
  const { conversations } = snapshot.value;
  const base = router.base.value;
  const open = 'conversation' in base ? base.conversation : undefined;
  const Heading = base.at === 'list' ? 'h1' : 'h2';
  return (
    <nav class="list-pane" aria-label={texts.conversations} data-pane tabIndex={-1}>
      <Bar
        home
        actions={
          <>
            <IconButton icon="net" name={texts.network} onClick={() => router.go({ at: 'network' })} />
            <IconButton icon="settings" name={texts.settings} onClick={() => router.go({ at: 'settings' })} />
            <IconButton icon="plus" name={texts.join} onClick={() => router.go({ at: 'join' })} />
          </>
        }
      >
        <Logo />
        <Heading class="brand-name" tabIndex={-1}>
          Holdfast
        </Heading>
      </Bar>
      <Strip />
      {conversations.length === 0 ? (
        <EmptyList />
      ) : (
        <ul class="conversations">
          {conversations.map((one) => (
            <li key={one.conversation}>
              <ConversationRow one={one} current={one.conversation === open} />
            </li>
          ))}
        </ul>
      )}
    </nav>
  );
}

/** What this place is for, and the door that leads on. */
function EmptyList() {
  const { texts, router } = useUi();
  return (
    <div class="empty">
      <p class="empty-title">{texts.emptyTitle}</p>
      <p class="quiet">{texts.emptyText}</p>
      <button type="button" class="primary" onClick={() => router.go({ at: 'join' })}>
        {texts.join}
      </button>
      <p class="hint">{texts.keptHere}</p>
    </div>
  );
}

/** One conversation as one sentence for assistive technology. */
function useRowName(one: ConversationView): string {
  const { texts, format, snapshot, now } = useUi();
  const { kept } = snapshot.value;
  const time = now.peek();
  return [
    one.name,
    one.secret ? texts.withSecret : undefined,
    one.unread > 0 ? texts.unread(one.unread) : undefined,
    one.draft
      ? `${texts.draft}: ${one.draft}`
      : one.last && `${one.last.own ? texts.you : one.last.nick}: ${one.last.text}`,
    one.mark && markName(one.mark, faceOf(one.mark, time, kept), time, texts, format),
    one.lastAt === undefined ? undefined : format.short(one.lastAt, time),
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

/** A line of the list: name and time, then the last words with their mark, or the draft. */
function ConversationRow({ one, current }: { one: ConversationView; current: boolean }) {
  const { texts, format, snapshot, router } = useUi();
  const name = useRowName(one);
  return (
    <a
      class="conversation"
      href={formatRoute({ at: 'conversation', conversation: one.conversation })}
      aria-current={current ? 'page' : undefined}
      aria-label={name}
      data-unread={one.unread > 0}
      data-conversation={one.conversation}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        router.go({ at: 'conversation', conversation: one.conversation });
      }}
    >
      <span class="conversation-top">
        <span class="conversation-name" title={one.name}>
          <Name name={one.name} />
        </span>
        {one.secret && <Icon name="lock" />}
        {one.lastAt !== undefined && (
          <span class="conversation-time">{format.short(one.lastAt, snapshot.value.now)}</span>
        )}
      </span>
      <span class="conversation-last">
        {one.mark && !one.draft && <Mark mark={one.mark} words={one.mark.state === 'on-hold'} />}
        <span class="preview">
          {one.draft ? (
            <>
              <b class="draft-word">{texts.draft}</b> <bdi>{one.draft.slice(0, 200)}</bdi>
            </>
          ) : one.last ? (
            <>
              {one.last.own ? texts.you : <Name name={one.last.nick} />}:{' '}
              <bdi>{one.last.text.slice(0, 200)}</bdi>
            </>
          ) : (
            texts.emptyTitle
          )}
        </span>
        {one.unread > 0 && <span class="count">{one.unread}</span>}
      </span>
    </a>
  );
}
