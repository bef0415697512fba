import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Ui, useUi } from '../context';
import { dayWord } from '../format';
import { leavesNothing, stillShown } from '../hand';
import type { TimelineView } from '../model';
import { Icon } from '../parts/icons';
import { movedTo } from './keys';
import { Message } from './message';
import { type Row, rowsOf, windowOf } from './rows';
import { atEnd, fromEnd, fromStart, useAnchored } from './scroller';

/** Rows the window moves by when an edge comes near. */
const stepRows = 60;

/** The messages of the open conversation: bottom-anchored, at most 200 in the document, older ones on the way up. */
export function Timeline({ timeline: whole }: { timeline: TimelineView }) {
  const { texts, format } = useUi();
  const timeline = useStillShown(whole);
  const scroller = useRef<HTMLDivElement>(null);
  const [endSeq, setEndSeq] = useState<number>();
  const [chosen, setChosen] = useState<number>();
  const { messages } = timeline;
  const { shown, newer, older } = windowOf(messages, endSeq);
  const version = `${shown[0]?.seq} ${shown.at(-1)?.seq} ${messages.at(-1)?.seq} ${shown.length}`;
  useAnchored(scroller, version);
  const end = useEnd(scroller, timeline, newer > 0, version);
  useFirstUnread(scroller, timeline.firstUnreadSeq !== undefined);
  const asked = useRef<number>(undefined);
  const scrolled = () => {
    const element = scroller.current;
    if (!element) return;
    end.look();
    if (fromStart(element) < element.clientHeight * 2) {
      const first = messages[0]?.seq;
      if (older > 0) setEndSeq(shown.at(-1 - Math.min(stepRows, shown.length - 1))?.seq);
      else if (timeline.older === 'more' && asked.current !== first) {
        // Asked once for each oldest row: the answer is a snapshot with an older one.
        asked.current = first;
        end.commands.loadOlder();
      }
    } else if (newer > 0 && fromEnd(element) < element.clientHeight * 2) {
      setEndSeq(newer <= stepRows ? undefined : messages[messages.length - newer + stepRows - 1]?.seq);
    }
  };
  const rows = rowsOf(shown, timeline.firstUnreadSeq, format.dayKey);
  const focusable = shown.some((message) => message.seq === chosen) ? chosen : shown.at(-1)?.seq;
  return (
    <section class="timeline" aria-label={texts.messagesOf(timeline.name)} data-pane tabIndex={-1}>
      {timeline.older === 'loading' && <p class="loading-line" role="img" aria-label={texts.loadingOlder} />}
      <div class="scroller" ref={scroller} onScroll={scrolled}>
        <Rows
          rows={rows}
          timeline={timeline}
          focusable={focusable}
          atStart={older === 0}
          onChoose={setChosen}
        />
      </div>
      <Pill
        end={end}
        onClick={() => {
          setEndSeq(undefined);
          if (scroller.current) scroller.current.scrollTop = 0;
          end.look();
        }}
      />
    </section>
  );
}

/** The conversation without what was dropped for good; it follows the clock only while a drop can be undone. */
function useStillShown(timeline: TimelineView): TimelineView {
  const { now } = useUi();
  const dropped = timeline.messages.some(({ mark }) => leavesNothing(mark));
  return dropped ? { ...timeline, messages: stillShown(timeline.messages, now.value) } : timeline;
}

/** Opens at the first unread message: its line stands a third down the view. */
function useFirstUnread(scroller: RefObject<HTMLElement | null>, unread: boolean): void {
  useLayoutEffect(() => {
    const element = scroller.current;
    const line = unread ? element?.querySelector('[data-row="unread"]') : undefined;
    if (!element || !line) return;
    const top = line.getBoundingClientRect().top - element.getBoundingClientRect().top;
    element.scrollTop = Math.min(0, element.scrollTop + top - element.clientHeight / 3);
  }, []);
}

