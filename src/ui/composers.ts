import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { ConversationId } from '../core/ids';
import { type Compose, drafted, edited, emptyCompose, pressed, settled, type Taken, taken } from './compose';
import type { Commands, Refusal } from './model';
import { visible } from './names';

/** The message fields of all conversations, kept apart from the screens, so that an answer finds its own field. */
export interface Composers {
  field(conversation: ConversationId): ReadonlySignal<Compose>;
  /** True while the typed text of a conversation could not be stored as a draft. */
  unsaved(conversation: ConversationId): ReadonlySignal<boolean>;
  edit(conversation: ConversationId, text: string): void;
  load(conversation: ConversationId, draft: string): void;
  /** Puts the text of an earlier message into the field, as a message of its own. */
  take(conversation: ConversationId, text: string, from: Taken): void;
  /** Sends what is in the field; the guard against a second press is set before this returns. */
  press(conversation: ConversationId): void;
  /** Stores every draft that waits. False when one could not be stored. */
  flush(): Promise<boolean>;
}

interface Entry {
  readonly field: Signal<Compose>;
  readonly unsaved: Signal<boolean>;
  /** The text last stored, or on its way to be. */
  saved: string;
  /** Whether that could be stored; what is on its way is not stored yet. */
  saving?: Promise<boolean>;
  timer?: ReturnType<typeof setTimeout>;
}

const draftMs = 400;

/** The fields and their drafts: `save` stores the text of one field and says whether it is stored. */
function makeDrafts(commands: Commands) {
  const entries = new Map<ConversationId, Entry>();
  const entry = (conversation: ConversationId): Entry => {
    const known = entries.get(conversation);
    if (known) return known;
    const made: Entry = { field: signal(emptyCompose), unsaved: signal(false), saved: '' };
    entries.set(conversation, made);
    return made;
  };
  const store = async (conversation: ConversationId, kept: Entry, text: string): Promise<boolean> => {
    const refusal = await commands.saveDraft(conversation, text).catch((): Refusal => ({ refused: 'gone' }));
    const lost = refusal !== undefined && visible(text);
    // A later save speaks for the later text.
    if (kept.saved === text) kept.unsaved.value = lost;
    return !lost;
  };
  const save = async (conversation: ConversationId): Promise<boolean> => {
    const kept = entry(conversation);
    clearTimeout(kept.timer);
    const { text } = kept.field.peek();
    if (text === kept.saved && !kept.unsaved.peek()) return kept.saving ?? true;
    kept.saved = text;
    kept.saving = store(conversation, kept, text);
    return kept.saving;
  };
  const flush = async () => {
    const saves = await Promise.all([...entries.keys()].map((conversation) => save(conversation)));
    return saves.every((saved) => saved);
  };
  return { entry, save, flush };
}

/** Fields that send and store through `commands`; `heard` learns of every refusal of a send. */
export function makeComposers(commands: Commands, heard: (refusal: Refusal) => void): Composers {
  const { entry, save, flush } = makeDrafts(commands);
  const newCommand = () => commands.newCommand();
  const settle = (conversation: ConversationId, command: string, refusal: Refusal | undefined) => {
    const { field } = entry(conversation);
    field.value = settled(field.peek(), command, refusal);
    if (refusal) heard(refusal);
    // At once either way: what was committed is no draft any more, and what was refused must not wait to be kept.
    void save(conversation);
  };
  return {
    field: (conversation) => entry(conversation).field,
    unsaved: (conversation) => entry(conversation).unsaved,
    edit(conversation, text) {
      const kept = entry(conversation);
      kept.field.value = edited(kept.field.peek(), text, newCommand);
      clearTimeout(kept.timer);
      kept.timer = setTimeout(() => void save(conversation), draftMs);
    },
    load(conversation, draft) {
      const kept = entry(conversation);
      if (!kept.field.peek().loaded) kept.saved = draft;
      kept.field.value = drafted(kept.field.peek(), draft, newCommand);
    },
    take(conversation, text, from) {
      const { field } = entry(conversation);
      field.value = taken(field.peek(), text, from, newCommand);
      void save(conversation);
    },
    press(conversation) {
      const { field } = entry(conversation);
      const before = field.peek();
      if (before.storing || !visible(before.text)) return;
      const over = commands.bytesOver(conversation, before.text.trimEnd());
      if (over > 0) {
        field.value = { ...before, refusal: { refused: 'too-long', over } };
        heard({ refused: 'too-long', over });
        return;
      }
      const { state, press } = pressed(before, newCommand);
      field.value = state;
      if (!press) return;
      // Before the message, which takes its draft with it: a page that is left now would store it behind the message,
      // and what was sent would stand in the field again.
      void save(conversation);
      commands.send(conversation, press.text, press.command).then(
        (refusal) => settle(conversation, press.command, refusal),
        () => settle(conversation, press.command, { refused: 'gone' }),
      );
    },
    flush,
  };
}
