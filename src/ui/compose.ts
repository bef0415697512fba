import type { LogicalId } from '../core/ids';
import type { Refusal } from './model';
import { visible } from './names';

/** The message field of one conversation. Nothing here knows time or the document, so every step can be tested. */
export interface Compose {
  readonly text: string;
  /** Command id of the text: made when it first changed after a send, so that pressing twice is one message. */
  readonly command?: LogicalId;
  /** The press whose commit is awaited, with the text of the field at that press. */
  readonly storing?: { readonly command: LogicalId; readonly text: string };
  readonly refusal?: Refusal;
  /** A refused press: the same text asks again under the same command, other text never does. */
  readonly again?: Press;
  /** True once the stored draft was put in. */
  readonly loaded: boolean;
  /** What the last commit took, so that a draft read late is not put back. */
  readonly committed?: string;
  /** Set while the field holds the text of an earlier message: a new version of a waiting one, or a dropped one. */
  readonly from?: Taken;
}

/** Where a text was taken from: a waiting message, a dropped one, or one whose drop could not be undone any more. */
export type Taken = 'version' | 'again' | 'too-late';

/** A field nothing was typed into. */
export const emptyCompose: Compose = { text: '', loaded: false };

/** The field after a change of its text. A text that changes while another is being stored is a message of its own. */
export function edited(state: Compose, text: string, newCommand: () => LogicalId): Compose {
  if (text === state.text) return state;
  const { refusal: _, from, ...kept } = state;
  const taken = text === '' || from === undefined ? {} : { from };
  return { ...kept, ...taken, text, command: state.command ?? newCommand() };
}

/** The field after the text of an earlier message was put in, under what was typed there already. */
export function taken(state: Compose, text: string, from: Taken, newCommand: () => LogicalId): Compose {
  const typed = state.text.trimEnd();
  const there = typed === text || typed.endsWith(`\n${text}`);
  return { ...edited(state, there ? typed : visible(typed) ? `${typed}\n${text}` : text, newCommand), from };
}

/** The field after its stored draft was read: what was stored stands before what was typed meanwhile. */
export function drafted(state: Compose, draft: string, newCommand: () => LogicalId): Compose {
  if (state.loaded) return state;
  const loaded = { ...state, loaded: true };
  if (draft === '' || draft === state.text || draft === state.committed) return loaded;
  return edited(loaded, state.text === '' ? draft : `${draft}\n${state.text}`, newCommand);
}

/** What a press sends. */
export interface Press {
  readonly command: LogicalId;
  readonly text: string;
}

/** The field after a press of Send, with what is to be stored. A press while one is being stored does nothing. */
export function pressed(
  state: Compose,
  newCommand: () => LogicalId,
): { readonly state: Compose; readonly press?: Press } {
  if (state.storing || !visible(state.text)) return { state };
  const text = state.text.trimEnd();
  const command = state.again?.text === text ? state.again.command : (state.command ?? newCommand());
  const { command: _, refusal: __, again: ___, from: ____, ...kept } = state;
  return { state: { ...kept, storing: { command, text: state.text } }, press: { command, text } };
}

/** The field after the store answered the press `command`. Only what was committed leaves the field. */
export function settled(state: Compose, command: LogicalId, refusal: Refusal | undefined): Compose {
  const { storing, ...rest } = state;
  if (storing?.command !== command) return state;
  if (refusal) {
    // After a conflict the id is spent.
    const again = refusal.refused === 'conflict' ? {} : { again: { command, text: storing.text.trimEnd() } };
    return { ...rest, refusal, ...again };
  }
  const committed = storing.text;
  if (state.text === committed) {
    const { command: _, ...clear } = rest;
    return { ...clear, text: '', committed };
  }
  const text = state.text.startsWith(committed) ? state.text.slice(committed.length).trimStart() : state.text;
  return { ...rest, text, committed };
}

/** What a key does in the message field. */
export interface KeyPress {
  readonly key: string;
  readonly keyCode: number;
  readonly isComposing: boolean;
  readonly repeat: boolean;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/**
 * Whether a key sends, is swallowed, or is left to the field. Keys of an input method never send: browsers say so in
 * three different ways. A held key sends nothing, and a held Enter that would send makes no lines either.
 */
export function keyMeans(press: KeyPress, enterSends: boolean): 'send' | 'swallow' | 'field' {
  if (press.key !== 'Enter' || press.isComposing || press.keyCode === 229) return 'field';
  const always = press.ctrlKey || press.metaKey;
  if (press.shiftKey || press.altKey || !(always || enterSends)) return 'field';
  return press.repeat ? 'swallow' : 'send';
}