/** Whether the newest row is in view, how many are not, and telling the store what was read. */
function useEnd(
  scroller: RefObject<HTMLElement | null>,
  { conversation, messages, firstUnreadSeq }: TimelineView,
  hasNewer: boolean,
  version: string,
) {
  const { commands } = useUi();
  const [there, setThere] = useState(firstUnreadSeq === undefined);
  const seen = useRef(messages.at(-1)?.seq ?? 0);
  const read = useRef(0);
  const newest = messages.at(-1)?.seq ?? 0;
  const look = () => {
    const element = scroller.current;
    if (!element) return;
    const now = atEnd(element) && !hasNewer;
    setThere(now);
    if (!now) return;
    seen.current = newest;
    if (newest > read.current && document.visibilityState === 'visible' && document.hasFocus()) {
      read.current = newest;
      commands.read(conversation, newest);
    }
  };
  const latest = useRef(look);
  latest.current = look;
  useLayoutEffect(() => latest.current(), [version]);
  useEffect(() => {
    const again = () => latest.current();
    window.addEventListener('focus', again);
    document.addEventListener('visibilitychange', again);
    return () => {
      window.removeEventListener('focus', again);
      document.removeEventListener('visibilitychange', again);
    };
  }, []);
  const below = messages.filter((message) => message.seq > seen.current);
  return {
    commands,
    look,
    there,
    below: below.filter((message) => !message.own).length,
    ownBelow: below.at(-1)?.own === true,
  };
}

/** The way back to the newest row, with what is there; nothing while it is in view. */
function Pill({ end, onClick }: { end: ReturnType<typeof useEnd>; onClick: () => void }) {
  const { texts } = useUi();
  if (end.there) return null;
  const words = end.ownBelow ? texts.pillOwn : end.below > 0 ? texts.pill(end.below) : undefined;
  return (
    <button
      type="button"
      class="pill"
      aria-label={words ?? texts.toEnd}
      title={texts.toEnd}
      onClick={onClick}
    >
      {words}
      <Icon name="down" />
    </button>
  );
}

/** Keys of a focused message: the arrows move, Enter and I open the details of an own one. */
function rowKeys({ router }: Pick<Ui, 'router'>, { conversation }: TimelineView) {
  return (event: KeyboardEvent) => {
    const from = event.target;
    const list = event.currentTarget;
    if (!(from instanceof HTMLElement) || !(list instanceof HTMLElement) || from.tagName !== 'ARTICLE')
      return;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const opens = event.key === 'Enter' || event.key.toLowerCase() === 'i';
    if (opens && from.dataset['own'] === 'true') {
      event.preventDefault();
      router.go({ at: 'message', conversation, seq: Number(from.dataset['seq']) });
      return;
    }
    const to = movedTo([...list.querySelectorAll('article')], from, event.key);
    if (!to) return;
    event.preventDefault();
    to.focus();
  };
}

/** The rows, one of which can be reached with Tab; the arrow keys move among them. */
function Rows(props: {
  rows: readonly Row[];
  timeline: TimelineView;
  focusable: number | undefined;
  atStart: boolean;
  onChoose: (seq: number) => void;
}) {
  const ui = useUi();
  const { texts, format, snapshot } = ui;
  const { rows, timeline } = props;
  const words = (at: number) => dayWord(format, at, snapshot.value.now, texts);
  const first = timeline.messages[0];
  // Only what comes while the conversation is open rises into place.
  const opened = useRef(timeline.messages.at(-1)?.seq ?? 0);
  const fresh = (row: Row) => row.kind === 'message' && row.message.seq > opened.current;
  return (
    <ol
      class="rows"
      onKeyDown={rowKeys(ui, timeline)}
      onFocusIn={(event) => {
        const article = event.target instanceof Element ? event.target.closest('article') : null;
        if (article) props.onChoose(Number(article.dataset['seq']));
      }}
    >
      {!first && (
        <li class="row-note note-empty" key="empty">
          {texts.emptyChannel}
        </li>
      )}
      {first && props.atStart && timeline.older === 'end' && (
        <li class="row-note" key="beginning" data-row="beginning">
          {texts.beginning(words(first.at))}
        </li>
      )}
      {rows.map((row) => (
        <li key={row.key} data-row={row.key} class={`row row-${row.kind} ${fresh(row) ? 'fresh' : ''}`}>
          {row.kind === 'day' && <span>{words(row.at)}</span>}
          {row.kind === 'unread' && <span>{texts.newDivider(row.count)}</span>}
          {row.kind === 'message' && (
            <Message
              conversation={timeline.conversation}
              message={row.message}
              first={row.first}
              last={row.last}
              focusable={row.message.seq === props.focusable}
            />
          )}
        </li>
      ))}
    </ol>
  );
}
