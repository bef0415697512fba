import type { ConversationId } from '../../core/ids';
import { useUi } from '../context';
import { Sheet } from '../parts/controls';
import { details } from './later';

/** The sheet that holds everything known about one own message. It opens at once; its content may come after it. */
export function Inspector({ conversation, seq }: { conversation: ConversationId; seq: number }) {
  const { texts, snapshot } = useUi();
  const name = snapshot.value.conversations.find((one) => one.conversation === conversation)?.name ?? '';
  return (
    <Sheet title={texts.inspectTitle(name)}>
      <details.Part conversation={conversation} seq={seq} />
    </Sheet>
  );
}
