import type { ConversationId } from '../core/ids';
import { refusalText, type Ui } from './context';
import { handRefusal } from './hand';
import type { MessageView, Refusal } from './model';

/** The sentence for what could not be done to a waiting message. */
export function handRefusalText(ui: Ui, refusal: Refusal): string {
  return handRefusal(refusal, ui.now.peek(), ui.texts, ui.format) ?? refusalText(ui, refusal);
}

/** A store that did not answer: what was asked may be asked again. */
export const noAnswer = (): Refusal => ({ refused: 'timeout' });

/**
 * Takes a drop back. Where the order forbids it, the text is offered in the message field instead. Answers the
 * sentence to be shown when neither could be done.
 */
export async function takeBack(
  ui: Ui,
  conversation: ConversationId,
  { seq, text }: Pick<MessageView, 'seq' | 'text'>,
): Promise<string | undefined> {
  const refusal = await ui.commands.undoDrop(conversation, seq).catch(noAnswer);
  if (refusal === undefined) {
    ui.announce(ui.texts.undone);
    return undefined;
  }
  const late = refusal.refused === 'too-late' || refusal.refused === 'gone';
  if (!late || text === undefined) return handRefusalText(ui, refusal);
  ui.composers.take(conversation, text, 'too-late');
  ui.announce(ui.texts.takenNote['too-late'], true);
  return undefined;
}
