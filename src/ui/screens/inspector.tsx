import { useEffect, useState } from 'preact/hooks';
import type { ConversationId } from '../../core/ids';
import { type Ui, useUi } from '../context';
import { markStory } from '../mark';
import type { Inspection, MarkView, MessageView } from '../model';
import { shownAddress } from '../names';
import { IconButton, Sheet } from '../parts/controls';
import { MarkGlyph } from '../parts/icons';
import { Mark, useFace } from '../parts/mark';
import { MessageText } from '../parts/text';
import { isolate } from '../texts/plural';

/** A fact of a message in words. */
function factWords(fact: Inspection['facts'][number], texts: Ui['texts']): string {
  const words = texts.fact[fact.what];
  if (typeof words === 'string') return words;
  return words(
    fact.what === 'made'
      ? texts.copyNumber(fact.copy ?? 1)
      : isolate(fact.relay === undefined ? texts.aRelay : shownAddress(fact.relay)),
  );
}

/** Facts of one own message, asked again whenever its committed state changes. */
function useInspection(
  conversation: ConversationId,
  seq: number,
  mark: MarkView | undefined,
): Inspection | 'failed' | undefined {
  const { commands } = useUi();
  const [inspection, setInspection] = useState<Inspection | 'failed'>();
  const version = JSON.stringify(mark);
  useEffect(() => {
    let current = true;
    commands.inspect(conversation, seq).then(
      (answer) => current && setInspection('refused' in answer ? 'failed' : answer),
      () => current && setInspection('failed'),
    );
    return () => {
      current = false;
    };
  }, [conversation, seq, version]);
  return inspection;
}

/** Everything known about one own message: its state, what happened, and what that tells. */
export function Inspector({ conversation, seq }: { conversation: ConversationId; seq: number }) {
  const { texts, snapshot, router } = useUi();
  const shown = snapshot.value;
  const timeline = shown.timeline?.conversation === conversation ? shown.timeline : undefined;
  const message = timeline?.messages.find((one: MessageView) => one.seq === seq);
  const name = shown.conversations.find((one) => one.conversation === conversation)?.name ?? '';
  const inspection = useInspection(conversation, seq, message?.mark);
  const read = inspection === 'failed' ? undefined : inspection;
  const mark = message?.mark ?? read?.mark;
  const text = message?.text ?? read?.text;
  const title = texts.inspectTitle(name);
  return (
    <Sheet label={title}>
      <div class="sheet-head">
        <h2>{title}</h2>
        <IconButton icon="close" name={texts.close} onClick={() => router.up()} />
      </div>
      {text !== undefined && (
        <blockquote class="quote">
          <MessageText text={text} />
        </blockquote>
      )}
      {mark && <State mark={mark} />}
      <h3>{texts.asList}</h3>
      {inspection === 'failed' ? <p>{texts.factsFailed}</p> : read && <Facts inspection={read} />}
      <h3>{texts.tells}</h3>
      <ul class="tells">
        <li>{texts.tellsWord}</li>
        <li>{texts.tellsRecall}</li>
        <li>{texts.tellsOrder}</li>
      </ul>
    </Sheet>
  );
}

/** The state in its sentences, with its mark. */
function State({ mark }: { mark: MarkView }) {
  const { texts, format, snapshot } = useUi();
  const { now, kept } = useFace(mark);
  const { queue } = snapshot.value;
  const holds = mark.place === 1 && queue.waiting > 1;
  return (
    <div class="state" data-state={mark.state}>
      <Mark mark={mark} words />
      {markStory(mark, kept, now, texts, format).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {holds && <p>{texts.waitsBehind(queue.waiting - 1)}.</p>}
    </div>
  );
}

/** Shape of a fact in the list: a tick only for evidence. */
function factShape(what: Inspection['facts'][number]['what']) {
  if (what === 'handed') return 'arrow';
  if (what === 'has-new' || what === 'has-already' || what === 'seen-in-network') return 'tick';
  return what === 'saved' || what === 'made' ? 'clock' : 'cross';
}

/** What happened, in order, with times to the second. */
function Facts({ inspection }: { inspection: Inspection }) {
  const { texts, format, announce } = useUi();
  const lines = inspection.facts.map((fact) => ({
    fact,
    time: format.exact(fact.at),
    words: factWords(fact, texts),
  }));
  const copy = () =>
    navigator.clipboard
      .writeText(lines.map(({ time, words }) => `${time} ${words}`).join('\n'))
      .then(() => announce(texts.copied));
  if (lines.length === 0) return <p class="quiet">{texts.noFacts}</p>;
  return (
    <>
      <ol class="fact-list">
        {lines.map(({ fact, time, words }, at) => (
          <li key={at}>
            <time dateTime={new Date(fact.at).toISOString()} title={format.full(fact.at)}>
              {time}
            </time>
            <MarkGlyph shape={factShape(fact.what)} />
            <span>{words}</span>
          </li>
        ))}
      </ol>
      <button type="button" class="link" onClick={() => void copy()}>
        {texts.copyDetails}
      </button>
    </>
  );
}
