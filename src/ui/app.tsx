import { effect, type ReadonlySignal, signal } from '@preact/signals';
import { render } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { saidNothing, saying } from './announcements';
import { makeAnnouncer } from './announcer';
import { makeClock } from './clock';
import { makeComposers } from './composers';
import { refusalText, type Ui, UiContext, useUi } from './context';
import { forgetFinal } from './dropped';
import { makeFormat } from './format';
import type { Commands, Refusal, Snapshot } from './model';
import { Sheet } from './parts/controls';
import { keptPreferences } from './preferences';
import { makeRouter } from './route';
import { Conversation, NothingOpen } from './screens/conversation';
import { FirstRun, Starting, Unavailable } from './screens/first-run';
import { Inspector } from './screens/inspector';
import { fetchLater, join, network, settings } from './screens/later';
import { ConversationList } from './screens/list';
import { Place } from './screens/place';
import { listenToKeys } from './shortcuts';
import { stripText } from './strip';
import { chooseLanguage, type Language } from './texts/choose';
import { makeTide } from './tide';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/list.css';
import './styles/timeline.css';
import './styles/composer.css';
import './styles/pages.css';

/** What the first screen does not need is fetched this long after it was drawn, ms. */
const laterMs = 1_000;

/** What the page that composes the app holds of it. */
export interface RenderedApp {
  /** Stores every draft that waits; false when one could not be stored. Awaited before a reload. */
  flush(): Promise<boolean>;
  /** Takes the app off the page. */
  stop(): void;
}

/** Draws `snapshot` into `root` and sends what the person does to `commands`. `language`: a tag, by default the browser's. */
export function renderApp(
  root: HTMLElement,
  snapshot: ReadonlySignal<Snapshot>,
  commands: Commands,
  language: string = navigator.language,
): RenderedApp {
  let stopped = false;
  let running: RenderedApp | undefined;
  const begin = (chosen: Language) => {
    if (!stopped) running = run(root, snapshot, commands, chosen);
  };
  const chosen = chooseLanguage(language);
  if (chosen instanceof Promise) void chosen.then(begin);
  else begin(chosen);
  return {
    flush: async () => (await running?.flush()) ?? true,
    stop() {
      stopped = true;
      running?.stop();
    },
  };
}

/** Starts the parts of the app that live as long as it does, and draws it. */
function run(
  root: HTMLElement,
  snapshot: ReadonlySignal<Snapshot>,
  commands: Commands,
  { tag, texts }: Language,
): RenderedApp {
  const format = makeFormat(tag);
  document.documentElement.lang = tag;
  const announce = makeAnnouncer(document, document.body);
  const heard = (refusal: Refusal) => announce(refusalText({ texts, format }, refusal), true);
  const clock = makeClock(snapshot, document);
  const router = makeRouter(window);
  const composers = makeComposers(commands, heard);
  const preferences = keptPreferences(document.documentElement);
  const tide = makeTide(snapshot, clock, (cause) =>
    announce(stripText(cause, snapshot.peek(), texts, format), cause === 'store'),
  );
  const ui: Ui = {
    texts,
    format,
    commands,
    snapshot,
    now: clock.now,
    router,
    composers,
    announce,
    editing: signal([]),
    preferences,
    strip: tide.shown,
  };
  const stops = [
    clock.stop,
    router.stop,
    tide.stop,
    sayNews(ui),
    openRoute(ui),
    nameTitle(ui),
    keepDrafts(ui),
    forgetFinal(ui),
    listenToKeys(ui, document),
  ];
  render(
    <UiContext.Provider value={ui}>
      <App />
    </UiContext.Provider>,
    root,
  );
  const later = setTimeout(fetchLater, laterMs);
  return {
    flush: () => composers.flush(),
    stop() {
      clearTimeout(later);
      for (const stop of stops) stop();
      render(null, root);
    },
  };
}

/** Says what arrived and what waits, once each. */
function sayNews({ snapshot, now, texts, announce }: Ui): () => void {
  let said = saidNothing(now.peek());
  return effect(() => {
    const { timeline, network } = snapshot.value;
    const answering = network.relays.some((relay) => relay.state === 'answering');
    const { state, say } = saying(said, timeline, !answering, now.value, texts);
    said = state;
    for (const sentence of say) announce(sentence);
  });
}

/** Tells the page which conversation is open. */
function openRoute({ router, commands }: Ui): () => void {
  let open: string | undefined;
  return effect(() => {
    const route = router.base.value;
    const wanted = 'conversation' in route ? route.conversation : undefined;
    if (wanted === open) return;
    open = wanted;
    commands.open(wanted);
  });
}

