import { useEffect, useState } from 'preact/hooks';
import type { ConversationId } from '../../core/ids';
import { type Ui, useUi } from '../context';
import { editingOf, withoutEditing } from '../editing';
import { markStory } from '../mark';
import type { Inspection, MarkView, MessageView, Refusal } from '../model';
import { shownAddress } from '../names';
import { MarkGlyph } from '../parts/icons';
import { Mark, useFace } from '../parts/mark';
import { MessageText } from '../parts/text';
import { isolate } from '../texts/plural';
import { Acts, takeOver } from './acts';
import { EditText } from './edit-text';

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

/** A message that is not there any more is another thing than one whose history cannot be read. */
function outcomeOf({ refused }: Refusal): 'failed' | 'gone' {
  return refused === 'gone' ? 'gone' : 'failed';
}

/** Facts of one own message, asked again whenever its committed state changes. */
function useInspection(
  conversation: ConversationId,
  seq: number,
  mark: MarkView | undefined,
  text: string | undefined,
): Inspection | 'failed' | 'gone' | undefined {
  const { commands } = useUi();
  const [inspection, setInspection] = useState<Inspection | 'failed' | 'gone'>();
  const version = JSON.stringify([mark, text]);
  useEffect(() => {
    let current = true;
    commands.inspect(conversation, seq).then(
      (answer) => current && setInspection('refused' in answer ? outcomeOf(answer) : answer),
      () => current && setInspection('failed'),
    );
    return () => {
      current = false;
    };
  }, [conversation, seq, version]);
  return inspection;
}

/** Everything known about one own message: its state, what happened, what that tells, and what can be done. */
export function Details({ conversation, seq }: { conversation: ConversationId; seq: number }) {
  const ui = useUi();
  const { texts, snapshot, editing } = ui;
  const { timeline, queue } = snapshot.value;
  const messages = timeline?.conversation === conversation ? timeline.messages : [];
  const message = messages.find((one: MessageView) => one.seq === seq);
  // Outside the window of rows the line is what tells that something may have changed.
  const inspection = useInspection(conversation, seq, message?.mark ?? queue.head?.mark, message?.text);
  const [said, say] = useState<string>();
  const read = typeof inspection === 'string' ? undefined : inspection;
  const mark = message?.mark ?? read?.mark;
  const text = message?.text ?? read?.text;
  const edit = editingOf(editing.value, conversation, seq);
  if (inspection === 'gone' && !edit) return <p class="quiet">{texts.inspectForgotten}</p>;
  return (
    <>
      {edit && mark ? (
        <EditText
          edit={edit}
          mark={mark}
          onDone={say}
          onNewVersion={(typed) => {
            editing.value = withoutEditing(editing.peek(), edit);
            takeOver(ui, edit, typed, 'version');
          }}
        />
      ) : (
        text !== undefined && (
          <blockquote class="quote">
            <MessageText text={text} />
          </blockquote>
        )
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
      {mark && mark.state !== 'accepted' && (
        <div class="hand">
          <p class="said" role="status">
            {said}
          </p>
          {!edit && <Acts acted={{ conversation, seq, mark, text }} say={say} />}
        </div>
      )}
    </>
  );
}

/** The state in its sentences, with its mark. */
function State({ mark }: { mark: MarkView }) {
  const { texts, format, snapshot, router } = useUi();
  const { now, kept } = useFace(mark);
  const { head } = snapshot.value.queue;
  const headSeq = mark.behind === undefined ? undefined : head?.seq;
  return (
    <div class="state" data-state={mark.state}>
      <Mark mark={mark} words />
      {markStory(mark, kept, now, texts, format).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {mark.holds !== undefined && mark.state !== 'on-hold' && <p>{texts.waitsBehind(mark.holds)}.</p>}
      {head && headSeq !== undefined && (
        <button
          type="button"
          class="link"
          onClick={() => router.go({ at: 'message', conversation: head.conversation, seq: headSeq })}
        >
          {texts.showIt}
        </button>
      )}
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
            <time dateTime={format.iso(fact.at)} title={format.full(fact.at)}>
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
