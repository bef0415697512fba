import type { ConversationId } from '../../core/ids';
import { useUi } from '../context';
import { Bar } from '../parts/controls';
import { ChainPicture, Icon } from '../parts/icons';
import { Strip } from '../parts/strip';
import { Name } from '../parts/text';
import { Timeline } from '../timeline/timeline';
import { Composer } from './composer';

/** An open conversation: its name, its messages, and the field. The field works before the messages are read. */
export function Conversation({ conversation }: { conversation: ConversationId }) {
  const { texts, snapshot } = useUi();
  const shown = snapshot.value;
  const known = shown.conversations.find((one) => one.conversation === conversation);
  const timeline = shown.timeline?.conversation === conversation ? shown.timeline : undefined;
  // While the first rows are being read nothing is known: neither that it is empty, nor where the unread begin.
  const reading = !timeline || (timeline.messages.length === 0 && timeline.older === 'loading');
  const name = timeline?.name ?? known?.name;
  if (name === undefined) {
    return (
      <>
        <Bar>
          <h1 tabIndex={-1}>{texts.conversations}</h1>
        </Bar>
        <Strip />
        <p class="page quiet late">{texts.unknownConversation}</p>
      </>
    );
  }
  const secret = timeline?.secret ?? known?.secret ?? false;
  return (
    <>
      <Bar>
        <h1 class="place" tabIndex={-1} title={name}>
          <Name name={name} />
        </h1>
        <span class="place-kind">
          {secret && <Icon name="lock" />}
          {secret ? texts.withSecret : texts.openChannel}
        </span>
      </Bar>
      <Strip />
      {reading ? (
        <section class="timeline waiting" aria-busy="true" aria-label={texts.messagesOf(name)} />
      ) : (
        <Timeline key={conversation} timeline={timeline} />
      )}
      <Composer key={`field ${conversation}`} conversation={conversation} name={name} />
    </>
  );
}

/** The middle of a wide window while no conversation is open. */
export function NothingOpen() {
  const { texts, snapshot } = useUi();
  return (
    <>
      <Strip />
      <div class="nothing-open">
        <ChainPicture />
        <h2>{snapshot.value.conversations.length === 0 ? texts.tagline : texts.pickOne}</h2>
        <p class="quiet">{texts.pickOneText}</p>
      </div>
    </>
  );
}