/** The title: unread messages, the place, the name of the app. */
function nameTitle({ snapshot, router, texts }: Ui): () => void {
  return effect(() => {
    const { conversations, phase } = snapshot.value;
    const route = router.base.value;
    const unread = conversations.reduce((sum, one) => sum + one.unread, 0);
    const open = 'conversation' in route ? route.conversation : undefined;
    const name = conversations.find((one) => one.conversation === open)?.name;
    const screen = route.at === 'network' || route.at === 'settings' ? texts[route.at] : texts.conversations;
    document.title = phase === 'ready' ? texts.title(unread, name ?? screen) : 'Holdfast';
  });
}

/** Stores drafts when the page is hidden or left, and asks before leaving only when one could not be stored. */
function keepDrafts({ composers, router }: Ui): () => void {
  const flush = () => void composers.flush();
  const hidden = () => document.visibilityState === 'hidden' && flush();
  const leaving = (event: BeforeUnloadEvent) => {
    const route = router.base.peek();
    if ('conversation' in route && composers.unsaved(route.conversation).peek()) event.preventDefault();
  };
  document.addEventListener('visibilitychange', hidden);
  window.addEventListener('pagehide', flush);
  window.addEventListener('beforeunload', leaving);
  return () => {
    document.removeEventListener('visibilitychange', hidden);
    window.removeEventListener('pagehide', flush);
    window.removeEventListener('beforeunload', leaving);
  };
}

/** The screen of the moment. */
function App() {
  const { snapshot, router } = useUi();
  const [address, setAddress] = useState('');
  const { phase } = snapshot.value;
  if (phase === 'starting') return <Starting />;
  if (phase === 'unavailable') return <Unavailable />;
  if (phase === 'first-run') {
    return (
      <FirstRun
        onAddressLeft={(typed) => {
          setAddress(typed);
          router.go({ at: 'network' });
        }}
      />
    );
  }
  return <Panes typed={address} />;
}

/** The list and the place that is open: side by side where there is room, else one of them. */
function Panes({ typed }: { typed: string }) {
  const { texts, router, snapshot } = useUi();
  const base = router.base.value;
  const route = router.route.value;
  const app = useRef<HTMLDivElement>(null);
  const place = 'conversation' in base ? base.conversation : base.at;
  const known = snapshot.value.conversations.some((one) => one.conversation === place);
  useFocusOnArrival(app, place, known);
  const skip = (event: MouseEvent) => {
    event.preventDefault();
    const target = app.current?.querySelector<HTMLElement>('#composer, main h1, nav h1');
    target?.focus();
  };
  return (
    <div class="app" data-at={base.at === 'list' ? 'list' : 'place'} ref={app}>
      <a class="skip" href={location.hash || '#/'} onClick={skip}>
        {'conversation' in base ? texts.skipToComposer : texts.skipToContent}
      </a>
      <ConversationList />
      <main class="main-pane" data-pane tabIndex={-1}>
        {'conversation' in base && <Conversation key={base.conversation} conversation={base.conversation} />}
        {base.at === 'network' && (
          <Place title={texts.network}>
            <network.Part typed={typed} />
          </Place>
        )}
        {base.at === 'settings' && (
          <Place title={texts.settings}>
            <settings.Part />
          </Place>
        )}
        {base.at === 'list' && <NothingOpen />}
      </main>
      {route.at === 'join' && (
        <Sheet title={texts.join}>
          <join.Part />
        </Sheet>
      )}
      {route.at === 'message' && <Inspector conversation={route.conversation} seq={route.seq} />}
    </div>
  );
}

/**
 * Moves the focus with the screen: to the field where there is a keyboard, else to the heading; back to the row left.
 * A conversation just joined is on the screen a moment before its rows are: the focus goes on when they are.
 */
function useFocusOnArrival(
  app: { readonly current: HTMLElement | null },
  place: string,
  known: boolean,
): void {
  const before = useRef<string>(undefined);
  useLayoutEffect(() => {
    const left = before.current;
    before.current = place;
    const find = (selector: string) => app.current?.querySelector<HTMLElement>(selector);
    const heading = find('main h1');
    if (left === place && document.activeElement !== document.body && document.activeElement !== heading)
      return;
    if (place === 'list') {
      if (left !== undefined) (find(`[data-conversation="${left}"]`) ?? find('nav h1'))?.focus();
    } else if (left !== undefined || known) {
      const fine = window.matchMedia('(pointer: fine)').matches;
      ((fine ? find('#composer') : undefined) ?? heading)?.focus();
    }
  }, [place, known, app]);
}
